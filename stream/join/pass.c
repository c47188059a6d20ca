/* The passes of `common` and `except` over A or B.
 *
 * Work that does not depend on the order of lines runs in `prepare`, in all workers concurrently:
 * filling filters and tables, and lookups in finished ones. Only what depends on which line came
 * first runs in `decide`. */
#include "stream/join/internal.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

enum { BATCH = 512 };

/* ---- One pass ------------------------------------------------------------------------------- */

bool sn_join_stopped(const sn_join *s)
{
    return s->result->stopped;
}

static void report_pass(sn_join *s, const char *what, const sn_input *input)
{
    sn_join_progress *progress = s->options->progress;
    s->result->passes++;
    atomic_store(&s->pipeline.meter->bytes, 0);
    atomic_store(&s->pipeline.meter->lines, 0);
    if (!progress)
        return;
    uint64_t size = sn_input_size(input);
    atomic_store(&progress->total, size == UINT64_MAX ? 0 : size);
    atomic_store(&progress->what, what);
    atomic_fetch_add(&progress->pass, 1);
}

seen_status sn_join_pass(sn_join *s, const char *what, sn_join_source *source,
                         const sn_pipeline_steps *steps, sn_join_end *end, seen_error *error)
{
    bool stopped = false;
    if (end)
        *end = SN_JOIN_DONE;
    report_pass(s, what, source->input);
    bool other = source != &s->a && s->options->keys_b;
    s->keys = other ? s->options->keys_b : &s->options->keys;
    s->pipeline.record = other ? s->keys->record : s->options->pipeline.record;
    seen_status status = source->used ? sn_input_rewind(source->input, error) : SEEN_OK;
    source->used = true;
    atomic_store(&s->full, false);
    if (status == SEEN_OK)
        status = sn_pipeline_run(source->input, &s->pipeline, steps, &stopped, error);
    s->result->read += sn_input_position(source->input);
    s->result->stopped |= stopped;
    uint64_t lines = atomic_load(&s->pipeline.meter->lines);
    if (status == SEEN_ERR_FULL && end && atomic_load(&s->full)) {
        *end = SN_JOIN_FULL;
        source->lines = source->counted ? source->lines : lines;
        return SEEN_OK;
    }
    if (status == SEEN_OK && !stopped) {
        source->lines = lines;
        source->counted = true;
    }
    /* Saved lines are read in place of A later, but are only part of it. */
    if (source == &s->a && s->result->lines_a < lines)
        s->result->lines_a = lines;
    return status;
}

/* ---- Lines ---------------------------------------------------------------------------------- */

static seen_status hash_lines(sn_join *s, sn_block *block, seen_error *error)
{
    return sn_keys_hash(s->keys, &s->hasher, block, error);
}

/* Ends a pass because the table has no room. */
static seen_status no_room(sn_join *s, seen_error *error)
{
    atomic_store(&s->full, true);
    return sn_error_set(error, SEEN_ERR_FULL, "the table is full");
}

void sn_join_release(sn_join *s)
{
    seen_close(s->filter);
    seen_close(s->small);
    sn_approx_close(&s->once);
    sn_table_close(s->table);
    s->filter = s->small = NULL;
    s->table = NULL;
}

/* ---- Filters -------------------------------------------------------------------------------- */

seen_status sn_join_make_filter(sn_join *s, double keys, uint64_t bytes, seen_set **set,
                                seen_error *error)
{
    seen_options options = {.size = sizeof options,
                            .when_full = SEEN_FULL_GO_ON,
                            .hash = s->hasher.kind,
                            .seed_given = true,
                            .seed = {s->hasher.seed[0], s->hasher.seed[1]},
                            .capacity = (uint64_t)fmax(1, ceil(keys)),
                            .bits = (bytes < 64 ? 64 : bytes) * 8};
    return seen_create(NULL, &options, 0, set, error);
}

