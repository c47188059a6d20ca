/* Any robots.txt and path: the result is that of a simple parser and matcher that follow the text
 * of RFC 9309. The first byte is the length of the path, which follows it. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "crawl/robots/internal.h"
#include "crawl/robots/robots.h"

/* By a table of all suffixes of both: whether pattern[i..] matches path[j..]. */
static bool slow_match(const char *pattern, size_t m, const char *path, size_t n)
{
    bool *table = calloc((m + 1) * (n + 1), sizeof *table);
    assert(table != NULL);
    for (size_t i = m + 1; i-- > 0;)
        for (size_t j = n + 1; j-- > 0;) {
            bool *cell = &table[i * (n + 1) + j];
            if (i == m)
                *cell = true;
            else if (pattern[i] == '$')
                *cell = j == n;
            else if (pattern[i] == '*')
                *cell = cell[n + 1] || (j < n && cell[1]);
            else
                *cell = j < n && pattern[i] == path[j] && cell[n + 2];
        }
    bool answer = table[0];
    free(table);
    return answer;
}

typedef struct verdict {
    bool named;     /* a group names our agent */
    size_t best[2]; /* the longest match, in groups for all and for us */
    bool allow[2];
} verdict;

static bool is_word(const char *text, size_t len, const char *word)
{
    return len == strlen(word) && strncasecmp(text, word, len) == 0;
}

static void strip(const char **text, size_t *len)
{
    while (*len > 0 && (**text == ' ' || **text == '\t'))
        ++*text, --*len;
    while (*len > 0 && ((*text)[*len - 1] == ' ' || (*text)[*len - 1] == '\t'))
        --*len;
}

static void slow_rule(verdict *v, size_t which, bool allow, const char *value, size_t len,
                      const char *path, size_t path_len)
{
    if (len == 0 || (value[0] != '/' && value[0] != '*'))
        return;
    char *normal = malloc(3 * len);
    assert(normal != NULL);
    size_t n = sn_robots_normal(value, len, true, normal);
    if (slow_match(normal, n, path, path_len) && n >= v->best[which]) {
        v->allow[which] = n > v->best[which] ? allow : v->allow[which] || allow;
        v->best[which] = n;
    }
    free(normal);
}

static bool slow_allowed(const char *text, size_t len, const char *path, size_t path_len)
{
    verdict v = {.allow = {true, true}};
    bool us = false, all = false, rules = false;
    for (size_t at = 0, next; at < len; at = next + 1) {
        for (next = at; next < len && text[next] != '\n' && text[next] != '\r';)
            next++;
        size_t stop = at;
        while (stop < next && text[stop] != '#')
            stop++;
        const char *colon = stop > at ? memchr(text + at, ':', stop - at) : NULL;
        if (colon == NULL)
            continue;
        const char *key = text + at, *value = colon + 1;
        size_t key_len = (size_t)(colon - key), value_len = (size_t)(text + stop - value);
        strip(&key, &key_len);
        strip(&value, &value_len);
        if (is_word(key, key_len, "user-agent")) {
            if (rules)
                us = all = rules = false;
            bool token = value_len >= 3 && strncasecmp(value, "bot", 3) == 0;
            char after = value_len > 3 ? value[3] : ' ';
            bool longer = (after >= 'a' && after <= 'z') || (after >= 'A' && after <= 'Z') ||
                          after == '-' || after == '_';
            us |= token && !longer;
            all |= value_len > 0 && value[0] == '*' &&
                   (value_len == 1 || value[1] == ' ' || value[1] == '\t');
            v.named |= us;
            continue;
        }
        bool allow = is_word(key, key_len, "allow");
        if (!allow && !is_word(key, key_len, "disallow"))
            continue;
        rules = true;
        if (us)
            slow_rule(&v, 1, allow, value, value_len, path, path_len);
        if (all)
            slow_rule(&v, 0, allow, value, value_len, path, path_len);
    }
    return v.allow[v.named];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 4096)
        return 0;
    size_t path_len = data[0] < size - 1 ? data[0] : size - 1;
    const char *path = (const char *)data + 1, *text = path + path_len;
    size_t len = size - 1 - path_len;
    sn_robots *robots = sn_robots_parse(text, len, "bot/1.0");
    assert(robots != NULL);

    bool answer = sn_robots_allowed(robots, path, path_len);
    if (path_len == 11 && memcmp(path, "/robots.txt", 11) == 0) {
        assert(answer);
    } else {
        char normal[3 * 256];
        size_t n = sn_robots_normal(path, path_len, false, normal);
        size_t mark = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        assert(answer == slow_allowed(text + mark, len - mark, normal, n));
    }
    uint64_t ms;
    if (sn_robots_crawl_delay(robots, &ms))
        assert(ms <= (uint64_t)1000000000000);
    size_t url_len = 0;
    for (size_t i = 0; sn_robots_sitemap(robots, i, &url_len) != NULL; i++)
        assert(url_len > 0 && url_len < len);
    sn_robots_destroy(robots);
    return 0;
}
