/* Temporary files that have no name, so that nothing is left behind, whatever ends the process.
 * Written from front to back, then read at any place, also by several threads. */
#ifndef SN_STREAM_TEMP_H
#define SN_STREAM_TEMP_H

#include <stddef.h>
#include <stdint.h>

#include "seen.h"

typedef struct sn_temp sn_temp;

/* dir NULL: $TMPDIR, or else /tmp. `expected` is the size it will have as far as is known (0: not),
 * for the message when the disk is full. */
seen_status sn_temp_open(const char *dir, uint64_t expected, sn_temp **temp, seen_error *error);
void sn_temp_close(sn_temp *temp); /* NULL is ignored */

/* Appends. Small pieces are gathered; one thread at a time. */
seen_status sn_temp_write(sn_temp *temp, const void *bytes, size_t length, seen_error *error);

/* Hands gathered bytes to the system; needed before reading. */
seen_status sn_temp_flush(sn_temp *temp, seen_error *error);

/* Reads length bytes at an offset; *got is smaller only at the end. */
seen_status sn_temp_read(sn_temp *temp, uint64_t offset, void *to, size_t length, size_t *got,
                         seen_error *error);

uint64_t sn_temp_length(const sn_temp *temp); /* with what is gathered */
int sn_temp_fd(const sn_temp *temp);

/* Empties it, to be written again. */
seen_status sn_temp_reset(sn_temp *temp, seen_error *error);

/* The folder, for messages. */
const char *sn_temp_dir(const sn_temp *temp);

#endif
