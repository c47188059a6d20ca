/* Inputs: a list of files and pipes, read in order and decompressed.
 *
 * gzip (all members), zstd (all frames), xz, bzip2 and lz4 frames are detected by their first
 * bytes, never by file name. A compressed file that is truncated, damaged or followed by other data
 * is an error that names the file. An sn_input may be used by one thread at a time. */
#ifndef SN_STREAM_IO_INPUT_H
#define SN_STREAM_IO_INPUT_H

#include "seen.h"
#include "stream/io/header.h"
#include "stream/io/stop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_input sn_input;

/* Checks every path, so that a missing or unreadable file or a folder is reported before any work
 * is done. Nothing is read from pipes yet.
 *   paths, count   "-" is standard input, and so is a count of 0
 *   stop           interrupts waiting for a slow pipe; may be NULL. Must outlive the input */
seen_status sn_input_open(const char *const *paths, size_t count, sn_stop *stop, sn_input **input,
                          seen_error *error);

/* One plain file that is already open, read from offset 0 with pread, without decompression; `name`
 * is for messages. The caller keeps the descriptor. */
seen_status sn_input_open_fd(int fd, const char *name, sn_stop *stop, sn_input **input,
                             seen_error *error);

void sn_input_close(sn_input *input); /* NULL is ignored */

/* Reads from the current file. *got is 0 only at its end or after a stop. Blocks for at least one
 * byte, not for more. */
seen_status sn_input_read(sn_input *input, void *to, size_t len, size_t *got, seen_error *error);

/* Whether sn_input_read returned no bytes because of a stop and not because of the end of the
 * file. */
bool sn_input_stopped(const sn_input *input);

/* Whether sn_input_read would block. */
bool sn_input_would_wait(sn_input *input);

/* Advances to the next file; *more is false after the last one. Initially the first file is
 * current. */
seen_status sn_input_next(sn_input *input, bool *more, seen_error *error);

/* ---- Properties ----------------------------------------------------------------------------- */

/* All inputs are regular files, which can be read a second time. */
bool sn_input_can_reread(const sn_input *input);

/* Some input is compressed (known after sn_input_estimate, or as far as it was read). */
bool sn_input_is_compressed(const sn_input *input);

/* Total size of the inputs on disk; UINT64_MAX if one of them is a pipe. */
uint64_t sn_input_size(const sn_input *input);

/* How many of these bytes were read so far. Callable from any thread. */
uint64_t sn_input_position(const sn_input *input);

/* The share of the inputs that is in the page cache, from a sample; 0 if unknown. */
double sn_input_cached(const sn_input *input);

/* Estimates the number of lines, and of bytes after decompression, from file sizes and samples.
 * Reads nothing from pipes. *lines is UINT64_MAX if unknown. */
seen_status sn_input_estimate(sn_input *input, char terminator, uint64_t *lines, uint64_t *bytes,
                              seen_error *error);

/* The number of distinct lines to allocate for according to that estimate, with a margin; 0 if
 * unknown. With `grows` the compression ratio of a file is capped at that of text: the sampled
 * beginning may be one repeated line and the rest different. */
uint64_t sn_input_room(const sn_input *input, uint64_t lines, uint64_t bytes, bool grows);

/* Restarts at the first byte of the first file. SEEN_ERR_CHANGED if a file was modified (device,
 * inode, size, change time), here or at the end of the second pass; SEEN_ERR_ARGUMENT if the input
 * cannot be read again. */
seen_status sn_input_rewind(sn_input *input, seen_error *error);

/* ---- Names ---------------------------------------------------------------------------------- */

size_t sn_input_count(const sn_input *input);
const char *sn_input_name(const sn_input *input, size_t file); /* "standard input" for "-" */
size_t sn_input_current(const sn_input *input);

/* The header of the files, filled by the reader if they have one. An input that is a temporary copy
 * uses the header of the original. */
sn_header *sn_input_header(sn_input *input);
bool sn_input_has_own_header(const sn_input *input);
void sn_input_take_header(sn_input *input, sn_header *header);

/* The name of the input that is the same regular file as `path`, or NULL. */
const char *sn_input_same_path(const sn_input *input, const char *path);

/* The name of the input that is the same regular file as `fd` (device and inode), or NULL. */
const char *sn_input_same_file(const sn_input *input, int fd);

#endif
