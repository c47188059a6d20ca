/* What the files that run a crawl share; crawl.h has the picture.
 *
 *     crawl.c      the loop, the end
 *     open.c       setting up, also from a state folder
 *     admit.c      links -> candidates -> frontier and seen-set
 *     dispatch.c   frontier -> hosts -> transfers; robots.txt
 *     page.c       what arrives: links, sitemaps; what an answer means
 *     follow.c     links as written -> URLs
 *     results.c    output lines
 *     settings.c   options as text, for a crawl that goes on */
#ifndef CRAWL_ENGINE_H
#define CRAWL_ENGINE_H

#include <stdatomic.h>
#include <time.h>

#include "crawl/crawl.h"
#include "crawl/fetch/fetch.h"
#include "crawl/fetch/thread.h"
#include "crawl/follow.h"
#include "crawl/frontier/checkpoint.h"
#include "crawl/frontier/queue.h"
#include "crawl/html/hrefs.h"
#include "crawl/html/links.h"
#include "crawl/html/sitemap.h"
#include "crawl/link_cache.h"
#include "crawl/output/sink.h"
#include "crawl/output/spool.h"
#include "crawl/output/warc.h"
#include "crawl/pace.h"
#include "crawl/scope.h"

#define SN_MAX_HOPS 10               /* redirections in a row */
#define SN_SITEMAP_BYTES (50u << 20) /* as the protocol has it */
#define SN_DOWN_AFTER 5              /* connections in a row: the host is down */
#define SN_DOWN_MS 60000

typedef enum sn_job_kind { SN_JOB_PAGE, SN_JOB_SITEMAP, SN_JOB_ROBOTS } sn_job_kind;

/* One transfer and what is known about its page. */
typedef struct sn_job {
    struct sn_engine *engine;
    sn_job_kind kind;
    bool aside; /* fetched by the second thread, whose it is until it has been taken back */
    sn_host *host;
    sn_place place;
    uint32_t tries;
    uint16_t depth;
    uint8_t hops;
    char *url; /* with a NUL */
    size_t url_len, url_room;
    char *parent;
    size_t parent_len, parent_room;
    time_t date;

    /* Filled as the body arrives. */
    bool begun;  /* the first bytes have come */
    bool html;   /* they are read for links */
    bool packed; /* a sitemap that is a gzip file */
    int lost;    /* errno: the body could not be kept, or its links */
    sn_links *links;
    bool unread;      /* out of memory: links may have been missed */
    uint64_t dropped; /* links over a limit */
    sn_hrefs hrefs;
    bool has_base;
    bool base_lost;             /* it was too long: nobody knows what relative links mean */
    uint32_t base_at, base_len; /* in the bytes of hrefs */
    uint64_t found;             /* different links */
    uint64_t urls;              /* of a sitemap */
    sn_sitemap *sitemap;
    void *inflate; /* z_stream of a gzipped sitemap */
    uint64_t inflated;
    bool inflating; /* its end has not come yet */
    sn_spool body;  /* for WARC, and of robots.txt */
} sn_job;

typedef struct sn_engine {
    const sn_crawl_options *options;
    seen_url_options url_options;
    sn_crawl_counts counts;
    sn_crawl_result *result;

    /* State. */
    int folder; /* -1: none */
    int lock;
    seen_hasher hasher; /* of this run: tables of hosts and links */
    int64_t began, settled, synced, shown, looked;
    uint64_t run_pages;

    char bot[64]; /* how pages call us: the product token of the User-Agent */
    sn_scope *scope;
    sn_frontier *frontier;
    sn_frontier_info info; /* when last looked at */
    uint64_t found_before; /* new URLs of earlier runs */
    uint64_t found_at_info;
    uint64_t done_since_sync; /* pages */
    sn_link_cache *link_cache;
    sn_queues *queues;
    sn_pace *pace;
    sn_fetch *fetch;
    size_t keep_open; /* connections */
    sn_aside *aside;  /* fetches, too; NULL: one processor */
    sn_sink *out[SN_OUT_COUNT];
    sn_warc *warc;

    sn_job *jobs;
    size_t job_count;
    sn_job **idle_jobs;
    size_t idle_count;

    /* Links that are offered to the frontier with the next batch; their text is in the arena. */
    sn_frontier_link links[SN_BATCH_URLS];
    size_t link_count;
    char *arena; /* never moves */
    size_t arena_len;
    const char *parent; /* in the arena, of the page being admitted; NULL: not there yet */
    uint32_t parent_len;
    int64_t oldest; /* when the first link came */

    sn_frontier_next next; /* what the last peek returned; offers change it */
    bool hosts_full;       /* a URL was shown for which there is no room among the hosts */

    bool stopping, limit_reached;
    seen_status failed; /* inside a callback */
    seen_error *error;

    sn_follower follower, follower_aside; /* the second is the other thread's */
} sn_engine;

