/* The public functions: seen_url_canonical and seen_url_split. */
#include "url/url.h"

#include <string.h>

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

/* Offset of the path: the first slash after the scheme. 0 if there is none. */
static size_t find_path(const char *url, size_t len, size_t at)
{
    const char *slash = memchr(url + at, '/', len - at);
    return slash ? (size_t)(slash - url) : 0;
}

/* Splits "host:port", which ends where the path begins. */
static bool split_port(const char *url, size_t end, bool https, seen_url_parts *parts)
{
    size_t at = end, port = 0;
    while (at > parts->host.at && url[at - 1] >= '0' && url[at - 1] <= '9')
        at--;
    parts->port = (seen_url_span){end, 0};
    parts->port_number = https ? 443 : 80;
    parts->host.len = end - parts->host.at;
    if (at == end || at == parts->host.at || url[at - 1] != ':')
        return parts->host.len > 0 && url[end - 1] != ':';
    if (end - at > 5)
        return false;
    for (size_t i = at; i < end; i++)
        port = port * 10 + (size_t)(url[i] - '0');
    parts->port = (seen_url_span){at, end - at};
    parts->port_number = (uint16_t)port;
    parts->host.len = at - 1 - parts->host.at;
    return port <= 65535 && parts->host.len > 0;
}

seen_url_result seen_url_split(const char *url, size_t len, seen_url_parts *parts)
{
    seen_url_parts p = {.scheme = {0, 4}};
    if (len < sizeof "http://x" || memcmp(url, "http", 4) != 0)
        return SEEN_URL_INVALID;
    bool https = url[4] == 's';
    p.scheme.len += https;
    size_t start = p.scheme.len + 3;
    if (memcmp(url + p.scheme.len, "://", 3) != 0)
        return SEEN_URL_INVALID;
    size_t path = find_path(url, len, start);
    if (path == 0)
        return SEEN_URL_INVALID;

    const char *at = memchr(url + start, '@', path - start);
    size_t host = at ? (size_t)(at - url) + 1 : start;
    p.userinfo = (seen_url_span){start, at ? host - 1 - start : 0};
    p.host.at = host;
    if (!split_port(url, path, https, &p))
        return SEEN_URL_INVALID;

    const char *query = memchr(url + path, '?', len - path);
    size_t path_end = query ? (size_t)(query - url) : len;
    p.path = (seen_url_span){path, path_end - path};
    p.has_query = query != NULL;
    p.query = (seen_url_span){path_end + p.has_query, len - path_end - p.has_query};
    *parts = p;
    return SEEN_URL_OK;
}
