/* Inputs: a list of files and pipes, read in order, decompressed as their content says.
 *
 * gzip (all members), zstd (all frames), xz, bzip2 and lz4 frames are known by their first bytes,
 * never by their names. A compressed file that ends early, is damaged or has something else behind
 * it is an error that names it. One thread at a time may use an sn_input. */
#ifndef SN_STREAM_INPUT_H
#define SN_STREAM_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seen.h"
#include "stream/io/header.h"
#include "stream/io/stop.h"

typedef struct sn_input sn_input;

/* Looks at every path, so that a file that is missing, unreadable or a folder is told before any
 * work is done. Nothing is read from a pipe yet.
 *   paths, count   "-" is the standard input; count 0 too
 *   stop           ends a wait for a slow pipe; may be NULL. Must outlive the input */
seen_status sn_input_open(const char *const *paths, size_t count, sn_stop *stop, sn_input **input,
                          seen_error *error);

/* One plain file that is already open, read from offset 0 with pread, without decompression; `name`
 * is for messages. The descriptor stays the caller's. */
seen_status sn_input_open_fd(int fd, const char *name, sn_stop *stop, sn_input **input,
                             seen_error *error);

void sn_input_close(sn_input *input); /* NULL is ignored */

/* Reads on in the current file. *got is 0 only at its end, or when a stop was asked for.
 * Waits for at least one byte, and does not wait for more. */
seen_status sn_input_read(sn_input *input, void *to, size_t len, size_t *got, seen_error *error);

/* Whether a stop, and not the end of the file, is why sn_input_read gave nothing. */
bool sn_input_stopped(const sn_input *input);

/* Whether sn_input_read would have to wait for somebody else to write. */
bool sn_input_would_wait(sn_input *input);

/* Goes on to the next file; *more is false behind the last one. The first file is current at once.
 */
seen_status sn_input_next(sn_input *input, bool *more, seen_error *error);

/* ---- What is known beforehand --------------------------------------------------------------- */

/* All inputs are regular files, which can be read a second time. */
bool sn_input_can_reread(const sn_input *input);

/* Some input is compressed (known once sn_input_estimate was called, or as far as it was read). */
bool sn_input_is_compressed(const sn_input *input);

/* Bytes of all inputs as they are on the disk; UINT64_MAX if one of them is a pipe. */
uint64_t sn_input_size(const sn_input *input);

/* How many of those bytes were read so far; any thread may ask. */
uint64_t sn_input_position(const sn_input *input);

/* The share of the inputs that is in the page cache, by a sample; 0 if that is not known. */
double sn_input_cached(const sn_input *input);

/* Estimates the number of lines, and of bytes after decompression, from the sizes and samples at
 * several places. Reads nothing from pipes. *lines is UINT64_MAX if nothing is known. */
seen_status sn_input_estimate(sn_input *input, char terminator, uint64_t *lines, uint64_t *bytes,
                              seen_error *error);

/* How many different lines to make room for by that estimate, with a margin; 0 if nothing is known.
 * For a set that grows no file is taken to be packed more tightly than text is: the front of a
 * compressed file may be one line again and again, and the rest unlike it. */
uint64_t sn_input_room(const sn_input *input, uint64_t lines, uint64_t bytes, bool grows);

/* Starts again at the first byte of the first file. SEEN_ERR_CHANGED where a file is not the same
 * any more (device, inode, size, time of change), here or at the end of the second reading;
 * SEEN_ERR_ARGUMENT where the input cannot be read again. */
seen_status sn_input_rewind(sn_input *input, seen_error *error);

/* ---- Names ---------------------------------------------------------------------------------- */

size_t sn_input_count(const sn_input *input);
const char *sn_input_name(const sn_input *input, size_t file); /* "standard input" for "-" */
size_t sn_input_current(const sn_input *input);

/* The header of the files, filled by the reader if they have one. A copy of an input in a temporary
 * file has none of its own and takes that of the original. */
sn_header *sn_input_header(sn_input *input);
bool sn_input_has_own_header(const sn_input *input);
void sn_input_take_header(sn_input *input, sn_header *header);

/* The name of the input that is the regular file at `path`, or NULL. */
const char *sn_input_same_path(const sn_input *input, const char *path);

/* The name of the input that is the regular file open as `fd` (same device and inode), or NULL. */
const char *sn_input_same_file(const sn_input *input, int fd);

#endif
