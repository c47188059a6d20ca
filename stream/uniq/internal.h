/* Between the files of the uniq engine. */
#ifndef SN_STREAM_UNIQ_INSIDE_H
#define SN_STREAM_UNIQ_INSIDE_H

#include "stream/io/copy.h"
#include "stream/uniq/uniq.h"

/* One run. The ways to decide (memory, filter, singles, exact) share it as their context. */
typedef struct sn_uniq {
    const sn_uniq_options *options;
    const sn_uniq_plan *plan;
    sn_input *input;
    sn_output *output;  /* NULL: not written */
    sn_output *dropped; /* NULL: not written */
    sn_uniq_result *result;
    seen_hasher hasher;
    seen_answer keep;   /* the answer of the lines to be written */
    sn_cascade cascade; /* that answers, in memory */
    seen_set *set;      /* that answers: the caller's filter */
    uint64_t fresh;     /* keys that were new; guarded by the decide turn */
    void *way;          /* what the way of deciding needs */
} sn_uniq;

/* Where new lines are written; NULL: nowhere. */
static inline sn_output *sn_uniq_fresh(const sn_uniq *u)
{
    return u->keep == SEEN_NEW ? u->output : u->dropped;
}

static inline uint64_t sn_uniq_fresh_lines(const sn_uniq *u)
{
    const sn_uniq_result *r = u->result;
    return u->keep == SEEN_NEW ? r->written : r->lines - r->written;
}

/* Steps that all ways share. */
seen_status sn_uniq_hash(void *context, sn_block *block, seen_error *error);   /* prepare */
seen_status sn_uniq_add(void *context, sn_block *block, seen_error *error);    /* decide: memory */
seen_status sn_uniq_select(void *context, sn_block *block, seen_error *error); /* render */
seen_status sn_uniq_write(void *context, sn_block *block, seen_error *error);  /* emit */

/* Runs the input through; steps->context is the sn_uniq. */
seen_status sn_uniq_pass(sn_uniq *u, const sn_pipeline_steps *steps, seen_error *error);

/* The same once more: from the copy, where one was kept, or from the input's beginning. */
seen_status sn_uniq_pass_again(sn_uniq *u, sn_copy *copy, const sn_pipeline_steps *steps,
                               seen_error *error);

/* Completes both outputs; the handles are gone. */
seen_status sn_uniq_finish(sn_uniq *u, seen_error *error);

/* The ways. Each runs the whole input and fills the result; the caller ends the outputs. */
seen_status sn_uniq_run_memory(sn_uniq *u, seen_error *error);
seen_status sn_uniq_run_filter(sn_uniq *u, seen_error *error);
seen_status sn_uniq_run_singles(sn_uniq *u, seen_error *error);
seen_status sn_uniq_run_exact(sn_uniq *u, seen_error *error);

/* What -m leaves for a long line. */
uint64_t sn_uniq_line_memory(const sn_uniq_options *options);

/* The rate that a set in memory is to keep. */
double sn_uniq_promise(const sn_uniq *u);

/* The plan's part for --exact: memory of the table. */
seen_status sn_uniq_plan_exact(const sn_uniq_options *options, sn_uniq_plan *plan,
                               seen_error *error);

#endif
