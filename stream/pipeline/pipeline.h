/* The pipeline: blocks of lines pass through N workers, in parallel where order does not matter and
 * in input order where it does.
 *
 *     read        find lines, `prepare`     `decide`        `render`         `emit`
 *     serial      parallel                  in input order  parallel         in input order
 *                 (keys, hashes)            (look up)       (select bytes)   (write)
 *
 * Each worker takes a block through all five steps. Three turnstiles enforce the order, so that the
 * output does not depend on the number of workers. If lookups dominate, they can be split into
 * lanes: `lookup` runs before `decide` and is called once per lane, in input order within each
 * lane, while other blocks are in other lanes. Each lane owns a share of the keys. Each step is a
 * callback and may be NULL. If a step fails, the run ends; blocks before it in input order are
 * still emitted, later ones are not.
 *
 * With a slow pipe, lines are processed as soon as they arrive, without waiting for a full
 * block. */
#ifndef SN_STREAM_PIPELINE_PIPELINE_H
#define SN_STREAM_PIPELINE_PIPELINE_H

#include "seen.h"
#include "stream/io/block.h"
#include "stream/io/input.h"
#include "stream/io/stop.h"
#include "stream/record/spec.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef seen_status sn_pipeline_step(void *context, sn_block *block, seen_error *error);

enum { SN_PIPELINE_LANES = 8 };

typedef seen_status sn_pipeline_lookup(void *context, sn_block *block, unsigned lane,
                                       seen_error *error);

typedef struct sn_pipeline_steps {
    void *context;
    sn_pipeline_step *prepare;  /* parallel; lines are split */
    sn_pipeline_step *decide;   /* in input order, one at a time; first_line is set */
    sn_pipeline_step *render;   /* parallel */
    sn_pipeline_step *emit;     /* in input order, one at a time */
    sn_pipeline_lookup *lookup; /* in input order, one at a time in each lane */
    unsigned lanes;             /* at most SN_PIPELINE_LANES; 0: no `lookup` */
} sn_pipeline_steps;

/* Counters that another thread may read at any time. */
typedef struct sn_meter {
    _Atomic uint64_t bytes; /* emitted bytes, after decompression */
    _Atomic uint64_t lines;
    _Atomic uint64_t kept; /* lines written, counted by the callbacks */
} sn_meter;

typedef struct sn_pipeline_options {
    unsigned threads;  /* 0: one per available CPU */
    bool waits;        /* for a server: more threads than CPUs, as they mostly wait */
    size_t block_size; /* 0: 256 KiB */
    size_t line_max;   /* maximum line length; 0: SN_BLOCK_MAX. Longer lines are an error with file
                        * and offset */
    char terminator;
    const sn_record_spec *record;    /* record format; NULL: lines */
    const seen_url_options *rewrite; /* replace lines by their canonical URL; NULL: no */
    sn_stop *stop;                   /* may be NULL */
    sn_meter *meter;                 /* may be NULL */
} sn_pipeline_options;

/* Processes the whole input. *stopped (may be NULL) is set if a stop ended it early: then the
 * emitted blocks are a prefix of the input. */
seen_status sn_pipeline_run(sn_input *input, const sn_pipeline_options *options,
                            const sn_pipeline_steps *steps, bool *stopped, seen_error *error);

/* The number of workers of a run. */
unsigned sn_pipeline_threads(const sn_pipeline_options *options);

/* Starts up to `wanted` threads with all signals blocked, so that signal handlers run in the
 * caller's thread; thread i gets `first` + i * `step` bytes. Returns the number of threads started,
 * which may be smaller. */
unsigned sn_pipeline_start(pthread_t *threads, unsigned wanted, void *(*work)(void *), void *first,
                           size_t step);

/* Memory in bytes of the blocks of a run, without long lines. `lanes`: includes a second copy of
 * hashes, lines and answers in each block's scratch buffer, ordered by lane. */
size_t sn_pipeline_memory(const sn_pipeline_options *options, bool lanes);

#endif
