/* A consistent state of a crawl in its folder. */
#ifndef SN_CRAWL_FRONTIER_CHECKPOINT_H
#define SN_CRAWL_FRONTIER_CHECKPOINT_H

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
    uint32_t id;                /* of the file, to match its progress records */
    bool progressed;            /* progress records were read: the files they describe were not
                                 * synced */
    void *bytes;                /* owns host_pages of a checkpoint read from disk */
    uint64_t *numbers;          /* owns mark.done and more_pages of a checkpoint read from disk */
    const uint64_t *more_pages; /* hashes of hosts: one page of each was fetched since host_pages
                                 * was stored */
    size_t more_count;
} sn_checkpoint;

/* Reads the checkpoint and its progress records. SEEN_ERR_NOT_FOUND if there is none. */
seen_status sn_checkpoint_read(int folder, sn_checkpoint *checkpoint, seen_error *error);
void sn_checkpoint_free(sn_checkpoint *checkpoint);
/* Writes the checkpoint and sets its id. */
seen_status sn_checkpoint_write(int folder, sn_checkpoint *checkpoint, seen_error *error);

/* Progress: changes since the checkpoint, for recovery after the process was killed.
 *
 * A checkpoint needs several syncs, so it is written about every half minute. In between, records
 * are appended to the file `progress` without a sync: written data survives the end of the process.
 * It does not survive a system crash in a defined order, so each record contains the boot ID and is
 * valid only within the same boot. */
typedef struct sn_done_journal {
    int fd; /* -1: no progress is recorded */
    uint64_t len;
    uint32_t id; /* of the checkpoint */
} sn_done_journal;

/* Starts an empty file for a new checkpoint. */
void sn_done_journal_begin(sn_done_journal *progress, int folder, uint32_t id);
/* `changes`: a checkpoint whose mark.done and more_pages contain only the changes since the last
 * record. A record that cannot be written is skipped: more is fetched again after a crash. */
void sn_done_journal_append(sn_done_journal *progress, const sn_checkpoint *changes);
void sn_done_journal_close(sn_done_journal *progress);

#endif