static seen_status add_to_filter(void *context, sn_block *block, seen_error *error)
{
    sn_join *s = context;
    seen_status status = hash_lines(s, block, error);
    size_t n = block->lines;
    if (status == SEEN_OK && s->small) {
        status = seen_check_hashes(s->small, block->hash, n, block->answer, error);
        n = 0;
        for (size_t i = 0; i < block->lines; i++) {
            block->hash[n] = block->hash[i];
            n += block->answer[i] == SEEN_BEFORE;
        }
    }
    return status == SEEN_OK ? seen_add_hashes(s->filter, block->hash, n, NULL, error) : status;
}

seen_status sn_join_fill_filter(sn_join *s, sn_join_source *source, seen_error *error)
{
    const sn_pipeline_steps steps = {.context = s, .prepare = add_to_filter};
    return sn_join_pass(s, "reading B into a filter", source, &steps, NULL, error);
}

/* ---- Tables --------------------------------------------------------------------------------- */

static seen_status add_to_table(void *context, sn_block *block, seen_error *error)
{
    sn_join *s = context;
    seen_status status = hash_lines(s, block, error);
    if (status == SEEN_OK &&
        sn_table_add_any(s->table, block->hash, block->lines, block->answer) < block->lines)
        status = no_room(s, error);
    return status;
}

seen_status sn_join_fill_table(sn_join *s, sn_join_source *source, const char *what,
                               sn_join_end *end, seen_error *error)
{
    const sn_pipeline_steps steps = {.context = s, .prepare = add_to_table};
    return sn_join_pass(s, what, source, &steps, end, error);
}

/* Adds the hashes of the lines that pass the filter. */
static bool add_candidates(sn_join *s, const sn_block *block)
{
    seen_hash hashes[BATCH];
    seen_answer answers[BATCH];
    size_t n = 0;
    uint64_t total = 0;
    for (size_t i = 0; i < block->lines; i++) {
        hashes[n] = block->hash[i];
        n += block->answer[i] == SEEN_BEFORE;
        if (n == BATCH || i + 1 == block->lines) {
            if (sn_table_add_any(s->table, hashes, n, answers) < n)
                return false;
            total += n;
            n = 0;
        }
    }
    atomic_fetch_add_explicit(&s->candidates, total, memory_order_relaxed);
    return true;
}

static seen_status find_candidates(void *context, sn_block *block, seen_error *error)
{
    sn_join *s = context;
    seen_status status = hash_lines(s, block, error);
    if (status == SEEN_OK)
        status = seen_check_hashes(s->filter, block->hash, block->lines, block->answer, error);
    if (status != SEEN_OK || atomic_load_explicit(&s->full, memory_order_relaxed))
        return status;
    if (add_candidates(s, block))
        return SEEN_OK;
    /* A pipe can be read only once: its lines are saved to the end and handled by another
     * strategy. */
    if (sn_input_can_reread(s->a.input))
        return no_room(s, error);
    atomic_store(&s->full, true);
    return SEEN_OK;
}

static seen_status select_candidates(void *context, sn_block *block, seen_error *error)
{
    const sn_join *s = context;
    if (s->save_all) {
        block->out = block->bytes;
        block->out_length = block->length;
        block->number_out = block->lines;
        return SEEN_OK;
    }
    return sn_block_select(block, SEEN_BEFORE, false, error);
}

/* If they become too many, or the disk is full, A is read again instead, if possible. */
static seen_status check_saved(sn_join *s, seen_status status)
{
    bool full = status == SEEN_ERR_SPACE && sn_input_can_reread(s->a.input);
    if (status != SEEN_OK && !full)
        return status;
    if (full || (double)sn_temp_length(s->saved.temp) > s->saved_max) {
        s->saving = false;
        sn_copy_close(&s->saved);
    }
    return SEEN_OK;
}

static seen_status save_candidates(void *context, sn_block *block, seen_error *error)
{
    sn_join *s = context;
    if (!s->saving)
        return SEEN_OK;
    s->saved_lines += block->number_out;
    return check_saved(
        s, sn_copy_add(&s->saved, block->out, block->out_length, block->terminator, error));
}

