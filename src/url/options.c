/* What a user may ask to be forgotten: steps over a canonical URL, in place. Each leaves a URL that
 * is canonical again and that the same step leaves alone. */
#include "url/url.h"

#include <string.h>

/* Names are in lower case and match in any case. A * at the end stands for any ending. */
static const char *const TRACKING[] = {
    "utm_*",
    "gclid",
    "gclsrc",
    "dclid",
    "gbraid",
    "wbraid",
    "gad_source",
    "srsltid",
    "fbclid",
    "msclkid",
    "yclid",
    "ysclid",
    "_openstat",
    "twclid",
    "ttclid",
    "li_fat_id",
    "igshid",
    "igsh",
    "epik",
    "mc_cid",
    "mc_eid",
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "hsa_*",
    "mkt_tok",
    "vero_id",
    "vero_conv",
    "oly_anon_id",
    "oly_enc_id",
    "wickedid",
    "rb_clickid",
    "piwik_*",
    "pk_campaign",
    "pk_kwd",
    "mtm_*",
    "matomo_*",
    "_branch_match_id",
    "gad_campaignid",
    "hsctatracking",
};

static const char *const SESSION[] = {
    "phpsessid", "jsessionid", "aspsessionid*", "asp.net_sessionid", "sid",   "sessid",
    "sessionid", "session_id", "cfid",          "cftoken",           "zenid", "oscsid",
};

static const char *const PATH_SESSION[] = {"jsessionid", "phpsessid", "sessionid", "sid"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Compares in any case where fold is set; the pattern is in lower case then. */
static bool matches(const char *pattern, const char *name, size_t len, bool fold)
{
    for (size_t i = 0;; i++) {
        if (pattern[i] == '*' && pattern[i + 1] == '\0')
            return true;
        if (i == len || pattern[i] == '\0')
            return i == len && pattern[i] == '\0';
        bool upper = fold && name[i] >= 'A' && name[i] <= 'Z';
        if (pattern[i] != (upper ? name[i] | 0x20 : name[i]))
            return false;
    }
}

static bool is_in(const char *const *list, size_t count, const char *name, size_t len, bool fold)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] && matches(list[i], name, len, fold))
            return true;
    }
    return false;
}

/* Length of the name at the front of "name=value". */
static size_t name_len(const char *piece, size_t len)
{
    const char *equals = memchr(piece, '=', len);
    return equals ? (size_t)(equals - piece) : len;
}

static bool is_unwanted(const seen_url_options *options, const char *piece, size_t len)
{
    size_t name = name_len(piece, len);
    return ((options->flags & SEEN_URL_DROP_TRACKING) &&
            is_in(TRACKING, COUNT(TRACKING), piece, name, true)) ||
           ((options->flags & SEEN_URL_DROP_SESSION) &&
            is_in(SESSION, COUNT(SESSION), piece, name, true)) ||
           is_in(options->drop, options->drop_count, piece, name, false);
}

/* Drops parameters; *pieces begins each with '&'. Returns the new length. */
static size_t filter_query(char *pieces, size_t len, const seen_url_options *options)
{
    size_t kept = 0;
    for (size_t at = 0; at < len;) {
        const char *next = memchr(pieces + at + 1, '&', len - at - 1);
        size_t end = next ? (size_t)(next - pieces) : len;
        if (!is_unwanted(options, pieces + at + 1, end - at - 1)) {
            memmove(pieces + kept, pieces + at, end - at);
            kept += end - at;
        }
        at = end;
    }
    /* Nothing but separators: as good as nothing, but only where something was dropped. */
    return kept == 1 && kept < len ? 0 : kept;
}

static size_t apply_query(char *text, size_t len, const seen_url_parts *parts,
                          const seen_url_options *options)
{
    if (!parts->has_query)
        return len;
    char *pieces = text + parts->query.at - 1;
    size_t pieces_len = parts->query.len + 1;
    *pieces = '&';
    pieces_len = filter_query(pieces, pieces_len, options);
    if (options->flags & SEEN_URL_SORT_QUERY)
        sn_url_sort(pieces, pieces_len);
    if (pieces_len > 0)
        *pieces = '?';
    return parts->query.at - 1 + pieces_len;
}

