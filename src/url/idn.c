/* International domain names, by libidn2: UTS 46 mapping, non-transitional, to A-labels. */
#include "url/url.h"

#include <string.h>

#if defined(SEEN_WITH_IDN) && SEEN_WITH_IDN
#include <idn2.h>

/* Characters that the mapping ignores may make the input longer than the answer; a host beyond this
 * is nobody's, and is refused before libidn2 works on it. */
enum { INPUT_MAX = 2048 };

/* Without the round trip, because libidn2's is by IDNA 2008 and refuses the symbols in existing
 * names such as xn--i-7iq.ws. */
static const int FLAGS = IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL | IDN2_NO_ALABEL_ROUNDTRIP;

static seen_url_result to_ascii(const char *host, char ascii[SN_URL_IDN_MAX + 1], size_t *len)
{
    char *answer = NULL;
    int rc = idn2_to_ascii_8z(host, &answer, FLAGS);
    seen_url_result result = rc == IDN2_MALLOC ? SEEN_URL_NO_MEMORY : SEEN_URL_INVALID;
    if (rc != IDN2_OK)
        goto out;
    *len = strlen(answer);
    if (*len > SN_URL_IDN_MAX)
        goto out;
    memcpy(ascii, answer, *len + 1);
    result = SEEN_URL_OK;
out:
    idn2_free(answer);
    return result;
}

seen_url_result sn_url_idn(const char *host, size_t len, char ascii[SN_URL_IDN_MAX + 1],
                           size_t *ascii_len)
{
    char input[INPUT_MAX + 1], again[SN_URL_IDN_MAX + 1];
    size_t again_len = 0;
    if (len > INPUT_MAX || memchr(host, '\0', len))
        return SEEN_URL_INVALID;
    memcpy(input, host, len);
    input[len] = '\0';
    seen_url_result result = to_ascii(input, ascii, ascii_len);
    if (result != SEEN_URL_OK)
        return result;
    /* A name that its own answer does not lead back to has no canonical form. */
    result = to_ascii(ascii, again, &again_len);
    if (result == SEEN_URL_OK && (again_len != *ascii_len || memcmp(again, ascii, again_len) != 0))
        result = SEEN_URL_INVALID;
    return result;
}

#else

/* Without libidn2, A-labels are believed and everything else is refused. */
seen_url_result sn_url_idn(const char *host, size_t len, char ascii[SN_URL_IDN_MAX + 1],
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