seen_status sn_join_find_candidates(sn_join *s, sn_join_end *end, seen_error *error)
{
    bool pipe = !sn_input_can_reread(s->a.input);
    s->save_all = pipe && s->options->except;
    s->saving = s->plan.saved || pipe;
    s->saved_lines = 0;
    /* Writing and reading more than this takes longer than reading A again. */
    s->saved_max = pipe ? INFINITY : 0.3 * s->parameters.text_a;
    sn_pipeline_steps steps = {.context = s, .prepare = find_candidates};
    seen_status status = SEEN_OK;
    if (s->saving) {
        steps.render = select_candidates;
        steps.emit = save_candidates;
        status = sn_copy_open(&s->saved, s->options->temp_dir, error);
    }
    if (status == SEEN_OK)
        status = sn_join_pass(s, "reading A, keeping what may be in B", &s->a, &steps, end, error);
    if (status == SEEN_OK && s->saving)
        status = check_saved(s, sn_temp_flush(s->saved.temp, error));
    if (s->saved.temp)
        s->result->temporary += sn_temp_length(s->saved.temp);
    return status;
}

/* Builds a filter over the entries of the table: most lines of B are absent from it, and a lookup
 * in a small filter is cheaper than one in a large table. */
seen_status sn_join_make_small(sn_join *s, seen_error *error)
{
    double entries = (double)sn_table_count(s->table);
    double room = (double)s->plan.budget - (double)sn_table_bytes(s->table);
    double bytes = fmin(entries * 10 / 8, room);
    if (bytes < entries / 2)
        return SEEN_OK; /* nearly everything would pass */
    seen_status status = sn_join_make_filter(s, entries, (uint64_t)bytes, &s->small, error);
    seen_hash hashes[BATCH];
    uint64_t cursor = 0;
    size_t n;
    while (status == SEEN_OK && (n = sn_table_list(s->table, &cursor, hashes, BATCH)))
        status = seen_add_hashes(s->small, hashes, n, NULL, error);
    return status;
}

/* Compacts the hashes that pass the small filter; *places holds their line numbers in the block. */
static seen_status sift(sn_join *s, const seen_hash *hashes, size_t count, seen_hash *passed,
                        uint16_t *places, size_t *left, seen_error *error)
{
    seen_hash asked[BATCH];
    seen_answer answers[BATCH];
    *left = 0;
    if (!count)
        return SEEN_OK;
    for (size_t i = 0; i < count; i++)
        asked[i] = sn_table_stored(hashes[i]);
    seen_status status = seen_check_hashes(s->small, asked, count, answers, error);
    size_t n = 0;
    for (size_t i = 0; status == SEEN_OK && i < count; i++) {
        passed[n] = hashes[i];
        places[n] = (uint16_t)i;
        n += answers[i] == SEEN_BEFORE;
    }
    *left = n;
    return status;
}

static seen_status mark_lines(void *context, sn_block *block, seen_error *error)
{
    sn_join *s = context;
    seen_status status = hash_lines(s, block, error);
    if (status != SEEN_OK)
        return status;
    if (!s->small) {
        sn_table_mark(s->table, (unsigned)s->mark, s->need, block->hash, block->lines);
        return SEEN_OK;
    }
    seen_hash passed[BATCH];
    uint16_t places[BATCH];
    for (size_t at = 0; at < block->lines && status == SEEN_OK; at += BATCH) {
        size_t n = block->lines - at < BATCH ? block->lines - at : BATCH, left = 0;
        status = sift(s, block->hash + at, n, passed, places, &left, error);
        sn_table_mark(s->table, (unsigned)s->mark, s->need, passed, left);
    }
    return status;
}

seen_status sn_join_confirm(sn_join *s, size_t first, const char *what, seen_error *error)
{
    const sn_pipeline_steps steps = {.context = s, .prepare = mark_lines};
    seen_status status = SEEN_OK;
    s->mark = -1;
    for (size_t i = first; i < s->b_count && status == SEEN_OK && !sn_join_stopped(s); i++) {
        s->need = s->mark;
        s->mark = (int)(i % 2);
        sn_table_clear_mark(s->table, (unsigned)s->mark);
        status = sn_join_pass(s, what, &s->b[i], &steps, NULL, error);
    }
    return status;
}

/* ---- Deciding ------------------------------------------------------------------------------- */

/* The meaning of a set bit in the map, and of SEEN_BEFORE from sn_join_decide: true: print the
 * line, false: omit it. */
