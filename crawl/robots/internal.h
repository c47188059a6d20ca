/* Rules as robots.c reads them and robots_match.c asks them. */
#ifndef CRAWL_ROBOTS_INSIDE_H
#define CRAWL_ROBOTS_INSIDE_H

#include "crawl/robots/robots.h"

/* A pattern in its normal form: unreserved bytes plain, all that is neither unreserved nor reserved
 * percent-encoded in upper case, a literal "*" or "$" as %2A and %24. The wild "*" and the final
 * "$" are bytes of their own, which therefore stand for nothing else. */
typedef struct sn_robots_rule {
    uint32_t at; /* in `text` */
    uint32_t len;
    uint32_t parent; /* plain rules: the longest other one that begins this one, or NO_PARENT */
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
    /* First the plain rules, by bytes; then those with "*" or "$", by what decides: longest first,
     * Allow before Disallow. */
    sn_robots_rule *rules;
    size_t rule_count, rule_room, plain_count;
    sn_robots_slice *sitemaps;
    size_t sitemap_count, sitemap_room;
    bool has_delay;
    uint64_t delay;
};

/* Writes the normal form, at most three times as long, and answers its length. `pattern`: "*" is
 * wild and a final "$" an end; otherwise both are literal. */
size_t sn_robots_normal(const char *from, size_t len, bool pattern, char *to);

/* Does a normal pattern match a normal path? */
bool sn_robots_match(const char *pattern, size_t pattern_len, const char *path, size_t path_len);

/* Orders the rules as the struct above says, without doubles. */
void sn_robots_settle(sn_robots *robots);

#endif
