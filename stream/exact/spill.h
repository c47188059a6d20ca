/* Hashes, each with a number, cut into parts and put aside in a temporary file: 16 bytes each.
 *
 * The parts are written in chunks to one file, each from a buffer of its own, and read back one
 * part after the other. The exact table does not look at the low 32 bits of a hash; the number
 * stands there, counted from a base that the chunk knows, so that what is read can be given to the
 * table as it is. */
#ifndef SN_STREAM_SPILL_H
#define SN_STREAM_SPILL_H

#include <stddef.h>
#include <stdint.h>

#include "seen.h"

typedef struct sn_spill sn_spill;

enum { SN_SPILL_RECORD_BYTES = 16, SN_SPILL_PARTS_MAX = 4096 };

/*   dir        for the temporary file; NULL: the usual one
 *   parts      1 to SN_SPILL_PARTS_MAX
 *   memory     bytes for buffers, as near as whole records allow; freed by sn_spill_finish
 *   expected   bytes that will be written, for the message when the disk is full; 0: not known */
seen_status sn_spill_open(const char *dir, unsigned parts, uint64_t memory, uint64_t expected,
                          sn_spill **spill, seen_error *error);
void sn_spill_close(sn_spill *spill); /* NULL is ignored */

/* Adds a record to the part that its hash belongs to. One thread at a time. */
seen_status sn_spill_add(sn_spill *spill, seen_hash hash, uint64_t number, seen_error *error);

/* Writes what is left in the buffers and frees them; needed before reading. */
seen_status sn_spill_finish(sn_spill *spill, seen_error *error);

/* Chunks of a part, and the records that the largest of them holds. */
size_t sn_spill_chunks(const sn_spill *spill, unsigned part);
size_t sn_spill_chunk_records(const sn_spill *spill);

/* Reads one chunk, in the order of adding. The number of a record is *base + (uint32_t)lo. Any
 * thread. */
seen_status sn_spill_read(sn_spill *spill, unsigned part, size_t chunk, seen_hash *hashes,
                          size_t *count, uint64_t *base, seen_error *error);

uint64_t sn_spill_count(const sn_spill *spill, unsigned part); /* records */
uint64_t sn_spill_bytes(const sn_spill *spill);                /* written so far */

#endif
