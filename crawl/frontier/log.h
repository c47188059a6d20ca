/* The URLs to fetch, as an append-only log on disk.
 *
 *     segment   [header] [batch] [batch] ...                        frontier.000001, ...
 *     batch     BATCH  PAGE URL URL ...  PAGE URL ...  ANSWERS
 *     frame     crc32, length and type, payload
 *
 * A batch is written (and synced) first, then its URLs are added to the seen-set, then ANSWERS
 * records which of them were not new and are void. PAGE is the page on which the following URLs
 * were found. The ordinal of a URL is its index in the log.
 *
 * The log is read once, in order. A URL that was read is in progress until it is done; finished
 * URLs are recorded in a bitmap by ordinal, which is written only after a checkpoint with the same
 * ordinals is durable. A segment whose URLs are all done is deleted.
 *
 * The format is in docs/crawl.md. One thread. */
#ifndef SN_CRAWL_FRONTIER_LOG_H
#define SN_CRAWL_FRONTIER_LOG_H

#include "crawl/frontier/frontier.h"

/* The position of a checkpoint. */
typedef struct sn_log_mark {
    uint32_t first_segment, last_segment;
    uint64_t end; /* offset in the last segment */
    uint64_t next_ordinal;
    const uint64_t *done; /* ordinals since the last checkpoint */
    size_t done_count;
} sn_log_mark;

typedef struct sn_log_options {
    int folder;            /* descriptor of the state folder; -1: unnamed temporary files */
    uint64_t segment_size; /* 0: 256 MiB */
    bool keep;             /* keep finished segments */
} sn_log_options;

typedef struct sn_log sn_log;

/* Starts an empty log; files of an earlier one in the folder are removed. */
seen_status sn_log_create(const sn_log_options *options, sn_log **frontier, seen_error *error);

/* Receives a replayed batch. answers[i] is the recorded answer, or with `unanswered` must be filled
 * in. */
typedef seen_status sn_log_replay(void *user, const sn_frontier_record *records, size_t count,
                                  bool unanswered, seen_answer *answers, seen_error *error);

/* Opens the log at a checkpoint. Later batches are replayed; an incomplete batch at the end is
 * dropped.
 *   all     replay from the first segment on */
seen_status sn_log_open(const sn_log_options *options, const sn_log_mark *mark, bool all,
                        sn_log_replay *replay, void *user, sn_log **frontier, seen_error *error);

void sn_log_close(sn_log *frontier);

/* ---- Writing: put pages and URLs, write, answer --------------------------------------------- */

/* The page on which the URLs put after it were found; NULL, 0 for start URLs. */
seen_status sn_log_put_page(sn_log *frontier, const char *url, size_t len, seen_error *error);
/* Adds one URL to the batch. Only url, len, depth, hops and kind are used. */
seen_status sn_log_put(sn_log *frontier, const sn_frontier_record *record, seen_error *error);
/* The number of URLs in the batch, and its size: write before SN_BATCH_URLS or SN_BATCH_BYTES are
 * reached. */
size_t sn_log_batch(const sn_log *frontier, size_t *bytes);
/* Writes the batch; with a folder it is durable on return. */
seen_status sn_log_write(sn_log *frontier, seen_error *error);
/* The place of URL i of the batch just written, which was put at `offset` bytes of it. */
sn_frontier_place sn_log_place(const sn_log *frontier, size_t i, size_t offset);
/* Completes the batch, which can be read from then on. One answer per URL, in order; URLs that are
 * not SEEN_NEW are void. */
seen_status sn_log_answer(sn_log *frontier, const seen_answer *answers, seen_error *error);

/* ---- Reading ---- */

/* The next URL that is neither void nor done; *got is false at the end. */
seen_status sn_log_next(sn_log *frontier, sn_frontier_record *record, bool *got, seen_error *error);
/* Takes a URL that sn_log_next has not reached. When it reaches it, the caller must skip it and
 * call sn_log_passed. */
void sn_log_take(sn_log *frontier, sn_frontier_place place);
void sn_log_passed(sn_log *frontier, sn_frontier_place place);
/* Reads any URL that was taken and is not done. */
seen_status sn_log_load(sn_log *frontier, sn_frontier_place place, sn_frontier_record *record,
                        seen_error *error);

/* ---- Done ---- */

seen_status sn_log_done(sn_log *frontier, uint64_t ordinal, seen_error *error);
/* URLs found and not done. */
uint64_t sn_log_waiting(const sn_log *frontier);
/* sn_log_open counts only URLs found after the checkpoint; this adds the number from the
 * checkpoint. */
void sn_log_set_waiting(sn_log *frontier, uint64_t waiting);

/* Syncs everything written; call before a checkpoint refers to it. */
seen_status sn_log_sync(sn_log *frontier, seen_error *error);
/* The data for a checkpoint. Valid until the next call. */
sn_log_mark sn_log_get_mark(const sn_log *frontier);
/* The checkpoint is durable: moves finished URLs to the bitmap and deletes finished segments. */
seen_status sn_log_settle(sn_log *frontier, seen_error *error);

#endif
