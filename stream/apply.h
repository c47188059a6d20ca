/* Lines into a set, or past it: the engine behind `seen add`, `check` and `remove`. */
#ifndef SN_STREAM_APPLY_H
#define SN_STREAM_APPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "seen.h"
#include "stream/io/input.h"
#include "stream/io/output.h"
#include "stream/pipeline/keys.h"
#include "stream/pipeline/pipeline.h"

typedef enum sn_apply_what { SN_APPLY_ADD, SN_APPLY_CHECK, SN_APPLY_REMOVE } sn_apply_what;

typedef struct sn_apply_options {
    sn_key_options keys;
    sn_pipeline_options pipeline;
    sn_apply_what what;
    seen_set *set;
    seen_answer print; /* lines with this answer are written */
} sn_apply_options;

typedef struct sn_apply_result {
    uint64_t lines;
    uint64_t fresh;  /* answered SEEN_NEW */
    uint64_t before; /* answered SEEN_BEFORE */
    bool stopped;
} sn_apply_result;

/* Runs it. `output` may be NULL (nothing is written); it is finished, or on failure abandoned. A
 * set that was changed is synced, also after a stop or a failure; *result then says what was done.
 */
seen_status sn_apply_run(const sn_apply_options *options, sn_input *input, sn_output *output,
                         sn_apply_result *result, seen_error *error);

#endif
