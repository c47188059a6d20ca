/* A copy, in a temporary file, of lines read from a pipe, so that they can be read again. */
#ifndef SN_STREAM_IO_COPY_H
#define SN_STREAM_IO_COPY_H

#include "seen.h"
#include "stream/io/block.h"
#include "stream/io/input.h"
#include "stream/io/temp.h"

typedef struct sn_copy {
    sn_temp *temp; /* NULL: no copy is made */
} sn_copy;

seen_status sn_copy_open(sn_copy *copy, const char *dir, seen_error *error);
void sn_copy_close(sn_copy *copy); /* a zeroed one is ignored */

/* Appends lines; the last may lack its terminator, which is added. */
seen_status sn_copy_add(sn_copy *copy, const char *bytes, size_t length, char terminator,
                        seen_error *error);

/* The copy as an input, which must be closed before the copy. */
seen_status sn_copy_input(sn_copy *copy, sn_stop *stop, sn_input **input, seen_error *error);

#endif
