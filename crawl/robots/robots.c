/* Parses a robots.txt.
 *
 * Two passes over the lines: the first determines whether any group names us, the second collects
 * the rules of those groups, or else of the "*" groups. A group is consecutive User-agent lines and
 * the rules after them; other lines, known or not, do not separate them. */
#include "crawl/robots/robots.h"

#include "base/memory.h"
#include "crawl/robots/internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct line {
    const char *key;
    size_t key_len;
    const char *value;
    size_t value_len;
} line;

typedef struct reader {
    const char *p, *end;
    const char *agent; /* our product token */
    size_t agent_len;
    bool for_us;   /* the current group names us */
    bool for_all;  /* the current group names "*" */
    bool in_rules; /* the current group has rules: a User-agent line begins another */
} reader;

static uint8_t lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : (uint8_t)c;
}

static bool same(const char *a, size_t a_len, const char *b, size_t b_len)
{
    if (a_len != b_len)
        return false;
    for (size_t i = 0; i < a_len; i++)
        if (lower(a[i]) != lower(b[i]))
            return false;
    return true;
}

static bool is_key(const line *l, const char *key)
{
    return same(l->key, l->key_len, key, strlen(key));
}

/* Names with the misspellings that Google accepts: a file that is meant to keep crawlers out must
 * not be read as one without rules. */
static bool is_user_agent(const line *l)
{
    return is_key(l, "user-agent") || is_key(l, "useragent") || is_key(l, "user agent");
}

