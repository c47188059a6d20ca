/* Hosts and domains in a small hash table, limits of the path, regular expressions. */
#include "crawl/links/scope.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SEEN_WITH_PSL
#include <libpsl.h>
#endif

typedef struct slice {
    const char *at;
    size_t len;
} slice;

typedef struct place {
    slice host; /* without the port */
    slice port; /* with its colon, or empty */
    slice path; /* without the query */
} place;

struct sn_scope {
    sn_scope_options options; /* without the lists of expressions */
    regex_t *include, *exclude;
    size_t include_count, exclude_count;
    char **seeds; /* open addressing; NULL is free */
    size_t seed_count, seed_room;
#ifdef SEEN_WITH_PSL
    const psl_ctx_t *psl;
#endif
};

/* ---- URLs ---- */

static bool take_scheme(slice *url)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < 2; i++) {
        size_t len = strlen(schemes[i]);
        if (url->len < len || memcmp(url->at, schemes[i], len) != 0)
            continue;
        url->at += len;
        url->len -= len;
        return true;
    }
    return false;
}

static size_t length_until(slice text, char stop)
{
    const char *end = text.len == 0 ? NULL : memchr(text.at, stop, text.len);
    return end ? (size_t)(end - text.at) : text.len;
}

static bool find_place(const char *url, size_t len, place *out)
{
    slice rest = {url, len};
    if (!take_scheme(&rest))
        return false;
    rest.len = length_until(rest, '#');
    rest.len = length_until(rest, '?');
    slice host = {rest.at, length_until(rest, '/')};
    rest = (slice){rest.at + host.len, rest.len - host.len};
    const char *user = host.len > 0 ? memrchr(host.at, '@', host.len) : NULL;
    if (user)
        host = (slice){user + 1, host.len - (size_t)(user + 1 - host.at)};
    const char *colon = host.len > 0 ? memrchr(host.at, ':', host.len) : NULL;
    if (colon && memchr(colon, ']', host.len - (size_t)(colon - host.at)) != NULL)
        colon = NULL;
    size_t port = colon ? host.len - (size_t)(colon - host.at) : 0;
    out->port = (slice){host.at + host.len - port, port};
    out->host = (slice){host.at, host.len - port};
    out->path = rest;
    return out->host.len > 0;
}

/* ---- seeds ---- */

enum { HOST_MAX = 255 };

#ifdef SEEN_WITH_PSL
static bool is_address(slice host)
{
    size_t last = host.len;
    while (last > 0 && host.at[last - 1] != '.')
        last--;
    return host.at[0] == '[' || (last < host.len && host.at[last] >= '0' && host.at[last] <= '9');
}

/* The registrable domain, or the host itself if there is none: an address, a public suffix, a name
 * without dots. */
static slice domain_of(const sn_scope *scope, slice host)
{
    char name[HOST_MAX + 1];
    if (host.len > HOST_MAX || is_address(host))
        return host;
    memcpy(name, host.at, host.len);
    name[host.len] = '\0';
    const char *domain = psl_registrable_domain(scope->psl, name);
    size_t skip = domain ? (size_t)(domain - name) : 0;
    return (slice){host.at + skip, host.len - skip};
}
#endif

/* What two URLs must have in common to belong to one seed. */
static slice key_of(const sn_scope *scope, const place *p)
{
#ifdef SEEN_WITH_PSL
    if (scope->options.kind == SN_SCOPE_DOMAIN)
        return domain_of(scope, p->host);
#else
    (void)scope;
#endif
    return (slice){p->host.at, p->host.len + p->port.len};
}

/* The slot of a key in the table, or the free slot for it. FNV-1a is sufficient: the keys are given
 * by the user. */
static size_t find_seed(const sn_scope *scope, slice key)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < key.len; i++)
        hash = (hash ^ (uint8_t)key.at[i]) * 1099511628211u;
    size_t at = (size_t)(hash >> 20) & (scope->seed_room - 1);
    for (;; at = (at + 1) & (scope->seed_room - 1)) {
        const char *seed = scope->seeds[at];
        if (!seed || (strlen(seed) == key.len && memcmp(seed, key.at, key.len) == 0))
            return at;
    }
}

