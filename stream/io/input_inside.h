/* Internal interface between input.c and estimate.c. */
#ifndef SN_STREAM_IO_INPUT_INSIDE_H
#define SN_STREAM_IO_INPUT_INSIDE_H

#include "stream/io/input.h"

#include <sys/types.h>

/* The initial offset and the size of one file; 0 for inputs that can be read only once. */
uint64_t sn_input_sample_size(const sn_input *input, size_t file, off_t *begin);

/* A descriptor for sampling with pread; -1 if the file cannot be opened (reading it will report
 * why). */
int sn_input_sample_open(const sn_input *input, size_t file);
void sn_input_sample_close(const sn_input *input, size_t file, int fd);
void sn_input_note_compressed(sn_input *input, bool compressed);

#endif
