/* uniq with a Bloom filter in memory: unique lines are lost at the chosen error rate. */
#include "stream/uniq/approx.h"

#include <math.h>

seen_status sn_uniq_plan_approx(const sn_uniq_options *options, sn_uniq_plan *plan,
                                seen_error *error)
{
    plan->set = (sn_cascade_options){.capacity = plan->capacity, .error_rate = plan->error_rate};
    seen_plan first;
    seen_status status = sn_cascade_plan(&plan->set, &first, error);
    if (status == SEEN_OK && options->memory) {
        uint64_t blocks =
            sn_pipeline_memory(&options->pipeline, false) + sn_uniq_line_memory(options);
        uint64_t room =
            options->memory > 2 * blocks ? options->memory - blocks : options->memory / 2;
        /* The number of lines is an estimate: the set may grow up to the available memory. */
        plan->set.most = room;
        if (!plan->capacity || first.bytes > room / 2) {
            plan->set.memory = room;
            status = sn_cascade_plan(&plan->set, &first, error);
        }
    }
    if (status != SEEN_OK)
        return status;
    plan->capacity = first.capacity;
    plan->memory = first.bytes;
    plan->growing = !plan->set.memory;
    if (plan->set.memory)
        plan->error_rate = first.predicted_rate;
    return SEEN_OK;
}

typedef struct approx {
    sn_cascade cascade;
} approx;

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
    approx *a = u->state;
    return sn_cascade_add(&a->cascade, block->hash, block->lines, block->answer, error);
}

seen_status sn_uniq_run_approx(sn_uniq *u, seen_error *error)
{
    approx a = {0};
    seen_status status = sn_cascade_open(&a.cascade, &u->plan->set, error);
    if (status != SEEN_OK)
        return status;
    u->state = &a;
    u->hasher = a.cascade.hasher;
    sn_pipeline_steps steps = {.context = u,
                               .prepare = sn_uniq_hash,
                               .decide = add,
                               .render = sn_uniq_select,
                               .emit = sn_uniq_write};
    status = sn_uniq_pass(u, &steps, error);
    sn_uniq_result *result = u->result;
    result->distinct = sn_cascade_keys(&a.cascade);
    result->memory = sn_cascade_memory(&a.cascade);
    result->layers = (uint32_t)a.cascade.count;
    result->error_rate = fmax(promised_rate(u), sn_cascade_rate_now(&a.cascade));
    result->wrong = sn_cascade_expect_wrong(&a.cascade);
    sn_cascade_close(&a.cascade);
    return status;
}
