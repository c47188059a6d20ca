/* uniq: planning, and choosing the strategy. */
#include "stream/uniq/uniq.h"

#include "base/error.h"
#include "stream/exact/counter.h"
#include "stream/exact/table.h"
#include "stream/uniq/strategies.h"

#include <math.h>

/* Whether lines are selected by their number of occurrences. */
static bool is_tally(const sn_uniq_options *options)
{
    return options->what >= SN_UNIQ_ONCE;
}

/* ---- Plan ----------------------------------------------------------------------------------- */

static void plan_exact(const sn_uniq_options *options, sn_uniq_plan *plan)
{
    uint64_t limit = sn_uniq_table_memory(options);
    double entry = is_tally(options) ? SN_COUNTER_ENTRY_BYTES : SN_TABLE_ENTRY_BYTES;
    plan->error_rate = 0;
    if (!plan->capacity)
        plan->capacity = (uint64_t)((double)limit / entry);
    double need = (double)plan->capacity * entry;
    plan->memory = need < (double)limit ? (uint64_t)need : limit;
}

seen_status sn_uniq_plan_make(const sn_uniq_options *options, sn_input *input, sn_uniq_plan *plan,
                              seen_error *error)
{
    *plan = (sn_uniq_plan){.lines = UINT64_MAX};
    seen_status status =
        sn_input_estimate(input, options->pipeline.terminator, &plan->lines, &plan->bytes, error);
    if (status != SEEN_OK)
        return status;
    plan->error_rate = options->error_rate > 0 ? options->error_rate : SN_UNIQ_RATE;
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
    if (options->approx)
        return sn_uniq_plan_approx(options, plan, error);
    plan_exact(options, plan);
    return SEEN_OK;
}

/* Nanoseconds per line, measured with URLs of 64 bytes. */
#define LINE_NS 18.0 /* read, find its end, hash */
#define SKIM_NS 10.0 /* the same without the hash */
#define ADD_NS 55.0  /* to a table */
#define COUNT_NS 80.0
#define FILTER_NS 12.0
#define DECIDE_NS 40.0 /* a deferred key */

sn_uniq_cost sn_uniq_cost_of(const sn_uniq_options *options, const sn_uniq_plan *plan, bool pipe,
                             double disk)
{
    double lines = (double)plan->lines, bytes = (double)plan->bytes, waiting = 0;
    sn_uniq_cost cost = {.memory = (double)plan->memory, .readings = 1};
    double ns = lines * (LINE_NS + FILTER_NS), moved = bytes;
    if (!options->approx && !options->filter) {
        double part = is_tally(options) ? 0.75 : 1, entry = SN_TABLE_ENTRY_BYTES;
        if (is_tally(options))
            entry = SN_COUNTER_ENTRY_BYTES;
        double fits = part * (double)sn_uniq_table_memory(options) / entry;
        waiting = fmax(0, lines - fits);
        ns = lines * (LINE_NS + (is_tally(options) ? COUNT_NS : ADD_NS)) + waiting * DECIDE_NS;
        cost.temporary = waiting * sizeof(seen_hash);
    }
    if (waiting > 0 || is_tally(options)) {
        cost.readings = 2;
        ns += lines * (is_tally(options) ? LINE_NS + COUNT_NS : SKIM_NS);
        if (pipe)
            cost.temporary += bytes;
        moved += bytes;
    }
    moved += 2 * cost.temporary;
    cost.seconds = fmax(ns / 1e9 / sn_pipeline_threads(&options->pipeline), moved / disk);
    return cost;
}

/* ---- Run ------------------------------------------------------------------------------------ */

static seen_status check_options(const sn_uniq_options *options, const sn_input *input,
                                 const sn_output *dropped, seen_error *error)
{
    if (is_tally(options) && (options->filter || options->approx))
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "a filter does not count lines: omit the filter and the error rate");
    if (options->source && (dropped || options->what == SN_UNIQ_COUNTED))
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "--source cannot be combined with counts or --dropped");
    if (options->source && is_tally(options) && !sn_input_can_reread(input))
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "--source needs line numbers in a second pass, which a pipe does not "
                            "have: give a file, "
                            "or omit --source");
    if (options->what == SN_UNIQ_COUNTED && dropped)
        return sn_error_set(error, SEEN_ERR_ARGUMENT, "--dropped cannot be combined with counts");
    return SEEN_OK;
}

/* The memory of a line also includes its key and its copy with the count or for the dropped
 * lines. */
static size_t longest_line(const sn_uniq_options *options, bool dropped)
{
    bool copied = dropped || options->source || options->what == SN_UNIQ_COUNTED;
    if (options->pipeline.line_max || !options->memory)
        return options->pipeline.line_max;
    uint64_t most = sn_uniq_line_memory(options) / sn_keys_parts(&options->keys, copied);
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
                 .keep = options->what == SN_UNIQ_DUPLICATES ? SEEN_BEFORE : SEEN_NEW};
    if (options->count_only)
        sn_output_abandon(output);
    seen_status status = check_options(options, input, dropped, error);
    if (status == SEEN_OK)
        status = is_tally(options) ? sn_uniq_run_count(&u, error)
                 : options->filter ? sn_uniq_run_filter(&u, error)
                 : options->approx ? sn_uniq_run_approx(&u, error)
                                   : sn_uniq_run_exact(&u, error);
    bool duplicates_written = options->what == SN_UNIQ_DUPLICATES;
    uint64_t duplicates = duplicates_written ? result->written : result->lines - result->written;
    result->wrong = fmin(result->wrong, (double)duplicates);
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
