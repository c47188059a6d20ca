/* The frontier of a crawl: which URLs are to be fetched, and which were seen.
 *
 *                   offer (batches of links)
 *     engine  ------------------------------------->  frontier: the seen-set decides what is new
 *     (one    <-------------------------------------
 *     thread)       peek, take (URLs of hosts), load
 *
 *             ------------------------------------->
 *                   done (a page), settle (outputs are written)
 *
 * An interface with two implementations: local.h, a log on disk for one process, and
 * crawl/fleet, shared by many in Redis. The engine fetches pages, parses them and writes the
 * outputs; it keeps robots.txt, delays and retries per host (pace.h). Everything that must survive
 * a crash, or that other processes must know, goes through this header.
 *
 * The life of a URL:
 *
 *     1. offer    The engine found a link: canonical, in scope, not too deep. The frontier asks the
 *                 seen-set and stores the URL if it is new. Whether it does so before offer returns
 *                 is its own affair: nothing is reported back but the number `found`.
 *     2. peek     The frontier shows the next URL that may be fetched, in its order, and with a
 *                 depth limit one level at a time. A host's URLs are shown only while this process
 *                 may ask that host. The engine puts it in the queue of its host and calls take; or
 *                 leaves it, if too many hosts have work, and peeks again later.
 *     3. load     The engine reads the URL again by its place, right before it is requested.
 *     4. done     The page was fetched, or given up, or is not to be fetched. Its links were
 * offered and its output lines are in the output buffers before.
 *     5. settle   The outputs of all pages that are done have been written, or also synced. Only
 * now may the frontier forget that these pages were to be fetched. After a crash before it the
 * pages are fetched again; a crash never loses one.
 *
 * A URL that was taken and is not done when the run ends is fetched by a later run.
 *
 * Order: calls arrive in the order in which things happened. An implementation that passes them to
 * a thread of its own must keep it: a settle covers the offers and dones before it, and a page is
 * acknowledged only after its links are stored.
 *
 * Threads: all functions are called by the engine's first thread, and must not block for longer
 * than a local disk takes; the shared frontier works in a thread of its own and writes to `wake_fd`
 * when it has something. `start_until` alone is read by other threads.
 *
 * Errors: a status that is not SEEN_OK ends the run, with the message in *error. */
#ifndef CRAWL_FRONTIER_H
#define CRAWL_FRONTIER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crawl/frontier/counts.h"
#include "seen.h"

enum { SN_KIND_PAGE = 0, SN_KIND_SITEMAP = 1 };

#define SN_BATCH_URLS 4096
#define SN_BATCH_BYTES (4u << 20)
#define SN_FRONTIER_URL_MAX 65535

/* ---- URLs going in ---- */

/* Flags of a link. */
enum {
    SN_OFFER_AGAIN = 1,       /* was fetched and failed: store it whatever the seen-set says */
    SN_OFFER_UNLESS_PAGE = 2, /* a sitemap: leave it out if its URL was seen as a page */
};

/* A link. The hash is that of sn_frontier_hash. A sitemap is another key than the page of the same
 * URL, but what is stored as a sitemap is also seen as a page. */
typedef struct sn_frontier_link {
    seen_hash hash;
    const char *url; /* canonical; borrowed until offer returns, as is the parent */
    const char *parent;
    uint32_t len, parent_len; /* parent_len 0: a start URL */
    uint16_t depth;
    uint8_t hops; /* redirections in a row that led here */
    uint8_t kind; /* SN_KIND_... */
    uint8_t flags;
} sn_frontier_link;

/* ---- URLs coming out ---- */

/* Names a URL that was handed out: 16 bytes that queues are made of. What is in it is the
 * implementation's (local: segment << 40 | offset, and the number in the log). */
typedef struct sn_place {
    uint64_t at;
    uint64_t ordinal;
} sn_place;

typedef struct sn_frontier_record {
    const char *url; /* valid until the next call on the frontier, as is the parent */
    size_t len;
    const char *parent; /* load only; empty for a start URL */
    size_t parent_len;
    uint16_t depth;
    uint8_t hops;
    uint8_t kind;
    sn_place place;
} sn_frontier_record;

typedef enum sn_frontier_next {
    SN_NEXT_URL,  /* the record is filled */
    SN_NEXT_WAIT, /* nothing now: work is under way here, or at other processes */
    SN_NEXT_END   /* nothing is left that was offered: the crawl is over if nothing is under way */
} sn_frontier_next;

/* What is stored about a host, for the process that begins to ask it. */
typedef struct sn_frontier_host {
    uint64_t pages;    /* fetched there so far */
    int64_t wait_ms;   /* leave it alone for so long: another process may just have asked it */
    const char *rules; /* its robots.txt, cut to what concerns us, or empty; NULL: not known. Valid
                        * until the next call on the frontier */
    size_t rules_len;
    int64_t rules_ms; /* how long they may still be used */
} sn_frontier_host;

/* ---- Pages that are done ---- */

typedef enum sn_frontier_fate {
    SN_FATE_FETCHED, /* answered */
    SN_FATE_FAILED,  /* given up: listed for --retry-failed */
    SN_FATE_SKIPPED  /* denied by robots.txt or a limit, or no longer in scope */
} sn_frontier_fate;

#define SN_NOT_ASKED (-1) /* instead of a status: the page failed without a request */

typedef struct sn_frontier_done {
    const sn_frontier_record *record;
    sn_frontier_fate fate;
    bool counts;     /* a page for max_pages and max_host_pages: it was requested, no sitemap */
    int status;      /* SN_FATE_FAILED: of HTTP, or SN_NOT_ASKED */
    const char *why; /* SN_FATE_FAILED: a few words */
} sn_frontier_done;

