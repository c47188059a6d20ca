/* Each line once: planning, the steps that all ways share, and the plain way (a set in memory). */
#include "stream/uniq/uniq.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "stream/uniq/internal.h"

/* ---- The plan ------------------------------------------------------------------------------- */

#define DEFAULT_RATE 1e-6

/* There is one long line at a time, and this much of the memory is left for it. */
uint64_t sn_uniq_line_memory(const sn_uniq_options *options)
{
    return options->memory / 16;
}

static seen_status plan_memory(const sn_uniq_options *options, sn_uniq_plan *plan,
                               seen_error *error)
{
    /* Of singles, those that came once, and those that came again. */
    unsigned sets = options->what == SN_UNIQ_SINGLES ? 2 : 1;
    plan->set = (sn_cascade_options){.capacity = plan->capacity, .error_rate = plan->error_rate};
    seen_plan first;
    seen_status status = sn_cascade_plan(&plan->set, &first, error);
    if (status == SEEN_OK && options->memory) {
        uint64_t blocks =
            sn_pipeline_memory(&options->pipeline, false) + sn_uniq_line_memory(options);
        uint64_t room =
            (options->memory > 2 * blocks ? options->memory - blocks : options->memory / 2) / sets;
        /* How many lines there are is a guess, or hearsay: the set may grow, or has all of it. */
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
    if (options->memory)
        plan->memory *= sets;
    if (plan->set.memory)
        plan->error_rate = first.predicted_rate;
    return SEEN_OK;
}

seen_status sn_uniq_plan_make(const sn_uniq_options *options, sn_input *input, sn_uniq_plan *plan,
                              seen_error *error)
{
    *plan = (sn_uniq_plan){.lines = UINT64_MAX};
    seen_status status =
        sn_input_estimate(input, options->pipeline.terminator, &plan->lines, &plan->bytes, error);
    if (status != SEEN_OK)
        return status;
    plan->error_rate = options->error_rate > 0 ? options->error_rate : DEFAULT_RATE;
    plan->capacity = options->capacity;
    if (!plan->capacity)
        plan->capacity = sn_input_room(input, plan->lines, plan->bytes, !options->memory);
    if (options->filter) {
        seen_info shape = {.size = sizeof shape};
        status = seen_get_shape(options->filter, &shape, error);
        plan->capacity = shape.capacity;
        plan->memory = shape.bytes;
        plan->error_rate = shape.error_rate;
        plan->growing = shape.growth == SEEN_GROWING;
        return status;
    }
    if (options->exact)
        return sn_uniq_plan_exact(options, plan, error);
    return plan_memory(options, plan, error);
}

/* ---- Steps ---------------------------------------------------------------------------------- */

seen_status sn_uniq_hash(void *context, sn_block *block, seen_error *error)
{
    const sn_uniq *u = context;
    return sn_keys_hash(&u->options->keys, &u->hasher, block, error);
}

seen_status sn_uniq_add(void *context, sn_block *block, seen_error *error)
{
    sn_uniq *u = context;
    return sn_cascade_add(&u->cascade, block->hash, block->lines, block->answer, error);
}

seen_status sn_uniq_select(void *context, sn_block *block, seen_error *error)
{
    const sn_uniq *u = context;
    if (u->output)
        return sn_block_select(block, u->keep, u->dropped != NULL, error);
    uint64_t count = 0;
    for (size_t i = 0; i < block->lines; i++)
        count += block->answer[i] == u->keep;
    block->number_out = count;
    return SEEN_OK;
}

seen_status sn_uniq_write(void *context, sn_block *block, seen_error *error)
{
    sn_uniq *u = context;
    seen_status status = SEEN_OK;
    if (u->output)
        status = sn_output_block(u->output, block, error);
    if (status == SEEN_OK && u->dropped)
        status = sn_output_write(u->dropped, block->aside, block->aside_length, error);
    if (status != SEEN_OK)
        return status;
    u->result->lines += block->lines;
    u->result->written += block->number_out;
    if (u->options->pipeline.meter)
        atomic_store_explicit(&u->options->pipeline.meter->kept, u->result->written,
                              memory_order_relaxed);
    return SEEN_OK;
}

seen_status sn_uniq_pass(sn_uniq *u, const sn_pipeline_steps *steps, seen_error *error)
{
    bool stopped = false;
    u->result->readings++;
    seen_status status = sn_pipeline_run(u->input, &u->options->pipeline, steps, &stopped, error);
    u->result->stopped |= stopped;
    return status;
}

seen_status sn_uniq_pass_again(sn_uniq *u, sn_copy *copy, const sn_pipeline_steps *steps,
                               seen_error *error)
{
    seen_status status;
    if (!copy->temp) {
        status = sn_input_rewind(u->input, error);
        return status == SEEN_OK ? sn_uniq_pass(u, steps, error) : status;
    }
    sn_input *given = u->input;
    status = sn_copy_input(copy, u->options->pipeline.stop, &u->input, error);
    if (status == SEEN_OK) {
        sn_input_take_header(u->input, sn_input_header(given));
        u->result->temporary += sn_temp_length(copy->temp);
        status = sn_uniq_pass(u, steps, error);
        sn_input_close(u->input);
    }
    u->input = given;
    return status;
}

seen_status sn_uniq_finish(sn_uniq *u, seen_error *error)
{
    seen_status status = SEEN_OK;
    sn_output *outputs[] = {u->output, u->dropped};
    u->output = u->dropped = NULL;
    for (size_t i = 0; i < 2; i++) {
        if (!outputs[i])
            continue;
        /* A file that would appear with half of its lines does not appear. */
        bool half = u->result->stopped && sn_output_is_deferred(outputs[i]);
        if (status == SEEN_OK && !half)
            status = sn_output_finish(outputs[i], error);
        else
            sn_output_abandon(outputs[i]);
    }
    return status;
}

/* Within -m the plan tells the rate with as many lines as were said or estimated: where that is
 * more than was asked for, it is a fear and no promise. */
double sn_uniq_promise(const sn_uniq *u)
{
    double asked = u->options->error_rate > 0 ? u->options->error_rate : DEFAULT_RATE;
    return u->options->memory ? fmin(u->plan->error_rate, asked) : u->plan->error_rate;
}

/* ---- The plain way -------------------------------------------------------------------------- */

seen_status sn_uniq_run_memory(sn_uniq *u, seen_error *error)
{
    seen_status status = sn_cascade_open(&u->cascade, &u->plan->set, error);
    if (status != SEEN_OK)
        return status;
    u->hasher = u->cascade.hasher;
    sn_pipeline_steps steps = {.context = u,
                               .prepare = sn_uniq_hash,
                               .decide = sn_uniq_add,
                               .render = sn_uniq_select,
                               .emit = sn_uniq_write};
    status = sn_uniq_pass(u, &steps, error);
    sn_uniq_result *result = u->result;
    result->distinct = sn_cascade_keys(&u->cascade);
    result->memory = sn_cascade_memory(&u->cascade);
    result->layers = (uint32_t)u->cascade.count;
    result->error_rate = fmax(sn_uniq_promise(u), sn_cascade_rate_now(&u->cascade));
    result->wrong = sn_cascade_expect_wrong(&u->cascade);
    sn_cascade_close(&u->cascade);
    return status;
}

static seen_status check_options(const sn_uniq_options *options, seen_error *error)
{
    if (options->filter && options->exact)
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "an exact answer cannot come from a filter: leave out --exact, or "
                            "--filter");
    if (options->filter && options->what == SN_UNIQ_SINGLES)
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "a filter does not know how often a line came: --singles and "
                            "--filter do not go together");
    return SEEN_OK;
}

