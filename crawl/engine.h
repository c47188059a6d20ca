/* A running crawl, by owner; crawl.h has the picture. The files, lowest first:
 *
 *     admit.c        URLs -> batches for the frontier          (intake)
 *     job.c          the pool of transfers                     (transfers)
 *     outputs.c      JSON lines, URLs, edges, WARC             (outputs)
 *     settle.c       outputs written, then the frontier is told
 *     seeds.c        start URLs, hosts in scope
 *     follow.c       the links of a page
 *     host_rules.c   robots.txt of a host
 *     hosts.c        frontier -> queues of hosts
 *     page.c         what arrives, what an answer means
 *     dispatch.c     hosts -> transfers
 *     settings.c     options as text, for a crawl that is resumed
 *     shared.c       joining a crawl that several processes share
 *     open.c         setting up, also from a state folder
 *     crawl.c        the loop, the end */
#ifndef CRAWL_ENGINE_H
#define CRAWL_ENGINE_H

#include "crawl/admit.h"
#include "crawl/crawl.h"
#include "crawl/job.h"
#include "crawl/outputs.h"

typedef struct sn_engine {
    const sn_crawl_options *options;
    sn_crawl_counts counts;
    sn_crawl_result *result;
    seen_error *error;

    sn_intake intake;       /* links -> frontier */
    sn_transfers transfers; /* hosts, connections */
    sn_outputs outputs;
    sn_follower follower, thread_follower; /* the second is the fetch thread's */

    int folder, lock;      /* -1: no state is kept */
    seen_hasher hasher;    /* of this run: tables of hosts and links */
    char bot[64];          /* the product token of the User-Agent, as pages name it */
    sn_frontier_info info; /* when last looked at */
    uint64_t found_at_info;
    uint64_t done_since_sync; /* pages */
    uint64_t run_pages;
    int64_t began, settled, synced, shown, looked; /* times, in milliseconds */

    sn_frontier_next next; /* what the last peek returned */
    bool hosts_full;       /* a URL was shown for which there is no room among the hosts */
    bool stopping, limit_reached;
    seen_status failed; /* inside a callback */
} sn_engine;

#endif
