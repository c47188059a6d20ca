/* Keys that found no room in a table are deferred to temporary files, split by bits of the hash
 * that the tables do not use, until the input is read. Then each file is decided with an empty
 * table, several files in parallel. */
#ifndef SN_STREAM_UNIQ_WAIT_H
#define SN_STREAM_UNIQ_WAIT_H

#include "stream/exact/records.h"
#include "stream/io/stop.h"

enum { SN_WAIT_FILES = 128, SN_WAIT_BATCH = 2048, SN_WAIT_LANES = 4 };

typedef struct sn_wait {
    sn_records file[SN_WAIT_FILES];
    unsigned files; /* 0: none deferred */
    uint64_t count; /* records */
    const char *dir;
} sn_wait;

/* Starts deferring.
 *   rest      remaining lines; UINT64_MAX: unknown
 *   entries   capacity of one of `lanes` tables */
seen_status sn_wait_open(sn_wait *wait, uint64_t rest, uint64_t entries, unsigned lanes,
                         const char *dir, seen_error *error);
void sn_wait_close(sn_wait *wait); /* a zeroed one is ignored */

/* One thread at a time, in ascending order of the numbers. */
seen_status sn_wait_add(sn_wait *wait, seen_hash hash, uint64_t number, seen_error *error);

/* Decides the records of one file with the table of a lane; records without room are appended to
 * `again`, for the next call with an empty table. */
typedef seen_status sn_wait_step(void *context, unsigned lane, sn_records *records,
                                 sn_records *again, seen_error *error);

/* Decides all files, with one thread per lane. */
seen_status sn_wait_decide(sn_wait *wait, unsigned lanes, sn_wait_step *step, void *context,
                           sn_stop *stop, bool *stopped, seen_error *error);

/* Calls `batch` for all records, up to SN_WAIT_BATCH at a time. */
typedef seen_status sn_wait_batch(void *context, const seen_hash *hashes, size_t count,
                                  uint64_t base, seen_error *error);
seen_status sn_wait_each(sn_records *records, sn_wait_batch *batch, void *context,
                         seen_error *error);

#endif