/* Its key, and its copy for the file of what is dropped, lie beside it. */
static size_t longest_line(const sn_uniq_options *options, bool dropped)
{
    if (options->pipeline.line_max || !options->memory)
        return options->pipeline.line_max;
    uint64_t most = sn_uniq_line_memory(options) / sn_keys_parts(&options->keys, dropped);
    most = most < 64 << 10 ? 64 << 10 : most;
    return most < SN_BLOCK_MAX ? (size_t)most : SN_BLOCK_MAX;
}

seen_status sn_uniq_run(const sn_uniq_options *options, const sn_uniq_plan *plan, sn_input *input,
                        sn_output *output, sn_output *dropped, sn_uniq_result *result,
                        seen_error *error)
{
    sn_uniq_options mine = *options;
    mine.pipeline.line_max = longest_line(options, dropped != NULL);
    *result = (sn_uniq_result){0};
    sn_uniq u = {.options = &mine,
                 .plan = plan,
                 .input = input,
                 .output = options->count_only ? NULL : output,
                 .dropped = dropped,
                 .result = result,
                 .set = options->filter,
                 .keep = options->what == SN_UNIQ_REPEATED ? SEEN_BEFORE : SEEN_NEW};
    if (options->count_only)
        sn_output_abandon(output);
    seen_status status = check_options(options, error);
    if (status == SEEN_OK) {
        if (options->exact)
            status = sn_uniq_run_exact(&u, error);
        else if (options->what == SN_UNIQ_SINGLES)
            status = sn_uniq_run_singles(&u, error);
        else if (options->filter)
            status = sn_uniq_run_filter(&u, error);
        else
            status = sn_uniq_run_memory(&u, error);
    }
    bool repeats_written = options->what == SN_UNIQ_REPEATED;
    uint64_t repeats = repeats_written ? result->written : result->lines - result->written;
    result->wrong = fmin(result->wrong, (double)repeats);
    bool whole = status == SEEN_OK && !result->stopped;
    sn_output **fresh = u.keep == SEEN_NEW ? &u.output : &u.dropped;
    if (!whole && options->filter && options->remember_first && *fresh &&
        sn_output_is_deferred(*fresh)) {
        result->partial = sn_output_keep(*fresh);
        if (!result->partial)
            result->lost += sn_uniq_fresh_lines(&u);
        *fresh = NULL;
    }
    if (status == SEEN_OK)
        status = sn_uniq_finish(&u, error);
    sn_output_abandon(u.output);
    sn_output_abandon(u.dropped);
    return status;
}
