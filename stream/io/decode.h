/* One interface to all decompressors: bytes in, bytes out, frame boundaries handled inside. */
#ifndef SN_STREAM_IO_DECODE_H
#define SN_STREAM_IO_DECODE_H

#include "seen.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_codec sn_codec;
typedef struct sn_decoder sn_decoder;

/* Detects the codec from the first bytes of a file; NULL for plain bytes. *undecided is set if more
 * bytes could change the result; at the end of the input the result is final. */
const sn_codec *sn_decode_detect(const uint8_t *head, size_t length, bool *undecided);

/* `name` is the file name for messages; it must outlive the decoder. */
seen_status sn_decoder_open(const sn_codec *codec, const char *name, sn_decoder **decoder,
                            seen_error *error);
void sn_decoder_close(sn_decoder *decoder); /* NULL is ignored */

/* Decodes as much as possible.
 *   in, length, used   compressed bytes, and how many of them were consumed
 *   last               nothing follows `in`
 *   to, room, made     output buffer, and how many bytes were written to it
 * The data is complete when a call with `last` and no input succeeds and produces no bytes. */
seen_status sn_decoder_step(sn_decoder *decoder, const uint8_t *in, size_t length, size_t *used,
                            bool last, uint8_t *to, size_t room, size_t *made, seen_error *error);

#endif
