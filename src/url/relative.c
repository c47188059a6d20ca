/* Resolves simple relative links without parsing.
 *
 * Nearly all links within a site are like "../b/c.html": without escapes, scheme, host or query.
 * They are resolved against a canonical base, whose path has no dot segments, by copying and by
 * going back from slash to slash. */
#include "url/url.h"

#include <string.h>

/* The offset of the path of a canonical URL, at its slash. */
static size_t find_path(const char *url, size_t len)
{
    size_t host = sizeof "http://" - 1;
    if (len <= host)
        return 0;
    host += url[4] == 's';
    const char *slash = memchr(url + host, '/', len - host);
    return slash ? (size_t)(slash - url) : 0;
}

/* The end of the base's folder: after the last slash of its path. */
static size_t find_folder(const char *url, size_t len, size_t path)
{
    const char *query = memchr(url + path, '?', len - path);
    size_t end = query ? (size_t)(query - url) : len;
    while (url[end - 1] != '/')
        end--;
    return end;
}

size_t sn_url_relative(const char *href, size_t len, const char *base, size_t base_len, char *out)
{
    size_t path = find_path(base, base_len);
    if (len == 0 || path == 0)
        return 0;
    size_t at = 0;
    size_t n = href[0] == '/' ? path + ++at : find_folder(base, base_len, path);
    memcpy(out, base, n);
    while (at < len) {
        size_t from = at;
        while (at < len && sn_url_is(href[at], SN_URL_UNRESERVED))
            at++;
        size_t segment = at - from;
        /* Empty segments ("a//b", or a host: "//b") and all other bytes are left to the parser. */
        if (segment == 0 || (at < len && href[at] != '/'))
            return 0;
        at += at < len;
        if (segment == 1 && href[from] == '.')
            continue;
        if (segment == 2 && href[from] == '.' && href[from + 1] == '.') {
            if (n > path + 1)
                for (n--; out[n - 1] != '/';)
                    n--;
            continue;
        }
        memcpy(out + n, href + from, at - from);
        n += at - from;
    }
    return n;
}
