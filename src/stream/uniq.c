/* Each line once: planning, the steps that all ways share, and the plain way (a set in memory). */
#include "stream/uniq.h"

#include <string.h>

#include "stream/fail.h"
#include "stream/uniq_inside.h"

/* ---- The plan ------------------------------------------------------------------------------- */

#define DEFAULT_RATE 1e-6
/* A pipe begins with a layer of this size. */
#define PIPE_BYTES (16ull << 20)

static uint64_t with_margin(uint64_t lines)
{
    /* Samples of an ordinary file hit the number of lines within a percent or two. */
    return lines + lines / 32 + 1024;
}

static seen_status plan_bytes(uint64_t capacity, double rate, uint64_t *bytes, seen_error *error)
{
    seen_wish wish = {.size = sizeof wish, .capacity = capacity, .error_rate = rate};
    seen_plan plan = {.size = sizeof plan};
    seen_status status = seen_plan_make(&wish, &plan, error);
    if (status == SEEN_OK)
        *bytes = plan.bytes;
    return status;
}

/* Memory is bounded: a fixed set, as large as the lines ask for and no larger than the bound. Past
 * its capacity it goes on, and the summary tells the rate that came of it. */
static seen_status plan_bounded(const sn_uniq_options *options, sn_uniq_plan *plan,
                                seen_error *error)
{
    uint64_t blocks = sn_pipeline_memory(&options->pipeline);
    uint64_t room = options->memory > 2 * blocks ? options->memory - blocks : options->memory / 2;
    seen_wish wish = {.size = sizeof wish, .error_rate = plan->error_rate};
    uint64_t need = UINT64_MAX;
    if (plan->capacity) {
        seen_status status =
            plan_bytes(plan->capacity + plan->capacity / 4, plan->error_rate, &need, error);
        if (status != SEEN_OK)
            return status;
    }
    if (need <= room)
        wish.capacity = plan->capacity + plan->capacity / 4;
    else {
        wish.bits = room * 8;
        if (plan->capacity) {
            wish.capacity = plan->capacity;
            wish.error_rate = 0;
        }
    }
    seen_plan made = {.size = sizeof made};
    seen_status status = seen_plan_make(&wish, &made, error);
    if (status != SEEN_OK)
        return status;
    plan->set.growth = SEEN_FIXED;
    plan->set.when_full = SEEN_FULL_GO_ON;
    plan->set.capacity = wish.capacity;
    plan->set.error_rate = wish.error_rate;
    plan->set.bits = wish.bits;
    plan->capacity = made.capacity;
    plan->memory = made.bytes;
    plan->error_rate = made.predicted_rate;
    return SEEN_OK;
}

static seen_status plan_growing(sn_uniq_plan *plan, seen_error *error)
{
    if (!plan->capacity)
        plan->capacity =
            (uint64_t)((double)PIPE_BYTES * 8 / (1.1 * seen_classic_bits(1, plan->error_rate)));
    plan->set.growth = SEEN_GROWING;
    plan->set.capacity = plan->capacity;
    plan->set.error_rate = plan->error_rate;
    plan->growing = true;
    return plan_bytes(plan->capacity, plan->error_rate, &plan->memory, error);
}

seen_status sn_uniq_plan_make(const sn_uniq_options *options, sn_input *input, sn_uniq_plan *plan,
                              seen_error *error)
{
    *plan = (sn_uniq_plan){.set = {.size = sizeof(seen_options)}};
    seen_status status =
        sn_input_estimate(input, options->pipeline.terminator, &plan->lines, &plan->bytes, error);
    if (status != SEEN_OK)
        return status;
    plan->error_rate = options->error_rate > 0 ? options->error_rate : DEFAULT_RATE;
    plan->capacity = options->capacity;
    if (!plan->capacity && plan->lines != UINT64_MAX)
        plan->capacity = with_margin(plan->lines);
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
    return options->memory ? plan_bounded(options, plan, error) : plan_growing(plan, error);
}

/* ---- Steps ---------------------------------------------------------------------------------- */

seen_status sn_uniq_hash(void *context, sn_block *block, seen_error *error)
{
    const sn_uniq *u = context;
    return sn_keys_hash(&u->options->keys, &u->hasher, block, error);
}

size_t sn_uniq_count_new(const sn_block *block)
{
    size_t before = 0;
    for (size_t i = 0; i < block->lines; i++)
        before += block->answer[i];
    return block->lines - before;
}

seen_status sn_uniq_add(void *context, sn_block *block, seen_error *error)
{
    sn_uniq *u = context;
    return seen_add_hashes(u->set, block->hash, block->lines, block->answer, error);
}

