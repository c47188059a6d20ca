/* The fast path: recognizes a URL that is already canonical, in one pass over its bytes.
 *
 * Most URLs in a crawl are. The scan may send any URL to the parser, and does so for everything
 * rare (user names, IP addresses, internationalized names, non-canonical escapes); a URL that it
 * accepts is exactly what the parser would have written. */
#include "url/url.h"

#include <string.h>

/* Whether this is an escape that the parser would keep: upper case, and not of an unreserved
 * byte. */
static bool is_canonical_escape(const char *url, size_t len, size_t at)
{
    if (len - at < 3)
        return false;
    char high = url[at + 1], low = url[at + 2];
    if (!sn_url_is(high, SN_URL_HEX) || !sn_url_is(low, SN_URL_HEX) || high >= 'a' || low >= 'a')
        return false;
    unsigned value = (unsigned)(high <= '9' ? high - '0' : high - 'A' + 10) * 16 +
                     (unsigned)(low <= '9' ? low - '0' : low - 'A' + 10);
    return !(sn_url_class[value] & SN_URL_UNRESERVED);
}

/* Offset of the first byte that is not in the class. Eight bytes at a time: the loads are
 * independent, unlike with a branch per byte. */
static size_t skip(const char *url, size_t len, size_t at, unsigned bit)
{
    const unsigned char *u = (const unsigned char *)url;
    for (; len - at >= 8; at += 8) {
        unsigned all = bit;
        for (size_t i = 0; i < 8; i++)
            all &= sn_url_class[u[at + i]];
        if (all == 0)
            break;
    }
    while (at < len && (sn_url_class[u[at]] & bit))
        at++;
    return at;
}

static size_t scan_port(const char *url, size_t len, size_t at, bool https)
{
    unsigned port = 0;
    size_t start = at;
    if (at < len && url[at] == '0')
        return 0;
    for (; at < len && url[at] >= '0' && url[at] <= '9' && at - start < 5; at++)
        port = port * 10 + (unsigned)(url[at] - '0');
    return at == start || port > 65535 || port == (https ? 443 : 80) ? 0 : at;
}

/* Offset after "host" or "host:port", which the path must follow; 0: use the parser. The last label
 * must not begin with a digit: the host could be an IPv4 address. */
static size_t scan_authority(const char *url, size_t len, size_t at, bool https)
{
    size_t label = at;
    for (;; at++) {
        at = skip(url, len, at, SN_URL_SCAN_HOST);
        if (at == len)
            return 0;
        if (url[at] == '-')
            continue;
        if (at == label) {
            return 0;
        } else if (url[at] == '.') {
            label = at + 1;
        } else {
            break;
        }
    }
    if (url[label] >= '0' && url[label] <= '9')
        return 0;
    if (url[at] == ':')
        at = scan_port(url, len, at + 1, https);
    return at < len && url[at] == '/' ? at : 0;
}

/* Whether the dot at url[at] begins a segment that is "." or "..". */
static bool is_dot_segment(const char *url, size_t len, size_t at)
{
    if (url[at - 1] != '/')
        return false;
    at++;
    if (at < len && url[at] == '.')
        at++;
    return at == len || url[at] == '/' || url[at] == '?' || url[at] == '#';
}

static size_t scan_path(const char *url, size_t len, size_t at)
{
    for (;;) {
        at = skip(url, len, at, SN_URL_SCAN_PATH);
        if (at == len || url[at] == '?' || url[at] == '#')
            return at;
        if (url[at] == '.' && !is_dot_segment(url, len, at))
            at++;
        else if (url[at] == '%' && is_canonical_escape(url, len, at))
            at += 3;
        else
            return 0;
    }
}

static size_t scan_query(const char *url, size_t len, size_t at)
{
    for (;;) {
        at = skip(url, len, at, SN_URL_QUERY);
        if (at == len || url[at] == '#')
            return at;
        if (url[at] != '%' || !is_canonical_escape(url, len, at))
            return 0;
        at += 3;
    }
}

size_t sn_url_scan(const char *url, size_t len, size_t *path)
{
    if (len < sizeof "http://x" || memcmp(url, "http", 4) != 0)
        return 0;
    bool https = url[4] == 's';
    size_t at = https ? 8 : 7;
    if (memcmp(url + at - 3, "://", 3) != 0)
        return 0;
    at = scan_authority(url, len, at, https);
    if (at == 0)
        return 0;
    *path = at;
    at = scan_path(url, len, at);
    if (at != 0 && at < len && url[at] == '?')
        at = scan_query(url, len, at + 1);
    return at;
}
