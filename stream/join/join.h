/* The lines of A that are in B, or that are not: the engine of `seen common` and `seen except`.
 *
 * The result is exact: lines are compared by at least 96 bits of a hash with a random seed. The
 * order of A is kept, nothing is sorted, and memory is bounded. There are four strategies; the
 * planner chooses the one that it expects to be fastest:
 *
 *     table of B   B fits into a table                     reads B, A
 *     table of A   A fits into a table                     reads A, B, A
 *     filter       the candidates of A fit into a table    reads B, A, B, then A or saved lines
 *     spill        hashes of both are written to temporary files in parts, decided part by part;
 *                  then A is read again
 *
 * A strategy that runs out of memory switches to spill. With `approx`, or with an existing filter
 * instead of B, each input is read once, and the result has the error rate of the filter. */
#ifndef SN_STREAM_JOIN_JOIN_H
#define SN_STREAM_JOIN_JOIN_H

#include "seen.h"
#include "stream/io/input.h"
#include "stream/io/output.h"
#include "stream/pipeline/keys.h"
#include "stream/pipeline/pipeline.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum sn_join_strategy {
    SN_JOIN_ANY = 0, /* the planner chooses */
    SN_JOIN_TABLE_B = 1,
    SN_JOIN_TABLE_A = 2,
    SN_JOIN_FILTER = 3,
    SN_JOIN_SPILL = 4,
    SN_JOIN_SPILL_FILTERED = 5, /* spill, with a filter for each side */
    SN_JOIN_APPROX = 6,
    SN_JOIN_GIVEN = 7, /* an existing filter */
    SN_JOIN_STRATEGIES
} sn_join_strategy;

/* "table of B" etc. */
const char *sn_join_strategy_name(sn_join_strategy strategy);

/* The minimum memory limit. */
#define SN_JOIN_MEMORY_MIN ((uint64_t)16 << 20)

/* ---- Plan: sizes in, costs out -------------------------------------------------------------- */

typedef struct sn_join_parameters {
    double lines_a, bytes_a; /* bytes as stored */
    double lines_b, bytes_b; /* of all B together */
    double lines_first; /* with `all`: of the first B, as the others only confirm; else lines_b */
    double text_a;      /* bytes of A's lines, after decompression */
    uint64_t memory;    /* of the whole process */
    unsigned threads;   /* at least 1 */
    bool pipe_a;        /* A can be read only once */
    bool except;
    bool unique;
    double share;      /* expected share of A's lines in B */
    double error_rate; /* approx */
    double disk;       /* bytes per second; 0: 2 GB/s */
    double random_ns;  /* per random access to a large table; 0: 20 */
    double room;       /* bytes available for temporary files; 0: unknown */
    unsigned excluded; /* bits: 1 << strategy for strategies that failed */
} sn_join_parameters;

enum { SN_JOIN_STEPS = 8 };

typedef struct sn_join_step {
    const char *what;
    double read, written; /* bytes */
    double seconds;
} sn_join_step;

typedef struct sn_join_plan {
    sn_join_strategy strategy;
    uint64_t budget; /* memory left for filters, tables and maps */
    uint64_t filter; /* bytes of the filter of B */
    double filter_rate;
    double candidates; /* lines of A that pass it */
    uint64_t small;    /* bytes of the filter of the candidates */
    double small_rate;
    double survivors;              /* lines of B that pass it */
    uint64_t table;                /* maximum bytes */
    double table_needs;            /* bytes needed for the expected entries */
    double slices;                 /* number of parts */
    uint64_t map;                  /* bytes of the map of A's lines */
    bool saved;                    /* lines of candidates are saved instead of reading A again */
    double read, written, seconds; /* totals of all steps */
    size_t step_count;
    sn_join_step step[SN_JOIN_STEPS];
} sn_join_plan;

/* Chooses the strategy that is expected to be fastest, or computes the costs of `strategy`. Fails
 * if memory is below SN_JOIN_MEMORY_MIN or if `strategy` is not applicable. */
seen_status sn_join_plan_make(const sn_join_parameters *parameters, sn_join_strategy strategy,
                              sn_join_plan *plan, seen_error *error);

/* The maximum line length for this memory limit. */
size_t sn_join_line_max(uint64_t memory);

/* ---- Run ------------------------------------------------------------------------------------ */

/* The current step, for a progress line. May be read by another thread at any time. */
typedef struct sn_join_progress {
    _Atomic(const char *) what; /* a string constant */
    _Atomic uint64_t pass;      /* counts from 1 */
    _Atomic uint64_t total;     /* bytes this pass will read; 0: unknown */
    sn_meter meter;             /* of this pass */
} sn_join_progress;

typedef struct sn_join_options {
    sn_keys_options keys;
    const sn_keys_options *keys_b; /* key options of B, if different; may be NULL */
    sn_pipeline_options pipeline;  /* threads, terminator, stop; the engine sets line_max */
    bool except;
    bool unique;
    bool all;          /* must be in each B, not just in one */
    bool approx;       /* read each input once */
    double error_rate; /* approx: [0.001] */
    uint64_t memory;   /* of the whole process; 0: half of the free memory */
    const char *temp_dir;
    seen_set *given;            /* instead of B; owned by the caller */
    sn_join_strategy strategy;  /* for tests */
    double share;               /* expected share of A in B; 0: a tenth */
    sn_join_progress *progress; /* may be NULL */
} sn_join_options;

typedef struct sn_join_result {
    uint64_t lines_a, lines_b; /* lines_b: 0 with a given filter */
    uint64_t written;
    sn_join_strategy strategy; /* the one that completed */
    unsigned changes;          /* how often the strategy was changed */
    unsigned passes;           /* passes over A or B, whole or partial */
    uint64_t candidates;       /* filter strategy: lines of A that passed */
    double error_rate;         /* 0: exact */
    double wrong;       /* approx, unique: expected number of lines omitted as false repeats */
    uint64_t read;      /* total bytes read */
    uint64_t temporary; /* bytes of temporary files */
    double slices;
    bool stopped;
} sn_join_result;

/* Determines the planner's input: file sizes, and line counts estimated from samples. */
seen_status sn_join_measure(const sn_join_options *options, sn_input *a, sn_input *const *b,
                            size_t b_count, sn_join_parameters *parameters, seen_error *error);

/* Runs it.
 *   a          the lines to choose from
 *   b, count   without `all` one input with all files; with `all` one for each, the smallest first.
 *              None with a given filter
 *   plan       from sn_join_plan_make for these inputs
 * The output is finished, or abandoned on failure; the handle is freed in both cases. The files
 * must not change during the run (SEEN_ERR_CHANGED). */
seen_status sn_join_run(const sn_join_options *options, const sn_join_plan *plan,
                        const sn_join_parameters *parameters, sn_input *a, sn_input *const *b,
                        size_t count, sn_output *output, sn_join_result *result, seen_error *error);

#endif
