/* Hashes with line numbers, in a temporary file: 16 bytes each.
 *
 * The exact table ignores the low 32 bits of a hash, so the line number is stored there, and
 * records can be passed to the table unchanged. For numbers above 32 bits the position at which the
 * upper half changes is recorded; numbers must be added in ascending order. */
#ifndef SN_STREAM_EXACT_RECORDS_H
#define SN_STREAM_EXACT_RECORDS_H

#include "seen.h"
#include "stream/io/temp.h"

#include <stddef.h>
#include <stdint.h>

typedef struct sn_records_epoch {
    uint64_t first; /* first record it applies to */
    uint64_t upper; /* upper half of the line numbers */
} sn_records_epoch;

typedef struct sn_records {
    sn_temp *temp;
    uint64_t count;
    sn_records_epoch *epochs;
    size_t epoch_count;
} sn_records;

/* `expected` bytes, for the message when the disk is full; 0: unknown. */
seen_status sn_records_open(sn_records *records, const char *dir, uint64_t expected,
                            seen_error *error);
void sn_records_close(sn_records *records); /* a zeroed one is ignored */

seen_status sn_records_add(sn_records *records, seen_hash hash, uint64_t number, seen_error *error);
seen_status sn_records_flush(sn_records *records, seen_error *error); /* before reading */

/* Reads up to `room` records, starting at record `first`; *base + (uint32_t)hashes[i].lo is the
 * line number. *got is 0 after the last record. */
seen_status sn_records_read(sn_records *records, uint64_t first, seen_hash *hashes, size_t room,
                            size_t *got, uint64_t *base, seen_error *error);

static inline uint64_t sn_records_number(uint64_t base, seen_hash hash)
{
    return base + (uint32_t)hash.lo;
}

#endif
