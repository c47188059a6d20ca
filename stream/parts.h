/* Splits an input into parts by the hash of the key, so that equal keys are in the same part: the
 * engine of `seen split`.
 *
 *     records -> hash -> sorted by part within the block -> a buffer per part -> its output
 *     '---------------- parallel ----------------'          '---- input order ----'
 *
 * The part of a key depends only on the key and the number of parts, so it is the same on every
 * machine and in every run. Within a part the records keep their order. */
#ifndef SN_STREAM_PARTS_H
#define SN_STREAM_PARTS_H

#include "seen.h"
#include "stream/io/input.h"
#include "stream/io/output.h"
#include "stream/pipeline/keys.h"
#include "stream/pipeline/pipeline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SN_PARTS_MAX = 65536 };

typedef struct sn_parts_options {
    sn_keys_options keys;
    sn_pipeline_options pipeline;
    size_t parts; /* at most SN_PARTS_MAX */
} sn_parts_options;

/* Runs it. output[i] and lines[i] (the number of records) belong to part i. The caller keeps the
 * outputs. */
seen_status sn_parts_run(const sn_parts_options *options, sn_input *input, sn_output *const *output,
                         uint64_t *lines, bool *stopped, seen_error *error);

#endif
