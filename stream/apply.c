/* Runs lines through a set: add, check or remove. */
#include "stream/apply.h"

#include "stream/exact/split.h"

typedef struct apply {
    const sn_apply_options *options;
    seen_hasher hasher;
    unsigned
        lanes; /* keys are split over this many threads; each handles its keys in input order */
    sn_output *output;
    sn_apply_result *result;
} apply;

/* A check changes nothing, so the parallel step may do it. */
static seen_status prepare(void *context, sn_block *block, seen_error *error)
{
    const apply *a = context;
    const sn_apply_options *o = a->options;
    seen_status status = sn_keys_hash(&o->keys, &a->hasher, block, error);
    if (status != SEEN_OK)
        return status;
    if (o->what == SN_APPLY_CHECK)
        return seen_check_hashes(o->set, block->hash, block->lines, block->answer, error);
    return sn_split_block(block, a->lanes, error);
}

/* Each lane processes its keys in input order. With one lane the bits of a growing set do not
 * depend on the number of threads. */
static seen_status change(void *context, sn_block *block, unsigned lane, seen_error *error)
{
    const apply *a = context;
    const sn_apply_options *o = a->options;
    sn_share share = sn_split_share(block, a->lanes, lane);
    seen_status status =
        o->what == SN_APPLY_ADD
            ? seen_add_hashes(o->set, share.hash, share.count, share.answer, error)
            : seen_remove_hashes(o->set, share.hash, share.count, share.answer, error);
    sn_split_return(&share, block);
    return status;
}

/* For a server, two lanes: one request is in flight while the next is prepared. A window always has
 * one lane, because what it drops depends on the order of all keys. */
static seen_status count_lanes(const sn_apply_options *o, unsigned *lanes, seen_error *error)
{
    seen_info shape = {.size = sizeof shape};
    *lanes = 1;
    if (!o->pipeline.waits || o->what == SN_APPLY_CHECK)
        return SEEN_OK;
    seen_status status = seen_get_shape(o->set, &shape, error);
    if (status == SEEN_OK && shape.growth != SEEN_WINDOW)
        *lanes = SN_SPLIT_SERVER;
    return status;
}

static seen_status render(void *context, sn_block *block, seen_error *error)
{
    const apply *a = context;
    return a->output ? sn_block_select(block, a->options->print, false, error) : SEEN_OK;
}

static seen_status emit(void *context, sn_block *block, seen_error *error)
{
    apply *a = context;
    uint64_t before = 0;
    for (size_t i = 0; i < block->lines; i++)
        before += block->answer[i] == SEEN_BEFORE;
    a->result->lines += block->lines;
    a->result->before += before;
    a->result->fresh += block->lines - before;
    return a->output ? sn_output_block(a->output, block, error) : SEEN_OK;
}

seen_status sn_apply_run(const sn_apply_options *options, sn_input *input, sn_output *output,
                         sn_apply_result *result, seen_error *error)
{
    *result = (sn_apply_result){0};
    apply a = {options, seen_hasher_of(options->set), 1, output, result};
    seen_status status = count_lanes(options, &a.lanes, error);
    sn_pipeline_steps steps = {.context = &a, .prepare = prepare, .render = render, .emit = emit};
    if (options->what != SN_APPLY_CHECK) {
        steps.lookup = change;
        steps.lanes = a.lanes;
    }
    if (status == SEEN_OK)
        status = sn_pipeline_run(input, &options->pipeline, &steps, &result->stopped, error);
    if (options->what != SN_APPLY_CHECK) {
        seen_status synced = seen_sync(options->set, status == SEEN_OK ? error : NULL);
        if (status == SEEN_OK)
            status = synced;
    }
    if (output && status == SEEN_OK && !(result->stopped && sn_output_is_deferred(output)))
        return sn_output_finish(output, error);
    sn_output_abandon(output);
    return status;
}
