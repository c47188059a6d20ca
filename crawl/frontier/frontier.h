/* The frontier of a crawl: the URLs to fetch and the URLs already seen.
 *
 *                   offer (batches of links)
 *     engine  ------------------------------------->  frontier: the seen-set decides what is new
 *     (one    <-------------------------------------
 *     thread)       peek, take (URLs of hosts), load
 *
 *             ------------------------------------->
 *                   done (a page), settle (outputs are written)
 *
 * An interface with two implementations: local.h, a log on disk for one process, and crawl/fleet,
 * shared by many processes in Redis. The engine fetches pages, parses them and writes the outputs;
 * it keeps robots.txt, delays and retries per host (pace.h). Everything that must survive a crash,
 * or that other processes must know, goes through this header.
 *
 * The life cycle of a URL:
 *
 *     1. offer    The engine found a link: canonical, in scope, within the depth limit. The
 *                 frontier
 *                 looks it up in the seen-set and stores the URL if it is new, not necessarily
 *                 before offer returns: only the number `found` is reported back.
 *     2. peek     The frontier returns the next URL to fetch, in its order; with a depth limit, one
 *                 level at a time. URLs of a host are returned only while this process may send
 *                 requests to it. The engine puts the URL in the queue of its host and calls take;
 *                 or, if too many hosts have work, leaves it and peeks again later.
 *     3. load     The engine reads the URL again by its place, right before requesting it.
 *     4. done     The page was fetched, failed, or is not to be fetched. Before that, its links
 *                 were
 *                 offered and its output lines were written to the output buffers.
 *     5. settle   The outputs of all pages that are done have been written, or also synced. Only
 *                 then may the frontier forget that these pages were to be fetched. After a crash
 *                 before that the pages are fetched again; a crash never loses one.
 *
 * A URL that was taken and is not done when the run ends is fetched by a later run.
 *
 * Order: calls arrive in chronological order. An implementation that passes them to a thread of its
 * own must preserve the order: a settle covers the offers and dones before it, and a page is
 * acknowledged only after its links are stored.
 *
 * Threads: all functions are called by the engine's first thread and must not block for longer than
 * a local disk access; the shared frontier works in its own thread and writes to `wake_fd` when it
 * has updates. Only `start_until` is read by other threads.
 *
 * Errors: a status other than SEEN_OK ends the run, with the message in *error. */
#ifndef SN_CRAWL_FRONTIER_FRONTIER_H
#define SN_CRAWL_FRONTIER_FRONTIER_H

#include "crawl/frontier/counts.h"
#include "seen.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SN_KIND_PAGE = 0, SN_KIND_SITEMAP = 1 };

#define SN_BATCH_URLS 4096
#define SN_BATCH_BYTES (4u << 20)
#define SN_FRONTIER_URL_MAX 65535

/* ---- Input ---------------------------------------------------------------------------------- */

/* Flags of a link. */
enum {
    SN_OFFER_AGAIN = 1,       /* was fetched and failed: store it regardless of the seen-set */
    SN_OFFER_UNLESS_PAGE = 2, /* a sitemap: omit it if its URL was seen as a page */
};

/* A link. The hash is that of sn_frontier_hash. A sitemap has another key than a page with the same
 * URL, but a URL stored as a sitemap is also marked as seen as a page. */
typedef struct sn_frontier_link {
    seen_hash hash;
    const char *url; /* canonical; borrowed until offer returns, as is the parent */
    const char *parent;
    uint32_t len, parent_len; /* parent_len 0: a start URL */
    uint16_t depth;
    uint8_t hops; /* consecutive redirects that led here */
    uint8_t kind; /* SN_KIND_... */
    uint8_t flags;
} sn_frontier_link;

/* ---- Output --------------------------------------------------------------------------------- */

/* Identifies a URL that was returned by peek: 16 bytes, stored in queues. The contents depend on
 * the implementation (local: segment << 40 | offset, and the ordinal in the log). */
typedef struct sn_frontier_place {
    uint64_t at;
    uint64_t ordinal;
} sn_frontier_place;

typedef struct sn_frontier_record {
    const char *url; /* valid until the next call on the frontier, like the parent */
    size_t len;
    const char *parent; /* load only; empty for a start URL */
    size_t parent_len;
    uint16_t depth;
    uint8_t hops;
    uint8_t kind;
    sn_frontier_place place;
} sn_frontier_record;

