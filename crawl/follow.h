/* The links of a page, from what was written to URLs for the frontier.
 *
 *     sn_follow_read     on the thread that fetched the page: canonical, hashed, counted
 *     sn_follow_admit    on the first thread: what is not in the link cache is offered */
#ifndef CRAWL_FOLLOW_H
#define CRAWL_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hashset.h"
#include "crawl/links/resolve.h"

struct sn_engine;
struct sn_job;

/* What the links of a page lead to, each URL once. Starts zeroed. */
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

/* False: no memory. */
bool sn_follow_read(struct sn_job *job, sn_follower *follower);
/* nofollow: of the whole page. */
seen_status sn_follow_admit(struct sn_engine *e, struct sn_job *job, bool nofollow);

#endif
