/* The fast path: recognises a URL that is canonical already, in one pass over its bytes.
 *
 * Most URLs that a crawl meets are. The scan may say "look closer" about any URL, and does so for
 * all that is rare (user names, addresses, international names, an escape out of order); what it
 * says yes to is exactly what the parser would have written. */
#include "url/url.h"

#include <string.h>

/* An escape that the parser would keep as it is: upper case, and not of an unreserved byte. */
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

/* Whether a segment that begins at url[at], a dot, is "." or "..". */
static bool is_dot_segment(const char *url, size_t len, size_t at)
{
    at++;
    if (at < len && url[at] == '.')
        at++;
    return at == len || !(sn_url_is(url[at], SN_URL_PATH) || url[at] == '%');
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

/* Offset behind "host" or "host:port", which the path must follow; 0 to look closer. */
static size_t scan_authority(const char *url, size_t len, size_t at, bool https)
{
    size_t start = at, label = at;
    for (; at < len && sn_url_is(url[at], SN_URL_PLAIN_HOST); at++) {
        if (url[at] == '.' && at + 1 < len && sn_url_is(url[at + 1], SN_URL_PLAIN_HOST))
            label = at + 1;
        /* Only a label that begins with xn-- has '-' there; a few others look closer in vain. */
        if (url[at] == '-' && at - label == 3 && url[at - 1] == '-')
            return 0;
    }
    if (at == start || at == len)
        return 0;
    if (url[label] >= '0' && url[label] <= '9')
        return 0; /* perhaps an IPv4 address */
    if (url[label] == '.' || url[at - 1] == '.')
        return 0;
    if (url[at] == ':')
        at = scan_port(url, len, at + 1, https);
    return at < len && url[at] == '/' ? at : 0;
}

static size_t scan_path(const char *url, size_t len, size_t at)
{
    for (;;) {
        while (at < len && sn_url_is(url[at], SN_URL_PATH))
            at++;
        if (at == len || url[at] == '?' || url[at] == '#')
            return at;
        if (url[at] == '/') {
            at++;
            if (at < len && url[at] == '.' && is_dot_segment(url, len, at))
                return 0;
        } else if (url[at] == '%' && is_canonical_escape(url, len, at)) {
            at += 3;
        } else {
            return 0;
        }
    }
}

static size_t scan_query(const char *url, size_t len, size_t at)
{
    for (;;) {
        while (at < len && sn_url_is(url[at], SN_URL_QUERY))
            at++;
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
    size_t host = https ? 8 : 7;
    if (memcmp(url + host - 3, "://", 3) != 0)
        return 0;
    size_t at = scan_authority(url, len, host, https);
    if (at == 0)
        return 0;
    *path = at;
    at = scan_path(url, len, at);
    if (at != 0 && at < len && url[at] == '?')
        at = scan_query(url, len, at + 1);
    return at;
}
