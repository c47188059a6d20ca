/* Each line once: the engine behind `seen uniq` and `seen count`.
 *
 * By default a table of fingerprints of at least 96 bits remembers the lines; it spills to
 * temporary files when its memory is used up. With `approx` a Bloom filter in memory does: smaller,
 * and a unique line is lost at the rate chosen. With `filter` a set that the caller opened does, so
 * that lines are remembered from one run to the next. Lines chosen by how often they occur are
 * always counted exactly, in two readings. */
#ifndef SN_STREAM_UNIQ_H
#define SN_STREAM_UNIQ_H

#include <stdbool.h>
#include <stdint.h>

#include "seen.h"
#include "stream/exact/cascade.h"
#include "stream/io/input.h"
#include "stream/io/output.h"
#include "stream/pipeline/keys.h"
#include "stream/pipeline/pipeline.h"

typedef enum sn_uniq_what {
    SN_UNIQ_FIRST = 0,        /* the first occurrence of each line */
    SN_UNIQ_DUPLICATES = 1,   /* every occurrence except the first */
    SN_UNIQ_ONCE = 2,         /* lines that occur once; from here on exact, in two readings */
    SN_UNIQ_REPEATED = 3,     /* the first occurrence of each line that occurs more than once */
    SN_UNIQ_ALL_REPEATED = 4, /* all occurrences of lines that occur more than once */
    SN_UNIQ_LAST = 5,         /* the last occurrence of each line */
    SN_UNIQ_COUNTED = 6       /* the first occurrence of each line, with its count */
} sn_uniq_what;

/* Error rate of a filter, unless another one is asked for. */
#define SN_UNIQ_RATE 1e-6

typedef struct sn_uniq_options {
    sn_key_options keys;
    sn_pipeline_options pipeline; /* threads, terminator, stop, meter; line_max 0: by memory */
    sn_uniq_what what;
    bool count_only; /* write nothing */
    bool approx;     /* a Bloom filter in memory */
    uint64_t min;    /* SN_UNIQ_COUNTED: leave out smaller counts */
    uint64_t top;    /* SN_UNIQ_COUNTED: only the largest, in descending order; 0: all, in order */
    bool source;     /* write FILE:LINE: before each line; not with counts, nor `dropped` */
    bool padded;     /* SN_UNIQ_COUNTED: counts as GNU uniq -c writes them; else COUNT, tab, line */

    uint64_t capacity; /* distinct lines, if known; 0: estimated */
    double error_rate; /* of a filter; 0: SN_UNIQ_RATE */
    uint64_t memory;   /* bytes; 0: half of the free memory; approx: what the error rate needs */
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

/* What a run takes at most: that is, if all lines are distinct. */
typedef struct sn_uniq_cost {
    double memory;    /* bytes of the set or the tables */
    double temporary; /* bytes of temporary files */
    unsigned readings;
    double seconds; /* with a disk of so many bytes a second */
} sn_uniq_cost;

typedef struct sn_uniq_result {
    uint64_t lines;     /* read */
    uint64_t written;   /* or, with count_only, what would have been */
    uint64_t distinct;  /* keys that were new, or different keys */
    double wrong;       /* unique lines expected to be lost; 0: exact. At most the duplicates */
    double error_rate;  /* promised by the set, or what it is now if that is more */
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

/* For a plan that knows the lines. `pipe`: the input can be read only once. */
sn_uniq_cost sn_uniq_cost_of(const sn_uniq_options *options, const sn_uniq_plan *plan, bool pipe,
                             double disk);

/* Runs it. `output` (NULL with count_only) and `dropped` (NULL: not wanted) are finished or, on
 * failure, abandoned here: they are gone whatever the status. An output that is deferred appears
 * before its lines are remembered in `filter`; after a stop it does not appear at all. Where they
 * were remembered first, what was written is kept (result->partial): it would never come again. The
 * filter is synced at the end, also after a stop. */
seen_status sn_uniq_run(const sn_uniq_options *options, const sn_uniq_plan *plan, sn_input *input,
                        sn_output *output, sn_output *dropped, sn_uniq_result *result,
                        seen_error *error);

#endif
