/* The lines of A that are in B, or that are not: measures the inputs and runs the planned
 * strategy. */
#include "stream/join/join.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/tempfile.h"
#include "base/thread.h"
#include "stream/join/internal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

/* Assumed for an input of unknown size. */
#define LINES_UNKNOWN 1e8
#define LINE_BYTES 64.0
#define SHARE 0.1
/* Number of lines from which the machine is calibrated. */
#define CALIBRATED_FROM 4e6
/* approx, unique: rate of new lines taken for printed ones, until the memory is full. */
#define ONCE_RATE 1e-6

/* ---- Measuring ------------------------------------------------------------------------------ */

static seen_status measure_one(sn_input *input, char terminator, double *lines, double *bytes,
                               double *text, bool *known, seen_error *error)
{
    uint64_t line_count = UINT64_MAX, text_bytes = UINT64_MAX;
    seen_status status = sn_input_estimate(input, terminator, &line_count, &text_bytes, error);
    if (status != SEEN_OK)
        return status;
    uint64_t size = sn_input_size(input);
    if (line_count == UINT64_MAX && size != UINT64_MAX)
        line_count = size / (uint64_t)LINE_BYTES; /* an empty file, for example */
    *known = line_count != UINT64_MAX && size != UINT64_MAX;
    *lines = *known ? (double)line_count : LINES_UNKNOWN;
    *text = *known && text_bytes != UINT64_MAX ? (double)text_bytes : *lines * LINE_BYTES;
    *bytes = *known ? (double)size : *text;
    return SEEN_OK;
}

static double temp_room(const char *dir)
{
    struct statvfs at;
    return statvfs(sn_tempfile_folder(dir), &at) == 0 ? (double)at.f_bavail * (double)at.f_frsize
                                                      : 0;
}

static unsigned threads_of(const sn_join_options *options)
{
    return options->pipeline.threads ? options->pipeline.threads : sn_thread_cpus();
}

/* Skipped for small inputs, for which the measurement would take longer than any strategy, and if
 * it would exceed the memory limit. */
static void calibrate(const sn_input *a, sn_input *const *b, size_t b_count,
                      sn_join_parameters *parameters)
{
    if (parameters->lines_a + parameters->lines_b < CALIBRATED_FROM)
        return;
    double cached = parameters->bytes_a * sn_input_cached(a);
    for (size_t i = 0; i < b_count; i++)
        cached += parameters->bytes_b / (double)b_count * sn_input_cached(b[i]);
    parameters->disk = sn_join_read_speed(cached / (parameters->bytes_a + parameters->bytes_b));
    if (parameters->memory >= SN_JOIN_REGION + SN_JOIN_PROGRAM)
        parameters->random_ns = sn_join_random_ns();
}

seen_status sn_join_measure(const sn_join_options *options, sn_input *a, sn_input *const *b,
                            size_t b_count, sn_join_parameters *parameters, seen_error *error)
{
    char terminator = options->pipeline.terminator;
    bool known_a = false, known = false;
    double text = 0;
    *parameters =
        (sn_join_parameters){.memory = options->memory ? options->memory : sn_memory_free() / 2,
                             .threads = threads_of(options),
                             .pipe_a = !sn_input_can_reread(a),
                             .except = options->except,
                             .unique = options->unique,
                             .share = options->share > 0 ? options->share : SHARE,
                             .error_rate = options->error_rate,
                             .room = 0.95 * temp_room(options->temp_dir)};
    seen_status status = measure_one(a, terminator, &parameters->lines_a, &parameters->bytes_a,
                                     &parameters->text_a, &known_a, error);
    for (size_t i = 0; i < b_count && status == SEEN_OK; i++) {
        double lines = 0, bytes = 0;
        status = measure_one(b[i], terminator, &lines, &bytes, &text, &known, error);
        parameters->lines_b += lines;
        parameters->bytes_b += bytes;
        if (i == 0)
            parameters->lines_first = lines;
    }
    if (!known_a && b_count) {
        /* The size of a pipe is unknown; assume that of B. */
        parameters->lines_a = parameters->lines_b;
        parameters->text_a = parameters->bytes_a = parameters->lines_a * LINE_BYTES;
    }
    if (status == SEEN_OK)
        calibrate(a, b, b_count, parameters);
    return status;
}

/* ---- The strategies ------------------------------------------------------------------------- */

