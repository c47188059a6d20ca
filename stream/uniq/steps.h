/* Shared by all strategies of uniq: the state of a run, and common steps.
 *
 *     uniq.c -> approx.c, filter.c, exact.c, count.c -> steps.c */
#ifndef SN_STREAM_UNIQ_STEPS_H
#define SN_STREAM_UNIQ_STEPS_H

#include "stream/io/copy.h"
#include "stream/uniq/uniq.h"

/* The state of a run: the context of every step. */
typedef struct sn_uniq {
    const sn_uniq_options *options;
    const sn_uniq_plan *plan;
    sn_input *input;
    sn_output *output;  /* NULL: not written */
    sn_output *dropped; /* NULL: not written */
    sn_uniq_result *result;
    seen_hasher hasher;
    seen_answer keep; /* write lines with this answer */
    void *state;      /* of the strategy */
} sn_uniq;

/* The output for new lines; NULL: none. */
static inline sn_output *sn_uniq_fresh(const sn_uniq *u)
{
    return u->keep == SEEN_NEW ? u->output : u->dropped;
}

static inline uint64_t sn_uniq_fresh_lines(const sn_uniq *u)
{
    const sn_uniq_result *r = u->result;
    return u->keep == SEEN_NEW ? r->written : r->lines - r->written;
}

seen_status sn_uniq_hash(void *context, sn_block *block, seen_error *error);   /* prepare */
seen_status sn_uniq_select(void *context, sn_block *block, seen_error *error); /* render */
/* The same for the first `lines` lines, each prefixed with FILE:LINE:. */
seen_status sn_uniq_render_source(const sn_uniq *u, sn_block *block, size_t lines,
                                  seen_error *error);
seen_status sn_uniq_write(void *context, sn_block *block, seen_error *error); /* emit */

/* Processes the input; steps->context is the sn_uniq. */
seen_status sn_uniq_pass(sn_uniq *u, const sn_pipeline_steps *steps, seen_error *error);

/* Second pass: over the copy, if there is one, or over the input. */
seen_status sn_uniq_pass_again(sn_uniq *u, sn_copy *copy, const sn_pipeline_steps *steps,
                               seen_error *error);

/* Finishes both outputs and frees the handles. */
seen_status sn_uniq_finish(sn_uniq *u, seen_error *error);

/* The memory for a long line with -m. */
uint64_t sn_uniq_line_memory(const sn_uniq_options *options);

/* The memory for exact tables with -m. */
uint64_t sn_uniq_table_memory(const sn_uniq_options *options);

#endif
