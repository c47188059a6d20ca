/* The frontier of one process: a log of URLs on disk, a seen-set, a checkpoint.
 *
 *     offer    links -> seen? -> log (durable) -> seen-set -> answers in the log
 *     settle   log, seen-set and failure list are synced, then the checkpoint is replaced
 *
 * The log is written before the seen-set, so that every key in the seen-set belongs to a URL that
 * is durable. Without a state folder everything is temporary. */
#ifndef SN_CRAWL_FRONTIER_LOCAL_H
#define SN_CRAWL_FRONTIER_LOCAL_H

#include "crawl/frontier/checkpoint.h"
#include "crawl/frontier/failures.h"

typedef struct sn_frontier_local_options {
    int folder;                      /* descriptor of the state folder; -1: none */
    const char *path;                /* of that folder */
    const sn_checkpoint *checkpoint; /* NULL: a new crawl */
    const char *filter;              /* a shared seen-set; NULL: a private one */
    const char *ca_file;             /* rediss://: trusted CAs; NULL: the system's */
    bool exact;                      /* hashes of all URLs instead of a filter */
    double error_rate;               /* of a newly created set */
    uint64_t capacity;
    bool levels;        /* return the URLs of one depth after all of the previous depth are done */
    uint64_t max_pages; /* 0: unlimited */
    bool host_pages;    /* count pages per host */
    int64_t sync_ms;    /* between two checkpoints */
} sn_frontier_local_options;

seen_status sn_frontier_local_open(const sn_frontier_local_options *options, sn_frontier **frontier,
                                   seen_error *error);

/* The URLs whose hosts are in scope, one per line, NUL-terminated; NULL: none are stored. */
const char *sn_frontier_local_seeds(const sn_frontier *f);
/* Whether nothing was ever offered. */
bool sn_frontier_local_empty(const sn_frontier *f);
/* Calls `each` for every failed page. The next synced settle empties the list. */
seen_status sn_frontier_local_retry(sn_frontier *f, sn_failures_each *each, void *user,
                                    seen_error *error);

#endif
