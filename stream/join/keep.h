/* One bit per line of A, in bounded memory: a bitmap, or, if that is too large, records in a
 * temporary file from which the bitmap of one range at a time is built. */
#ifndef SN_STREAM_JOIN_KEEP_H
#define SN_STREAM_JOIN_KEEP_H

#include "seen.h"
#include "stream/exact/spill.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_keep {
    uint64_t *words;
    size_t bytes;
    uint64_t lines;
    uint64_t range;  /* lines per bitmap */
    uint64_t loaded; /* index of the range in `words`, plus one */
    unsigned ranges;
    sn_spill *notes; /* NULL: one range */
} sn_keep;

/* Initially all bits are clear. `memory` limits the bitmap; temporary files are created in
 * `dir`. */
seen_status sn_keep_open(sn_keep *keep, uint64_t lines, uint64_t memory, const char *dir,
                         seen_error *error);
void sn_keep_close(sn_keep *keep); /* a zeroed one is ignored */

seen_status sn_keep_set(sn_keep *keep, uint64_t line, seen_error *error);
seen_status sn_keep_finish(sn_keep *keep, seen_error *error); /* before sn_keep_get */

/* answers[i]: SEEN_BEFORE if the bit of line first + i is set. Lines must be queried in ascending
 * order. */
seen_status sn_keep_get(sn_keep *keep, uint64_t first, size_t count, seen_answer *answers,
                        seen_error *error);

uint64_t sn_keep_temporary(const sn_keep *keep); /* bytes of temporary files */

#endif
