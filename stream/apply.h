/* Runs lines through a set: the engine of `seen add`, `check` and `remove`. */
#ifndef SN_STREAM_APPLY_H
#define SN_STREAM_APPLY_H

#include "seen.h"
#include "stream/io/input.h"
#include "stream/io/output.h"
#include "stream/pipeline/keys.h"
#include "stream/pipeline/pipeline.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum sn_apply_what { SN_APPLY_ADD, SN_APPLY_CHECK, SN_APPLY_REMOVE } sn_apply_what;

typedef struct sn_apply_options {
    sn_keys_options keys;
    sn_pipeline_options pipeline;
    sn_apply_what what;
    seen_set *set;
    seen_answer print; /* write the lines with this answer */
} sn_apply_options;

typedef struct sn_apply_result {
    uint64_t lines;
    uint64_t fresh;  /* answered SEEN_NEW */
    uint64_t before; /* answered SEEN_BEFORE */
    bool stopped;
} sn_apply_result;

/* Runs it. `output` may be NULL (nothing is written); it is finished, or abandoned on failure. A
 * modified set is synced even after a stop or a failure; *result then counts what was done. */
seen_status sn_apply_run(const sn_apply_options *options, sn_input *input, sn_output *output,
                         sn_apply_result *result, seen_error *error);

#endif