static bool is_disallow(const line *l)
{
    static const char *const names[] = {"disallow", "dissallow", "dissalow",
                                        "disalow",  "diasllow",  "disallaw"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (is_key(l, names[i]))
            return true;
    return false;
}

static bool is_sitemap(const line *l)
{
    return is_key(l, "sitemap") || is_key(l, "site-map");
}

/* The characters of a product token: letters, "-" and "_". */
static size_t token_len(const char *text, size_t len)
{
    size_t n = 0;
    while (n < len &&
           ((lower(text[n]) >= 'a' && lower(text[n]) <= 'z') || text[n] == '-' || text[n] == '_'))
        n++;
    return n;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static void trim(const char **text, size_t *len)
{
    while (*len > 0 && is_space(**text)) {
        ++*text;
        --*len;
    }
    while (*len > 0 && is_space((*text)[*len - 1]))
        --*len;
}

static const char *find(const char *text, size_t len, char c)
{
    return len > 0 ? memchr(text, c, len) : NULL;
}

/* The colon may be missing between exactly two words: "Disallow /x". */
static const char *find_gap(const char *text, size_t len)
{
    size_t at = 0;
    while (at < len && !is_space(text[at]))
        at++;
    const char *gap = at < len ? text + at : NULL;
    while (at < len && is_space(text[at]))
        at++;
    while (at < len && !is_space(text[at]))
        at++;
    return at == len ? gap : NULL;
}

/* Reads the next line; false at the end. A line without a name and a value has an empty key. */
static bool next_line(reader *r, line *l)
{
    if (r->p == r->end)
        return false;
    const char *from = r->p;
    while (r->p < r->end && *r->p != '\n' && *r->p != '\r')
        r->p++;
    size_t len = (size_t)(r->p - from);
    if (r->p < r->end)
        r->p++;
    const char *comment = find(from, len, '#');
    if (comment)
        len = (size_t)(comment - from);
    trim(&from, &len);
    const char *colon = find(from, len, ':');
    if (!colon)
        colon = find_gap(from, len);
    l->key = from;
    l->key_len = colon ? (size_t)(colon - from) : 0;
    l->value = colon ? colon + 1 : from;
    l->value_len = colon ? len - l->key_len - 1 : 0;
    trim(&l->key, &l->key_len);
    trim(&l->value, &l->value_len);
    return true;
}

/* Tracks the groups; true if the line is a rule or a Crawl-delay of the current group. */
static bool follow_groups(reader *r, const line *l)
{
    if (is_user_agent(l)) {
        if (r->in_rules)
            r->in_rules = r->for_us = r->for_all = false;
        size_t len = token_len(l->value, l->value_len);
        r->for_us |= r->agent_len > 0 && same(l->value, len, r->agent, r->agent_len);
        r->for_all |=
            l->value_len > 0 && l->value[0] == '*' && (l->value_len == 1 || is_space(l->value[1]));
        return false;
    }
    if (is_key(l, "allow") || is_disallow(l)) {
        r->in_rules = true;
        return true;
    }
    return is_key(l, "crawl-delay");
}

/* ---- storing rules ---- */

static char *grow_text(sn_robots *robots, size_t more)
{
    char *text = sn_memory_grow(robots->text, &robots->text_room, robots->text_len + more, 1);
    if (!text)
        return NULL;
    robots->text = text;
    return text + robots->text_len;
}

static bool keep_rule(sn_robots *robots, const line *l)
{
    if (l->value_len == 0 || (l->value[0] != '/' && l->value[0] != '*'))
        return true;
    sn_robots_rule *rules =
        sn_memory_grow(robots->rules, &robots->rule_room, robots->rule_count + 1, sizeof *rules);
    if (!rules)
        return false;
    robots->rules = rules;
    char *to = grow_text(robots, 3 * l->value_len);
    if (!to)
        return false;
    size_t len = sn_robots_normal(l->value, l->value_len, true, to);
    rules[robots->rule_count++] = (sn_robots_rule){
        .at = (uint32_t)robots->text_len,
        .len = (uint32_t)len,
        .parent = SN_ROBOTS_NO_PARENT,
        .allow = is_key(l, "allow"),
        .wild = find(to, len, '*') || to[len - 1] == '$',
    };
    robots->text_len += len;
    return true;
}

static bool keep_sitemap(sn_robots *robots, const line *l)
{
    if (l->value_len == 0)
        return true;
    sn_robots_slice *sitemaps = sn_memory_grow(robots->sitemaps, &robots->sitemap_room,
                                               robots->sitemap_count + 1, sizeof *sitemaps);
    if (!sitemaps)
        return false;
    robots->sitemaps = sitemaps;
    char *to = grow_text(robots, l->value_len);
    if (!to)
        return false;
    memcpy(to, l->value, l->value_len);
    sitemaps[robots->sitemap_count++] =
        (sn_robots_slice){(uint32_t)robots->text_len, (uint32_t)l->value_len};
    robots->text_len += l->value_len;
    return true;
}

/* Parses seconds, possibly with a fraction; anything else is ignored. More than about 30 years
 * become 30. */
static void keep_delay(sn_robots *robots, const line *l)
{
    const uint64_t most = (uint64_t)1000000000 * 1000;
    uint64_t ms = 0, unit = 100;
    bool digits = false, fraction = false;
    for (size_t i = 0; i < l->value_len; i++) {
        char c = l->value[i];
        if (c == '.' && !fraction) {
            fraction = true;
            continue;
        }
        if (c < '0' || c > '9')
            return;
        digits = true;
        uint64_t digit = (uint64_t)(c - '0');
        ms = fraction ? ms + digit * unit : ms * 10 + digit * 1000;
        if (fraction)
            unit /= 10;
        if (ms > most)
            ms = most;
    }
    if (!digits)
        return;
    if (!robots->has_delay || ms > robots->delay)
        robots->delay = ms;
    robots->has_delay = true;
}

static bool keep(sn_robots *robots, const line *l)
{
    if (!is_key(l, "crawl-delay"))
        return keep_rule(robots, l);
    keep_delay(robots, l);
    return true;
}

/* ---- parsing ---- */

static bool names_us(reader r)
{
    line l;
    while (next_line(&r, &l)) {
        follow_groups(&r, &l);
        if (r.for_us)
            return true;
    }
    return false;
}

static bool read_all(sn_robots *robots, reader r)
{
    bool by_name = names_us(r);
    line l;
    while (next_line(&r, &l)) {
        bool of_group = follow_groups(&r, &l);
        if (is_sitemap(&l)) {
            if (!keep_sitemap(robots, &l))
                return false;
        } else if (of_group && (by_name ? r.for_us : r.for_all)) {
            if (!keep(robots, &l))
                return false;
        }
    }
    sn_robots_sort_rules(robots);
    return true;
}

size_t sn_robots_token(const char *agent)
{
    return token_len(agent, strlen(agent));
}

/* Rules that have their own colon and value. */
static bool takes_value(const char *name, size_t len)
{
    static const char *const rules[] = {"unavailable_after", "max-snippet", "max-image-preview",
                                        "max-video-preview"};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (same(name, len, rules[i], strlen(rules[i])))
            return true;
    return false;
}

/* Whether this begins with the rule whose value is a date. */
static bool is_date(const char *rule, size_t len)
{
    static const char name[] = "unavailable_after";
    return len >= sizeof name - 1 && same(rule, sizeof name - 1, name, sizeof name - 1);
}

bool sn_robots_nofollow(const char *value, size_t len, const char *agent)
{
    bool ours = true, dated = false;
    for (const char *at = value, *end = value + len; at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *rule = at;
        size_t rule_len = (size_t)((comma ? comma : end) - at);
        at = comma ? comma + 1 : end;
        trim(&rule, &rule_len);
        /* A date may have a comma after its day: "Fri, 25 Jun 2010 15:00:00 GMT". */
        bool rest = dated && rule_len > 0 && rule[0] >= '0' && rule[0] <= '9';
        dated = is_date(rule, rule_len);
        const char *colon = rest ? NULL : find(rule, rule_len, ':');
        if (colon) {
            size_t name_len = (size_t)(colon - rule);
            rule_len -= name_len + 1;
            trim(&rule, &name_len);
            if (takes_value(rule, name_len))
                continue;
            ours = same(rule, name_len, agent, sn_robots_token(agent));
            rule = colon + 1;
            trim(&rule, &rule_len);
            dated = is_date(rule, rule_len);
        }
        if (ours && (same(rule, rule_len, "nofollow", 8) || same(rule, rule_len, "none", 4)))
            return true;
    }
    return false;
}

sn_robots *sn_robots_parse(const void *bytes, size_t len, const char *agent)
{
    const char *text = len > 0 ? bytes : "";
    if (len > SN_ROBOTS_MAX) {
        len = SN_ROBOTS_MAX;
        while (len > 0 && text[len - 1] != '\n' && text[len - 1] != '\r')
            len--;
    }
    size_t mark = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    sn_robots *robots = calloc(1, sizeof *robots);
    if (!robots)
        return NULL;
    reader r = {
        .p = text + mark,
        .agent = agent,
        .agent_len = sn_robots_token(agent),
    };
    r.end = r.p + (len - mark);
    if (read_all(robots, r))
        return robots;
    sn_robots_destroy(robots);
    return NULL;
}

void sn_robots_destroy(sn_robots *robots)
{
    if (!robots)
        return;
    free(robots->text);
    free(robots->rules);
    free(robots->sitemaps);
    free(robots);
}

bool sn_robots_crawl_delay(const sn_robots *robots, uint64_t *milliseconds)
{
    if (robots->has_delay)
        *milliseconds = robots->delay;
    return robots->has_delay;
}

const char *sn_robots_sitemap(const sn_robots *robots, size_t i, size_t *len)
{
    if (i >= robots->sitemap_count)
        return NULL;
    *len = robots->sitemaps[i].len;
    return robots->text + robots->sitemaps[i].at;
}

sn_robots_verdict sn_robots_policy(int status)
{
    if (status >= 200 && status < 300)
        return SN_ROBOTS_PARSE;
    if (status >= 300 && status < 400)
        return SN_ROBOTS_REDIRECTED;
    if (status >= 400 && status < 500)
        return SN_ROBOTS_ALLOW_ALL;
    return SN_ROBOTS_DISALLOW_ALL;
}
