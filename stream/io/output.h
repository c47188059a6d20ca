/* Where results go: the standard output, or a file that appears whole or not at all.
 *
 * A file is written under a temporary name in the same folder and renamed by sn_output_finish after
 * an fsync, also when it is one of the inputs; until then, and after a failure, the old one is
 * whole. What is no regular file (/dev/null, a FIFO) is written to directly. Names that end in .gz
 * or .zst are compressed. A closed pipe asks for a stop (SN_STOP_CLOSED) and is no failure; a full
 * disk is SEEN_ERR_SPACE. One thread at a time. */
#ifndef SN_STREAM_OUTPUT_H
#define SN_STREAM_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seen.h"
#include "stream/io/block.h"
#include "stream/io/input.h"
#include "stream/io/stop.h"

typedef struct sn_output sn_output;

/*   path         NULL or "-": the standard output
 *   terminator   of lines; added to a last line that has none
 *   stop         set when the reader goes away; may be NULL */
seen_status sn_output_open(const char *path, char terminator, sn_stop *stop, sn_output **output,
                           seen_error *error);

/* Before the first bytes, or at the end if there are none, the header of `input` is written, if it
 * has one by then. The input must outlive the output. */
void sn_output_header(sn_output *output, sn_input *input);

/* SEEN_ERR_ARGUMENT where the output is added to a file that is one of the inputs: what is written
 * would be read again, without an end. A deferred file may well be an input. */
seen_status sn_output_apart(const sn_output *output, const sn_input *input, seen_error *error);

/* Writes whole lines; the last may lack its terminator, which is added. Written at once, not kept
 * back, except where compressed. */
seen_status sn_output_write(sn_output *output, const void *bytes, size_t length, seen_error *error);

/* Writes block->out. */
seen_status sn_output_block(sn_output *output, const sn_block *block, seen_error *error);

/* What was written survives a power cut when this returns. Does nothing for pipes and terminals. */
seen_status sn_output_sync(sn_output *output, seen_error *error);

/* A file that appears only with sn_output_finish. */
bool sn_output_is_deferred(const sn_output *output);

/* A regular file, deferred or not: sn_output_sync means something. */
bool sn_output_is_file(const sn_output *output);

/* Bytes taken so far, before compression. */
uint64_t sn_output_written(const sn_output *output);

/* Completes the output, makes it appear and gives the handle back, whatever the status. */
seen_status sn_output_finish(sn_output *output, seen_error *error);

/* Gives the handle back; what was written to a file that did not appear is kept beside its place,
 * as PATH.partial, with a number behind it where there is one already. Its name, to be freed; NULL:
 * there is nothing to keep, or it could not be kept. */
char *sn_output_keep(sn_output *output);

/* Gives the handle back; a file that did not appear yet never will. NULL is ignored. */
void sn_output_abandon(sn_output *output);

#endif
