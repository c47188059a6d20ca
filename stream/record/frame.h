/* Record boundaries: for the reader, which splits the input into blocks, and for the workers, which
 * split a block into records. */
#ifndef SN_STREAM_RECORD_FRAME_H
#define SN_STREAM_RECORD_FRAME_H

#include "seen.h"
#include "stream/io/block.h"
#include "stream/io/reader.h"
#include "stream/record/spec.h"

/* Sets up the framing of the reader for this spec, which must outlive it; false if records are
 * lines. */
bool sn_frame_reader(const sn_record_spec *spec, sn_framing *framing);

/* Finds the records of a block; spec NULL: lines. Records without a key are omitted or are an
 * error, depending on the spec. */
seen_status sn_frame_split(const sn_record_spec *spec, sn_block *block, seen_error *error);

#endif
