/* Records told apart: for the reader, which cuts the input into blocks, and for the workers, which
 * cut a block into records. */
#ifndef SN_STREAM_FRAME_H
#define SN_STREAM_FRAME_H

#include "seen.h"
#include "stream/io/block.h"
#include "stream/io/reader.h"
#include "stream/record/spec.h"

/* How a reader cuts the records of this spec, which must outlive it: false if they are lines. */
bool sn_frame_reader(const sn_record_spec *spec, sn_framing *framing);

/* Finds the records of a block; spec NULL: lines. Those without a key are left out of the block if
 * the spec says so, and are an error if it says that. */
seen_status sn_frame_split(const sn_record_spec *spec, sn_block *block, seen_error *error);

#endif
