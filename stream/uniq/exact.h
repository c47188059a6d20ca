/* Between the files of `uniq --exact`: uniq_exact.c (the readings), uniq_lanes.c (the tables),
 * uniq_wait.c (what waits in temporary files). */
#ifndef SN_STREAM_UNIQ_EXACT_H
#define SN_STREAM_UNIQ_EXACT_H

#include "stream/exact/keepmap.h"
#include "stream/exact/records.h"
#include "stream/exact/table.h"
#include "stream/uniq/internal.h"

enum { SN_EXACT_LANES = 4, SN_EXACT_FILES = 128, SN_EXACT_BATCH = 2048, SN_EXACT_REPEATED = 0 };

/* A share of the hashes, cut off by bits that the table does not look at, with a table for itself.
 * In the first reading one thread at a time is in a lane; then each thread has one. */
typedef struct sn_exact_lane {
    sn_table *table;
    bool full; /* of a key that found no room once nothing is added, so neither is of others */
    uint64_t asked;
    uint64_t fresh; /* of these */
    double recent;  /* share of new ones in what was asked last */
} sn_exact_lane;

typedef struct sn_uniq_exact {
    sn_exact_lane lane[SN_EXACT_LANES];
    unsigned lanes;
    uint64_t expected; /* lines; 0: not known */
    bool singles;

    bool waits;     /* a table was full: lines from the mark on are not decided yet */
    uint64_t mark;  /* the first such line; singles: 0 */
    uint64_t lines; /* read */
    uint64_t waiting;
    uint64_t decided; /* different keys before the mark */
    sn_records file[SN_EXACT_FILES];
    unsigned files;
    sn_keepmap map; /* SEEN_NEW, by the line's number from the mark on, or in the copy */
    sn_copy copy;
    bool copy_all; /* also the lines that are known to be repeats: they are written too */
    uint64_t copied;
} sn_uniq_exact;

/* ---- uniq_lanes.c --------------------------------------------------------------------------- */

/* Tables of `limit` bytes together, for so many threads. Those that are open belong to the caller
 * also after a failure. */
seen_status sn_lanes_open(sn_uniq_exact *way, uint64_t limit, unsigned threads, seen_error *error);
void sn_lanes_close(sn_uniq_exact *way);

uint64_t sn_lanes_count(const sn_uniq_exact *way); /* entries of all tables */
uint64_t sn_lanes_bytes(const sn_uniq_exact *way);

/* Adds hashes to a lane's table while it has room, and returns how many that was. For the others:
 * SEEN_BEFORE where it knows them, SEEN_UNKNOWN where not. */
size_t sn_lanes_add(sn_exact_lane *lane, const seen_hash *hashes, size_t count,
                    seen_answer *answers);

/* Steps of the pipeline, whose context is the sn_uniq. */
seen_status sn_lanes_hash(void *context, sn_block *block, seen_error *error); /* prepare */
seen_status sn_lanes_ask(void *context, sn_block *block, unsigned lane, seen_error *error);
/* prepare: SEEN_NEW where the tables know a line that came once */
seen_status sn_lanes_ask_marks(void *context, sn_block *block, seen_error *error);

/* ---- uniq_wait.c ---------------------------------------------------------------------------- */

/* This line, and those behind it that no table knows, wait. */
seen_status sn_wait_begin(sn_uniq *u, uint64_t line, seen_error *error);

/* Puts the lines [first, lines) of a block aside that have no answer. */
seen_status sn_wait_add(sn_uniq *u, sn_block *block, size_t first, seen_error *error);

/* Decides what waits, with empty tables: fills the map. */
seen_status sn_wait_decide(sn_uniq *u, seen_error *error);

#endif
