/* What a robots.txt allows, by RFC 9309.
 *
 * The rules of all groups for our product token are merged; without one, those of all "*" groups.
 * The longest pattern that matches decides, Allow on a tie; "*" stands for any bytes and a final
 * "$" for the end. Percent-encoding is brought to one form on both sides before they are compared.
 *
 * A file is read up to SN_ROBOTS_MAX bytes; the line that crosses it and all after it are ignored.
 * The rules are read-only once parsed and may be asked from several threads. */
#ifndef CRAWL_ROBOTS_H
#define CRAWL_ROBOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* RFC 9309 asks for at least 500 KiB. */
#define SN_ROBOTS_MAX ((size_t)1 << 20)

typedef struct sn_robots sn_robots;

/* How much of a User-Agent is our product token, such as "seen": letters, "-" and "_" count, up to
 * the first other. */
size_t sn_robots_token(const char *agent);

/* Reads a robots.txt.
 *   bytes, len   the body; UTF-8 with or without a byte order mark; any line ends; not kept
 *   agent        begins with our product token
 * NULL when there is no memory. Any bytes are a robots.txt: what is not understood is ignored. */
sn_robots *sn_robots_parse(const void *bytes, size_t len, const char *agent);
void sn_robots_destroy(sn_robots *robots);

/* A robots.txt that means the same to us, and nothing else: to free, with its length; NULL: no
 * memory. */
char *sn_robots_text(const sn_robots *robots, size_t *len);

/* True when the path with its query, such as "/a/b?c", may be fetched. A path for which there is no
 * memory may not. Cost: a binary search among plain patterns, and one pass over the path for each
 * pattern with a "*" that could still decide. */
bool sn_robots_allowed(const sn_robots *robots, const char *path, size_t len);

/* The Crawl-delay of our groups in milliseconds, the largest if there are several, as written: a
 * cap is the caller's. False: none. */
bool sn_robots_crawl_delay(const sn_robots *robots, uint64_t *milliseconds);

/* The Sitemap lines in order, whatever group they stand in: i from 0 until NULL. As written, not
 * checked to be a URL. */
const char *sn_robots_sitemap(const sn_robots *robots, size_t i, size_t *len);

/* Does the value of an X-Robots-Tag forbid us to follow the links of its page? What stands behind
 * the name of another crawler and a colon is not for us. */
bool sn_robots_nofollow(const char *value, size_t len, const char *agent);

/* What to do with the answer to a request for robots.txt. */
typedef enum sn_robots_verdict {
    SN_ROBOTS_PARSE,       /* 2xx: read the body */
    SN_ROBOTS_REDIRECTED,  /* 3xx: follow, at most SN_ROBOTS_REDIRECTS times, then as 4xx */
    SN_ROBOTS_ALLOW_ALL,   /* 4xx: there are no rules */
    SN_ROBOTS_DISALLOW_ALL /* 5xx, no answer, or no HTTP: assume the worst, and ask again later */
} sn_robots_verdict;

enum { SN_ROBOTS_REDIRECTS = 5, SN_ROBOTS_CACHE_SECONDS = 24 * 60 * 60 };

/* status: of HTTP, or 0 when there was no answer. */
sn_robots_verdict sn_robots_policy(int status);

#endif
