/* A crawler that fetches each URL once.
 *
 *      start URLs
 *          |                                  .--> outputs.c JSON lines, URLs, edges, WARC
 *          v                                  |
 *      admit.c --> frontier --> pace --> fetch.c --> page.c --> links (as it arrives)
 *          ^       (disk log)  (hosts)   (libcurl)                |
 *          |           |                                          |
 *          |        seenset.c (the seen-set)                      |
 *          '---------- canonical URL, scope, limits <-------------'
 *
 * 1. admit    A link becomes a canonical URL, passes scope and limits, and waits in a batch. A
 *             batch
 *             is first written to the frontier and synced, then its hashes are added to the
 *             seen-set, then the answers are appended to the log. A URL that another process added
 *             first is void. So every key in the seen-set belongs to a URL that is durable.
 * 2. frontier An append-only log of URLs in the order in which they were found, which is breadth
 *             first. It is read once, sequentially; finished URLs are one bit each.
 * 3. pace     Hosts, each with a queue of 16-byte references into the log (ends in memory, middle
 *             on
 *             disk), robots rules, a delay and a retry list. Returns the host that is next.
 * 4. fetch    Transfers on this thread and on a second one (fetch/thread.h), each with its own
 *             connections. Addresses are checked when the socket is opened; the body is counted
 *             after decompression and parsed for links while it arrives; at its end they are made
 *             canonical and hashed, all on the thread of the transfer. The rest is done by the
 *             first thread.
 * 5. page     Handles a response: links, a redirect, a retry, a failure; the output lines.
 * 6. state    A checkpoint is one file, replaced atomically: counters, lengths of the outputs, the
 *             end of the log, and what was done since the last one. What was written after it is
 *             truncated or repeated when a crawl is resumed.
 *
 * Memory does not grow with the crawl: hosts, queues, transfers, links of a page and batches all
 * have limits. The exceptions, by choice: --exact (about 24 bytes per URL in a mapped temporary
 * file) and --max-pages-per-host (16 bytes per host).
 *
 * The crawler is a client of seen.h. It never prints and handles no signals. */
#ifndef SN_CRAWL_CRAWL_H
#define SN_CRAWL_CRAWL_H

#include "crawl/frontier/counts.h"
#include "seen.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SN_CRAWL_AGENT "seen/0.1"

typedef struct sn_crawl_list {
    const char *const *items;
    size_t count;
} sn_crawl_list;

/* Strings are borrowed for the duration of the run. Initialize with sn_crawl_defaults. */
typedef struct sn_crawl_options {
    sn_crawl_list start; /* URLs; may be empty if `state` holds a crawl */

    /* The seen-set. */
    const char *state;  /* folder; NULL: nothing is stored */
    const char *filter; /* any seen set; NULL: a private one */
    bool exact;         /* 128-bit hashes of all URLs instead of a filter */
    double error_rate;  /* of a newly created set */
    uint64_t capacity;  /* a hint for a newly created set */
    uint64_t checkpoint_ms;
    const char *join;         /* address of a shared crawl; NULL: not shared */
    const char *crawl;        /* its ID: no other is joined, and none is created; NULL: any */
    const char *worker;       /* name of this process there; NULL: host name and number */
    uint64_t lease_ms;        /* of a newly created crawl: a process that is silent for so long is
                               * dead */
    uint64_t frontier_memory; /* the same: maximum bytes of queued URLs; 0: no limit */
    bool retry_failed;        /* on resume: failed pages return to the frontier */

    /* Which links are followed. */
    int scope;                      /* sn_scope_kind */
    sn_crawl_list include, exclude; /* regular expressions */
    bool no_parent;                 /* only below the folders of the start URLs */
    bool follow_nofollow;
    bool sitemaps;
    uint64_t url_flags; /* SEEN_URL_... */
    sn_crawl_list drop; /* query parameters to drop */
    uint64_t max_depth; /* UINT64_MAX: unlimited */
    uint64_t max_pages; /* 0: unlimited */
    uint64_t max_host_pages;
    uint64_t max_url;     /* bytes */
    uint64_t max_links;   /* of one page */
    uint64_t max_path;    /* path segments; 0: unlimited */
    uint64_t max_repeats; /* of one path segment; 0: unlimited */

    /* Fetching. */
    uint64_t connections, per_host;
    uint64_t delay_ms;     /* between requests to one host */
    uint64_t max_delay_ms; /* the maximum Crawl-delay that is obeyed */
    uint64_t max_wait_ms;  /* the maximum Retry-After that is obeyed */
    uint64_t timeout_ms;   /* of one transfer */
    uint64_t connect_ms;
    uint64_t low_speed;    /* bytes per second ... */
    uint64_t low_speed_ms; /* ... for this long: aborted */
    uint64_t max_body;     /* bytes after decompression */
    uint64_t retries;
    uint64_t backoff_ms; /* before the first retry; doubled for each further one */
    const char *agent;
    const char *ca_file; /* trusted CAs; NULL: the system's */
    bool allow_private;
    sn_crawl_list headers; /* "Name: value", sent with every request */
    const char *cookies;   /* file in Netscape format; NULL: no cookies at all */
    const char *proxy;     /* URL; "": none; NULL: from http_proxy etc. */
    const char *netrc;     /* file with names and passwords by host; NULL: none */

    /* Outputs; NULL: none, "-": standard output. */
    const char *output; /* JSON lines */
    const char *urls;   /* URLs that answered 2xx, one per line */
    const char *edges;  /* FROM <tab> TO */
    const char *warc;
} sn_crawl_options;

