/* A number for some of the lines, noted in any order and read back in line order. In bounded
 * memory: the notes are kept in a temporary file, cut into ranges of lines. */
#ifndef SN_STREAM_NOTES_H
#define SN_STREAM_NOTES_H

#include <pthread.h>
#include <stdint.h>

#include "seen.h"
#include "stream/exact/spill.h"

typedef struct sn_notes {
    sn_spill *spill;
    uint64_t range; /* lines */
    unsigned ranges;
    uint64_t loaded; /* range in `value`, plus one; 0: none */
    uint64_t *value;
    pthread_mutex_t lock; /* guards the spill while notes are added */
} sn_notes;

/* For lines [0, lines). */
seen_status sn_notes_open(sn_notes *notes, uint64_t lines, const char *dir, seen_error *error);
void sn_notes_close(sn_notes *notes); /* a zeroed one is ignored */

/* Notes a value, which is not 0. Any thread. */
seen_status sn_notes_add(sn_notes *notes, uint64_t line, uint64_t value, seen_error *error);
seen_status sn_notes_finish(sn_notes *notes, seen_error *error); /* before reading */

/* The value of a line; 0: none was noted. Fast in rising order. */
seen_status sn_notes_get(sn_notes *notes, uint64_t line, uint64_t *value, seen_error *error);

uint64_t sn_notes_bytes(const sn_notes *notes); /* of the temporary file */

#endif