/* Drops the ;session parameters of the segment of `len` bytes; returns its new length. */
static size_t filter_segment(char *segment, size_t len)
{
    const char *first = memchr(segment, ';', len);
    size_t kept = first ? (size_t)(first - segment) : len;
    for (size_t at = kept; at < len;) {
        const char *next = memchr(segment + at + 1, ';', len - at - 1);
        size_t end = next ? (size_t)(next - segment) : len;
        const char *param = segment + at + 1;
        size_t name = name_len(param, end - at - 1);
        if (!is_in(PATH_SESSION, COUNT(PATH_SESSION), param, name, true)) {
            memmove(segment + kept, segment + at, end - at);
            kept += end - at;
        }
        at = end;
    }
    return kept;
}

static size_t pop_segment(const char *path, size_t len)
{
    while (len > 0 && path[--len] != '/')
        ;
    return len;
}

/* Drops session parameters from a path. What is left of "..;sid=1" is a dot segment like any
 * other, so those are resolved here too. Returns the new length. */
static size_t filter_path(char *path, size_t len)
{
    size_t kept = 0;
    bool dots = false;
    for (size_t at = 0; at < len;) {
        const char *next = memchr(path + at + 1, '/', len - at - 1);
        size_t end = next ? (size_t)(next - path) : len;
        size_t segment = filter_segment(path + at + 1, end - at - 1);
        const char *text = path + at + 1;
        dots = segment > 0 && segment <= 2 && text[0] == '.' && text[segment - 1] == '.';
        if (!dots) {
            memmove(path + kept, path + at, segment + 1);
            kept += segment + 1;
        } else if (segment == 2) {
            kept = pop_segment(path, kept);
        }
        at = end;
    }
    if (dots)
        path[kept++] = '/';
    return kept;
}

static size_t drop_slashes(const char *path, size_t len)
{
    while (len > 1 && path[len - 1] == '/')
        len--;
    return len;
}

static size_t apply_path(char *text, size_t len, const seen_url_parts *parts, uint32_t flags)
{
    char *path = text + parts->path.at;
    size_t path_len = parts->path.len;
    if (flags & SEEN_URL_DROP_SESSION)
        path_len = filter_path(path, path_len);
    if (flags & SEEN_URL_DROP_SLASH)
        path_len = drop_slashes(path, path_len);
    size_t behind = parts->path.at + parts->path.len;
    memmove(path + path_len, text + behind, len - behind);
    return len - (parts->path.len - path_len);
}

/* Drops www. from the front while two labels or more are left: all of them at once, so that doing
 * it again changes nothing. */
static size_t drop_www(char *text, size_t len, const seen_url_parts *parts)
{
    char *host = text + parts->host.at;
    size_t drop = 0, host_len = parts->host.len;
    while (host_len - drop > 6 && memcmp(host + drop, "www.", 4) == 0 && host[drop + 4] != '.' &&
           memchr(host + drop + 4, '.', host_len - drop - 5))
        drop += 4;
    memmove(host, host + drop, len - parts->host.at - drop);
    return len - drop;
}

size_t sn_url_apply(char *text, size_t len, const seen_url_options *given)
{
    seen_url_options options = {.size = sizeof options};
    seen_url_parts parts;
    memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    if (!options.drop)
        options.drop_count = 0;
    if ((options.flags == 0 && options.drop_count == 0) ||
        seen_url_split(text, len, &parts) != SEEN_URL_OK)
        return len;
    /* From the back to the front: the offsets in front stay true. */
    len = apply_query(text, len, &parts, &options);
    len = apply_path(text, len, &parts, options.flags);
    if (options.flags & SEEN_URL_DROP_WWW)
        len = drop_www(text, len, &parts);
    return len;
}
