/* One consistent state of a crawl in its folder. */
#ifndef CRAWL_FRONTIER_CHECKPOINT_H
#define CRAWL_FRONTIER_CHECKPOINT_H

#include "crawl/frontier/log.h"

typedef struct sn_checkpoint {
    sn_crawl_counts counts;
    seen_hasher hasher; /* of exact keys and of pages per host */
    uint64_t completed; /* pages, for max_pages */
    uint64_t waiting;
    uint64_t failed_len;
    uint64_t out_length[SN_OUT_COUNT];
    uint64_t out_path[SN_OUT_COUNT]; /* hash of the path; 0: none */
    sn_log_mark mark;
    const uint8_t *host_pages; /* as sn_host_pages_store writes it */
    size_t host_pages_len;
    void *bytes; /* owns mark.done and host_pages of a checkpoint that was read */
} sn_checkpoint;

/* SEEN_ERR_NOT_FOUND if there is none yet. */
seen_status sn_checkpoint_read(int folder, sn_checkpoint *checkpoint, seen_error *error);
void sn_checkpoint_free(sn_checkpoint *checkpoint);
seen_status sn_checkpoint_write(int folder, const sn_checkpoint *checkpoint, seen_error *error);

#endif
