/* Compressors for outputs, chosen by the name of the file. */
#ifndef SN_STREAM_ENCODE_H
#define SN_STREAM_ENCODE_H

#include <stdbool.h>
#include <stddef.h>

#include "seen.h"

typedef struct sn_encoder sn_encoder;

/* Takes compressed bytes away. */
typedef seen_status sn_encode_sink(void *context, const void *bytes, size_t length,
                                   seen_error *error);

/* *encoder is NULL where the name (x.gz, x.zst) asks for none. SEEN_ERR_UNSUPPORTED where it asks
 * for what is only read: x.xz, x.bz2, x.lz4. */
seen_status sn_encoder_open(const char *name, sn_encode_sink *sink, void *context,
                            sn_encoder **encoder, seen_error *error);
seen_status sn_encoder_write(sn_encoder *encoder, const void *bytes, size_t length,
                             seen_error *error);
seen_status sn_encoder_finish(sn_encoder *encoder, seen_error *error); /* then close */
void sn_encoder_close(sn_encoder *encoder);                            /* NULL is ignored */

#endif
