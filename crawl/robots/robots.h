/* What a robots.txt allows, according to RFC 9309.
 *
 * The rules of all groups for our product token are merged; if there are none, those of all "*"
 * groups. The longest matching pattern decides, Allow on a tie; "*" matches any bytes and a final
 * "$" the end. Percent-encoding is normalized on both sides before comparing.
 *
 * A file is read up to SN_ROBOTS_MAX bytes; the line that crosses the limit and all after it are
 * ignored. Parsed rules are read-only and may be used by several threads. */
#ifndef SN_CRAWL_ROBOTS_ROBOTS_H
#define SN_CRAWL_ROBOTS_ROBOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* RFC 9309 requires at least 500 KiB. */
#define SN_ROBOTS_MAX ((size_t)1 << 20)

typedef struct sn_robots sn_robots;

/* The length of the product token at the start of a User-Agent, such as "seen": letters, "-" and
 * "_". */
size_t sn_robots_token(const char *agent);

/* Parses a robots.txt.
 *   bytes, len   the body; UTF-8 with or without a byte order mark; any line ends; not kept
 *   agent        begins with our product token
 * NULL if out of memory. Any bytes are accepted: unknown lines are ignored. */
sn_robots *sn_robots_parse(const void *bytes, size_t len, const char *agent);
void sn_robots_destroy(sn_robots *robots);

/* An equivalent robots.txt reduced to the rules for us: to be freed, with its length; NULL: out of
 * memory. */
char *sn_robots_text(const sn_robots *robots, size_t *len);

/* Whether the path with its query, such as "/a/b?c", may be fetched. False if out of memory. Cost:
 * a binary search among plain patterns, and one pass over the path for each pattern with a "*" that
 * could still decide. */
bool sn_robots_allowed(const sn_robots *robots, const char *path, size_t len);

/* The Crawl-delay of our groups in milliseconds, the largest if there are several, without a limit.
 * False: none. */
bool sn_robots_crawl_delay(const sn_robots *robots, uint64_t *milliseconds);

/* The Sitemap lines in order, from all groups: i from 0 until NULL. As written, not validated. */
const char *sn_robots_sitemap(const sn_robots *robots, size_t i, size_t *len);

/* Whether the value of an X-Robots-Tag forbids us to follow the links of its page. Directives for
 * other crawlers, named before a colon, are ignored. */
bool sn_robots_nofollow(const char *value, size_t len, const char *agent);

/* How to handle the response to a request for robots.txt. */
typedef enum sn_robots_verdict {
    SN_ROBOTS_PARSE,       /* 2xx: read the body */
    SN_ROBOTS_REDIRECTED,  /* 3xx: follow, at most SN_ROBOTS_REDIRECTS times, then as 4xx */
    SN_ROBOTS_ALLOW_ALL,   /* 4xx: there are no rules */
    SN_ROBOTS_DISALLOW_ALL /* 5xx, no response, or not HTTP: deny everything, and retry later */
} sn_robots_verdict;

enum { SN_ROBOTS_REDIRECTS = 5, SN_ROBOTS_CACHE_SECONDS = 24 * 60 * 60 };

/* status: of HTTP, or 0 if there was no response. */
sn_robots_verdict sn_robots_policy(int status);

#endif
