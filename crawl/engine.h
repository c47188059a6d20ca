/* What the files that run a crawl share; crawl.h has the picture.
 *
 *     crawl.c      the loop, the end
 *     open.c       setting up, also from a state folder
 *     admit.c      links -> candidates -> frontier and seen-set
 *     dispatch.c   frontier -> hosts -> transfers; robots.txt
 *     ahead.c      with a depth limit: what stands behind deeper URLs in the frontier
 *     page.c       what arrives: links, sitemaps; what an answer means
 *     follow.c     links as written -> URLs
 *     results.c     output lines, the list of failures
 *     state.c      the state folder: lock, checkpoint
 *     settings.c   options as text, for a crawl that goes on */
#ifndef CRAWL_ENGINE_H
#define CRAWL_ENGINE_H

#include <stdatomic.h>
#include <time.h>

#include "crawl/fetch/thread.h"
#include "crawl/crawl.h"
#include "crawl/fetch/fetch.h"
#include "crawl/follow.h"
#include "crawl/frontier/frontier.h"
#include "crawl/html/hrefs.h"
#include "crawl/known.h"
#include "crawl/html/links.h"
#include "crawl/pace.h"
#include "crawl/scope.h"
#include "crawl/output/sink.h"
#include "crawl/html/sitemap.h"
#include "crawl/output/spool.h"
#include "crawl/tally.h"
#include "crawl/output/warc.h"

#define SN_MAX_HOPS 10               /* redirections in a row */
#define SN_SITEMAP_BYTES (50u << 20) /* as the protocol has it */
#define SN_DOWN_AFTER 5              /* connections in a row: the host is down */
#define SN_DOWN_MS 60000
#define SN_NOT_ASKED (-1) /* instead of a status: the page failed without a request */

enum { SN_OUT_PAGES, SN_OUT_URLS, SN_OUT_EDGES, SN_OUT_WARC, SN_OUT_COUNT };

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

/* A URL that waits to be asked for in the seen-set; the text lies in the arena. */
typedef struct sn_candidate {
    seen_hash hash;
    uint32_t at, len;
    uint32_t parent_at, parent_len;
    uint16_t depth;
    uint8_t hops, kind;
    bool again; /* was seen and failed: goes in whatever the seen-set says */
} sn_candidate;