/* What goes with a settle; a local frontier stores it in the checkpoint, a shared one publishes the
 * counters as absolute numbers of this process. */
enum { SN_OUT_PAGES, SN_OUT_URLS, SN_OUT_EDGES, SN_OUT_WARC, SN_OUT_COUNT };

typedef struct sn_frontier_progress {
    const sn_crawl_counts *counts;
    uint64_t out_length[SN_OUT_COUNT];
    uint64_t out_path[SN_OUT_COUNT]; /* hash of the path; 0: none */
} sn_frontier_progress;

/* ---- What the engine has to know between calls ---- */

typedef enum sn_frontier_permit {
    SN_PERMIT_YES,
    SN_PERMIT_WAIT, /* not now: paused, or no confirmed heartbeat */
    SN_PERMIT_LIMIT /* max_pages have been started: finish what was begun, then end */
} sn_frontier_permit;

typedef struct sn_frontier_news {
    bool stop;         /* end this run as if by the stop flag */
    bool forget_links; /* the seen-set may have lost what it was told: empty caches of seen links */
    size_t give_back;  /* so many hosts are wanted by others: call host_quiet for hosts without
                        * transfers and leave their queued URLs, which other processes will fetch */
    const char *seed;  /* a URL whose host is in scope from now on, added by another process; the
                        * next call returns the next one. Valid until the next call */
    size_t seed_len;
} sn_frontier_news;

typedef struct sn_frontier_info {
    uint64_t waiting; /* URLs found and not done */
    double fill;      /* of the seen-set, when last looked at; negative: exact */
    double error_rate;
    uint64_t set_bytes;
} sn_frontier_info;

typedef struct sn_frontier sn_frontier;

typedef struct sn_frontier_class {
    /* Stores the links that are new. At most SN_BATCH_URLS links and SN_BATCH_BYTES of text; links
     * of one page are next to each other. */
    seen_status (*offer)(sn_frontier *f, const sn_frontier_link *links, size_t count,
                         seen_error *error);

    /* Shows the next URL; the same one until it is taken.
     *   idle   nothing that was taken is under way and every link has been offered: with a depth
     *          limit the local frontier goes on to the next level only then */
    seen_status (*peek)(sn_frontier *f, bool idle, sn_frontier_record *record,
                        sn_frontier_next *next, seen_error *error);
    /* The URL shown last is in the queue of its host. */
    void (*take)(sn_frontier *f);
    /* A URL that was taken and is not done, with its parent. */
    seen_status (*load)(sn_frontier *f, sn_place place, sn_frontier_record *record,
                        seen_error *error);

    /* See above.
     *   synced   the outputs are on disk. Otherwise they were passed to the system: they survive
     *            the end of this process, but not a power failure */
    seen_status (*done)(sn_frontier *f, const sn_frontier_done *done, seen_error *error);
    seen_status (*settle)(sn_frontier *f, const sn_frontier_progress *progress, bool synced,
                          seen_error *error);

    /* May another page be requested now? It is asked right before one is started. */
    sn_frontier_permit (*permit)(const sn_frontier *f);
    /* A page was started that counts for max_pages. */
    void (*started)(sn_frontier *f);

    /* The engine puts the first URL of this host in its queue, or the first since host_quiet. */
    void (*host_begin)(sn_frontier *f, const char *origin, size_t len, sn_frontier_host *host);
    /* The engine has fetched the robots.txt of this host: `rules` is what to use for so long, empty
     * if everything is allowed. NULL: nothing is stored. */
    void (*host_rules)(sn_frontier *f, const char *origin, size_t len, const char *rules,
                       size_t rules_len, int64_t for_ms);
    /* Nothing of this host is queued, in transfer or waiting to be tried again; it may be asked
     * again in so many milliseconds. The engine sends no request there until peek shows another of
     * its URLs. NULL: not needed. */
    void (*host_quiet)(sn_frontier *f, const char *origin, size_t len, int64_t wait_ms,
                       uint32_t failures);

    /* The host of this URL is in scope from now on, in later runs and at other processes. */
    seen_status (*add_seed)(sn_frontier *f, const char *url, size_t len, seen_error *error);

    /* Called once per turn of the loop. NULL: no news. */
    seen_status (*poll)(sn_frontier *f, sn_frontier_news *news, seen_error *error);

    /* `look`: read the seen-set as a whole if that is how its fill is found; otherwise what was
     * read last is returned. */
    void (*get_info)(sn_frontier *f, bool look, sn_frontier_info *info);

    void (*close)(sn_frontier *f);
} sn_frontier_class;

/* What every frontier begins with. */
struct sn_frontier {
    const sn_frontier_class *class;
    seen_hasher hasher; /* of the seen-set; does not change */
    uint64_t found;     /* links that were new, of this run; changes only during calls */
    int64_t settle_ms;  /* how often settle is to be called while pages are done ... */
    int64_t sync_ms;    /* ... and how often with synced outputs; also at the start and the end */
    int wake_fd;        /* readable when peek or poll has something new; -1: never */
    /* CLOCK_BOOTTIME in milliseconds: no request is written to a connection later than this. It is
     * checked on the thread of the transfer, after connecting. NULL: no such time. */
    const atomic_llong *start_until;
};

/* What a URL is known by in the seen-set. */
seen_hash sn_frontier_hash(const sn_frontier *f, const char *url, size_t len, uint8_t kind);
/* The length of "https://example.org:8443" in a canonical URL, which names a host; 0: none. */
size_t sn_frontier_origin(const char *url, size_t len);

#endif
