/* A count for each distinct hash, exact and in bounded memory, for `seen count` and `uniq -c`,
 * `-d`, `-D`, `-u` and `--keep last`. It is the exact table (table.h) with a count in each entry:
 * about 19.6 bytes per hash, growth included. One thread at a time. */
#ifndef SN_STREAM_EXACT_COUNTER_H
#define SN_STREAM_EXACT_COUNTER_H

#include "seen.h"

#include <stddef.h>
#include <stdint.h>

typedef struct sn_counter sn_counter;

/* Average bytes per entry, for planning. */
#define SN_COUNTER_ENTRY_BYTES 19.6

/* As sn_table_open, _close, _foresee, _empty, _count (entries) and _bytes. */
seen_status sn_counter_open(uint64_t limit, uint64_t expected, sn_counter **counter,
                            seen_error *error);
void sn_counter_close(sn_counter *counter); /* NULL is ignored */
void sn_counter_expect(sn_counter *counter, uint64_t entries);
void sn_counter_empty(sn_counter *counter);
uint64_t sn_counter_count(const sn_counter *counter);
uint64_t sn_counter_bytes(const sn_counter *counter);

/* Increments the count of each hash, in order. answers[i]: SEEN_NEW the first time, SEEN_BEFORE
 * after that, SEEN_UNKNOWN if there is no room. In the last case the hash is not counted, and no
 * hash is added until sn_counter_empty. */
void sn_counter_raise(sn_counter *counter, const seen_hash *hashes, size_t count,
                      seen_answer *answers);

/* Looks up counts[i], 0 for an absent hash. answers[i]: SEEN_NEW if this is the first lookup of a
 * present hash, SEEN_BEFORE after that, SEEN_UNKNOWN for an absent one. */
void sn_counter_visit(sn_counter *counter, const seen_hash *hashes, size_t count, uint64_t *counts,
                      seen_answer *answers);

/* Decrements the count of each hash. answers[i]: SEEN_NEW if it reaches 0, SEEN_BEFORE if not,
 * SEEN_UNKNOWN for an absent hash. */
void sn_counter_lower(sn_counter *counter, const seen_hash *hashes, size_t count,
                      seen_answer *answers);

/* Lists the counts of all entries, some at a time, in no order: start with *cursor 0 and continue
 * until it returns 0. */
size_t sn_counter_list_counts(const sn_counter *counter, uint64_t *cursor, uint64_t *counts,
                              size_t room);

#endif
