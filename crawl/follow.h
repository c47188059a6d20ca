/* The links of a page, from what was written to URLs that are taken in.
 *
 *     sn_follow_read     on the thread that fetched the page: canonical, hashed, counted
 *     sn_follow_admit    on the first thread: what was not met lately enters the frontier
 *
 * Only the hashes are kept in between, so that memory stays that of the links as written; the few
 * URLs that turn out to be news are made canonical again. */
#ifndef CRAWL_FOLLOW_H
#define CRAWL_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seen.h"

struct sn_engine;
struct sn_job;

/* What one thread needs: room for a canonical URL, and a table of the different links of a page. */
typedef struct sn_follower {
    char *text;
    size_t room;
    uint64_t *met;
    size_t met_mask;
} sn_follower;

/* Born zeroed. */
void sn_follower_free(sn_follower *follower);

/* Resolves and makes canonical, without credentials, into follower->text; 0: not a URL that we
 * fetch, or no memory. */
size_t sn_follow_resolve(sn_follower *follower, const seen_url_options *options, const char *href,
                         size_t len, const char *base, size_t base_len);

/* False: no memory. */
bool sn_follow_read(struct sn_job *job, sn_follower *follower);
/* nofollow: of the whole page. */
seen_status sn_follow_admit(struct sn_engine *e, struct sn_job *job, bool nofollow);

#endif
