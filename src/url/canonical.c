/* seen_url_canonical: parsing, or the fast path for relative links; then the options. */
#include "url/url.h"

seen_url_result seen_url_canonical(const char *url, size_t len, const char *base, size_t base_len,
                                   const seen_url_options *options, char *out, size_t capacity,
                                   size_t *out_len)
{
    sn_url_out work = {out, out ? capacity : 0, 0, 0};
    if (!url) {
        url = "";
        len = 0;
    }
    seen_url_result result = SEEN_URL_OK;
    if (base && options && options->flags & SEEN_URL_CANONICAL_BASE &&
        work.capacity >= len + base_len)
        work.len = sn_url_relative(url, len, base, base_len, out);
    if (work.len == 0)
        result = sn_url_parse(url, len, base, base_len, &work);
    if (result == SEEN_URL_OK) {
        *out_len = options ? sn_url_apply(out, work.len, options) : work.len;
    } else if (result == SEEN_URL_TOO_LONG) {
        size_t exact = sn_url_scan(url, len, &work.path);
        *out_len = exact ? exact : SEEN_URL_BOUND(len, base ? base_len : 0);
    }
    return result;
}
