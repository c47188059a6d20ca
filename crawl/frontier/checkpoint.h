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
    uint32_t id;                /* of the file, for the progress behind it */
    bool progressed;            /* records of progress were read: what they name was not synced */
    void *bytes;                /* owns host_pages of a checkpoint that was read */
    uint64_t *numbers;          /* owns mark.done and more_pages of a checkpoint that was read */
    const uint64_t *more_pages; /* hashes of hosts: a page of each was fetched since host_pages */
    size_t more_count;
} sn_checkpoint;

/* Reads the checkpoint, and the progress behind it. SEEN_ERR_NOT_FOUND if there is none yet. */
seen_status sn_checkpoint_read(int folder, sn_checkpoint *checkpoint, seen_error *error);
void sn_checkpoint_free(sn_checkpoint *checkpoint);
/* Sets the id. */
seen_status sn_checkpoint_write(int folder, sn_checkpoint *checkpoint, seen_error *error);

/* Progress: what changed since the checkpoint, for a process that was killed.
 *
 * A checkpoint costs several syncs, so it is written every half minute or so. In between, records
 * are appended to the file `progress` without a sync: what a process has written survives its end.
 * They do not survive the end of the system in any certain order, so each has the boot it was
 * written in and counts only within the same. */
typedef struct sn_done_journal {
    int fd; /* -1: no progress is kept */
    uint64_t len;
    uint32_t id; /* of the checkpoint */
} sn_done_journal;

/* Starts an empty file behind a checkpoint. */
void sn_done_journal_begin(sn_done_journal *progress, int folder, uint32_t id);
/* `changes`: a checkpoint whose mark.done and more_pages are only what is new since the last
 * record. A record that cannot be written is left out: more is fetched again after a crash. */
void sn_done_journal_append(sn_done_journal *progress, const sn_checkpoint *changes);
void sn_done_journal_close(sn_done_journal *progress);

#endif
