/* The frontier of one process: a log of URLs on disk, a seen-set, a checkpoint.
 *
 *     offer    links -> seen? -> log (durable) -> seen-set -> answers in the log
 *     settle   log, seen-set, list of failures are synced, then the checkpoint is replaced
 *
 * The log is written before the seen-set: a bit in the seen-set never stands for a URL that could
 * be lost. Without a state folder everything is temporary. */
#ifndef CRAWL_FRONTIER_LOCAL_H
#define CRAWL_FRONTIER_LOCAL_H

#include "crawl/frontier/checkpoint.h"
#include "crawl/frontier/failures.h"

typedef struct sn_local_options {
    int folder;                      /* descriptor of the state folder; -1: none */
    const char *path;                /* of that folder */
    const sn_checkpoint *checkpoint; /* NULL: a new crawl */
    const char *filter;              /* a seen-set that is not ours alone; NULL: our own */
    const char *ca_file;             /* rediss://: authorities to trust; NULL: the system's */
    bool exact;                      /* hashes of all URLs instead of a filter */
    double error_rate;               /* of a set that is created */
    uint64_t capacity;
    bool levels; /* URLs of one depth are handed out after all of the depth before are done */
    uint64_t max_pages; /* 0: any number */
    bool host_pages;    /* count pages per host */
    int64_t sync_ms;    /* between two checkpoints */
} sn_local_options;

seen_status sn_local_open(const sn_local_options *options, sn_frontier **frontier,
                          seen_error *error);

/* The URLs whose hosts are in scope, one per line, ending with a NUL; NULL: none are stored. */
const char *sn_local_seeds(const sn_frontier *f);
/* Was nothing ever offered? */
bool sn_local_empty(const sn_frontier *f);
/* Calls `each` for every page that was given up. The next synced settle empties the list. */
seen_status sn_local_retry(sn_frontier *f, sn_failures_each *each, void *user, seen_error *error);

#endif