void sn_crawl_defaults(sn_crawl_options *options);

/* Whether there is a crawl in this folder that can be resumed. */
bool sn_crawl_resumable(const char *state);

/* Replaces options by those that the crawl in this folder was started with. *keep owns the strings:
 * free() it after the run. Not stored: start, state, retry_failed. */
seen_status sn_crawl_load(const char *state, sn_crawl_options *options, void **keep,
                          seen_error *error);

/* The same from a shared crawl. *there: it exists; otherwise nothing is replaced. */
seen_status sn_crawl_load_shared(sn_crawl_options *options, bool *there, void **keep,
                                 seen_error *error);
/* SEEN_ERR_MISMATCH, with both values, if these options differ from those of the shared crawl in a
 * setting that all its processes must share. */
seen_status sn_crawl_check_settings(const sn_crawl_options *options, seen_error *error);
/* Puts the pages that a shared crawl has given up back into its queues. */
seen_status sn_crawl_retry_shared(const char *where, const char *ca_file, uint64_t *count,
                                  seen_error *error);

typedef struct sn_crawl_status {
    sn_crawl_counts counts; /* over all runs of this crawl */
    uint64_t run_pages;     /* of this run */
    uint64_t queued;        /* found and not done */
    uint64_t active;        /* transfers in progress */
    uint64_t hosts;         /* in memory */
    double seconds;         /* of this run */
    double fill;            /* of the seen-set, when last measured; negative: exact */
    double error_rate;      /* of the seen-set, when last measured */
    uint64_t known;         /* URLs that this crawl has added to the seen-set */
    uint64_t set_bytes;
    bool stopping;
    const char *waits; /* of a shared crawl: why nothing is requested; NULL: nothing is wrong */
} sn_crawl_status;

typedef enum sn_crawl_end {
    SN_CRAWL_DONE = 0,    /* nothing left to fetch */
    SN_CRAWL_STOPPED = 1, /* the stop flag */
    SN_CRAWL_LIMIT = 2    /* max_pages */
} sn_crawl_end;

typedef struct sn_crawl_result {
    sn_crawl_status status;
    char crawl[17];    /* ID of a shared crawl that was joined */
    bool session_lost; /* the same: the run may be repeated at once */
    bool cut_off;      /* then: after a while; no host answered, but they answer other workers */
    sn_crawl_end end;
    bool resumed;
    uint64_t start_seen; /* start URLs that were already in the seen-set */
    /* The first page that failed in this run, truncated to fit, and the reason; NULL: none. */
    char failed_url[256];
    const char *failed_reason;
    /* The first page that robots.txt denied in this run, truncated to fit; empty: none. */
    char denied_url[256];
    /* The first host that was refused, and its address; empty: none. */
    char refused_host[256];
    char refused_address[64];
} sn_crawl_result;

/* Called a few times a second. */
typedef void sn_crawl_progress(void *user, const sn_crawl_status *status);

/* Crawls until nothing is left, a limit is reached or *stop is not 0; then it finishes the
 * transfers in progress and saves.
 *   stop, progress   may be NULL
 *   result           filled even on failure
 * Errors: those of the state folder, the seen-set and the outputs; a page that cannot be fetched is
 * not an error. After an error, as after a crash, a crawl with a state folder can be resumed. */
seen_status sn_crawl_run(const sn_crawl_options *options, const atomic_int *stop,
                         sn_crawl_progress *progress, void *user, sn_crawl_result *result,
                         seen_error *error);

#endif