seen_status sn_uniq_select(void *context, sn_block *block, seen_error *error)
{
    const sn_uniq *u = context;
    if (u->output)
        return sn_block_select(block, u->keep, u->dropped != NULL, error);
    size_t fresh = sn_uniq_count_new(block);
    block->number_out = u->keep == SEEN_NEW ? fresh : block->lines - fresh;
    return SEEN_OK;
}

seen_status sn_uniq_write(void *context, sn_block *block, seen_error *error)
{
    sn_uniq *u = context;
    u->result->lines += block->lines;
    u->result->written += block->number_out;
    if (u->options->pipeline.meter)
        atomic_store_explicit(&u->options->pipeline.meter->kept, u->result->written,
                              memory_order_relaxed);
    seen_status status = SEEN_OK;
    if (u->output)
        status = sn_output_block(u->output, block, error);
    if (status == SEEN_OK && u->dropped)
        status = sn_output_write(u->dropped, block->aside, block->aside_length, error);
    return status;
}

seen_status sn_uniq_pass(sn_uniq *u, const sn_pipeline_steps *steps, seen_error *error)
{
    bool stopped = false;
    u->result->readings++;
    seen_status status = sn_pipeline_run(u->input, &u->options->pipeline, steps, &stopped, error);
    u->result->stopped |= stopped;
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

/* ---- How wrong ------------------------------------------------------------------------------ */

double sn_uniq_expect_wrong(const seen_info *shape, double keys)
{
    if (shape->layers != 1 || shape->growth == SEEN_WINDOW)
        return keys * shape->error_rate;
    seen_plan plan = {.size = sizeof plan,
                      .kind = shape->kind,
                      .capacity = shape->capacity,
                      .bits = shape->bits,
                      .bytes = shape->bytes,
                      .hashes = shape->hashes,
                      .spread = shape->spread,
                      .probes = shape->probes,
                      .lines = shape->bits / 512,
                      .shards = shape->shards};
    /* Each new line met the set as it was then: the sum is an integral over its filling. */
    enum { STEPS = 64 };
    double sum = 0;
    for (int i = 0; i < STEPS; i++)
        sum += seen_plan_rate(&plan, keys * (i + 0.5) / STEPS);
    return keys * sum / STEPS;
}

/* ---- The plain way -------------------------------------------------------------------------- */

seen_status sn_uniq_run_memory(sn_uniq *u, seen_error *error)
{
    seen_status status = seen_create(NULL, &u->plan->set, 0, &u->set, error);
    if (status != SEEN_OK)
        return status;
    u->hasher = seen_hasher_of(u->set);
    sn_pipeline_steps steps = {u, sn_uniq_hash, sn_uniq_add, sn_uniq_select, sn_uniq_write};
    status = sn_uniq_pass(u, &steps, error);
    seen_info shape = {.size = sizeof shape};
    if (status == SEEN_OK)
        status = seen_get_shape(u->set, &shape, error);
    seen_close(u->set);
    if (status != SEEN_OK)
        return status;
    sn_uniq_result *result = u->result;
    result->distinct = u->keep == SEEN_NEW ? result->written : result->lines - result->written;
    result->memory = shape.bytes;
    result->layers = shape.layers;
    result->error_rate = shape.error_rate;
    result->wrong = sn_uniq_expect_wrong(&shape, (double)result->distinct);
    return SEEN_OK;
}

static seen_status check_options(const sn_uniq_options *options, seen_error *error)
{
    if (options->filter && options->exact)
        return sn_stream_fail(error, SEEN_ERR_ARGUMENT,
                              "an exact answer cannot come from a filter: leave out --exact, or "
                              "--filter");
    if (options->filter && options->what == SN_UNIQ_SINGLES)
        return sn_stream_fail(error, SEEN_ERR_ARGUMENT,
                              "a filter does not know how often a line came: --singles and "
                              "--filter do not go together");
    return SEEN_OK;
}

/* No line may be longer than what it and its copies would take of the memory allowed. */
static size_t longest_line(const sn_uniq_options *options)
{
    if (options->pipeline.line_max || !options->memory)
        return options->pipeline.line_max;
    uint64_t most = options->memory / 4;
    most = most < 64 << 10 ? 64 << 10 : most;
    return most < SN_BLOCK_MAX ? (size_t)most : SN_BLOCK_MAX;
}

seen_status sn_uniq_run(const sn_uniq_options *options, const sn_uniq_plan *plan, sn_input *input,
                        sn_output *output, sn_output *dropped, sn_uniq_result *result,
                        seen_error *error)
{
    sn_uniq_options mine = *options;
    mine.pipeline.line_max = longest_line(options);
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
    if (status == SEEN_OK)
        status = sn_uniq_finish(&u, error);
    sn_output_abandon(u.output);
    sn_output_abandon(u.dropped);
    return status;
}
