/* Between input.c and estimate.c. */
#ifndef SN_STREAM_INPUT_INSIDE_H
#define SN_STREAM_INPUT_INSIDE_H

#include <sys/types.h>

#include "stream/input.h"

/* A descriptor to look at one file with pread, its first byte and its size; -1 where it cannot be
 * opened (reading it will say why). */
int sn_input_sample_open(const sn_input *input, size_t file, off_t *begin, uint64_t *size);
void sn_input_sample_close(const sn_input *input, size_t file, int fd);
void sn_input_note_compressed(sn_input *input, bool compressed);

#endif
