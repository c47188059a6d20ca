/* uniq with a Bloom filter in memory: unique lines are lost at the chosen error rate. */
#include "stream/uniq/strategies.h"

#include <math.h>

seen_status sn_uniq_plan_approx(const sn_uniq_options *options, sn_uniq_plan *plan,
                                seen_error *error)
{
    plan->set = (sn_approx_options){.capacity = plan->capacity, .error_rate = plan->error_rate};
    if (options->memory) {
        uint64_t blocks =
            sn_pipeline_memory(&options->pipeline, false) + sn_uniq_line_memory(options);
        plan->set.most =
            options->memory > 2 * blocks ? options->memory - blocks : options->memory / 2;
    }
    seen_plan first;
    bool alone;
    seen_status status = sn_approx_plan(&plan->set, &first, &alone, error);
    if (status != SEEN_OK)
        return status;
    plan->capacity = first.capacity;
    plan->memory = first.bytes;
    plan->growing = !alone;
    if (alone)
        plan->error_rate = first.predicted_rate;
    return SEEN_OK;
}

/* With -m, the plan contains the error rate for the given or estimated number of lines. If that is
 * higher than the requested rate, it is the worst case, not a guarantee. */
static double promised_rate(const sn_uniq *u)
{
    double asked = u->options->error_rate > 0 ? u->options->error_rate : SN_UNIQ_RATE;
    return u->options->memory ? fmin(u->plan->error_rate, asked) : u->plan->error_rate;
}

static seen_status add(void *context, sn_block *block, seen_error *error)
{
    const sn_uniq *u = context;
    return sn_approx_add(u->state, block->hash, block->lines, block->answer, error);
}

seen_status sn_uniq_run_approx(sn_uniq *u, seen_error *error)
{
    sn_approx a;
    seen_status status = sn_approx_open(&a, &u->plan->set, error);
    if (status != SEEN_OK)
        return status;
    u->state = &a;
    u->hasher = a.hasher;
    sn_pipeline_steps steps = {.context = u,
                               .prepare = sn_uniq_hash,
                               .decide = add,
                               .render = sn_uniq_select,
                               .emit = sn_uniq_write};
    status = sn_uniq_pass(u, &steps, error);
    sn_uniq_result *result = u->result;
    result->distinct = sn_approx_keys(&a);
    result->memory = sn_approx_memory(&a);
    result->layers = a.more ? 2 : 1;
    result->error_rate = fmax(promised_rate(u), sn_approx_error(&a, &result->wrong));
    sn_approx_close(&a);
    return status;
}
