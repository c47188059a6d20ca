/* The tables of exact uniq: several, each for a share of the hashes, cut off by bits that the table
 * does not use. While one thread takes a block through the second table, another takes the next
 * block through the first (split.h); each table sees its hashes in input order. */
#ifndef SN_STREAM_UNIQ_LANES_H
#define SN_STREAM_UNIQ_LANES_H

#include "stream/exact/forecast.h"
#include "stream/exact/table.h"
#include "stream/io/block.h"
#include "stream/uniq/wait.h"

typedef struct sn_lane {
    sn_table *table;
    bool full; /* a key found no room: from then on none is added, or its second occurrence would
                  look like its first */
    sn_forecast forecast;
} sn_lane;

typedef struct sn_lanes {
    sn_lane lane[SN_WAIT_LANES];
    unsigned count;
    uint64_t expected; /* lines; 0: not known */
} sn_lanes;

/* How many lanes so much memory is cut into, for so many threads. */
unsigned sn_lanes_choose(uint64_t limit, unsigned threads);

/* Tables of `limit` bytes together. Those that are open belong to the caller also after a failure.
 */
seen_status sn_lanes_open(sn_lanes *lanes, uint64_t limit, unsigned threads, uint64_t expected,
                          seen_error *error);
void sn_lanes_close(sn_lanes *lanes); /* a zeroed one is ignored */

uint64_t sn_lanes_bytes(const sn_lanes *lanes);

/* Adds hashes to a lane's table while it has room. For the others: SEEN_BEFORE if it knows them,
 * SEEN_UNKNOWN if not. */
void sn_lanes_add(sn_lane *lane, const seen_hash *hashes, size_t count, seen_answer *answers);

/* Takes a lane's share of a block, which was cut by sn_split_block, through its table. */
void sn_lanes_ask(sn_lanes *lanes, sn_block *block, unsigned number);

#endif
