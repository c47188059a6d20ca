/* One transfer and the data of its page; the pool of all transfers. */
#ifndef SN_CRAWL_JOB_H
#define SN_CRAWL_JOB_H

#include "crawl/crawl.h"
#include "crawl/fetch/fetch.h"
#include "crawl/fetch/thread.h"
#include "crawl/fetch/unpack.h"
#include "crawl/follow.h"
#include "crawl/frontier/pace.h"
#include "crawl/frontier/queue.h"
#include "crawl/html/hrefs.h"
#include "crawl/html/links.h"
#include "crawl/html/sitemap.h"
#include "crawl/output/digest.h"
#include "crawl/output/spool.h"

#include <time.h>

typedef enum sn_job_kind { SN_JOB_PAGE, SN_JOB_SITEMAP, SN_JOB_ROBOTS } sn_job_kind;

typedef struct sn_job {
    struct sn_engine *engine;
    sn_job_kind kind;
    bool on_thread; /* fetched by the fetch thread, which owns it until it is over */
    sn_host *host;
    sn_host *other; /* robots.txt that was redirected: the host that gets the request; or NULL */
    bool host_waits, other_waits; /* their delay begins when the request has been sent */
    sn_try what;
    uint16_t depth;
    uint8_t hops;
    char *url; /* NUL-terminated */
    size_t url_len, url_room;
    char *parent;
    size_t parent_len, parent_room;
    time_t date;

    /* Filled as the body arrives. */
    bool begun;  /* the first bytes have arrived */
    bool html;   /* they are parsed for links */
    bool packed; /* a gzipped sitemap */
    int lost;    /* errno: the body or its links could not be stored */
    sn_links *links;
    bool unread;      /* out of memory: links may be missing */
    uint64_t dropped; /* links over a limit */
    sn_hrefs hrefs;
    bool has_base;
    bool base_lost;             /* it was too long: relative links cannot be resolved */
    uint32_t base_at, base_len; /* in the bytes of hrefs */
    sn_follow_urls urls;        /* the targets of the links */
    uint64_t found;             /* distinct links */
    uint64_t listed;            /* URLs of a sitemap */
    sn_sitemap *sitemap;
    sn_unpack unpack; /* of a gzipped sitemap */
    uint64_t unpacked;
    bool cut;      /* its compressed data ended early */
    sn_spool body; /* for WARC, and of robots.txt */
    sn_digest *digest;
} sn_job;

/* All transfers. */
typedef struct sn_transfers {
    sn_queues *queues;
    sn_pace *pace;
    sn_fetch *fetch;
    sn_fetch_thread *thread; /* second fetching thread; NULL: there is one processor */
    size_t keep_open;        /* connections */
    sn_job *jobs;
    size_t count;
    sn_job **idle;
    size_t idle_count;
} sn_transfers;

/* Creates the jobs. False: out of memory. */
bool sn_job_create_all(sn_transfers *transfers, struct sn_engine *engine, size_t count);
void sn_job_free_all(sn_transfers *transfers);

/* There must be an idle one. */
sn_job *sn_job_take(sn_transfers *transfers);
/* Returns a job, and its transfer unless that is NULL. */
void sn_job_release(sn_transfers *transfers, sn_job *job, sn_transfer *transfer);
/* Jobs in use. */
size_t sn_job_active(const sn_transfers *transfers);

/* False: out of memory. */
bool sn_job_set_url(sn_job *job, const char *url, size_t len);
bool sn_job_set_parent(sn_job *job, const char *url, size_t len);

/* Starts the transfer; at most `limit` bytes of the body are read. */
seen_status sn_job_start(sn_transfers *transfers, sn_job *job, uint64_t limit, seen_error *error);
/* Its request was sent: the delays of its hosts begin. */
void sn_job_sent(sn_transfers *transfers, sn_job *job, int64_t at);
/* The transfer is over. */
void sn_job_end(sn_transfers *transfers, sn_job *job, const sn_transfer *transfer);
/* Discards the body of the previous transfer. */
void sn_job_reset(sn_job *job);

/* Milliseconds until the next try after so many: doubled each time, or the time of Retry-After, at
 * most --max-wait. */
int64_t sn_job_backoff(const sn_crawl_options *options, uint32_t tries,
                       const sn_transfer *transfer);

#endif