static bool bit_means_print(const sn_join *s)
{
    return !s->options->except || s->options->unique;
}

static void lookup_table(const sn_join *s, const seen_hash *hashes, size_t count,
                         seen_answer *answers)
{
    if (s->mark < 0)
        sn_table_check(s->table, hashes, count, answers);
    else
        sn_table_check_marked(s->table, (unsigned)s->mark, hashes, count, answers);
}

/* Not in B and not seen before. */
static bool decide_new(sn_join *s, const seen_hash *hashes, size_t count, seen_answer *answers)
{
    if (s->mark < 0) {
        if (sn_table_add(s->table, hashes, count, answers) < count)
            return false;
        for (size_t i = 0; i < count; i++)
            answers[i] = answers[i] == SEEN_NEW ? SEEN_BEFORE : SEEN_NEW;
        return true;
    }
    /* Entries of the first B count only if they are marked by all others. */
    for (size_t i = 0; i < count; i++) {
        seen_answer added, first;
        sn_table_check_marked(s->table, (unsigned)s->mark, &hashes[i], 1, &answers[i]);
        if (answers[i] == SEEN_BEFORE) {
            answers[i] = SEEN_NEW;
            continue;
        }
        if (sn_table_add(s->table, &hashes[i], 1, &added) < 1)
            return false;
        sn_table_take(s->table, SN_JOIN_PRINTED, -1, &hashes[i], 1, &first);
        answers[i] = first == SEEN_NEW ? SEEN_BEFORE : SEEN_NEW;
    }
    return true;
}

bool sn_join_decide(sn_join *s, const seen_hash *hashes, size_t count, seen_answer *answers)
{
    if (!s->options->unique) {
        lookup_table(s, hashes, count, answers);
        return true;
    }
    if (s->options->except)
        return decide_new(s, hashes, count, answers);
    sn_table_take(s->table, SN_JOIN_PRINTED, s->mark, hashes, count, answers);
    for (size_t i = 0; i < count; i++)
        answers[i] = answers[i] == SEEN_NEW ? SEEN_BEFORE : SEEN_NEW;
    return true;
}

/* ---- Printing ------------------------------------------------------------------------------- */

static seen_status lookup_lines(void *context, sn_block *block, seen_error *error)
{
    sn_join *s = context;
    seen_status status = hash_lines(s, block, error);
    if (status != SEEN_OK)
        return status;
    if (!s->table)
        return seen_check_hashes(s->filter ? s->filter : s->options->given, block->hash,
                                 block->lines, block->answer, error);
    if (!s->small) {
        lookup_table(s, block->hash, block->lines, block->answer);
        return SEEN_OK;
    }
    memset(block->answer, SEEN_NEW, block->lines);
    seen_hash passed[BATCH];
    uint16_t places[BATCH];
    seen_answer answers[BATCH];
    for (size_t at = 0; at < block->lines && status == SEEN_OK; at += BATCH) {
        size_t n = block->lines - at < BATCH ? block->lines - at : BATCH, left = 0;
        status = sift(s, block->hash + at, n, passed, places, &left, error);
        lookup_table(s, passed, left, answers);
        for (size_t i = 0; i < left; i++)
            block->answer[at + places[i]] = answers[i];
    }
    return status;
}

/* Of the lines to be printed, keeps the first occurrences; the others become SEEN_UNKNOWN. */
static seen_status only_first(sn_join *s, sn_block *block, seen_error *error)
{
    seen_hash hashes[BATCH];
    uint32_t places[BATCH];
    seen_answer answers[BATCH];
    size_t n = 0;
    for (size_t i = 0; i < block->lines; i++) {
        hashes[n] = block->hash[i];
        places[n] = (uint32_t)i;
        n += block->answer[i] == s->print;
        if (n < BATCH && i + 1 < block->lines)
            continue;
        if (s->once.first) {
            seen_status status = sn_approx_add(&s->once, hashes, n, answers, error);
            if (status != SEEN_OK)
                return status;
        } else
            sn_table_take(s->table, SN_JOIN_PRINTED, -1, hashes, n, answers);
        for (size_t k = 0; k < n; k++)
            if (answers[k] != SEEN_NEW)
                block->answer[places[k]] = SEEN_UNKNOWN;
        n = 0;
    }
    return SEEN_OK;
}