static bool grow_seeds(sn_scope *scope)
{
    if (2 * scope->seed_count < scope->seed_room)
        return true;
    size_t room = scope->seed_room > 0 ? 2 * scope->seed_room : 16;
    sn_scope wider = {.seeds = calloc(room, sizeof(char *)), .seed_room = room};
    if (!wider.seeds)
        return false;
    for (size_t i = 0; i < scope->seed_room; i++) {
        char *seed = scope->seeds[i];
        if (seed)
            wider.seeds[find_seed(&wider, (slice){seed, strlen(seed)})] = seed;
    }
    free(scope->seeds);
    scope->seeds = wider.seeds;
    scope->seed_room = room;
    return true;
}

static bool add_key(sn_scope *scope, slice key)
{
    char **seed = &scope->seeds[find_seed(scope, key)];
    if (*seed)
        return true;
    *seed = strndup(key.at, key.len);
    scope->seed_count += *seed != NULL;
    return *seed != NULL;
}

/* Host, port and path up to its last slash: never equal to the key of a host, which has no
 * slash. */
static slice folder_of(const place *p)
{
    size_t len = length_until(p->path, '?');
    while (len > 0 && p->path.at[len - 1] != '/')
        len--;
    return (slice){p->host.at, (size_t)(p->path.at - p->host.at) + len};
}

bool sn_scope_add_seed(sn_scope *scope, const char *url, size_t len)
{
    place p;
    if (!find_place(url, len, &p) || !grow_seeds(scope))
        return false;
    return add_key(scope, key_of(scope, &p)) &&
           (!scope->options.no_parent || (grow_seeds(scope) && add_key(scope, folder_of(&p))));
}

/* Whether the URL is in the folder of a seed, or below it. */
static bool below_seed(const sn_scope *scope, const place *p)
{
    slice folder = folder_of(p);
    size_t host = (size_t)(p->path.at - folder.at);
    for (size_t n = folder.len; n > host; n--)
        if (folder.at[n - 1] == '/' && scope->seeds[find_seed(scope, (slice){folder.at, n})])
            return true;
    return false;
}

/* ---- paths ---- */

typedef struct segment {
    slice text;
    uint32_t hash;
} segment;

/* Counts the segments and the repeats of the most frequent one. An empty last segment, after a
 * final "/", is not counted. False: more than SN_SCOPE_SEGMENTS_MAX. */
static bool measure_path(slice path, unsigned *depth, unsigned *repeats)
{
    segment segments[SN_SCOPE_SEGMENTS_MAX];
    unsigned counts[SN_SCOPE_SEGMENTS_MAX];
    unsigned distinct = 0;
    *depth = *repeats = 0;
    while (path.len > 1) {
        path = (slice){path.at + 1, path.len - 1};
        segment s = {{path.at, length_until(path, '/')}, 2166136261u};
        for (size_t i = 0; i < s.text.len; i++)
            s.hash = (s.hash ^ (uint8_t)s.text.at[i]) * 16777619u;
        unsigned i = 0;
        while (i < distinct && (segments[i].hash != s.hash || segments[i].text.len != s.text.len ||
                                memcmp(segments[i].text.at, s.text.at, s.text.len) != 0))
            i++;
        if (++*depth > SN_SCOPE_SEGMENTS_MAX)
            return false;
        if (i == distinct) {
            segments[distinct] = s;
            counts[distinct++] = 0;
        }
        if (++counts[i] > *repeats)
            *repeats = counts[i];
        path = (slice){path.at + s.text.len, path.len - s.text.len};
    }
    return true;
}

static sn_scope_verdict check_path(const sn_scope_options *options, slice path)
{
    unsigned depth, repeats;
    if (!measure_path(path, &depth, &repeats))
        return SN_SCOPE_TOO_DEEP;
    if (options->depth_max > 0 && depth > options->depth_max)
        return SN_SCOPE_TOO_DEEP;
    return options->repeat_max > 0 && repeats > options->repeat_max ? SN_SCOPE_REPEATS
                                                                    : SN_SCOPE_IN;
}

/* ---- expressions ---- */

static bool any_matches(const regex_t *expressions, size_t count, const char *url)
{
    for (size_t i = 0; i < count; i++)
        if (regexec(&expressions[i], url, 0, NULL, 0) == 0)
            return true;
    return false;
}