static seen_status go_table_b(sn_join *s, sn_join_end *end, seen_error *error)
{
    seen_status status = sn_table_open(
        s->plan.table, (uint64_t)(s->plan.table_needs / SN_TABLE_ENTRY_BYTES), &s->table, error);
    if (status == SEEN_OK) {
        sn_table_reserve(s->table, (uint64_t)s->parameters.lines_first);
        status = sn_join_fill_table(s, &s->b[0], "reading B into a table", end, error);
    }
    if (status != SEEN_OK || *end == SN_JOIN_FULL)
        return status;
    status = sn_join_confirm(s, 1, "reading B and marking", error);
    if (status != SEEN_OK || sn_join_stopped(s))
        return status;
    return sn_join_print(s, &s->a, "reading A and printing", end, error);
}

static seen_status go_table_a(sn_join *s, sn_join_end *end, seen_error *error)
{
    seen_status status =
        sn_table_open(s->plan.table, (uint64_t)s->parameters.lines_a, &s->table, error);
    if (status == SEEN_OK) {
        sn_table_reserve(s->table, (uint64_t)s->parameters.lines_a);
        status = sn_join_fill_table(s, &s->a, "reading A into a table", end, error);
    }
    if (status != SEEN_OK || *end == SN_JOIN_FULL || sn_join_stopped(s))
        return status;
    status = sn_join_make_small(s, error);
    if (status == SEEN_OK)
        status = sn_join_confirm(s, 0, "reading B and marking", error);
    seen_close(s->small); /* all of A is in the table, so the filter would be useless */
    s->small = NULL;
    if (status != SEEN_OK || sn_join_stopped(s))
        return status;
    return sn_join_print(s, &s->a, "reading A again and printing", end, error);
}

/* Continues with the saved lines as A. */
static seen_status use_saved(sn_join *s, seen_error *error)
{
    sn_join_source *a = &s->a;
    sn_header *header =
        sn_input_header(a->input); /* of the original input, also if this is a copy */
    sn_input_close(a->own);
    sn_copy_close(&a->copy);
    a->copy = s->saved;
    a->own = NULL;
    s->saved = (sn_copy){0};
    seen_status status = sn_copy_input(&a->copy, s->pipeline.stop, &a->own, error);
    if (status != SEEN_OK)
        return status;
    sn_input_take_header(a->own, header);
    a->input = a->own;
    a->used = a->counted = false;
    return SEEN_OK;
}

static seen_status go_filter(sn_join *s, sn_join_end *end, seen_error *error)
{
    seen_status status =
        sn_join_make_filter(s, s->parameters.lines_first, s->plan.filter, &s->filter, error);
    if (status == SEEN_OK)
        status = sn_join_fill_filter(s, &s->b[0], error);
    if (status == SEEN_OK && !sn_join_stopped(s))
        status = sn_table_open(s->plan.table, (uint64_t)s->plan.candidates, &s->table, error);
    if (status == SEEN_OK && !sn_join_stopped(s))
        status = sn_join_find_candidates(s, end, error);
    if (status != SEEN_OK || sn_join_stopped(s) || *end == SN_JOIN_FULL)
        return status;
    if (atomic_load(&s->full)) { /* a pipe, which was read to its end */
        *end = SN_JOIN_FULL;
        return SEEN_OK;
    }
    seen_close(s->filter);
    s->filter = NULL;
    status = sn_join_make_small(s, error);
    if (status == SEEN_OK)
        status = sn_join_confirm(s, 0, "reading B again and confirming", error);
    if (status != SEEN_OK || sn_join_stopped(s))
        return status;
    if (!s->saving)
        return sn_join_print(s, &s->a, "reading A again and printing", end, error);
    status = use_saved(s, error);
    return status == SEEN_OK ? sn_join_print(s, &s->a, "printing", end, error) : status;
}

/* With several B and `all`, each filter holds the lines that passed the previous one. */
static seen_status go_approx(sn_join *s, seen_error *error)
{
    seen_status status = SEEN_OK;
    for (size_t i = 0; i < s->b_count && status == SEEN_OK && !sn_join_stopped(s); i++) {
        seen_close(s->small);
        s->small = s->filter;
        s->filter = NULL;
        status =
            sn_join_make_filter(s, s->parameters.lines_first, s->plan.filter, &s->filter, error);
        if (status == SEEN_OK)
            status = sn_join_fill_filter(s, &s->b[i], error);
    }
    seen_close(s->small);
    s->small = NULL;
    seen_info info = {.size = sizeof info};
    if (status == SEEN_OK)
        status = seen_get_info(s->filter, &info, error);
    s->result->error_rate = fmin(1, info.error_rate_now * (double)s->b_count);
    return status;
}

/* Creates the set of printed lines. The length of a pipe is unknown and that of a compressed file
 * uncertain, so the set grows, within the memory left by the filter of B. */