typedef enum sn_frontier_next {
    SN_NEXT_URL,  /* the record is filled */
    SN_NEXT_WAIT, /* nothing now: work is in progress here, or in other processes */
    SN_NEXT_END   /* nothing is left: the crawl is finished if nothing is in progress */
} sn_frontier_next;

/* What is stored about a host, for the process that starts sending requests to it. */
typedef struct sn_frontier_host {
    uint64_t pages;    /* fetched there so far */
    int64_t wait_ms;   /* minimum wait before the first request: another process may just have sent
                        * one */
    const char *rules; /* its robots.txt, reduced to the rules for this crawler, or empty; NULL:
                        * unknown. Valid until the next call on the frontier */
    size_t rules_len;
    int64_t rules_ms;  /* remaining time to live */
    uint64_t delay_ms; /* what host_delay reported in an earlier run; 0: nothing */
} sn_frontier_host;

/* ---- Finished pages ------------------------------------------------------------------------- */

typedef enum sn_frontier_outcome {
    SN_OUTCOME_FETCHED, /* got a response */
    SN_OUTCOME_FAILED,  /* failed: listed for --retry-failed */
    SN_OUTCOME_SKIPPED  /* disallowed by robots.txt or a limit, or no longer in scope */
} sn_frontier_outcome;

#define SN_NOT_REQUESTED (-1) /* in place of a status: the page failed without a request */

typedef struct sn_frontier_done {
    const sn_frontier_record *record;
    sn_frontier_outcome outcome;
    bool counts;        /* counts for max_pages and max_host_pages: it was requested and is not a
                         * sitemap */
    int status;         /* HTTP status, 0: no answer, SN_NOT_REQUESTED: no request */
    uint64_t ms, bytes; /* how long it took; of its body */
    const char *why;    /* SN_OUTCOME_FAILED: short reason */
} sn_frontier_done;

/* Data of a settle; the local frontier stores it in the checkpoint, the shared one publishes the
 * counters as absolute values of this process. */
enum { SN_OUT_PAGES, SN_OUT_URLS, SN_OUT_EDGES, SN_OUT_WARC, SN_OUT_COUNT };

typedef struct sn_frontier_progress {
    const sn_crawl_counts *counts;
    uint64_t transfers; /* in progress */
    uint64_t out_length[SN_OUT_COUNT];
    uint64_t out_path[SN_OUT_COUNT]; /* hash of the path; 0: none */
} sn_frontier_progress;

/* ---- State for the engine ------------------------------------------------------------------- */

typedef enum sn_frontier_permit {
    SN_PERMIT_YES,
    SN_PERMIT_WAIT, /* not now: paused, or no confirmed heartbeat */
    SN_PERMIT_LIMIT /* max_pages were started: finish those in progress, then end */
} sn_frontier_permit;

/* Why hosts do not answer this process. */
typedef enum sn_frontier_blame {
    SN_BLAME_HOST,    /* as far as is known, they answer no process */
    SN_BLAME_UNKNOWN, /* it is too early to tell */
    SN_BLAME_SELF /* hosts answer other processes: end this run, their pages are left to those */
} sn_frontier_blame;

typedef struct sn_frontier_updates {
    bool stop;         /* end this run as if stopped by a signal */
    bool forget_links; /* the seen-set may have lost keys: clear caches of seen links */
    size_t give_back;  /* number of hosts wanted by other processes: call host_quiet for hosts
                        * without transfers and drop their queued URLs, which other processes will
                        * fetch */
    const char *seed;  /* a URL whose host is now in scope, added by another process; the next call
                        * returns the next one. Valid until the next call */
    size_t seed_len;
} sn_frontier_updates;

typedef struct sn_frontier_info {
    uint64_t waiting; /* URLs found and not done */
    double fill;      /* of the seen-set, when last read; negative: exact */
    double error_rate;
    uint64_t set_bytes;
    const char *waits; /* why it allows no request, or has no URL, in a few words; NULL: unknown */
    uint64_t start_seen; /* shared: start URLs of this run that had been seen already */
} sn_frontier_info;

typedef struct sn_frontier sn_frontier;

