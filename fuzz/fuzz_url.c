/* URLs: any bytes, with any base and any options.
 *
 * Input: a byte of flags, the base, a byte 0xff, the URL; without a 0xff there is no base. Oracle:
 * the result is printable ASCII within the bound, is a fixed point with the same options and any
 * base, splits into parts that cover it, and does not depend on the given capacity. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "url/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void require_fixed(const char *url, size_t len, const char *base, size_t base_len,
                          const seen_url_options *options)
{
    char *out = malloc(len);
    size_t out_len = 0;
    require(out != NULL);
    /* A canonical URL fits into its own length. */
    seen_url_result result =
        seen_url_canonical(url, len, base, base_len, options, out, len, &out_len);
    if (result == SEEN_URL_TOO_LONG) {
        free(out);
        out = malloc(out_len);
        require(out != NULL);
        result = seen_url_canonical(url, len, base, base_len, options, out, out_len, &out_len);
    }
    require(result == SEEN_URL_OK && out_len == len && memcmp(out, url, len) == 0);
    free(out);
}

static void require_shape(const char *url, size_t len)
{
    seen_url_parts p;
    for (size_t i = 0; i < len; i++)
        require(url[i] > ' ' && url[i] <= '~' && url[i] != '#');
    require(seen_url_split(url, len, &p) == SEEN_URL_OK);
    require(p.host.len > 0 && p.path.len > 0 && url[p.path.at] == '/');
    require(p.query.at + p.query.len == len);
    require(p.path.at + p.path.len + p.has_query == p.query.at);
    require(p.port.at + p.port.len == p.path.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const drop[] = {"a", "b*", NULL};
    if (size == 0)
        return 0;
    seen_url_options options = {.size = sizeof options, .flags = data[0] & 31u};
    options.flags |= data[0] & 64 ? SEEN_URL_ANY_SCHEME | SEEN_URL_SIMILAR : 0;
    options.flags |= data[0] & 128 ? SEEN_URL_NO_VALUES : 0;
    if (data[0] & 32) {
        options.drop = drop;
        options.drop_count = 3;
    }
    const char *base = NULL, *url = (const char *)data + 1;
    size_t base_len = 0, len = size - 1;
    const char *end = memchr(url, 0xff, len);
    if (end) {
        base = url;
        base_len = (size_t)(end - base);
        len -= base_len + 1;
        url = end + 1;
    }
    size_t bound = SEEN_URL_BOUND(len, base_len), out_len = 0, short_len = 0;
    char *out = malloc(bound);
    require(out != NULL);
    seen_url_result result =
        seen_url_canonical(url, len, base, base_len, &options, out, bound, &out_len);
    require(result != SEEN_URL_TOO_LONG);
    if (result == SEEN_URL_OK) {
        require(out_len <= bound);
        require_shape(out, out_len);
        require_fixed(out, out_len, NULL, 0, &options);
        require_fixed(out, out_len, NULL, 0, NULL);
        require_fixed(out, out_len, base, base_len, &options);
        require_fixed(out, out_len, url, len, &options);
        /* With less room: the same result, or SEEN_URL_TOO_LONG. */
        char *tight = malloc(out_len);
        require(tight != NULL);
        result = seen_url_canonical(url, len, base, base_len, &options, tight, out_len, &short_len);
        require(result == SEEN_URL_TOO_LONG ||
                (result == SEEN_URL_OK && short_len == out_len && !memcmp(tight, out, out_len)));
        free(tight);
    }
    free(out);
    return 0;
}
