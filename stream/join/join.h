/* The lines of A that are in B, or that are not: the engine behind `seen common` and `seen except`.
 *
 * The answer is exact: lines are compared by at least 96 bits of a hash with a random seed. The
 * order of A is kept, nothing is sorted, and the memory is bounded. There are four strategies;
 * the planner takes the one that it expects to finish first:
 *
 *     table of B   B fits a table                B, A
 *     table of A   A fits a table                A, B, A
 *     filter       what of A may be in B fits    B, A, B, and A again or the lines put aside
 *     spill        hashes of both are put aside in parts, and decided part by part; then A again
 *
 * A strategy that finds less room than planned changes to spill by itself. With
 * `approx`, or with a filter that was made earlier instead of B, one reading of each is enough, and
 * the answer has that filter's error rate. */
#ifndef SN_STREAM_SETS_H
#define SN_STREAM_SETS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seen.h"
#include "stream/io/input.h"
#include "stream/io/output.h"
#include "stream/pipeline/keys.h"
#include "stream/pipeline/pipeline.h"

typedef enum sn_join_strategy {
    SN_JOIN_ANY = 0, /* the planner chooses */
    SN_JOIN_TABLE_B = 1,
    SN_JOIN_TABLE_A = 2,
    SN_JOIN_FILTER = 3,
    SN_JOIN_SPILL = 4,
    SN_JOIN_SPILL_FILTERED = 5, /* spill, with a filter in front of each side */
    SN_JOIN_APPROX = 6,
    SN_JOIN_GIVEN = 7, /* a filter that was made earlier */
    SN_JOIN_STRATEGIES
} sn_join_strategy;

/* "table of B" and so on. */
const char *sn_join_strategy_name(sn_join_strategy strategy);

/* Less memory than this is refused. */
#define SN_JOIN_MEMORY_MIN ((uint64_t)16 << 20)

/* ---- The plan: numbers in, numbers out --------------------------------------------------------
 */

typedef struct sn_join_numbers {
    double lines_a, bytes_a; /* bytes as they are read */
    double lines_b, bytes_b; /* of all B together */
    double lines_first;      /* with `all`: of the first B, the others only confirm; else lines_b */
    double text_a;           /* bytes of A's lines, after decompression */
    uint64_t memory;         /* of the whole process */
    unsigned threads;        /* at least 1 */
    bool pipe_a;             /* A cannot be read again */
    bool except;
    bool unique;
    double share;      /* of A's lines that are expected to be in B */
    double error_rate; /* approx */
    double disk;       /* bytes a second; 0: 2 GB/s */
    double random_ns;  /* of a random access to a large table; 0: 20 */
    double room;       /* bytes that temporary files may take; 0: not known */
    unsigned excluded; /* bits: 1 << strategy for strategies that were tried in vain */
} sn_join_numbers;

enum { SN_JOIN_STEPS = 8 };

typedef struct sn_join_step {
    const char *what;
    double read, written; /* bytes */
    double seconds;
} sn_join_step;

typedef struct sn_join_plan {
    sn_join_strategy strategy;
    uint64_t budget; /* what is left of the memory for filters, tables and maps */
    uint64_t filter; /* bytes of the filter of B */
    double filter_rate;
    double candidates; /* lines of A that pass it */
    uint64_t small;    /* bytes of the filter of the candidates */
    double small_rate;
    double survivors;              /* lines of B that pass that */
    uint64_t table;                /* bytes, at most */
    double table_needs;            /* bytes, for what is expected */
    double slices;                 /* parts */
    uint64_t map;                  /* bytes of the map of A's lines */
    bool aside;                    /* candidates' lines are put aside rather than A read again */
    double read, written, seconds; /* of all steps together */
    size_t step_count;
    sn_join_step step[SN_JOIN_STEPS];
} sn_join_plan;

/* Works out the strategy that is expected to be done first, or how `strategy` would go. Refused:
 * memory below SN_JOIN_MEMORY_MIN; a strategy that these numbers do not allow. */
seen_status sn_join_plan_make(const sn_join_numbers *numbers, sn_join_strategy strategy,
                              sn_join_plan *plan, seen_error *error);

/* What of the memory is left for filters, tables and maps; the rest is for blocks of lines, stacks,
 * long lines and the program itself. */
uint64_t sn_join_budget(uint64_t memory, unsigned threads);

/* The longest line that this much memory allows. */
size_t sn_join_line_max(uint64_t memory);

/* ---- The run --------------------------------------------------------------------------------- */

/* What is being done, for a progress line. Another thread may read it at any time. */
typedef struct sn_join_news {
    _Atomic(const char *) what; /* a constant text */
    _Atomic uint64_t pass;      /* counts from 1 */
    _Atomic uint64_t total;     /* bytes that this pass will read; 0: not known */
    sn_meter meter;             /* of this pass */
} sn_join_news;

typedef struct sn_join_options {
    sn_key_options keys;
    const sn_key_options *keys_b; /* of B, if they are made in another way; may be NULL */
    sn_pipeline_options pipeline; /* threads, terminator, stop; line_max is set by the engine */
    bool except;
    bool unique;
    bool all;          /* in each B, not in any of them */
    bool approx;       /* one reading of each */
    double error_rate; /* approx: [0.001] */
    uint64_t memory;   /* of the whole process; 0: half of what is free */
    const char *temp_dir;
    seen_set *given;           /* instead of B; stays the caller's */
    sn_join_strategy strategy; /* for tests */
    double share;              /* expected share of A in B; 0: a tenth */
    sn_join_news *news;        /* may be NULL */
} sn_join_options;

typedef struct sn_join_result {
    uint64_t lines_a, lines_b; /* lines_b: 0 with a given filter */
    uint64_t written;
    sn_join_strategy strategy; /* that came to the end */
    unsigned changes;          /* how often the strategy was changed */
    unsigned passes;           /* readings of A or B, whole or not */
    uint64_t candidates;       /* filter: lines of A that passed it */
    double error_rate;         /* 0: exact */
    double wrong;              /* approx, unique: lines expected to be taken for repeats wrongly */
    uint64_t read;             /* bytes read in all */
    uint64_t temporary;        /* bytes of temporary files */
    double slices;
    bool stopped;
} sn_join_result;

/* What is known about the inputs, for the planner: sizes, and lines estimated from samples. */
seen_status sn_join_measure(const sn_join_options *options, sn_input *a, sn_input *const *b,
                            size_t b_count, sn_join_numbers *numbers, seen_error *error);

/* Runs it.
 *   a          the lines to choose from
 *   b, count   without `all` one input with all files; with `all` one for each. Put the smallest
 *              first. None with a given filter.
 *   plan       as sn_join_plan_make made it from these inputs
 * The output is finished or, on failure, abandoned here: it is gone whatever the status. Files must
 * stay as they are meanwhile (SEEN_ERR_CHANGED). */
seen_status sn_join_run(const sn_join_options *options, const sn_join_plan *plan,
                        const sn_join_numbers *numbers, sn_input *a, sn_input *const *b,
                        size_t count, sn_output *output, sn_join_result *result, seen_error *error);

#endif
