/* An exact set of hashes in bounded memory, for `uniq --exact`, `common` and `except`. A key is
 * identified by 96 bits of its 128-bit hash; use a seeded hasher. About 15.6 bytes per entry,
 * growth included. Each entry has four marks: bits for the caller, initially clear.
 *
 * Threads: sn_table_add, _take, _clear, _empty and _clear_mark need exclusive access.
 * sn_table_add_any may be called by several threads concurrently. While nothing is added, any
 * number of threads may check and mark. */
#ifndef SN_STREAM_EXACT_TABLE_H
#define SN_STREAM_EXACT_TABLE_H

#include "seen.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_table sn_table;

enum { SN_TABLE_MARKS = 4 };

/* Average bytes per entry, for planning. */
#define SN_TABLE_ENTRY_BYTES 15.7

/* Creates an empty table.
 *   limit      maximum size in bytes; beyond it entries are refused
 *   expected   expected number of entries; 0: unknown. More are allowed
 * Memory is allocated as entries are added. */
seen_status sn_table_open(uint64_t limit, uint64_t expected, sn_table **table, seen_error *error);
void sn_table_close(sn_table *table); /* NULL is ignored */

/* Allocates space for this many entries in advance, so that the table does not have to grow, which
 * makes adding twice as fast. For a number that is certain. Ignored if the limit does not allow it.
 * Call before the first entry is added. */
void sn_table_reserve(sn_table *table, uint64_t entries);

/* Announces the likely final number of entries: the table triples its size until it fits them,
 * instead of growing in small steps, which makes adding twice as fast. Capped at 3.4 times the
 * current number of entries, which bounds the memory wasted if the forecast is wrong. May be
 * repeated with better forecasts, by the thread that adds. */
void sn_table_expect(sn_table *table, uint64_t entries);

/* Removes all entries and frees the memory. */
void sn_table_clear(sn_table *table);

/* Removes all entries and keeps the memory, so that the table need not grow again. */
void sn_table_empty(sn_table *table);

/* Adds hashes in order. answers[i]: SEEN_NEW, added; SEEN_BEFORE, already present. Returns how many
 * were processed: fewer than count if the limit leaves no room for the next one. The rest was not
 * added, and the table accepts no entries until it is cleared or emptied. Lookups continue to
 * work. */
size_t sn_table_add(sn_table *table, const seen_hash *hashes, size_t count, seen_answer *answers);

/* The same from several threads concurrently; if two add the same hash, one gets SEEN_NEW. If it
 * returns less than count, some of the rest may have been added nevertheless, also by other
 * threads. */
size_t sn_table_add_any(sn_table *table, const seen_hash *hashes, size_t count,
                        seen_answer *answers);

/* answers[i]: SEEN_BEFORE if the hash is present. */
void sn_table_check(const sn_table *table, const seen_hash *hashes, size_t count,
                    seen_answer *answers);

/* answers[i]: SEEN_BEFORE if the hash is present and has the mark. */
void sn_table_check_marked(const sn_table *table, unsigned mark, const seen_hash *hashes,
                           size_t count, seen_answer *answers);

/* Sets a mark on the hashes that are present; with `need` (not negative) only on those that have
 * mark `need`. */
void sn_table_mark(sn_table *table, unsigned mark, int need, const seen_hash *hashes, size_t count);

/* Sets a mark and returns its previous state: answers[i] is SEEN_NEW if the hash is present (and
 * has mark `need`, unless that is negative) and the mark was clear, SEEN_BEFORE otherwise. */
void sn_table_take(sn_table *table, unsigned mark, int need, const seen_hash *hashes, size_t count,
                   seen_answer *answers);

void sn_table_clear_mark(sn_table *table, unsigned mark);

uint64_t sn_table_count(const sn_table *table); /* entries */
uint64_t sn_table_bytes(const sn_table *table); /* memory currently allocated */

/* Lists the entries, some at a time, in no particular order: start with *cursor 0 and continue
 * until it returns 0. The hashes contain only the bits stored in the table: they equal
 * sn_table_stored(hash) of the hashes added. */
size_t sn_table_list(const sn_table *table, uint64_t *cursor, seen_hash *hashes, size_t room);

/* A hash made only of the bits stored in the table, spread over all 128, so that a filter can be
 * filled from the table. */
static inline seen_hash sn_table_stored(seen_hash hash)
{
    return (seen_hash){.lo = (hash.lo >> 32) * 0x9e3779b97f4a7c15u, .hi = hash.hi};
}

/* The bits that the table ignores. The hash space can be split by them, and each part is
 * distributed as evenly for the table as the whole. */
static inline uint32_t sn_table_unused(seen_hash hash)
{
    return (uint32_t)hash.lo;
}

/* Predicts the number of distinct keys from the share of new keys so far, so that a table can grow
 * in few large steps instead of many small ones. */
typedef struct sn_forecast {
    uint64_t keys;
    uint64_t fresh; /* new keys among them */
    double recent;  /* share of new keys among the most recent ones */
} sn_forecast;

/* Processes the answers of some keys and returns how many distinct keys are likely among `expected`
 * keys; 0: no forecast. */
uint64_t sn_forecast_add(sn_forecast *forecast, const seen_answer *answers, size_t count,
                         double expected);

#endif
