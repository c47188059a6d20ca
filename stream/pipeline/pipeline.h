/* The pipeline: blocks of lines through N workers, in any order where that does not matter and in
 * input order where it does.
 *
 *     read        find lines, `prepare`     `decide`        `render`         `emit`
 *     one by one  in parallel               in input order  in parallel      in input order
 *     in order    (keys, hashes)            (ask the set)   (select bytes)   (write)
 *
 * Each worker takes a block through all five. Three turnstiles keep the order, so that any number
 * of workers gives the same bytes as one. Where asking is most of the work, it can be cut into
 * lanes: `ask` comes before `decide` and is called once for each lane, in input order for any one
 * of them, while other blocks are in other lanes. Each lane has a share of the keys, and of what
 * is known about keys, for itself. Each step is a function of the client and may be NULL. A
 * step that fails ends the run; blocks before it in input order are still emitted, none behind it.
 *
 * A slow pipe: what has arrived is taken through at once when no more input is waiting. */
#ifndef SN_STREAM_PIPELINE_H
#define SN_STREAM_PIPELINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seen.h"
#include "stream/io/block.h"
#include "stream/io/input.h"
#include "stream/io/stop.h"
#include "stream/record/spec.h"

typedef seen_status sn_pipeline_step(void *context, sn_block *block, seen_error *error);

enum { SN_PIPELINE_LANES = 8 };

typedef seen_status sn_pipeline_ask(void *context, sn_block *block, unsigned lane,
                                    seen_error *error);

typedef struct sn_pipeline_steps {
    void *context;
    sn_pipeline_step *prepare; /* parallel: lines are found */
    sn_pipeline_step *decide;  /* in input order, one at a time; first_line is set */
    sn_pipeline_step *render;  /* parallel */
    sn_pipeline_step *emit;    /* in input order, one at a time */
    sn_pipeline_ask *ask;      /* in input order, one at a time in each lane */
    unsigned lanes;            /* at most SN_PIPELINE_LANES; 0: no `ask` */
} sn_pipeline_steps;

/* Numbers that another thread may read at any time. */
typedef struct sn_meter {
    _Atomic uint64_t bytes; /* after decompression, that have been emitted */
    _Atomic uint64_t lines;
    _Atomic uint64_t kept; /* for the client: lines that were written */
} sn_meter;

typedef struct sn_pipeline_options {
    unsigned threads;  /* 0: one per CPU that this process may use */
    bool waits;        /* for a server: threads that wait for it need no CPU of their own */
    size_t block_size; /* 0: the default, 256 KiB */
    size_t line_max;   /* longest line; 0: SN_BLOCK_MAX. Longer: an error with file and offset */
    char terminator;
    const sn_record_spec *record;    /* how records are told apart; NULL: lines */
    const seen_url_options *rewrite; /* lines become canonical URLs; NULL: they stay as they are */
    sn_stop *stop;                   /* may be NULL */
    sn_meter *meter;                 /* may be NULL */
} sn_pipeline_options;

/* Runs the whole input through. *stopped (may be NULL) says whether a stop ended it early: then the
 * blocks emitted are a prefix of the input. */
seen_status sn_pipeline_run(sn_input *input, const sn_pipeline_options *options,
                            const sn_pipeline_steps *steps, bool *stopped, seen_error *error);

/* Workers that a run has. */
unsigned sn_pipeline_threads(const sn_pipeline_options *options);

/* Starts up to `wanted` threads with all signals blocked, so that a handler runs in the caller's
 * thread; thread i gets `first` + i * `step` bytes. Returns how many there are: fewer are enough.
 */
unsigned sn_pipeline_start(pthread_t *threads, unsigned wanted, void *(*work)(void *), void *first,
                           size_t step);

/* Memory that a run takes for blocks of ordinary lines, in bytes. `lanes`: with hashes, lines and
 * answers once more in each block's scratch, in the order of the lanes. */
size_t sn_pipeline_memory(const sn_pipeline_options *options, bool lanes);

#endif
