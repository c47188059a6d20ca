/* Keys that found no room in a table are deferred to temporary files, split by bits of the hash
 * that the tables do not use, until the input is read. Then each file is decided with an empty
 * table, several files in parallel. */
#ifndef SN_STREAM_UNIQ_DEFERRED_H
#define SN_STREAM_UNIQ_DEFERRED_H

#include "stream/exact/records.h"
#include "stream/io/stop.h"

enum { SN_DEFERRED_FILES = 128, SN_DEFERRED_BATCH = 2048, SN_DEFERRED_LANES = 4 };

typedef struct sn_deferred {
    sn_records file[SN_DEFERRED_FILES];
    unsigned files; /* 0: none deferred */
    uint64_t count; /* records */
    const char *dir;
} sn_deferred;

/* Starts deferring.
 *   rest      remaining lines; UINT64_MAX: unknown
 *   entries   capacity of one of `lanes` tables */
seen_status sn_deferred_open(sn_deferred *wait, uint64_t rest, uint64_t entries, unsigned lanes,
                             const char *dir, seen_error *error);
void sn_deferred_close(sn_deferred *wait); /* a zeroed one is ignored */

/* One thread at a time, in ascending order of the numbers. */
seen_status sn_deferred_add(sn_deferred *wait, seen_hash hash, uint64_t number, seen_error *error);

/* Decides the records of one file with the table of a lane; records without room are appended to
 * `again`, for the next call with an empty table. */
typedef seen_status sn_deferred_step(void *context, unsigned lane, sn_records *records,
                                     sn_records *again, seen_error *error);

/* Decides all files, with one thread per lane. */
seen_status sn_deferred_decide(sn_deferred *wait, unsigned lanes, sn_deferred_step *step,
                               void *context, sn_stop *stop, bool *stopped, seen_error *error);

/* Calls `batch` for all records, up to SN_DEFERRED_BATCH at a time. */
typedef seen_status sn_deferred_batch(void *context, const seen_hash *hashes, size_t count,
                                      uint64_t base, seen_error *error);
seen_status sn_deferred_each(sn_records *records, sn_deferred_batch *batch, void *context,
                             seen_error *error);

#endif