typedef struct sn_frontier_class {
    /* Stores the links that are new. At most SN_BATCH_URLS links and SN_BATCH_BYTES of text; links
     * of one page are adjacent. */
    seen_status (*offer)(sn_frontier *f, const sn_frontier_link *links, size_t count,
                         seen_error *error);

    /* Returns the next URL; the same one until it is taken.
     *   idle   no taken URL is in progress and every link was offered: with a depth limit, the
     *          local
     *          frontier advances to the next level only then */
    seen_status (*peek)(sn_frontier *f, bool idle, sn_frontier_record *record,
                        sn_frontier_next *next, seen_error *error);
    /* Takes the URL returned last: it is now in the queue of its host. */
    void (*take)(sn_frontier *f);
    /* Reads a URL that was taken and is not done, with its parent. */
    seen_status (*load)(sn_frontier *f, sn_frontier_place place, sn_frontier_record *record,
                        seen_error *error);

    /* See above.
     *   synced   the outputs are on disk. Otherwise they were only written: they survive the end of
     *            this
     *            process, but not a power failure */
    seen_status (*done)(sn_frontier *f, const sn_frontier_done *done, seen_error *error);
    seen_status (*settle)(sn_frontier *f, const sn_frontier_progress *progress, bool synced,
                          seen_error *error);

    /* Whether another page may be requested now. Called right before each request. */
    sn_frontier_permit (*permit)(const sn_frontier *f);
    /* A page that counts for max_pages was started. */
    void (*started)(sn_frontier *f);

    /* The engine queues the first URL of this host, or the first since host_quiet. */
    void (*host_begin)(sn_frontier *f, const char *origin, size_t len, sn_frontier_host *host);
    /* The engine has fetched the robots.txt of this host: `rules` is valid for the given time,
     * empty if everything is allowed. NULL: nothing is stored. */
    void (*host_rules)(sn_frontier *f, const char *origin, size_t len, const char *rules,
                       size_t rules_len, int64_t for_ms);
    /* Its robots.txt asks for this Crawl-delay, which is longer than the delay of the crawl: a
     * later run waits that long before its first request. NULL: not needed. */
    seen_status (*host_delay)(sn_frontier *f, const char *origin, size_t len, uint64_t delay_ms,
                              seen_error *error);
    /* Nothing of this host is queued, in transfer or waiting for a retry; the next request is
     * allowed in this many milliseconds. The engine sends no request to it until peek returns
     * another of its URLs. NULL: not needed. */
    void (*host_quiet)(sn_frontier *f, const char *origin, size_t len, int64_t wait_ms,
                       uint32_t failures);

    /* The host asked to be left alone for so long (Retry-After): other processes must know it, even
     * if this one dies. NULL: not needed. */
    void (*host_hold)(sn_frontier *f, const char *origin, size_t len, int64_t wait_ms);

    /* A host, or several, and no other, have not answered for so long. NULL: it is the hosts. */
    sn_frontier_blame (*blame)(sn_frontier *f, bool several, int64_t silent_ms);

    /* Adds the host of this URL to the scope, also for later runs and other processes. */
    seen_status (*add_seed)(sn_frontier *f, const char *url, size_t len, seen_error *error);

    /* Called once per iteration of the engine's loop. NULL: no updates. */
    seen_status (*poll)(sn_frontier *f, sn_frontier_updates *updates, seen_error *error);

    /* `look`: read the whole seen-set if its fill can only be determined that way; otherwise return
     * the last known value. */
    void (*get_info)(sn_frontier *f, bool look, sn_frontier_info *info);

    void (*close)(sn_frontier *f);
} sn_frontier_class;

/* The common part of all frontiers. */
struct sn_frontier {
    const sn_frontier_class *class;
    seen_hasher hasher; /* of the seen-set; does not change */
    uint64_t found;     /* new links in this run; changes only during calls */
    int64_t settle_ms;  /* interval at which to call settle while pages are done ... */
    int64_t sync_ms;    /* ... and with synced outputs; also at the start and the end */
    /* So many pages are settled and synced after half of settle_ms; 0: any number can wait. */
    uint64_t settle_pages;
    int wake_fd; /* readable when peek or poll has something new; -1: never */
    /* CLOCK_BOOTTIME in milliseconds: no request may be sent later than this. Checked by the
     * transfer thread, after connecting. NULL: no limit. */
    const atomic_llong *start_until;
    /* A request that was sent in time and has not arrived for so long must not arrive any more:
     * another process may own the host by then. 0: no limit. */
    uint64_t withdraw_ms;
};

/* The key of a URL in the seen-set. */
seen_hash sn_frontier_hash(const sn_frontier *f, const char *url, size_t len, uint8_t kind);
/* The length of the origin, for example "https://example.org:8443", of a canonical URL; 0: none. */
size_t sn_frontier_origin(const char *url, size_t len);

#endif
