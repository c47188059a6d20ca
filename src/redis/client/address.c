/* Addresses of filters in Redis. */
#include "redis/client/address.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_PORT = 6379 };

static const char FORM[] = "redis://[user:password@]host[:port][/db]/NAME";

/* The address does not appear in messages before its password is removed. */
static seen_status refuse(seen_error *error, const char *why)
{
    return sn_error_set(error, SEEN_ERR_ARGUMENT, "bad Redis address: %s; write %s", why, FORM);
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes %XX; false if it does not fit or is malformed. */
static bool decode(const char *from, size_t len, char *to, size_t room, size_t *out_len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        char c = from[i];
        if (c == '%') {
            if (i + 2 >= len)
                return false;
            int high = hex_value(from[i + 1]), low = hex_value(from[i + 2]);
            if (high < 0 || low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        }
        if (n + 1 >= room)
            return false;
        to[n++] = c;
    }
    to[n] = '\0';
    *out_len = n;
    return true;
}

static bool all_digits(const char *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (p[i] < '0' || p[i] > '9')
            return false;
    return len > 0;
}

static bool small_number(const char *p, size_t len, unsigned max, unsigned *out)
{
    unsigned value = 0;
    if (!all_digits(p, len) || len > 6)
        return false;
    for (size_t i = 0; i < len; i++)
        value = value * 10 + (unsigned)(p[i] - '0');
    *out = value;
    return value <= max;
}

static seen_status parse_secret(const char *p, size_t len, sn_redis_address *a, seen_error *error)
{
    const char *colon = memchr(p, ':', len);
    if (!colon)
        return refuse(error, "a user without a password");
    size_t user = (size_t)(colon - p);
    if (!decode(p, user, a->user, sizeof a->user, &a->user_len) ||
        !decode(colon + 1, len - user - 1, a->password, sizeof a->password, &a->password_len))
        return refuse(error, "the user or the password is too long or holds a bad %XX");
    a->has_password = true;
    return SEEN_OK;
}

/* For an address without a password: that of redis-cli, so that none has to be on a command
 * line. */
static seen_status password_from_environment(sn_redis_address *a, seen_error *error)
{
    const char *password = getenv("REDISCLI_AUTH");
    if (!password || !*password)
        return SEEN_OK;
    a->password_len = strlen(password);
    if (a->password_len >= sizeof a->password)
        return refuse(error, "the password in REDISCLI_AUTH is too long");
    memcpy(a->password, password, a->password_len + 1);
    a->has_password = true;
    return SEEN_OK;
}

/* host, host:port, [v6] or [v6]:port. */
static seen_status parse_host(const char *p, size_t len, sn_redis_address *a, seen_error *error)
{
    if (a->seeds == SN_REDIS_SEEDS)
        return refuse(error, "more than 16 hosts");
    sn_redis_place *place = &a->seed[a->seeds];
    const char *host = p, *rest = NULL;
    size_t host_len = len;
    if (len && p[0] == '[') {
        const char *close = memchr(p, ']', len);
        if (!close)
            return refuse(error, "a [ without its ]");
        host = p + 1;
        host_len = (size_t)(close - host);
        rest = close + 1;
    } else {
        const char *colon = memchr(p, ':', len);
        rest = colon ? colon : p + len;
        host_len = (size_t)(rest - p);
    }
    size_t rest_len = len - (size_t)(rest - p);
    unsigned port = DEFAULT_PORT;
    if (rest_len &&
        (rest[0] != ':' || !small_number(rest + 1, rest_len - 1, 65535, &port) || !port))
        return refuse(error, "the port is not a number from 1 to 65535");
    size_t n;
    if (!decode(host, host_len, place->host, sizeof place->host, &n) || strlen(place->host) != n)
        return refuse(error, "the host name is too long");
    if (n == 0)
        memcpy(place->host, "127.0.0.1", 10);
    place->port = (uint16_t)port;
    a->seeds++;
    return SEEN_OK;
}

static seen_status parse_hosts(const char *p, size_t len, sn_redis_address *a, seen_error *error)
{
    seen_status status = SEEN_OK;
    for (size_t at = 0; at <= len && status == SEEN_OK;) {
        const char *comma = a->cluster ? memchr(p + at, ',', len - at) : NULL;
        size_t n = comma ? (size_t)(comma - (p + at)) : len - at;
        status = parse_host(p + at, n, a, error);
        at += n + 1;
    }
    return status;
}

static seen_status parse_name(const char *p, size_t len, sn_redis_address *a, seen_error *error)
{
    if (!decode(p, len, a->name, sizeof a->name, &a->name_len))
        return refuse(error, "the NAME is longer than 255 bytes or holds a bad %XX");
    return a->name_len ? SEEN_OK : refuse(error, "the NAME is missing");
}

/* After the hosts: [db/]NAME. */
static seen_status parse_tail(const char *p, size_t len, sn_redis_address *a, seen_error *error)
{
    const char *slash = memchr(p, '/', len);
    size_t first = slash ? (size_t)(slash - p) : len;
    if (slash && all_digits(p, first)) {
        if (a->cluster)
            return refuse(error, "a cluster has no databases");
        if (!small_number(p, first, 99999, &a->db))
            return refuse(error, "the number of the database is too large");
        p += first + 1;
        len -= first + 1;
    }
    return parse_name(p, len, a, error);
}

/* /path/to/socket[/db]/NAME */
static seen_status parse_socket(const char *p, size_t len, sn_redis_address *a, seen_error *error)
{
    const char *name = memrchr(p, '/', len);
    if (!name || name == p)
        return refuse(error, "redis+unix:// takes /path/to/socket/NAME");
    seen_status status = parse_name(name + 1, len - (size_t)(name + 1 - p), a, error);
    if (status != SEEN_OK)
        return status;
    size_t path = (size_t)(name - p);
    const char *db = memrchr(p, '/', path);
    if (db && db != p && all_digits(db + 1, path - (size_t)(db + 1 - p))) {
        if (!small_number(db + 1, path - (size_t)(db + 1 - p), 99999, &a->db))
            return refuse(error, "the number of the database is too large");
        path = (size_t)(db - p);
    }
    size_t n;
    if (!decode(p, path, a->seed[0].host, SN_REDIS_PATH, &n) || strlen(a->seed[0].host) != n)
        return refuse(error, "the path of the socket is too long");
    a->seeds = 1;
    return SEEN_OK;
}

static bool starts(const char *text, const char *with, const char **rest)
{
    size_t n = strlen(with);
    if (strncmp(text, with, n) != 0)
        return false;
    *rest = text + n;
    return true;
}

seen_status sn_redis_address_parse(const char *where, sn_redis_address *a, seen_error *error)
{
    const char *p;
    bool socket = false;
    *a = (sn_redis_address){.cluster = false};
    a->tls = starts(where, "rediss", &p);
    if (starts(where, a->tls ? "rediss-cluster://" : "redis-cluster://", &p))
        a->cluster = true;
    else if (starts(where, "redis+unix://", &p))
        socket = true;
    else if (!starts(where, a->tls ? "rediss://" : "redis://", &p))
        return refuse(error, "it starts with none of the known schemes");
    const char *scheme_end = p;
    /* A password may contain no raw slash and no raw @: both end it. With an @ after a slash the
     * address is ambiguous, and printing it might reveal a password. */
    size_t authority = strcspn(p, "/");
    if (strchr(p + authority, '@'))
        return refuse(error,
                      "there is an @ behind a /: in a user or a password a / is written %2F, "
                      "in a path or a NAME an @ is written %40");
    const char *at = memrchr(p, '@', authority);
    seen_status status = SEEN_OK;
    if (at) {
        status = parse_secret(p, (size_t)(at - p), a, error);
        authority -= (size_t)(at + 1 - p);
        p = at + 1;
    }
    if (status == SEEN_OK && !a->has_password)
        status = password_from_environment(a, error);
    if (status != SEEN_OK)
        return status;
    snprintf(a->shown, sizeof a->shown, "%.*s%.*s", (int)(scheme_end - where), where, 560, p);
    if (socket)
        return parse_socket(p, strlen(p), a, error);
    if (p[authority] != '/')
        return refuse(error, "the NAME is missing");
    status = parse_hosts(p, authority, a, error);
    return status == SEEN_OK ? parse_tail(p + authority + 1, strlen(p + authority + 1), a, error)
                             : status;
}
