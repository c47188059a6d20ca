/* Decompressors behind one small interface: bytes in, bytes out, and where a frame ends. */
#ifndef SN_STREAM_DECODE_H
#define SN_STREAM_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seen.h"

typedef struct sn_codec sn_codec;
typedef struct sn_decoder sn_decoder;

/* What the first bytes of a file say: its codec, or NULL for plain bytes. *undecided is set where
 * more bytes could still say something else; at the end of the input take the answer as it is. */
const sn_codec *sn_decode_detect(const uint8_t *head, size_t length, bool *undecided);

/* `name` is the file's, for messages; it must outlive the decoder. */
seen_status sn_decoder_open(const sn_codec *codec, const char *name, sn_decoder **decoder,
                            seen_error *error);
void sn_decoder_close(sn_decoder *decoder); /* NULL is ignored */

/* Decodes what it can.
 *   in, length, used   compressed bytes, and how many of them were taken
 *   last               nothing follows `in`
 *   to, room, made     where the bytes go
 * The data is complete when a call with `last` and no bytes makes none and does not fail. */
seen_status sn_decoder_step(sn_decoder *decoder, const uint8_t *in, size_t length, size_t *used,
                            bool last, uint8_t *to, size_t room, size_t *made, seen_error *error);

#endif
