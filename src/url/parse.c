/* The basic URL parser of the WHATWG URL standard, reduced to http and https.
 *
 * The states of the standard are functions over the rest of the input, and its URL record is the
 * text written so far. Written text is removed only at the end of a path (".."), and when a base is
 * truncated to be continued. Tabs and line ends may occur anywhere and are ignored. */
#include "url/url.h"

#include <string.h>

typedef struct rest {
    const char *at;
    const char *end;
} rest;

typedef enum scheme { NO_SCHEME, HTTP, HTTPS, OTHER } scheme;

static rest trim(const char *text, size_t len)
{
    rest in = {text, text + len};
    while (in.at < in.end && (unsigned char)*in.at <= ' ')
        in.at++;
    while (in.at < in.end && (unsigned char)in.end[-1] <= ' ')
        in.end--;
    return in;
}

/* The next byte, or -1. Skips ignored bytes, so that in->at is the position of the returned
 * byte. */
static int peek(rest *in)
{
    while (in->at < in->end && sn_url_is(*in->at, SN_URL_SKIP))
        in->at++;
    return in->at < in->end ? (unsigned char)*in->at : -1;
}

static bool is_slash(int c)
{
    return c == '/' || c == '\\';
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Reads a scheme and its colon, if the input begins with one; otherwise consumes nothing. */
static scheme read_scheme(rest *in)
{
    static const char name[] = "https";
    rest probe = *in;
    size_t len = 0;
    bool matches = true;
    if (!is_letter(peek(&probe)))
        return NO_SCHEME;
    for (int c; (c = peek(&probe)) != ':'; probe.at++, len++) {
        if (!is_letter(c) && !(c >= '0' && c <= '9') && c != '+' && c != '-' && c != '.')
            return NO_SCHEME;
        matches = matches && len < 5 && (c | 0x20) == name[len];
    }
    in->at = probe.at + 1;
    if (!matches || len < 4)
        return OTHER;
    return len == 5 ? HTTPS : HTTP;
}

static seen_url_result fits(bool done)
{
    return done ? SEEN_URL_OK : SEEN_URL_TOO_LONG;
}

/* Writes "user:password@", given the text without the @; nothing if both are empty. */
static bool put_userinfo(sn_url_out *out, const char *text, size_t len)
{
    size_t start = out->len;
    const char *colon = memchr(text, ':', len);
    size_t user_len = colon ? (size_t)(colon - text) : len;
    if (!sn_url_put_escaped(out, text, user_len, SN_URL_USER))
        return false;
    if (colon) {
        size_t mark = out->len;
        if (!sn_url_put(out, ':') ||
            !sn_url_put_escaped(out, colon + 1, len - user_len - 1, SN_URL_USER))
            return false;
        if (out->len == mark + 1)
            out->len = mark;
    }
    return out->len == start || sn_url_put(out, '@');
}

static seen_url_result put_port(sn_url_out *out, rest in, scheme s)
{
    unsigned port = 0;
    bool empty = true;
    for (int c; (c = peek(&in)) >= 0; in.at++) {
        if (c < '0' || c > '9')
            return SEEN_URL_INVALID;
        port = port * 10 + (unsigned)(c - '0');
        empty = false;
        if (port > 65535)
            return SEEN_URL_INVALID;
    }
    if (empty || port == (s == HTTPS ? 443 : 80))
        return SEEN_URL_OK;
    char text[6];
    size_t at = sizeof text;
    do
        text[--at] = (char)('0' + port % 10);
    while ((port /= 10) > 0);
    text[--at] = ':';
    return fits(sn_url_put_all(out, text + at, sizeof text - at));
}

/* The colon before the port, ignoring colons inside brackets. */
static const char *find_port(const char *at, const char *end)
{
    bool inside = false;
    for (; at < end; at++) {
        if (*at == '[')
            inside = true;
        else if (*at == ']')
            inside = false;
        else if (*at == ':' && !inside)
            break;
    }
    return at;
}

/* Writes the scheme and the authority; any number of leading slashes is accepted. */
static seen_url_result put_authority(sn_url_out *out, rest *in, scheme s)
{
    out->len = 0;
    if (!sn_url_put_all(out, s == HTTPS ? "https://" : "http://", s == HTTPS ? 8 : 7))
        return SEEN_URL_TOO_LONG;
    while (is_slash(peek(in)))
        in->at++;

    const char *host = in->at, *end = in->at;
    for (; end < in->end && !is_slash(*end) && *end != '?' && *end != '#'; end++) {
        if (*end == '@')
            host = end + 1;
    }
    if (host > in->at && !put_userinfo(out, in->at, (size_t)(host - 1 - in->at)))
        return SEEN_URL_TOO_LONG;

    const char *port = find_port(host, end);
    seen_url_result result = sn_url_put_host(out, host, (size_t)(port - host));
    if (result == SEEN_URL_OK && port < end)
        result = put_port(out, (rest){port + 1, end}, s);
    in->at = end;
    out->path = out->len;
    return result;
}

/* The segment that begins at out->text[segment], after its slash, is complete. Removes a dot
 * segment, and for ".." also the segment before it. */
static bool is_dots(sn_url_out *out, size_t segment)
{
    const char *text = out->text + segment;
    size_t len = out->len - segment;
    if (len == 0 || len > 2 || text[0] != '.' || text[len - 1] != '.')
        return false;
    out->len = segment - 1;
    if (len == 2 && out->len > out->path) {
        do
            out->len--;
        while (out->text[out->len] != '/');
    }
    return true;
}

/* Writes the path, starting in the segment at the end of out, at or after out->path; stops at the
 * query or the fragment. Escaped dots are decoded before is_dots sees them. */
static bool put_path(sn_url_out *out, rest *in)
{
    for (;;) {
        size_t segment = out->len;
        const char *end = in->at;
        while (end < in->end && !is_slash(*end) && *end != '?' && *end != '#')
            end++;
        if (!sn_url_put_escaped(out, in->at, (size_t)(end - in->at), SN_URL_PATH))
            return false;
        in->at = end;
        bool more = end < in->end && is_slash(*end);
        if ((is_dots(out, segment) || more) && !sn_url_put(out, '/'))
            return false;
        if (!more)
            return true;
        in->at++;
    }
}

/* Writes the query, if the rest begins with one. Only the fragment remains. */
static bool put_query(sn_url_out *out, rest *in)
{
    if (peek(in) != '?')
        return true;
    const char *text = in->at + 1;
    const char *end = memchr(text, '#', (size_t)(in->end - text));
    in->at = end ? end : in->end;
    return sn_url_put(out, '?') &&
           sn_url_put_escaped(out, text, (size_t)(in->at - text), SN_URL_QUERY);
}

/* The rest is "", "/…" or "\…", "?…" or "#…", after an authority. */
static seen_url_result put_absolute(sn_url_out *out, rest *in)
{
    if (is_slash(peek(in)))
        in->at++;
    return fits(sn_url_put(out, '/') && put_path(out, in) && put_query(out, in));
}

/* Resolves the rest against the canonical base in out. */
static seen_url_result resolve(sn_url_out *out, rest *in, scheme s)
{
    const char *query = memchr(out->text + out->path, '?', out->len - out->path);
    size_t path_end = query ? (size_t)(query - out->text) : out->len;
    int c = peek(in);
    if (is_slash(c)) {
        in->at++;
        if (is_slash(peek(in))) {
            seen_url_result result = put_authority(out, in, s);
            return result == SEEN_URL_OK ? put_absolute(out, in) : result;
        }
        out->len = out->path;
        return fits(sn_url_put(out, '/') && put_path(out, in) && put_query(out, in));
    }
    if (c < 0 || c == '#')
        return SEEN_URL_OK;
    out->len = path_end;
    if (c != '?') {
        while (out->text[out->len - 1] != '/')
            out->len--;
        if (!put_path(out, in))
            return SEEN_URL_TOO_LONG;
    }
    return fits(put_query(out, in));
}

/* Parses an absolute URL. */
static seen_url_result parse_absolute(sn_url_out *out, rest *in, scheme s)
{
    seen_url_result result = put_authority(out, in, s);
    return result == SEEN_URL_OK ? put_absolute(out, in) : result;
}

/* Writes a base to out and returns its scheme. */
static seen_url_result parse_base(const char *base, size_t len, sn_url_out *out, scheme *s)
{
    seen_url_result result = sn_url_parse(base, len, NULL, 0, out);
    if (result == SEEN_URL_OK)
        *s = out->text[4] == 's' ? HTTPS : HTTP;
    return result;
}

seen_url_result sn_url_parse(const char *url, size_t len, const char *base, size_t base_len,
                             sn_url_out *out)
{
    out->len = 0;
    size_t canonical = sn_url_scan(url, len, &out->path);
    if (canonical > 0)
        return fits(sn_url_put_all(out, url, canonical));

    rest in = trim(url, len);
    scheme base_scheme = OTHER, s = read_scheme(&in);
    if (s == OTHER)
        return SEEN_URL_OTHER_SCHEME;
    if (s == NO_SCHEME) {
        if (!base)
            return SEEN_URL_INVALID;
        seen_url_result result = parse_base(base, base_len, out, &base_scheme);
        return result == SEEN_URL_OK ? resolve(out, &in, base_scheme) : result;
    }

    /* "http:a" is relative to a base of the same scheme; "http://a" is absolute. */
    rest probe = in;
    bool slashes = peek(&probe) == '/' && (probe.at++, peek(&probe) == '/');
    if (base && !slashes) {
        seen_url_result result = parse_base(base, base_len, out, &base_scheme);
        if (result != SEEN_URL_OK && result != SEEN_URL_OTHER_SCHEME)
            return result;
        if (base_scheme == s)
            return resolve(out, &in, s);
    }
    return parse_absolute(out, &in, s);
}

/* ---- a canonical URL into its parts ---- */

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
