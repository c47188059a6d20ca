/* Compressors for outputs, chosen by the suffix of the file name. */
#ifndef SN_STREAM_IO_ENCODE_H
#define SN_STREAM_IO_ENCODE_H

#include "seen.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct sn_encoder sn_encoder;

/* Receives the compressed bytes. */
typedef seen_status sn_encode_sink(void *context, const void *bytes, size_t length,
                                   seen_error *error);

/* *encoder is NULL if the name has neither .gz nor .zst. SEEN_ERR_UNSUPPORTED for formats that can
 * only be read: .xz, .bz2, .lz4. */
seen_status sn_encoder_open(const char *name, sn_encode_sink *sink, void *context,
                            sn_encoder **encoder, seen_error *error);
seen_status sn_encoder_write(sn_encoder *encoder, const void *bytes, size_t length,
                             seen_error *error);
seen_status sn_encoder_finish(sn_encoder *encoder, seen_error *error); /* to be followed by close */
void sn_encoder_close(sn_encoder *encoder);                            /* NULL is ignored */

#endif
