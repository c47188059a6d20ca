/* An exact set of hashes in bounded memory: the part of `uniq --exact`, `common` and `except` that
 * may not be wrong. A key is known by 96 bits of its 128-bit hash; give it hashes of a seeded
 * hasher. About 15.6 bytes an entry, growth included. Each entry has four marks, bits for the
 * client, all clear when it is added.
 *
 * Threads: sn_table_add, _take, _clear, _empty and _clear_mark are for one thread at a time, and
 * for nobody else meanwhile. sn_table_add_any may be called by several threads at once. While
 * nothing is added, any number of threads may check and mark. */
#ifndef SN_STREAM_TABLE_H
#define SN_STREAM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seen.h"

typedef struct sn_table sn_table;

enum { SN_TABLE_MARKS = 4 };

/* Bytes that one entry takes on average, for planning. */
#define SN_TABLE_ENTRY_BYTES 15.7

/* Makes an empty table.
 *   limit      bytes that it may take in all; it refuses more entries rather than pass this
 *   expected   entries, as far as is known; 0: not known. More may come.
 * Memory is taken as entries come. */
seen_status sn_table_open(uint64_t limit, uint64_t expected, sn_table **table, seen_error *error);
void sn_table_close(sn_table *table); /* NULL is ignored */

/* So many entries are sure to come: the table starts with room for them and need not grow, which
 * makes adding twice as fast. Ignored where the limit stands against it. Before the first entry. */
void sn_table_reserve(sn_table *table, uint64_t entries);

/* So many entries are likely to be there in the end: the table trebles until it has the size that
 * they take, instead of growing in small steps, which makes adding twice as fast. It believes no
 * more than 3.4 times what it holds: should nothing come any more, that much memory was taken for
 * nothing. May be said again as more is known; by the thread that adds. */
void sn_table_foresee(sn_table *table, uint64_t entries);

/* Forgets all entries and gives the memory back to the system. */
void sn_table_clear(sn_table *table);

/* Forgets all entries and keeps the memory: as many again need not make the table grow. */
void sn_table_empty(sn_table *table);

/* Adds hashes in order. answers[i]: SEEN_NEW, it was added; SEEN_BEFORE, it was there. Returns how
 * many were decided: fewer than count when the limit leaves no room for the next one. From then on
 * the table adds nothing, until it is cleared or emptied: it goes on to answer for what it holds,
 * and sn_table_check may be asked about the rest, of which nothing was added. */
size_t sn_table_add(sn_table *table, const seen_hash *hashes, size_t count, seen_answer *answers);

/* The same from several threads at once; of two that add one hash one is told SEEN_NEW. When it
 * returns less than count some of the rest were added nevertheless, also by other threads. */
size_t sn_table_add_any(sn_table *table, const seen_hash *hashes, size_t count,
                        seen_answer *answers);

/* answers[i]: SEEN_BEFORE where the hash is there. */
void sn_table_check(const sn_table *table, const seen_hash *hashes, size_t count,
                    seen_answer *answers);

/* answers[i]: SEEN_BEFORE where the hash is there and has the mark. */
void sn_table_check_marked(const sn_table *table, unsigned mark, const seen_hash *hashes,
                           size_t count, seen_answer *answers);

/* Sets a mark of the hashes that are there; with `need` (not negative) only of those that have mark
 * `need` already. */
void sn_table_mark(sn_table *table, unsigned mark, int need, const seen_hash *hashes, size_t count);

/* Sets a mark and tells whether it was set: answers[i] is SEEN_NEW where the hash is there (and has
 * mark `need`, unless that is negative) and got the mark just now, SEEN_BEFORE otherwise. */
void sn_table_take(sn_table *table, unsigned mark, int need, const seen_hash *hashes, size_t count,
                   seen_answer *answers);

void sn_table_clear_mark(sn_table *table, unsigned mark);

uint64_t sn_table_count(const sn_table *table); /* entries */
uint64_t sn_table_bytes(const sn_table *table); /* memory taken by now */

/* Hands out the entries, some at a time, in no order: start with *cursor 0 and go on until it
 * returns 0. Of each hash only the bits that the table keeps are there: it equals
 * sn_table_kept(hash) of what was added. */
size_t sn_table_list(const sn_table *table, uint64_t *cursor, seen_hash *hashes, size_t room);

/* A hash made only of the bits that the table keeps, spread over all 128, so that a filter can be
 * filled from the table. */
static inline seen_hash sn_table_kept(seen_hash hash)
{
    return (seen_hash){.lo = (hash.lo >> 32) * 0x9e3779b97f4a7c15u, .hi = hash.hi};
}

/* The bits that the table does not look at: a hash space may be cut by them, and each part is as
 * even for the table as the whole. */
static inline uint32_t sn_table_unused(seen_hash hash)
{
    return (uint32_t)hash.lo;
}

#endif
