/* A number for some of the lines, added in any order and read back in line order. Memory is
 * bounded: the notes are in a temporary file, split into ranges of lines. */
#ifndef SN_STREAM_EXACT_NOTES_H
#define SN_STREAM_EXACT_NOTES_H

#include "seen.h"
#include "stream/exact/spill.h"

#include <pthread.h>
#include <stdint.h>

typedef struct sn_notes {
    sn_spill *spill;
    uint64_t range; /* lines per range */
    unsigned ranges;
    uint64_t loaded; /* index of the range in `value`, plus one; 0: none */
    uint64_t *value;
    pthread_mutex_t lock; /* protects the spill while notes are added */
} sn_notes;

/* For lines [0, lines). */
seen_status sn_notes_open(sn_notes *notes, uint64_t lines, const char *dir, seen_error *error);
void sn_notes_close(sn_notes *notes); /* a zeroed one is ignored */

/* Adds a value, which must not be 0. Any thread. */
seen_status sn_notes_add(sn_notes *notes, uint64_t line, uint64_t value, seen_error *error);
seen_status sn_notes_finish(sn_notes *notes, seen_error *error); /* before reading */

/* The value of a line; 0: none. Fast for ascending line numbers. */
seen_status sn_notes_get(sn_notes *notes, uint64_t line, uint64_t *value, seen_error *error);

uint64_t sn_notes_bytes(const sn_notes *notes); /* size of the temporary file */

#endif