static seen_status make_once(sn_join *s, seen_error *error)
{
    uint64_t room = s->plan.budget > s->plan.filter ? s->plan.budget - s->plan.filter : 64;
    sn_approx_options options = {
        .capacity = s->parameters.pipe_a ? 0 : (uint64_t)fmax(1, ceil(s->parameters.lines_a)),
        .error_rate = ONCE_RATE,
        .most = room,
        .hasher = &s->hasher};
    return sn_approx_open(&s->once, &options, error);
}

static seen_status print_by_filter(sn_join *s, sn_join_end *end, seen_error *error)
{
    if (s->options->given) {
        seen_info info = {.size = sizeof info};
        seen_status status = seen_get_info(s->options->given, &info, error);
        if (status != SEEN_OK)
            return status;
        s->result->error_rate = info.error_rate_now;
    }
    seen_status status = s->options->unique ? make_once(s, error) : SEEN_OK;
    if (status == SEEN_OK)
        status = sn_join_print(s, &s->a, "reading A and printing", end, error);
    if (s->options->unique) {
        sn_approx_error(&s->once, &s->result->wrong);
        s->result->wrong = fmin(s->result->wrong, (double)s->a.lines);
    }
    return status;
}

static seen_status go(sn_join *s, sn_join_end *end, seen_error *error)
{
    seen_status status = SEEN_OK;
    *end = SN_JOIN_DONE;
    s->mark = s->need = -1;
    s->result->strategy = s->plan.strategy;
    s->result->slices = s->plan.slices;
    switch (s->plan.strategy) {
    case SN_JOIN_TABLE_B:
        return go_table_b(s, end, error);
    case SN_JOIN_TABLE_A:
        return go_table_a(s, end, error);
    case SN_JOIN_FILTER:
        return go_filter(s, end, error);
    case SN_JOIN_SPILL:
        return sn_join_run_spill(s, false, error);
    case SN_JOIN_SPILL_FILTERED:
        return sn_join_run_spill(s, true, error);
    case SN_JOIN_APPROX:
        status = go_approx(s, error);
        return status == SEEN_OK && !sn_join_stopped(s) ? print_by_filter(s, end, error) : status;
    default:
        assert(s->plan.strategy == SN_JOIN_GIVEN);
        return print_by_filter(s, end, error);
    }
}

/* ---- The run -------------------------------------------------------------------------------- */

static bool needs_copy(const sn_join *s)
{
    sn_join_strategy strategy = s->plan.strategy;
    return !sn_input_can_reread(s->a.input) &&
           (strategy == SN_JOIN_TABLE_A || strategy >= SN_JOIN_SPILL) &&
           strategy <= SN_JOIN_SPILL_FILTERED;
}

/* Measures again what is now known better and makes a new plan, without the strategies that
 * failed. */
static seen_status plan_again(sn_join *s, sn_join_strategy strategy, seen_error *error)
{
    sn_join_parameters before = s->parameters;
    sn_input **b = calloc(s->b_count, sizeof(sn_input *));
    if (!b)
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for a list of files");
    for (size_t i = 0; i < s->b_count; i++)
        b[i] = s->b[i].input;
    seen_status status =
        sn_join_measure(s->options, s->a.input, b, s->b_count, &s->parameters, error);
    free(b);
    s->parameters.memory = before.memory;
    s->parameters.share = before.share;
    s->parameters.excluded = before.excluded;
    if (s->a.counted)
        s->parameters.lines_a = (double)s->a.lines;
    if (s->b_count && s->b[0].counted)
        s->parameters.lines_first = (double)s->b[0].lines;
    if (s->b_count == 1)
        s->parameters.lines_b = s->parameters.lines_first;
    return status == SEEN_OK ? sn_join_plan_make(&s->parameters, strategy, &s->plan, error)
                             : status;
}

/* Records what the failed strategy revealed about the sizes of the inputs. */
static void update_speed(sn_join *s)
{
    double seen_lines = (double)s->a.lines;
    if (s->plan.strategy == SN_JOIN_FILTER && seen_lines > 0) {
        double share = (double)atomic_load(&s->candidates) / seen_lines - s->plan.filter_rate;
        s->parameters.share = fmin(1, fmax(share, s->parameters.share));
    }
    s->parameters.excluded |= 1u << s->plan.strategy;
    /* There were more lines than a table in the whole memory can hold. */
    double entries = (double)s->plan.budget / SN_TABLE_ENTRY_BYTES;
    if (s->plan.strategy == SN_JOIN_TABLE_B && !s->b[0].counted)
        s->parameters.lines_first = s->parameters.lines_b =
            fmax(s->parameters.lines_b, 1.5 * entries);
    if (s->plan.strategy == SN_JOIN_TABLE_A && !s->a.counted)
        s->parameters.lines_a = fmax(s->parameters.lines_a, 1.5 * entries);
}

