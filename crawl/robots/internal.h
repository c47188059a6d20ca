/* Rules as parsed by robots.c and matched by match.c. */
#ifndef SN_CRAWL_ROBOTS_INTERNAL_H
#define SN_CRAWL_ROBOTS_INTERNAL_H

#include "crawl/robots/robots.h"

/* A pattern in normal form: unreserved bytes unescaped, everything that is neither unreserved nor
 * reserved percent-encoded in upper case, a literal "*" or "$" as %2A and %24. The wildcard "*" and
 * the final "$" are therefore unambiguous. */
typedef struct sn_robots_rule {
    uint32_t at; /* in `text` */
    uint32_t len;
    uint32_t parent; /* plain rules: the longest other one that is a prefix of it, or NO_PARENT */
    bool allow;
    bool wild;
} sn_robots_rule;

#define SN_ROBOTS_NO_PARENT UINT32_MAX

typedef struct sn_robots_slice {
    uint32_t at; /* in `text` */
    uint32_t len;
} sn_robots_slice;

struct sn_robots {
    char *text; /* all patterns and sitemaps */
    size_t text_len, text_room;
    /* First the plain rules, bytewise sorted; then those with "*" or "$", by precedence: longest
     * first, Allow before Disallow. */
    sn_robots_rule *rules;
    size_t rule_count, rule_room, plain_count;
    sn_robots_slice *sitemaps;
    size_t sitemap_count, sitemap_room;
    bool has_delay;
    uint64_t delay;
};

/* Writes the normal form, at most three times as long, and returns its length. `pattern`: "*" is a
 * wildcard and a final "$" an end; otherwise both are literal. */
size_t sn_robots_normal(const char *from, size_t len, bool pattern, char *to);

/* Whether a normalized pattern matches a normalized path. */
bool sn_robots_match(const char *pattern, size_t pattern_len, const char *path, size_t path_len);

/* Sorts the rules as described above, and removes duplicates. */
void sn_robots_sort_rules(sn_robots *robots);

#endif