static sn_scope_verdict check_expressions(const sn_scope *scope, const char *url, size_t len)
{
    char text[SN_SCOPE_URL_MAX + 1];
    if (scope->include_count + scope->exclude_count == 0)
        return SN_SCOPE_IN;
    memcpy(text, url, len);
    text[len] = '\0';
    if (any_matches(scope->exclude, scope->exclude_count, text))
        return SN_SCOPE_EXCLUDED;
    if (scope->include_count > 0 && !any_matches(scope->include, scope->include_count, text))
        return SN_SCOPE_NOT_INCLUDED;
    return SN_SCOPE_IN;
}

static bool compile(const char *const *texts, size_t count, regex_t **out, size_t *done,
                    char *message, size_t room)
{
    if (count > SN_SCOPE_PATTERNS_MAX) {
        snprintf(message, room, "more than %d expressions", SN_SCOPE_PATTERNS_MAX);
        return false;
    }
    *out = calloc(count + 1, sizeof **out);
    if (!*out) {
        snprintf(message, room, "out of memory");
        return false;
    }
    for (; *done < count; ++*done) {
        const char *text = texts[*done];
        if (strlen(text) > SN_SCOPE_PATTERN_MAX) {
            snprintf(message, room, "an expression is longer than %d bytes", SN_SCOPE_PATTERN_MAX);
            return false;
        }
        int status = regcomp(&(*out)[*done], text, REG_EXTENDED | REG_NOSUB);
        if (status != 0) {
            char why[128];
            regerror(status, &(*out)[*done], why, sizeof why);
            snprintf(message, room, "expression \"%.200s\": %s", text, why);
            return false;
        }
    }
    return true;
}

/* ---- scope ---- */

static bool find_domains(sn_scope *scope, char *message, size_t room)
{
    if (scope->options.kind != SN_SCOPE_DOMAIN)
        return true;
#ifdef SEEN_WITH_PSL
    scope->psl = psl_builtin();
    if (scope->psl)
        return true;
    snprintf(message, room, "libpsl has no list of public suffixes; use another scope than domain");
#else
    snprintf(message, room, "built without libpsl; use another scope than domain");
#endif
    return false;
}

sn_scope *sn_scope_create(const sn_scope_options *options, char *message, size_t room)
{
    sn_scope *scope = calloc(1, sizeof *scope);
    if (!scope) {
        snprintf(message, room, "out of memory");
        return NULL;
    }
    scope->options = *options;
    scope->options.include = scope->options.exclude = NULL;
    if (find_domains(scope, message, room) &&
        compile(options->include, options->include_count, &scope->include, &scope->include_count,
                message, room) &&
        compile(options->exclude, options->exclude_count, &scope->exclude, &scope->exclude_count,
                message, room))
        return scope;
    sn_scope_destroy(scope);
    return NULL;
}

void sn_scope_destroy(sn_scope *scope)
{
    if (!scope)
        return;
    for (size_t i = 0; i < scope->include_count; i++)
        regfree(&scope->include[i]);
    for (size_t i = 0; i < scope->exclude_count; i++)
        regfree(&scope->exclude[i]);
    for (size_t i = 0; i < scope->seed_room; i++)
        free(scope->seeds[i]);
    free(scope->include);
    free(scope->exclude);
    free(scope->seeds);
    free(scope);
}

sn_scope_verdict sn_scope_check(const sn_scope *scope, const char *url, size_t len)
{
    const sn_scope_options *options = &scope->options;
    place p;
    if (len > SN_SCOPE_URL_MAX || (options->url_max > 0 && len > options->url_max))
        return SN_SCOPE_TOO_LONG;
    if (!find_place(url, len, &p))
        return SN_SCOPE_NOT_HTTP;
    if (options->kind != SN_SCOPE_ALL &&
        (scope->seed_count == 0 || !scope->seeds[find_seed(scope, key_of(scope, &p))]))
        return SN_SCOPE_OTHER_HOST;
    if (options->no_parent && (scope->seed_count == 0 || !below_seed(scope, &p)))
        return SN_SCOPE_PARENT;
    sn_scope_verdict verdict = check_path(options, p.path);
    return verdict != SN_SCOPE_IN ? verdict : check_expressions(scope, url, len);
}
