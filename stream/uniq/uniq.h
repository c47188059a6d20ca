/* Removes duplicate lines: the engine of `seen uniq` and `seen count`.
 *
 * By default a table of fingerprints of at least 96 bits stores the lines; it spills to temporary
 * files when its memory is used up. With `approx` it is a Bloom filter in memory: smaller, but
 * unique lines are lost at the chosen error rate. With `filter` it is a set opened by the caller,
 * so that lines are remembered across runs. Lines selected by their number of occurrences are
 * always counted exactly, in two passes. */
#ifndef SN_STREAM_UNIQ_UNIQ_H
#define SN_STREAM_UNIQ_UNIQ_H

#include "seen.h"
#include "stream/exact/approx.h"
#include "stream/io/input.h"
#include "stream/io/output.h"
#include "stream/pipeline/keys.h"
#include "stream/pipeline/pipeline.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum sn_uniq_what {
    SN_UNIQ_FIRST = 0,        /* the first occurrence of each line */
    SN_UNIQ_DUPLICATES = 1,   /* every occurrence except the first */
    SN_UNIQ_ONCE = 2,         /* lines that occur once; this and the following are exact, in two
                               * passes */
    SN_UNIQ_REPEATED = 3,     /* the first occurrence of each line that occurs more than once */
    SN_UNIQ_ALL_REPEATED = 4, /* all occurrences of lines that occur more than once */
    SN_UNIQ_LAST = 5,         /* the last occurrence of each line */
    SN_UNIQ_COUNTED = 6       /* the first occurrence of each line, with its count */
} sn_uniq_what;

/* Default error rate of a filter. */
#define SN_UNIQ_RATE 1e-6

typedef struct sn_uniq_options {
    sn_keys_options keys;
    sn_pipeline_options pipeline; /* threads, terminator, stop, meter; line_max 0: by memory */
    sn_uniq_what what;
    bool count_only; /* write nothing */
    bool approx;     /* a Bloom filter in memory */
    uint64_t min;    /* SN_UNIQ_COUNTED: omit smaller counts */
    uint64_t top;    /* SN_UNIQ_COUNTED: only the N largest, in descending order; 0: all, in input
                      * order */
    bool source;     /* write FILE:LINE: before each line; not with counts, nor `dropped` */
    bool padded; /* SN_UNIQ_COUNTED: counts in the format of GNU uniq -c; else COUNT, tab, line */
    char column; /* CSV: the delimiter; counts, or file and line, are columns before the record; 0:
                  * plain lines */

    uint64_t capacity; /* distinct lines, if known; 0: estimated */
    double error_rate; /* of a filter; 0: SN_UNIQ_RATE */
    uint64_t memory;   /* bytes; 0: half of the free memory; approx: as needed for the error rate */
    const char *temp_dir;

    seen_set *filter;    /* may be NULL; owned by the caller */
    bool remember_first; /* filter: add before writing (a shared server: exactly one client writes a
                          * line) */
} sn_uniq_options;

/* The plan, made before anything but a sample is read. */
typedef struct sn_uniq_plan {
    uint64_t lines;        /* estimated; UINT64_MAX: unknown */
    uint64_t bytes;        /* estimated, after decompression; UINT64_MAX: unknown */
    uint64_t capacity;     /* initial capacity of the set in distinct lines */
    uint64_t memory;       /* initial size of the set; exact: maximum size of the table */
    double error_rate;     /* with `capacity` lines; 0: exact */
    bool growing;          /* the set grows if there are more */
    sn_approx_options set; /* how it is made */
} sn_uniq_plan;

/* Maximum costs of a run: if all lines are distinct. */
typedef struct sn_uniq_cost {
    double memory;    /* bytes of the set or the tables */
    double temporary; /* bytes of temporary files */
    unsigned readings;
    double seconds; /* with a disk of the given speed in bytes per second */
} sn_uniq_cost;

typedef struct sn_uniq_result {
    uint64_t lines;     /* read */
    uint64_t written;   /* with count_only: that would have been written */
    uint64_t distinct;  /* keys reported as new, or distinct keys */
    double wrong;       /* unique lines expected to be lost; 0: exact. At most the duplicates */
    double error_rate;  /* of the set, or its current rate if that is higher */
    uint64_t memory;    /* of the set at the end */
    uint32_t layers;    /* of the set at the end */
    uint64_t temporary; /* bytes that temporary files took */
    unsigned readings;  /* passes over the input */
    bool stopped;       /* stopped early; the output belongs to a prefix of the input */
    char *partial; /* remember_first, and the run failed: the file with the new lines written so
                    * far, to be freed; NULL: none */
    uint64_t lost; /* remember_first: new lines that could not be written */
} sn_uniq_result;

seen_status sn_uniq_plan_make(const sn_uniq_options *options, sn_input *input, sn_uniq_plan *plan,
                              seen_error *error);

/* For a plan with a known number of lines. `pipe`: the input can be read only once. */
sn_uniq_cost sn_uniq_cost_of(const sn_uniq_options *options, const sn_uniq_plan *plan, bool pipe,
                             double disk);

/* Runs it. `output` (NULL with count_only) and `dropped` (NULL: not wanted) are finished, or
 * abandoned on failure; the handles are freed in both cases. A deferred output is renamed into
 * place before its lines are added to `filter`, and not at all after a stop. With remember_first
 * the partial output is kept (result->partial), because its lines will not be reported as new
 * again. The filter is synced at the end, also after a stop. */
seen_status sn_uniq_run(const sn_uniq_options *options, const sn_uniq_plan *plan, sn_input *input,
                        sn_output *output, sn_output *dropped, sn_uniq_result *result,
                        seen_error *error);

#endif
