/* Each line once: the engine behind `seen uniq`.
 *
 * By default a Bloom filter in memory remembers the lines: small and fast, and wrong for a new line
 * at a rate that is chosen (the line is then dropped). With `exact` a table of fingerprints of at
 * least 96 bits does, and spills to temporary files when its memory is used up. With `filter` a set
 * that the caller opened does, so that lines are remembered from one run to the next. */
#ifndef SN_STREAM_UNIQ_H
#define SN_STREAM_UNIQ_H

#include <stdbool.h>
#include <stdint.h>

#include "seen.h"
#include "stream/exact/cascade.h"
#include "stream/io/input.h"
#include "stream/pipeline/keys.h"
#include "stream/io/output.h"
#include "stream/pipeline/pipeline.h"

typedef enum sn_uniq_what {
    SN_UNIQ_FIRST = 0,    /* each line the first time it appears */
    SN_UNIQ_REPEATED = 1, /* each line the second time, the third … */
    SN_UNIQ_SINGLES = 2   /* the lines that appear once: two readings */
} sn_uniq_what;

typedef struct sn_uniq_options {
    sn_key_options keys;
    sn_pipeline_options pipeline; /* threads, terminator, stop, meter; line_max 0: by memory */
    sn_uniq_what what;
    bool count_only; /* write nothing */
    bool exact;

    uint64_t capacity; /* distinct lines, if known; 0: estimated */
    double error_rate; /* 0: 1e-6 */
    uint64_t memory; /* bytes; 0: as much as the error rate asks for; exact: half of what is free */
    const char *temp_dir;

    seen_set *filter;    /* may be NULL; stays the caller's */
    bool remember_first; /* filter: remember before writing (a shared server: one winner) */
} sn_uniq_options;

/* What will be done, worked out before anything but a sample is read. */
typedef struct sn_uniq_plan {
    uint64_t lines;         /* estimated; UINT64_MAX: not known */
    uint64_t bytes;         /* estimated, after decompression; UINT64_MAX: not known */
    uint64_t capacity;      /* distinct lines that the set is made for at first */
    uint64_t memory;        /* of the set at first; exact: the most that the table takes */
    double error_rate;      /* with `capacity` lines; 0: exact */
    bool growing;           /* the set grows when there are more */
    sn_cascade_options set; /* how it is made */
} sn_uniq_plan;

typedef struct sn_uniq_result {
    uint64_t lines;     /* read */
    uint64_t written;   /* or, with count_only, what would have been */
    uint64_t distinct;  /* keys that were new; SN_UNIQ_SINGLES: different keys */
    double wrong;       /* lines expected to have been taken for repeats wrongly; 0: exact. At most
                           those that were */
    double error_rate;  /* promised by the set, or what it is now where that is more */
    uint64_t memory;    /* of the set at the end */
    uint32_t layers;    /* of the set at the end */
    uint64_t temporary; /* bytes that temporary files took */
    unsigned readings;  /* of the input */
    bool stopped;       /* early; what was written belongs to a prefix of the input */
    char *partial; /* remembered first, and did not come to its end: the file that has the new lines
                      written so far, to be freed; NULL: none */
    uint64_t lost; /* remembered first, and could not be written */
} sn_uniq_result;

seen_status sn_uniq_plan_make(const sn_uniq_options *options, sn_input *input, sn_uniq_plan *plan,
                              seen_error *error);

/* Runs it. `output` (NULL with count_only) and `dropped` (NULL: not wanted) are finished or, on
 * failure, abandoned here: they are gone whatever the status. An output that is deferred appears
 * before its lines are remembered in `filter`; after a stop it does not appear at all. Where they
 * were remembered first, what was written is kept (result->partial): it would never come again. The
 * filter is synced at the end, also after a stop. */
seen_status sn_uniq_run(const sn_uniq_options *options, const sn_uniq_plan *plan, sn_input *input,
                        sn_output *output, sn_output *dropped, sn_uniq_result *result,
                        seen_error *error);

#endif
