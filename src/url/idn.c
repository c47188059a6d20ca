/* Internationalized domain names with libidn2: UTS 46 mapping, non-transitional, to A-labels.
 *
 * libidn2 is stricter than browsers: besides the mapping it applies IDNA 2008, which allows no
 * symbols. For a label that already is an A-label it checks UTS 46 only. So a label that it rejects
 * because of a symbol is encoded here, unmapped, and passed to it again: it then accepts the label
 * if and only if there was nothing to map. On that path it does not check text direction and joiner
 * context; these are checked on a copy of the label in which each symbol is replaced by a letter of
 * the same direction. Labels are passed one by one, because libidn2 rejects plain ASCII labels such
 * as r3---sn-x next to others. */
#include "url/url.h"

#include <string.h>

#ifdef SEEN_WITH_IDN
#include <idn2.h>

/* Characters ignored by the mapping may make the input longer than the result; longer hosts are
 * rejected before libidn2 processes them. */
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

/* Encodes a label as an A-label without mapping it. Jamo in parentheses (U+3200 to U+320D) are
 * rejected: UTS 46 maps them, but the A-label check of libidn2 accepts them unmapped. */
static bool encode_label(const char *label, char ascii[SN_URL_LABEL_MAX + 1])
{
    uint32_t points[SN_URL_LABEL_MAX];
    size_t count = 0;
    while (*label && count < SN_URL_LABEL_MAX) {
        points[count] = read_point(&label);
        if (points[count] >= 0x3200 && points[count] <= 0x320d)
            return false;
        count++;
    }
    sn_url_out out = {ascii, SN_URL_LABEL_MAX, 0, 0};
    if (*label || !sn_url_put_all(&out, "xn--", 4) || !sn_url_put_punycode(&out, points, count))
        return false;
    ascii[out.len] = '\0';
    return true;
}

typedef struct point_range {
    uint32_t first, last;
} point_range;

static bool is_in(uint32_t point, const point_range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (point >= ranges[i].first && point <= ranges[i].last)
            return true;
    return false;
}

/* Whether the code point is in a right-to-left block, except for symbols in these blocks without a
 * direction of their own (Bidi_Class ON, ES, ET and CS). */
static bool is_right_to_left(uint32_t point)
{
    static const point_range blocks[] = {
        {0x590, 0x8ff}, {0xfb1d, 0xfdff}, {0xfe70, 0xfeff}, {0x10800, 0x10fff}, {0x1e800, 0x1efff}};
    static const point_range neutral[] = {
        {0x606, 0x607},     {0x609, 0x60a},     {0x60c, 0x60c},    {0x60e, 0x60f},
        {0x66a, 0x66a},     {0x6de, 0x6de},     {0x6e9, 0x6e9},    {0x7f6, 0x7f9},
        {0xfb29, 0xfb29},   {0xfd3e, 0xfd4f},   {0xfdcf, 0xfdcf},  {0xfdfd, 0xfdff},
        {0x1091f, 0x1091f}, {0x10b39, 0x10b3f}, {0x1eef0, 0x1eef1}};
    return is_in(point, blocks, sizeof blocks / sizeof *blocks) &&
           !is_in(point, neutral, sizeof neutral / sizeof *neutral);
}

/* Whether IDNA 2008 disallows the character of `len` bytes. */
static bool is_symbol(const char *text, size_t len)
{
    char alone[5] = {0}, *answer = NULL;
    memcpy(alone, text, len);
    int rc = len > 1 ? idn2_to_ascii_8z(alone, &answer, FLAGS) : IDN2_OK;
    idn2_free(answer);
    return rc == IDN2_DISALLOWED;
}

/* Checks the rules for joiners (RFC 5892) and text direction (RFC 5893) on a label with symbols,
 * which are replaced by U+05D0, a right-to-left letter, or by U+02B9, a letter without
 * direction. */
static bool is_in_context(const char *label)
{
    char probe[INPUT_MAX + 1], *answer = NULL;
    size_t at = 0;
    while (*label) {
        const char *from = label;
        uint32_t point = read_point(&label);
        size_t len = (size_t)(label - from);
        bool symbol = is_symbol(from, len);
        if (at + 4 >= sizeof probe)
            return false;
        memcpy(probe + at,
               !symbol                   ? from
               : is_right_to_left(point) ? "\xd7\x90"
                                         : "\xca\xb9",
               symbol ? 2 : len);
        at += symbol ? 2 : len;
    }
    probe[at] = '\0';
    int rc = idn2_to_ascii_8z(probe, &answer, FLAGS);
    idn2_free(answer);
    return rc != IDN2_BIDI && rc != IDN2_CONTEXTJ && rc != IDN2_CONTEXTJ_NO_RULE;
}

/* Whether a result of libidn2 begins like an A-label but is not a valid one: it does not check
 * labels in which only an ignored character is non-ASCII. */
static bool is_bad_alabel(const char *label)
{
    return strncmp(label, "xn--", 4) == 0 &&
           strspn(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(label);
}

static seen_url_result put_label(sn_url_out *out, const char *label)
{
    char *answer = NULL, encoded[SN_URL_LABEL_MAX + 1];
    seen_url_result result = SEEN_URL_INVALID;
    if (is_ascii(label) && strncmp(label, "xn--", 4) != 0)
        return sn_url_put_all(out, label, strlen(label)) ? SEEN_URL_OK : SEEN_URL_INVALID;

    int rc = idn2_to_ascii_8z(label, &answer, FLAGS);
    if (rc == IDN2_DISALLOWED && !is_ascii(label) && encode_label(label, encoded) &&
        is_in_context(label))
        rc = idn2_to_ascii_8z(encoded, &answer, FLAGS);
    if (rc == IDN2_MALLOC)
        result = SEEN_URL_NO_MEMORY;
    else if (rc == IDN2_OK && !is_bad_alabel(answer) && sn_url_put_all(out, answer, strlen(answer)))
        result = SEEN_URL_OK;
    idn2_free(answer);
    return result;
}

/* Length of the label separator at the start of text: a full stop or one of the three characters
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

/* Processes a NUL-terminated host, which is modified. */
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

    /* A name that is not stable under a second mapping has no canonical form. */
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

/* Without libidn2 every non-ASCII host is rejected. */
seen_url_result sn_url_idn(const char *host, size_t len, char ascii[SN_URL_IDN_MAX],
                           size_t *ascii_len)
{
    (void)host;
    (void)len;
    (void)ascii;
    (void)ascii_len;
    return SEEN_URL_INVALID;
}

#endif
