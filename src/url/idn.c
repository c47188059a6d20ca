/* International domain names, by libidn2: UTS 46 mapping, non-transitional, to A-labels.
 *
 * libidn2 is stricter than a browser: beside the mapping it asks IDNA 2008, which has no symbols.
 * Yet of a label that is an A-label already it asks only UTS 46. So a label that it refuses for a
 * symbol is encoded here, unmapped, and shown to it again: it then accepts the label if and only if
 * there was nothing to map. Labels are shown to it one by one, because it also refuses plain ASCII
 * labels such as r3---sn-x in the company of others. */
#include "url/url.h"

#include <string.h>

#ifdef SEEN_WITH_IDN
#include <idn2.h>

/* Characters that the mapping ignores may make the input longer than the answer; a host beyond this
 * is nobody's, and is refused before libidn2 works on it. */
enum { INPUT_MAX = 2048 };

static const int FLAGS = IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL | IDN2_NO_ALABEL_ROUNDTRIP;

static bool is_ascii(const char *text)
{
    while (*text && (unsigned char)*text < 0x80)
        text++;
    return *text == '\0';
}

/* Reads one code point of valid UTF-8. */
static uint32_t read_point(const char **text)
{
    const unsigned char *at = (const unsigned char *)*text;
    unsigned more = at[0] < 0x80 ? 0 : at[0] < 0xe0 ? 1 : at[0] < 0xf0 ? 2 : 3;
    uint32_t point = more == 0 ? at[0] : at[0] & (0x3fu >> more);
    for (unsigned i = 1; i <= more; i++)
        point = point << 6 | (at[i] & 0x3fu);
    *text += more + 1;
    return point;
}

/* Makes an A-label of a label as it is. */
static bool encode_label(const char *label, char ascii[SN_URL_LABEL_MAX + 1])
{
    uint32_t points[SN_URL_LABEL_MAX];
    size_t count = 0;
    while (*label && count < SN_URL_LABEL_MAX)
        points[count++] = read_point(&label);
    sn_url_out out = {ascii, SN_URL_LABEL_MAX, 0, 0};
    if (*label || !sn_url_put_all(&out, "xn--", 4) || !sn_url_put_punycode(&out, points, count))
        return false;
    ascii[out.len] = '\0';
    return true;
}

static seen_url_result put_label(sn_url_out *out, const char *label)
{
    char *answer = NULL, encoded[SN_URL_LABEL_MAX + 1];
    seen_url_result result = SEEN_URL_INVALID;
    if (is_ascii(label) && strncmp(label, "xn--", 4) != 0)
        return sn_url_put_all(out, label, strlen(label)) ? SEEN_URL_OK : SEEN_URL_INVALID;

    int rc = idn2_to_ascii_8z(label, &answer, FLAGS);
    if (rc == IDN2_DISALLOWED && !is_ascii(label) && encode_label(label, encoded))
        rc = idn2_to_ascii_8z(encoded, &answer, FLAGS);
    if (rc == IDN2_MALLOC)
        result = SEEN_URL_NO_MEMORY;
    else if (rc == IDN2_OK && sn_url_put_all(out, answer, strlen(answer)))
        result = SEEN_URL_OK;
    idn2_free(answer);
    return result;
}

/* Length of the separator of labels at the front of text: a full stop or one of the three that are
 * mapped to it (U+3002, U+FF0E, U+FF61). 0: none. */
static size_t dot_len(const char *text)
{
    if (*text == '.')
        return 1;
    return strncmp(text, "\xe3\x80\x82", 3) == 0 || strncmp(text, "\xef\xbc\x8e", 3) == 0 ||
                   strncmp(text, "\xef\xbd\xa1", 3) == 0
               ? 3
               : 0;
}

/* Works on a host that ends in a NUL and may be written to. */
static seen_url_result put_domain(sn_url_out *out, char *host)
{
    for (char *label = host;;) {
        char *end = label;
        while (*end && dot_len(end) == 0)
            end++;
        size_t dot = *end ? dot_len(end) : 0;
        *end = '\0';
        seen_url_result result = put_label(out, label);
        if (result != SEEN_URL_OK || dot == 0)
            return result;
        if (!sn_url_put(out, '.'))
            return SEEN_URL_INVALID;
        label = end + dot;
    }
}

seen_url_result sn_url_idn(const char *host, size_t len, char ascii[SN_URL_IDN_MAX],
                           size_t *ascii_len)
{
    char input[INPUT_MAX + 1], again[SN_URL_IDN_MAX];
    sn_url_out first = {ascii, SN_URL_IDN_MAX, 0, 0}, second = {again, sizeof again, 0, 0};
    if (len > INPUT_MAX || memchr(host, '\0', len))
        return SEEN_URL_INVALID;
    memcpy(input, host, len);
    input[len] = '\0';
    seen_url_result result = put_domain(&first, input);
    if (result != SEEN_URL_OK)
        return result;

    /* A name that its own answer does not lead back to has no canonical form. */
    memcpy(input, ascii, first.len);
    input[first.len] = '\0';
    result = put_domain(&second, input);
    if (result == SEEN_URL_OK && (second.len != first.len || memcmp(again, ascii, first.len) != 0))
        result = SEEN_URL_INVALID;
    if (result == SEEN_URL_OK)
        *ascii_len = first.len;
    return result;
}

#else

/* Without libidn2, A-labels are believed and everything else is refused. */
seen_url_result sn_url_idn(const char *host, size_t len, char ascii[SN_URL_IDN_MAX],
                           size_t *ascii_len)
{
    if (len > SN_URL_IDN_MAX)
        return SEEN_URL_INVALID;
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)host[i] > 0x7f)
            return SEEN_URL_INVALID;
    }
    memcpy(ascii, host, len);
    *ascii_len = len;
    return SEEN_URL_OK;
}

#endif
