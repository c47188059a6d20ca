/* A running crawl, by owner; crawl.h has the picture. The files, lowest first:
 *
 *     admit.c        URLs -> batches for the frontier          (intake)
 *     job.c          the pool of transfers                     (transfers)
 *     outputs.c      JSON lines, URLs, edges, WARC             (outputs)
 *     settle.c       writes the outputs, then settles the frontier
 *     reach.c        whether hosts do not answer, or this machine is cut off
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
#ifndef SN_CRAWL_ENGINE_H
#define SN_CRAWL_ENGINE_H

#include "crawl/admit.h"
#include "crawl/crawl.h"
#include "crawl/job.h"
#include "crawl/outputs.h"

enum { SN_REACH_HOSTS = 3 }; /* that do not answer: it may be this machine */

/* Hosts that did not answer, since one did. */
typedef struct sn_reach {
    uint64_t host[SN_REACH_HOSTS]; /* hashes */
    unsigned hosts;
    int64_t since, answered; /* when the first of them was tried; when a host last answered */
    bool doubtful;           /* this machine may be the cause of the last failure */
} sn_reach;

typedef struct sn_engine {
    const sn_crawl_options *options;
    sn_crawl_counts counts;
    sn_crawl_result *result;
    seen_error *error;

    sn_intake intake;       /* links -> frontier */
    sn_transfers transfers; /* hosts, connections */
    sn_outputs outputs;
    sn_follower follower, thread_follower; /* the second is the fetch thread's */
    sn_reach reach;

    int folder, lock;      /* -1: no state is kept */
    seen_hasher hasher;    /* of this run: tables of hosts and links */
    char bot[64];          /* the product token of the User-Agent, as used in robots rules */
    sn_frontier_info info; /* when last read */
    uint64_t found_at_info;
    uint64_t done_since_sync; /* pages */
    uint64_t run_pages;
    int64_t began, settled, synced, shown, looked; /* times, in milliseconds */

    sn_frontier_next next; /* what the last peek returned */
    bool hosts_full;       /* a URL was returned for which there is no room among the hosts */
    bool no_permit;        /* the frontier allows no request now */
    bool stopping, limit_reached;
    seen_status failed; /* inside a callback */
} sn_engine;

/* ---- settle.c ---- */

/* Offers pending links, flushes or syncs the outputs and settles the frontier. */
seen_status sn_settle_run(sn_engine *e, bool sync);
/* Reports a URL to the frontier that needs no further request. Counts a failure. */
seen_status sn_settle_done(sn_engine *e, const sn_frontier_done *done);
/* Measures the fill of the seen-set, and adds to the expected losses. */
void sn_settle_measure(sn_engine *e);

/* ---- reach.c ---- */

/* A transfer is over. Fails if it shows that this machine is cut off from the web. If that is
 * possible, `reach.doubtful` is set: the failure of the transfer does not count. */
seen_status sn_reach_note(sn_engine *e, sn_host *host, const sn_transfer *transfer);

/* ---- seeds.c ---- */

/* Whether all of them are URLs: before anything is created. */
seen_status sn_seeds_check(sn_engine *e);
/* Admits the start URLs of this run. */
seen_status sn_seeds_admit(sn_engine *e);
/* Adds the host of this URL to the scope, also for resumed crawls. */
seen_status sn_seeds_add(sn_engine *e, const char *url, size_t len);
/* The same for a URL that the frontier already has. */
seen_status sn_seeds_join(sn_engine *e, const char *url, size_t len);
/* Hosts of earlier runs: one URL per line; NULL: none. */
seen_status sn_seeds_load(sn_engine *e, const char *lines);

/* ---- host_rules.c ---- */

#define SN_DOWN_AFTER 5 /* consecutive failed connections: the host is down */
#define SN_DOWN_MS 60000

/* Requests it. */
seen_status sn_host_rules_fetch(sn_engine *e, sn_host *host);
/* The answer. */
seen_status sn_host_rules_arrived(sn_engine *e, sn_job *job, sn_transfer *transfer);
/* Uses rules that the frontier has stored. */
seen_status sn_host_rules_use(sn_engine *e, sn_host *host, const char *text, size_t len,
                              int64_t for_ms);
/* The host asked to be left alone until then (Retry-After). */
void sn_host_rules_hold(sn_engine *e, sn_host *host, int64_t until);

/* ---- hosts.c ---- */

/* Takes URLs from the frontier until one cannot be placed, or the time is over. */
seen_status sn_hosts_refill(sn_engine *e, int64_t until);
/* Reports an idle host to the frontier. */
void sn_hosts_check_quiet(sn_engine *e, sn_host *host);
/* Handles updates of the frontier: stop, new hosts in scope, hosts to return. */
seen_status sn_hosts_poll(sn_engine *e);

/* ---- page.c ---- */

/* Callbacks of the transfers, on their threads: a piece of the body, a link in the headers, the
 * end. Only for a sitemap, which the first thread fetches, do they modify more than the job. */
bool sn_page_body(sn_transfer *transfer, const char *bytes, size_t len);
void sn_page_link(sn_transfer *transfer, bool refresh, const char *value, size_t len);
void sn_page_over(sn_transfer *transfer);

/* On the first thread: a transfer is over. */
seen_status sn_page_arrived(sn_engine *e, sn_transfer *transfer);

/* ---- dispatch.c ---- */

/* Starts all requests that can be started now. */
seen_status sn_dispatch_run(sn_engine *e);

/* ---- shared.c ---- */

/* Joins the crawl at options->join, or creates it. */
seen_status sn_shared_open(sn_engine *e);
/* Whether the run failed only because its session ended. */
bool sn_shared_lost(const sn_engine *e);

/* ---- open.c ---- */

/* Everything up to the first transfer. */
seen_status sn_crawl_open(sn_engine *e);
void sn_crawl_close(sn_engine *e);

#endif
