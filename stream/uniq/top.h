/* The lines with the N largest counts. First all counts are offered, which gives the smallest count
 * among the top N; then lines are selected in input order, limiting those with the smallest count
 * to N in total. */
#ifndef SN_STREAM_UNIQ_TOP_H
#define SN_STREAM_UNIQ_TOP_H

#include "seen.h"
#include "stream/io/output.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct sn_top_line {
    uint64_t count;
    uint64_t order; /* of first appearance */
    size_t offset, length;
} sn_top_line;

typedef struct sn_top {
    uint64_t wanted;
    uint64_t *heap; /* min-heap of the largest counts so far */
    size_t held, room;
    pthread_mutex_t lock;
    uint64_t least;   /* smallest count that is selected, */
    uint64_t of_them; /* and how many lines with this count */
    sn_top_line *line;
    size_t lines, line_room;
    char *text;
    size_t length, text_room;
} sn_top;

enum { SN_TOP_MAX = 10000000 };

seen_status sn_top_open(sn_top *top, uint64_t wanted, seen_error *error);
void sn_top_close(sn_top *top); /* a zeroed one is ignored */

seen_status sn_top_add(sn_top *top, const uint64_t *counts, size_t count,
                       seen_error *error); /* any thread */
void sn_top_select(sn_top *top);           /* all counts were offered */

/* Whether the next line, with this count, is selected. Must be called in input order. */
bool sn_top_takes(sn_top *top, uint64_t count);

/* Stores the text of a selected line. */
seen_status sn_top_insert(sn_top *top, uint64_t count, const char *text, size_t length,
                          seen_error *error);

/* Writes the lines by descending count; equal counts in input order. */
seen_status sn_top_write(sn_top *top, sn_output *output, seen_error *error);

#endif