typedef struct sn_engine {
    const sn_crawl_options *options;
    seen_url_options url_options;
    sn_crawl_counts counts;
    sn_crawl_result *result;

    /* State. */
    int folder; /* -1: none */
    int lock;
    seen_hasher hasher; /* of this crawl: hosts, exact keys */
    int64_t began, saved, shown, looked;
    uint64_t run_pages;

    char bot[64]; /* how pages call us: the product token of the User-Agent */
    sn_scope *scope;
    char *seeds; /* URLs whose hosts are in scope, one a line, with a NUL */
    size_t seeds_len;
    sn_known *known;
    sn_known_info known_info;
    uint64_t found_at_info;
    sn_frontier *frontier;
    sn_queues *queues;
    sn_pace *pace;
    sn_fetch *fetch;
    size_t keep_open; /* connections */
    sn_aside *aside;  /* fetches, too; NULL: one processor */
    sn_tally *tally;  /* pages per host; NULL without a limit */
    sn_sink *out[SN_OUT_COUNT];
    sn_warc *warc;
    int failed_fd;
    uint64_t failed_len;

    sn_job *jobs;
    size_t job_count;
    sn_job **idle_jobs;
    size_t idle_count;
    uint64_t started;   /* pages begun, for max_pages */
    uint64_t completed; /* of them done; what was under way is begun again after a stop */

    /* Candidates. */
    sn_candidate candidates[SN_BATCH_URLS];
    size_t candidate_count;
    char *arena;
    size_t arena_len, arena_room;
    uint32_t parent_at, parent_len; /* in the arena, of the page being admitted */
    bool parent_put;
    int64_t oldest; /* when the first candidate came */

    /* A record read from the frontier that cannot be placed yet. */
    bool held;
    char *held_url;
    size_t held_len;
    sn_place held_place;
    uint16_t held_depth;
    bool at_end;     /* nothing more to read until the next commit */
    uint16_t level;  /* with a depth limit: the depth being fetched, otherwise the largest */
    bool early;      /* something may stand in the log behind what is deeper */
    unsigned rounds; /* of the depth being fetched: how often that was looked for */

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
/* What a URL is known by. A sitemap has a key of its own: that its URL was met as a page says
 * nothing about what it lists. */
seen_hash sn_admit_hash(const sn_engine *e, const char *url, size_t len, uint8_t kind);
/* Takes a canonical URL in, provided that scope and limits allow. */
seen_status sn_admit(sn_engine *e, const sn_admit_page *page, const char *url, size_t len,
                     seen_hash hash, uint16_t depth, uint8_t hops, uint8_t kind);
/* The same for one that was not met lately and is not too deep. */
seen_status sn_admit_fresh(sn_engine *e, const sn_admit_page *page, const char *url, size_t len,
                           seen_hash hash, uint16_t depth, uint8_t hops, uint8_t kind);
/* Takes in where a page that scope and limits allow says that it is. */
seen_status sn_admit_there(sn_engine *e, const sn_admit_page *page, const char *url, size_t len,
                           uint16_t depth, uint8_t hops, uint8_t kind);
/* Would this URL be taken in by the options of this run? It was by those of an earlier one. */
bool sn_admit_still(sn_engine *e, const sn_frontier_record *record);
/* Puts the candidates into frontier and seen-set. */
seen_status sn_admit_commit(sn_engine *e);
/* Puts a failed URL back, though it was seen. */
seen_status sn_admit_again(sn_engine *e, const sn_admit_page *page, const char *url, size_t len,
                           uint16_t depth, uint8_t kind);
/* An sn_frontier_replay. */
seen_status sn_admit_replay(void *engine, const sn_frontier_record *records, size_t count,
                            bool unanswered, seen_answer *answers, seen_error *error);
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
/* A page that failed is tried once more: for the limit of its host it is still one page. */
void sn_dispatch_uncount(sn_engine *e, const char *url, size_t len);
/* Gives a URL to its host; *placed is false where too many hosts have work. */
seen_status sn_dispatch_place(sn_engine *e, const char *url, size_t len, sn_place at, bool *placed);
/* The URL that a job stands for is finished with. */
seen_status sn_dispatch_done(sn_engine *e, sn_place place);
sn_job *sn_job_take(sn_engine *e);
void sn_job_release(sn_engine *e, sn_job *job);
/* Jobs that were taken. */
size_t sn_job_active(const sn_engine *e);
/* Gives back the transfer of a job. */
void sn_job_end(sn_engine *e, const sn_job *job, sn_transfer *transfer);
bool sn_job_set_url(sn_job *job, const char *url, size_t len);

/* ---- ahead.c ---- */

/* All of this depth that was given out is done, and a deeper URL is held. Gives out what of this
 * depth stands behind it; *level is the depth to go on with: this one if there was something. */
seen_status sn_ahead(sn_engine *e, uint16_t *level);

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
/* Adds a URL to the list of failures; `status` is that of HTTP, or SN_NOT_ASKED. */
seen_status sn_results_failed(sn_engine *e, const sn_frontier_record *record, int status,
                              const char *why);
/* The address of a host is not public: the first one is told at the end. */
void sn_results_refused(sn_engine *e, const sn_host *host, const sn_transfer *transfer);
seen_status sn_results_open(sn_engine *e, const uint64_t length[SN_OUT_COUNT]);
/* Puts the failed URLs back into the frontier. */
seen_status sn_results_retry(sn_engine *e);
const char *sn_results_path(const sn_crawl_options *options, int output);

/* ---- state.c ---- */

typedef struct sn_checkpoint {
    sn_crawl_counts counts;
    seen_hasher hasher;
    uint64_t completed;
    uint64_t waiting;
    uint64_t failed_len;
    uint64_t out_length[SN_OUT_COUNT];
    uint64_t out_path[SN_OUT_COUNT]; /* hash of the path; 0: none */
    sn_frontier_mark mark;
    void *bytes; /* owns mark.done */
    const uint8_t *tally;
    size_t tally_len;
} sn_checkpoint;

/* Makes or opens the folder and locks it. */
seen_status sn_state_lock(const char *path, int *folder, int *lock, seen_error *error);
/* SEEN_ERR_NOT_FOUND where there is none yet. */
seen_status sn_state_read(int folder, sn_checkpoint *checkpoint, seen_error *error);
void sn_state_free(sn_checkpoint *checkpoint);
/* Brings outputs, frontier, seen-set and counters to one durable state. Without a folder only
 * forgets what is finished. */
seen_status sn_state_save(sn_engine *e);
uint64_t sn_state_path_hash(const char *path);
/* Writes a small file whole or not at all. */
seen_status sn_state_replace(int folder, const char *name, const void *bytes, size_t len,
                             seen_error *error);
/* Reads a small file, of at most `max` bytes, into memory of its own with a NUL behind it. */
seen_status sn_state_slurp(int folder, const char *name, size_t max, void **bytes, size_t *len,
                           seen_error *error);

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
