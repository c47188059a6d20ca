/* Temporary files without a name, so that nothing is left behind however the process ends. Written
 * sequentially, then read at any offset, also by several threads. */
#ifndef SN_STREAM_IO_TEMP_H
#define SN_STREAM_IO_TEMP_H

#include "seen.h"

#include <stddef.h>
#include <stdint.h>

typedef struct sn_temp sn_temp;

/* dir NULL: $TMPDIR, or else /tmp. `expected` is the expected size (0: unknown), for the message
 * when the disk is full. */
seen_status sn_temp_open(const char *dir, uint64_t expected, sn_temp **temp, seen_error *error);
void sn_temp_close(sn_temp *temp); /* NULL is ignored */

/* Appends, buffered. One thread at a time. */
seen_status sn_temp_write(sn_temp *temp, const void *bytes, size_t length, seen_error *error);

/* Writes the buffered bytes; needed before reading. */
seen_status sn_temp_flush(sn_temp *temp, seen_error *error);

/* Reads length bytes at an offset; *got is smaller only at the end. */
seen_status sn_temp_read(sn_temp *temp, uint64_t offset, void *to, size_t length, size_t *got,
                         seen_error *error);

uint64_t sn_temp_length(const sn_temp *temp); /* including buffered bytes */
int sn_temp_fd(const sn_temp *temp);

/* The folder, for messages. */
const char *sn_temp_dir(const sn_temp *temp);

#endif
