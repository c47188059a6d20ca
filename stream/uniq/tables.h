/* The tables of exact uniq: one per lane, for a share of the hashes selected by bits that the table
 * does not use. While one thread processes a block in the second table, another processes the next
 * block in the first (split.h); each table sees its hashes in input order. */
#ifndef SN_STREAM_UNIQ_TABLES_H
#define SN_STREAM_UNIQ_TABLES_H

#include "stream/exact/table.h"
#include "stream/io/block.h"
#include "stream/uniq/deferred.h"

typedef struct sn_uniq_table {
    sn_table *table;
    bool full; /* a key was refused: no more are added, or its second occurrence could be reported
                * as new */
    sn_forecast forecast;
} sn_uniq_table;

typedef struct sn_uniq_tables {
    sn_uniq_table lane[SN_DEFERRED_LANES];
    unsigned count;
    uint64_t expected; /* lines; 0: unknown */
} sn_uniq_tables;

/* The number of lanes for this memory limit and number of threads. */
unsigned sn_uniq_tables_choose(uint64_t limit, unsigned threads);

/* Opens tables of `limit` bytes in total. After a failure the caller must still close the opened
 * ones. */
seen_status sn_uniq_tables_open(sn_uniq_tables *lanes, uint64_t limit, unsigned threads,
                                uint64_t expected, seen_error *error);
void sn_uniq_tables_close(sn_uniq_tables *lanes); /* a zeroed one is ignored */

uint64_t sn_uniq_tables_bytes(const sn_uniq_tables *lanes);

/* Adds hashes to the table of a lane while it has room. The others are SEEN_BEFORE if present,
 * SEEN_UNKNOWN if not. */
void sn_uniq_tables_add(sn_uniq_table *lane, const seen_hash *hashes, size_t count,
                        seen_answer *answers);

/* Processes a lane's share of a block, which was split by sn_split_block. */
void sn_uniq_tables_lookup(sn_uniq_tables *lanes, sn_block *block, unsigned number);

#endif