/* ---- admit.c ---- */

/* The page whose links follow; NULL: start URLs. The bytes must stay until the last of them. */
typedef struct sn_admit_page {
    const char *url;
    size_t len;
} sn_admit_page;

void sn_admit_begin(sn_engine *e);
/* Takes a canonical URL in if scope and limits allow. */
seen_status sn_admit(sn_engine *e, const sn_admit_page *page, const char *url, size_t len,
                     seen_hash hash, uint16_t depth, uint8_t hops, uint8_t kind);
/* The same for a link that is not in the cache of links and not too deep. */
seen_status sn_admit_link(sn_engine *e, const sn_admit_page *page, const char *url, size_t len,
                          seen_hash hash, uint16_t depth);
/* May the target of a sitemap's redirection be fetched? */
bool sn_admit_in_scope(sn_engine *e, const char *url, size_t len);
/* Takes in any URL; `flags` are those of sn_frontier_link. */
seen_status sn_admit_any(sn_engine *e, const sn_admit_page *page, const char *url, size_t len,
                         uint16_t depth, uint8_t hops, uint8_t kind, uint8_t flags);
/* Would the options of this run take in this URL, as those of an earlier run did? */
bool sn_admit_still(sn_engine *e, const sn_frontier_record *record);
/* Offers the links to the frontier. */
seen_status sn_admit_commit(sn_engine *e);
/* Resolves and makes canonical, without credentials, into e->follower.text; 0: not a URL that
 * we fetch. */
size_t sn_admit_resolve(sn_engine *e, const char *href, size_t len, const char *base,
                        size_t base_len);

/* The same with all that --drop-slash and the like would leave out. */
size_t sn_admit_resolve_whole(sn_engine *e, const char *href, size_t len, const char *base,
                              size_t base_len);

/* ---- dispatch.c ---- */

seen_status sn_dispatch(sn_engine *e);
/* The answer to a request for robots.txt. */
seen_status sn_dispatch_robots(sn_engine *e, sn_job *job, sn_transfer *transfer);
/* Milliseconds until something is tried again that was tried so often: doubled each time, or what
 * Retry-After said, within --max-wait. */
int64_t sn_dispatch_backoff(const sn_engine *e, uint32_t tries, const sn_transfer *transfer);
/* Reports a URL to the frontier that needs nothing more. */
seen_status sn_dispatch_done(sn_engine *e, const sn_frontier_done *done);
sn_job *sn_job_take(sn_engine *e);
void sn_job_release(sn_engine *e, sn_job *job);
/* Jobs that were taken. */
size_t sn_job_active(const sn_engine *e);
/* Gives back the transfer of a job. */
void sn_job_end(sn_engine *e, const sn_job *job, sn_transfer *transfer);
bool sn_job_set_url(sn_job *job, const char *url, size_t len);

/* ---- page.c ---- */

bool sn_page_body(sn_transfer *transfer, const char *bytes, size_t len);
/* A link in the headers. */
void sn_page_link(sn_transfer *transfer, bool refresh, const char *value, size_t len);
/* The last of it has come. */
void sn_page_over(sn_transfer *transfer);
void sn_page_reset(sn_job *job);
/* A transfer is over. */
seen_status sn_page_arrived(sn_engine *e, sn_transfer *transfer);

/* ---- results.c ---- */

/* One line for a page. `error` NULL: it was answered. */
seen_status sn_results_page(sn_engine *e, const sn_job *job, const sn_transfer *transfer,
                            const char *error, uint64_t links);
void sn_results_edge(sn_engine *e, const char *from, size_t from_len, const char *to,
                     size_t to_len);
/* Remembers the first page that was given up, for the summary. */
void sn_results_failed(sn_engine *e, const sn_frontier_record *record, const char *why);
/* The address of a host is not public: the first one is told at the end. */
void sn_results_refused(sn_engine *e, const sn_host *host, const sn_transfer *transfer);
seen_status sn_results_open(sn_engine *e, const uint64_t length[SN_OUT_COUNT]);
seen_status sn_results_flush(sn_engine *e);
/* Flushes or syncs the outputs and settles the frontier. */
seen_status sn_results_settle(sn_engine *e, bool sync);
const char *sn_results_path(const sn_crawl_options *options, int output);

/* ---- settings.c ---- */

seen_status sn_settings_save(int folder, const sn_crawl_options *options, seen_error *error);

/* ---- open.c ---- */

/* Everything up to the first transfer. */
seen_status sn_crawl_open(sn_engine *e);
void sn_crawl_close(sn_engine *e);
/* Asks the seen-set how full it is, and adds to what is expected to be lost. */
void sn_crawl_refresh_info(sn_engine *e);
/* The host of this URL belongs to the crawl from now on, also after a stop. */
seen_status sn_crawl_add_seed(sn_engine *e, const char *url, size_t len);

#endif