static seen_status change_strategy(sn_join *s, seen_error *error)
{
    update_speed(s);
    s->result->changes++;
    sn_table_close(s->table);
    s->table = NULL;
    bool pipe = !sn_input_can_reread(s->a.input);
    if (pipe) {
        /* The saved lines are all of A that can match; the filter is no longer needed. */
        seen_status status = use_saved(s, error);
        if (status != SEEN_OK)
            return status;
        s->a.lines = s->saved_lines;
        sn_join_release(s);
        if (!s->options->except)
            s->parameters.share = 1;
        return plan_again(s, SN_JOIN_ANY, error);
    }
    sn_copy_close(&s->saved);
    seen_status status = sn_join_plan_make(&s->parameters, SN_JOIN_ANY, &s->plan, error);
    /* An existing filter of B is either used or freed. */
    if (s->plan.strategy != SN_JOIN_SPILL_FILTERED || status != SEEN_OK)
        sn_join_release(s);
    return status;
}

static seen_status go_on(sn_join *s, seen_error *error)
{
    seen_status status = SEEN_OK;
    bool piped = false;
    for (size_t i = 0; i < s->b_count && status == SEEN_OK; i++)
        if (!sn_input_can_reread(s->b[i].input)) {
            status = sn_join_copy(s, &s->b[i], "copying B to a temporary file", error);
            piped = true;
        }
    if (status == SEEN_OK && piped && !sn_join_stopped(s))
        status = plan_again(s, s->options->approx ? SN_JOIN_APPROX : s->options->strategy, error);
    for (unsigned tries = 0; tries < SN_JOIN_STRATEGIES && status == SEEN_OK; tries++) {
        sn_join_end end = SN_JOIN_DONE;
        if (sn_join_stopped(s))
            return SEEN_OK;
        if (needs_copy(s)) {
            status = sn_join_copy(s, &s->a, "copying A to a temporary file", error);
            if (status == SEEN_OK && !sn_join_stopped(s))
                status = plan_again(s, s->options->strategy, error);
        }
        if (status == SEEN_OK && !sn_join_stopped(s))
            status = go(s, &end, error);
        if (status != SEEN_OK || end == SN_JOIN_DONE)
            return status;
        status = change_strategy(s, error);
    }
    return status;
}

static void free_source(sn_join_source *source)
{
    sn_input_close(source->own);
    sn_copy_close(&source->copy);
}

seen_status sn_join_run(const sn_join_options *options, const sn_join_plan *plan,
                        const sn_join_parameters *parameters, sn_input *a, sn_input *const *b,
                        size_t count, sn_output *output, sn_join_result *result, seen_error *error)
{
    sn_meter meter = {0};
    *result = (sn_join_result){0};
    sn_join s = {.options = options,
                 .parameters = *parameters,
                 .plan = *plan,
                 .result = result,
                 .pipeline = options->pipeline,
                 .a = {.input = a},
                 .b_count = count,
                 .output = output};
    s.pipeline.meter = options->progress ? &options->progress->meter : &meter;
    s.pipeline.threads = parameters->threads;
    s.pipeline.line_max = sn_join_line_max(parameters->memory / sn_keys_parts(&options->keys, 0));
    s.b = calloc(count ? count : 1, sizeof *s.b);
    if (!s.b) {
        sn_output_abandon(output);
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for a list of files");
    }
    for (size_t i = 0; i < count; i++)
        s.b[i].input = b[i];
    seen_status status = SEEN_OK;
    if (options->given)
        s.hasher = seen_hasher_of(options->given);
    else
        status = seen_hasher_random(SEEN_XXH3, &s.hasher, error);
    if (status == SEEN_OK)
        status = go_on(&s, error);
    result->candidates = atomic_load(&s.candidates);
    for (size_t i = 0; i < count; i++)
        result->lines_b += s.b[i].lines;
    sn_join_release(&s);
    sn_keep_close(&s.keep);
    sn_copy_close(&s.saved);
    free_source(&s.a);
    for (size_t i = 0; i < count; i++)
        free_source(&s.b[i]);
    free(s.b);
    bool asked = sn_stop_get(options->pipeline.stop) == SN_STOP_REQUESTED;
    if (status == SEEN_OK && !asked)
        return sn_output_finish(output, error);
    sn_output_abandon(output);
    return status;
}