/* Omits the lines that an abandoned strategy has already printed. */
static void skip_lines(const sn_join *s, sn_block *block)
{
    if (block->first_line >= s->skip)
        return;
    uint64_t done = s->skip - block->first_line;
    memset(block->answer, SEEN_UNKNOWN, done < block->lines ? (size_t)done : block->lines);
}

static seen_status decide_first(void *context, sn_block *block, seen_error *error)
{
    seen_status status = only_first(context, block, error);
    skip_lines(context, block);
    return status;
}

/* With a table of B, lines that are absent from it must be recorded in it. */
static seen_status decide_candidates(void *context, sn_block *block, seen_error *error)
{
    sn_join *s = context;
    if (!sn_join_decide(s, block->hash, block->lines, block->answer)) {
        s->skip = block->first_line;
        return no_room(s, error);
    }
    return SEEN_OK;
}

static seen_status hash_only(void *context, sn_block *block, seen_error *error)
{
    return hash_lines(context, block, error);
}

static seen_status select_lines(void *context, sn_block *block, seen_error *error)
{
    const sn_join *s = context;
    return sn_block_select(block, s->print, false, error);
}

static seen_status write_lines(void *context, sn_block *block, seen_error *error)
{
    sn_join *s = context;
    s->result->written += block->number_out;
    return sn_output_block(s->output, block, error);
}

seen_status sn_join_print(sn_join *s, sn_join_source *source, const char *what, sn_join_end *end,
                          seen_error *error)
{
    sn_pipeline_steps steps = {
        .context = s, .prepare = lookup_lines, .render = select_lines, .emit = write_lines};
    s->print = s->options->except ? SEEN_NEW : SEEN_BEFORE;
    if (s->options->unique && s->plan.strategy == SN_JOIN_TABLE_B) {
        steps.prepare = hash_only;
        steps.decide = decide_candidates;
        s->print = SEEN_BEFORE;
    } else if (s->options->unique)
        steps.decide = decide_first;
    return sn_join_pass(s, what, source, &steps, end, error);
}

static seen_status decide_kept(void *context, sn_block *block, seen_error *error)
{
    sn_join *s = context;
    seen_status status =
        sn_keep_get(&s->keep, block->first_line, block->lines, block->answer, error);
    skip_lines(s, block);
    return status;
}

seen_status sn_join_print_map(sn_join *s, seen_error *error)
{
    const sn_pipeline_steps steps = {
        .context = s, .decide = decide_kept, .render = select_lines, .emit = write_lines};
    s->print = bit_means_print(s) ? SEEN_BEFORE : SEEN_NEW;
    seen_status status = sn_keep_finish(&s->keep, error);
    s->result->temporary += sn_keep_temporary(&s->keep);
    return status == SEEN_OK
               ? sn_join_pass(s, "reading A again and printing", &s->a, &steps, NULL, error)
               : status;
}

/* ---- Copying -------------------------------------------------------------------------------- */

typedef struct copying {
    sn_join_source *source;
} copying;

static seen_status copy_block(void *context, sn_block *block, seen_error *error)
{
    copying *c = context;
    return sn_copy_add(&c->source->copy, block->bytes, block->length, block->terminator, error);
}

seen_status sn_join_copy(sn_join *s, sn_join_source *source, const char *what, seen_error *error)
{
    copying c = {source};
    const sn_pipeline_steps steps = {.context = &c, .emit = copy_block};
    seen_status status = sn_copy_open(&source->copy, s->options->temp_dir, error);
    if (status == SEEN_OK)
        status = sn_join_pass(s, what, source, &steps, NULL, error);
    if (status == SEEN_OK)
        status = sn_copy_input(&source->copy, s->pipeline.stop, &source->own, error);
    if (status != SEEN_OK)
        return status;
    s->result->temporary += sn_temp_length(source->copy.temp);
    sn_input_take_header(source->own, sn_input_header(source->input));
    source->input = source->own;
    source->used = false;
    return SEEN_OK;
}
