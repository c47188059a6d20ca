/* From the links of a page to URLs for the frontier.
 *
 *     sn_follow_read     on the thread that fetched the page: canonical, hashed, counted
 *     sn_follow_admit    on the first thread: offers those that are not in the link cache */
#ifndef SN_CRAWL_FOLLOW_H
#define SN_CRAWL_FOLLOW_H

#include "base/hashset.h"
#include "crawl/links/resolve.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sn_engine;
struct sn_job;

/* The distinct target URLs of a page. Initialized to zero. */
typedef struct sn_follow_urls {
    char *text;
    size_t text_len, text_room;
} sn_follow_urls;

void sn_follow_urls_reset(sn_follow_urls *urls);
void sn_follow_urls_free(sn_follow_urls *urls);

/* What one thread needs: a resolver, and the distinct URLs of a page. Starts zeroed. */
typedef struct sn_follower {
    sn_resolver resolver;
    sn_hashset urls;
} sn_follower;

void sn_follower_free(sn_follower *follower);

/* False: out of memory. */
bool sn_follow_read(struct sn_job *job, sn_follower *follower);
/* nofollow: applies to the whole page. */
seen_status sn_follow_admit(struct sn_engine *e, struct sn_job *job, bool nofollow);

#endif
