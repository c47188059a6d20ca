/* Optional normalization steps, applied in place to a canonical URL. Each step produces a canonical
 * URL and is idempotent. */
#include "url/url.h"

#include <string.h>

/* Names are in lower case and match case-insensitively. A trailing * matches any suffix. */
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

/* Case-insensitive if fold is set; the pattern is then in lower case. */
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

/* Length of the name at the start of "name=value". */
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
    /* If only separators remain, drop them too, but only if something was dropped. */
    return kept == 1 && kept < len ? 0 : kept;
}

/* Keeps the names of the parameters, sorted and without repeats. Returns the new length. */
static size_t keep_names(char *pieces, size_t len)
{
    size_t kept = 0;
    for (size_t at = 0; at < len;) {
        const char *next = memchr(pieces + at + 1, '&', len - at - 1);
        size_t end = next ? (size_t)(next - pieces) : len;
        size_t name = 1 + name_len(pieces + at + 1, end - at - 1);
        memmove(pieces + kept, pieces + at, name);
        kept += name;
        at = end;
    }
    sn_url_sort(pieces, kept);
    len = kept;
    const char *last = NULL;
    size_t last_len = 0;
    kept = 0;
    for (size_t at = 0; at < len;) {
        const char *next = memchr(pieces + at + 1, '&', len - at - 1);
        size_t end = next ? (size_t)(next - pieces) : len, piece = end - at;
        if (!last || last_len != piece || memcmp(last, pieces + at, piece) != 0) {
            memmove(pieces + kept, pieces + at, piece);
            last = pieces + kept;
            last_len = piece;
            kept += piece;
        }
        at = end;
    }
    return kept;
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
    if (options->flags & SEEN_URL_NO_VALUES)
        pieces_len = keep_names(pieces, pieces_len);
    else if (options->flags & SEEN_URL_SORT_QUERY)
        sn_url_sort(pieces, pieces_len);
    if (pieces_len > 0)
        *pieces = '?';
    return parts->query.at - 1 + pieces_len;
}

/* Drops the ;session parameters of a segment of `len` bytes; returns its new length. */
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

/* Drops session parameters from a path. "..;sid=1" becomes a dot segment, so dot segments are
 * resolved here too. Returns the new length. */
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

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool is_uuid(const char *text, size_t len)
{
    if (len != 36)
        return false;
    for (size_t i = 0; i < len; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text[i] != '-' : !sn_url_is(text[i], SN_URL_HEX))
            return false;
    }
    return true;
}

/* The placeholder for a path segment that is a number, a UUID or a hash (16 or more hexadecimal
 * digits, both digits and letters). A placeholder maps to itself and is never longer. NULL: none of
 * these. */
static const char *stand_in(const char *text, size_t len)
{
    size_t digits = 0, hex = 0;
    for (size_t i = 0; i < len; i++) {
        digits += is_digit(text[i]);
        hex += sn_url_is(text[i], SN_URL_HEX) != 0;
    }
    if (len > 0 && digits == len)
        return "0";
    if (is_uuid(text, len))
        return "00000000-0000-0000-0000-000000000000";
    return len >= 16 && hex == len && digits > 0 ? "a0a0a0a0a0a0a0a0" : NULL;
}

/* Length of the segment without a suffix such as .html. */
static size_t stem_len(const char *text, size_t len)
{
    for (size_t i = len; i-- > 0 && len - i <= 6;) {
        if (text[i] == '.')
            return len - i > 1 && is_letter(text[i + 1]) ? i : len;
    }
    return len;
}

/* Replaces path segments that are identifiers. Returns the new length. */
static size_t replace_ids(char *path, size_t len)
{
    size_t kept = 0;
    for (size_t at = 0; at < len;) {
        const char *next = memchr(path + at + 1, '/', len - at - 1);
        size_t end = next ? (size_t)(next - path) : len;
        const char *segment = path + at + 1;
        size_t stem = stem_len(segment, end - at - 1);
        const char *other = stand_in(segment, stem);
        path[kept++] = '/';
        if (other) {
            memcpy(path + kept, other, strlen(other));
            kept += strlen(other);
            segment += stem;
        }
        memmove(path + kept, segment, (size_t)(path + end - segment));
        kept += (size_t)(path + end - segment);
        at = end;
    }
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
    if (flags & SEEN_URL_SIMILAR)
        path_len = replace_ids(path, path_len);
    size_t behind = parts->path.at + parts->path.len;
    memmove(path + path_len, text + behind, len - behind);
    return len - (parts->path.len - path_len);
}

/* Drops leading www. labels while two or more labels remain; all of them at once, so that the step
 * is idempotent. */
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

/* https becomes http, without the port if it is the default of either. */
static size_t any_scheme(char *text, size_t len, const seen_url_parts *parts)
{
    size_t port = parts->port.len ? parts->port.len + 1 : 0;
    if (port && (parts->port_number == 80 || parts->port_number == 443)) {
        size_t behind = parts->port.at + parts->port.len;
        memmove(text + behind - port, text + behind, len - behind);
        len -= port;
    }
    size_t extra = parts->scheme.len - 4;
    memmove(text + 4, text + 4 + extra, len - 4 - extra);
    return len - extra;
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
    /* From back to front, so that earlier offsets stay valid. */
    len = apply_query(text, len, &parts, &options);
    len = apply_path(text, len, &parts, options.flags);
    if (options.flags & SEEN_URL_DROP_WWW) {
        size_t before = len;
        len = drop_www(text, len, &parts);
        parts.port.at -= before - len;
    }
    if (options.flags & SEEN_URL_ANY_SCHEME)
        len = any_scheme(text, len, &parts);
    return len;
}
