/* One bit for each line of A, in bounded memory: a map of all, or, where that is too large, notes
 * in a temporary file from which a map of one range after the other is made. */
#ifndef SN_STREAM_SETS_KEEP_H
#define SN_STREAM_SETS_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seen.h"
#include "stream/exact/spill.h"

typedef struct sn_keep {
    uint64_t *words;
    size_t bytes;
    uint64_t lines;
    uint64_t range;  /* lines that `words` is for */
    uint64_t loaded; /* number of the range that is in `words`, plus one */
    unsigned ranges;
    sn_spill *notes; /* NULL: one range */
} sn_keep;

/* All bits are clear. `memory` bounds the map; temporary files go to `dir`. */
seen_status sn_keep_open(sn_keep *keep, uint64_t lines, uint64_t memory, const char *dir,
                         seen_error *error);
void sn_keep_close(sn_keep *keep); /* a zeroed one is ignored */

seen_status sn_keep_set(sn_keep *keep, uint64_t line, seen_error *error);
seen_status sn_keep_finish(sn_keep *keep, seen_error *error); /* before asking */

/* answers[i]: SEEN_BEFORE where the bit of line first + i is set. Lines must be asked for in rising
 * order. */
seen_status sn_keep_ask(sn_keep *keep, uint64_t first, size_t count, seen_answer *answers,
                        seen_error *error);

uint64_t sn_keep_temporary(const sn_keep *keep); /* bytes of temporary files */

#endif
