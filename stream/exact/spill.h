/* Hashes with numbers, split into parts and written to a temporary file: 16 bytes each.
 *
 * Each part has a buffer and is written in chunks to the same file, then read back part by part.
 * The exact table ignores the low 32 bits of a hash, so the number is stored there, relative to a
 * base per chunk, and records can be passed to the table unchanged. */
#ifndef SN_STREAM_EXACT_SPILL_H
#define SN_STREAM_EXACT_SPILL_H

#include "seen.h"

#include <stddef.h>
#include <stdint.h>

typedef struct sn_spill sn_spill;

enum { SN_SPILL_RECORD_BYTES = 16, SN_SPILL_PARTS_MAX = 4096 };

/* dir        of the temporary file; NULL: the default
 *   parts      1 to SN_SPILL_PARTS_MAX
 *   memory     bytes for buffers, rounded to whole records; freed by sn_spill_finish
 *   expected   bytes that will be written, for the message when the disk is full; 0: unknown */
seen_status sn_spill_open(const char *dir, unsigned parts, uint64_t memory, uint64_t expected,
                          sn_spill **spill, seen_error *error);
void sn_spill_close(sn_spill *spill); /* NULL is ignored */

/* Adds a record to the part given by its hash. One thread at a time. */
seen_status sn_spill_add(sn_spill *spill, seen_hash hash, uint64_t number, seen_error *error);

/* Writes and frees the buffers; needed before reading. */
seen_status sn_spill_finish(sn_spill *spill, seen_error *error);

/* The number of chunks of a part, and the size of the largest in records. */
size_t sn_spill_chunks(const sn_spill *spill, unsigned part);
size_t sn_spill_chunk_records(const sn_spill *spill);

/* Reads one chunk, in the order of addition. The number of a record is *base + (uint32_t)lo. Any
 * thread. */
seen_status sn_spill_read(sn_spill *spill, unsigned part, size_t chunk, seen_hash *hashes,
                          size_t *count, uint64_t *base, seen_error *error);

uint64_t sn_spill_count(const sn_spill *spill, unsigned part); /* records */
uint64_t sn_spill_bytes(const sn_spill *spill);                /* written so far */

#endif
