/* Outputs: standard output, or a file that is replaced atomically.
 *
 * A file is written under a temporary name in the same folder; sn_output_finish syncs and renames
 * it. This also works if it is one of the inputs; until then, and after a failure, the old file is
 * intact. Anything but a regular file (/dev/null, a FIFO) is written directly. Names ending in .gz
 * or .zst are compressed. A closed pipe requests a stop (SN_STOP_CLOSED) and is not an error; a
 * full disk is SEEN_ERR_SPACE. One thread at a time. */
#ifndef SN_STREAM_IO_OUTPUT_H
#define SN_STREAM_IO_OUTPUT_H

#include "seen.h"
#include "stream/io/block.h"
#include "stream/io/input.h"
#include "stream/io/stop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_output sn_output;

/* path         NULL or "-": standard output
 *   terminator   of lines; added to a last line that has none
 *   stop         set when the reading end is closed; may be NULL */
seen_status sn_output_open(const char *path, char terminator, sn_stop *stop, sn_output **output,
                           seen_error *error);

/* The header of `input`, if it has one by then, is written before the first bytes, or at the end if
 * there are none. `columns`, "count," for example, is written in front of it; "" for none. Both
 * must outlive the output. */
void sn_output_header(sn_output *output, sn_input *input, const char *columns);

/* SEEN_ERR_ARGUMENT if the output is appended to a file that is also an input: it would read its
 * own output forever. A deferred file may be an input. */
seen_status sn_output_apart(const sn_output *output, const sn_input *input, seen_error *error);

/* Writes whole lines; a missing last terminator is added. Unbuffered, except for compressed
 * outputs. */
seen_status sn_output_write(sn_output *output, const void *bytes, size_t length, seen_error *error);

/* Writes block->out. */
seen_status sn_output_block(sn_output *output, const sn_block *block, seen_error *error);

/* Makes the written bytes durable. Does nothing for pipes and terminals. */
seen_status sn_output_sync(sn_output *output, seen_error *error);

/* Whether this is a file that is renamed into place by sn_output_finish. */
bool sn_output_is_deferred(const sn_output *output);

/* Whether this is a regular file, deferred or not, so that sn_output_sync has an effect. */
bool sn_output_is_file(const sn_output *output);

/* Completes the output, renames a deferred file into place and frees the handle, even on
 * failure. */
seen_status sn_output_finish(sn_output *output, seen_error *error);

/* Frees the handle; an unfinished file is kept next to its path as PATH.partial, or PATH.partial.N
 * if that exists. Returns its name, to be freed; NULL if there is nothing to keep or it could not
 * be kept. */
char *sn_output_keep(sn_output *output);

/* Frees the handle and discards an unfinished file. NULL is ignored. */
void sn_output_abandon(sn_output *output);

#endif
