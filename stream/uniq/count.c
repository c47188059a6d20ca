/* Selects lines by their number of occurrences, exactly and in bounded memory.
 *
 * The first pass counts the keys, in several counters like the tables of exact uniq (tables.h).
 * Keys that find no room are written to temporary files and counted there with an empty counter;
 * the result for each of their lines is recorded by line number. The second pass looks up each line
 * in the counters or these notes and writes it or not. Nothing is sorted except the --top lines.
 *
 *     pass 1      key -> counter: count + 1     no room -> files -> spare counter -> notes
 *     pass 2      key -> counter: count         absent -> notes: count
 *
 * Of a pipe, the lines that may be written are copied to a temporary file. */
#include "stream/uniq/strategies.h"

#include "base/error.h"
#include "stream/exact/counter.h"
#include "stream/exact/notes.h"
#include "stream/exact/split.h"
#include "stream/exact/table.h"
#include "stream/uniq/deferred.h"
#include "stream/uniq/tables.h"
#include "stream/uniq/top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 512, COUNT_TEXT = 24 };

typedef struct count_lane {
    sn_counter *counter;
    sn_counter *spare; /* for the files; created when needed */
    sn_forecast forecast;
} count_lane;

typedef struct counting {
    sn_uniq *u;
    sn_uniq_what what;
    count_lane lane[SN_DEFERRED_LANES];
    unsigned lanes;
    uint64_t limit;    /* total bytes of all counters */
    uint64_t expected; /* lines; 0: unknown */
    uint64_t lines;    /* read */
    sn_deferred deferred;
    sn_notes notes;
    _Atomic uint64_t distinct_later;
    sn_copy copy;
    bool copy_all; /* copy not only first occurrences */
    uint64_t copied;
    sn_top top;
} counting;

/* ---- First pass ----------------------------------------------------------------------------- */

static seen_status hash_and_split(void *context, sn_block *block, seen_error *error)
{
    const sn_uniq *u = context;
    const counting *t = u->state;
    seen_status status = sn_uniq_hash(context, block, error);
    return status == SEEN_OK ? sn_split_block(block, t->lanes, error) : status;
}

static seen_status count_share(void *context, sn_block *block, unsigned number, seen_error *error)
{
    (void)error;
    const sn_uniq *u = context;
    counting *t = u->state;
    count_lane *lane = &t->lane[number];
    sn_share part = sn_split_share(block, t->lanes, number);
    sn_counter_raise(lane->counter, part.hash, part.count, part.answer);
    if (t->expected) {
        uint64_t likely = sn_forecast_add(&lane->forecast, part.answer, part.count,
                                          (double)t->expected / t->lanes);
        if (likely)
            sn_counter_expect(lane->counter, likely);
    }
    sn_split_return(&part, block);
    return SEEN_OK;
}

/* A quarter of the memory is for the counters of the files. */
static seen_status begin_deferring(counting *t, uint64_t line, seen_error *error)
{
    const sn_uniq *u = t->u;
    uint64_t lines = u->plan->lines, rest = UINT64_MAX, each = t->limit / 4 / t->lanes;
    if (lines != UINT64_MAX && lines > line)
        rest = lines - line;
    seen_status status =
        sn_deferred_open(&t->deferred, rest, (uint64_t)((double)each / SN_COUNTER_ENTRY_BYTES),
                         t->lanes, u->options->temp_dir, error);
    for (unsigned i = 0; i < t->lanes && status == SEEN_OK; i++)
        status = sn_counter_open(each, 0, &t->lane[i].spare, error);
    return status;
}

static seen_status defer_unknown(void *context, sn_block *block, seen_error *error)
{
    const sn_uniq *u = context;
    counting *t = u->state;
    seen_status status = SEEN_OK;
    t->lines = block->first_line + block->lines;
    if (!t->deferred.files && !t->copy.temp && !memchr(block->answer, SEEN_UNKNOWN, block->lines))
        return SEEN_OK;
    for (size_t i = 0; i < block->lines && status == SEEN_OK; i++) {
        uint64_t number = t->copy.temp ? t->copied : block->first_line + i;
        t->copied += t->copy_all || block->answer[i] != SEEN_BEFORE;
        if (block->answer[i] != SEEN_UNKNOWN)
            continue;
        if (!t->deferred.files)
            status = begin_deferring(t, block->first_line + i, error);
        if (status == SEEN_OK)
            status = sn_deferred_add(&t->deferred, block->hash[i], number, error);
    }
    return status;
}

static seen_status copy_lines(void *context, sn_block *block, seen_error *error)
{
    const sn_uniq *u = context;
    counting *t = u->state;
    seen_status status = SEEN_OK;
    if (!t->copy.temp)
        return SEEN_OK;
    if (t->copy_all)
        return sn_copy_add(&t->copy, block->bytes, block->length, block->terminator, error);
    for (size_t i = 0, next; i < block->lines && status == SEEN_OK; i = next) {
        bool before = block->answer[i] == SEEN_BEFORE;
        for (next = i + 1; next < block->lines && (block->answer[next] == SEEN_BEFORE) == before;)
            next++;
        if (!before)
            status = sn_copy_add(&t->copy, block->bytes + block->start[i],
                                 block->start[next] - block->start[i], block->terminator, error);
    }
    return status;
}

static seen_status first_reading(counting *t, seen_error *error)
{
    sn_uniq *u = t->u;
    t->copy_all = t->what == SN_UNIQ_ALL_REPEATED || t->what == SN_UNIQ_LAST || u->dropped;
    seen_status status = SEEN_OK;
    if (!sn_input_can_reread(u->input))
        status = sn_copy_open(&t->copy, u->options->temp_dir, error);
    sn_pipeline_steps steps = {u,          hash_and_split, defer_unknown, NULL,
                               copy_lines, count_share,    t->lanes};
    return status == SEEN_OK ? sn_uniq_pass(u, &steps, error) : status;
}

/* ---- Selection ------------------------------------------------------------------------------ */

/* Looks up hashes in line order. answers[i]: SEEN_NEW for a line to be written, SEEN_BEFORE for
 * another one, SEEN_UNKNOWN if it is not in the counter. */
static void choose(const counting *t, sn_counter *counter, const seen_hash *hashes, size_t count,
                   uint64_t *counts, seen_answer *answers)
{
    if (t->what == SN_UNIQ_LAST) {
        sn_counter_lower(counter, hashes, count, answers);
        return;
    }
    sn_counter_visit(counter, hashes, count, counts, answers);
    for (size_t i = 0; i < count; i++) {
        if (answers[i] == SEEN_UNKNOWN)
            continue;
        bool first = answers[i] == SEEN_NEW, again = counts[i] > 1;
        bool chosen = t->what == SN_UNIQ_ONCE           ? !again
                      : t->what == SN_UNIQ_ALL_REPEATED ? again
                      : t->what == SN_UNIQ_REPEATED     ? first && again
                                                        : first;
        answers[i] = chosen ? SEEN_NEW : SEEN_BEFORE;
    }
}

/* ---- Deferred keys -------------------------------------------------------------------------- */

typedef struct batch {
    counting *t;
    sn_counter *counter;
    sn_records *again;
} batch;

static seen_status count_batch(void *context, const seen_hash *hashes, size_t count, uint64_t base,
                               seen_error *error)
{
    batch *b = context;
    seen_answer answers[SN_DEFERRED_BATCH];
    sn_counter_raise(b->counter, hashes, count, answers);
    seen_status status = SEEN_OK;
    for (size_t i = 0; i < count && status == SEEN_OK; i++)
        if (answers[i] == SEEN_UNKNOWN)
            status = sn_records_add(b->again, hashes[i], sn_records_number(base, hashes[i]), error);
    return status;
}

static seen_status choose_batch(void *context, const seen_hash *hashes, size_t count, uint64_t base,
                                seen_error *error)
{
    batch *b = context;
    uint64_t counts[SN_DEFERRED_BATCH];
    seen_answer answers[SN_DEFERRED_BATCH];
    seen_status status = SEEN_OK;
    choose(b->t, b->counter, hashes, count, counts, answers);
    for (size_t i = 0; i < count && status == SEEN_OK; i++)
        if (answers[i] == SEEN_NEW)
            status = sn_notes_add(&b->t->notes, sn_records_number(base, hashes[i]),
                                  b->t->what == SN_UNIQ_COUNTED ? counts[i] : 1, error);
    return status;
}

static seen_status offer_counts(counting *t, const sn_counter *counter, seen_error *error)
{
    uint64_t counts[BATCH], cursor = 0;
    seen_status status = SEEN_OK;
    size_t n;
    while (t->u->options->top && status == SEEN_OK &&
           (n = sn_counter_list_counts(counter, &cursor, counts, BATCH)))
        status = sn_top_add(&t->top, counts, n, error);
    return status;
}

static seen_status decide_file(void *context, unsigned lane, sn_records *records, sn_records *again,
                               seen_error *error)
{
    counting *t = context;
    batch b = {t, t->lane[lane].spare, again};
    sn_counter_empty(b.counter);
    seen_status status = sn_deferred_each(records, count_batch, &b, error);
    if (status == SEEN_OK)
        status = offer_counts(t, b.counter, error);
    if (status == SEEN_OK)
        status = sn_deferred_each(records, choose_batch, &b, error);
    atomic_fetch_add(&t->distinct_later, sn_counter_count(b.counter));
    return status;
}

static seen_status decide_deferred(counting *t, seen_error *error)
{
    sn_uniq *u = t->u;
    seen_status status =
        sn_notes_open(&t->notes, t->copy.temp ? t->copied : t->lines, u->options->temp_dir, error);
    if (status == SEEN_OK)
        status = sn_deferred_decide(&t->deferred, t->lanes, decide_file, t,
                                    u->options->pipeline.stop, &u->result->stopped, error);
    if (status == SEEN_OK)
        status = sn_notes_finish(&t->notes, error);
    u->result->temporary += t->deferred.count * sizeof(seen_hash) + sn_notes_bytes(&t->notes);
    return status;
}

/* ---- Second pass ---------------------------------------------------------------------------- */

static seen_status prepare_again(void *context, sn_block *block, seen_error *error)
{
    seen_status status = hash_and_split(context, block, error);
    return status == SEEN_OK ? sn_block_values(block, error) : status;
}

static seen_status choose_share(void *context, sn_block *block, unsigned number, seen_error *error)
{
    (void)error;
    const sn_uniq *u = context;
    counting *t = u->state;
    uint64_t counts[BATCH];
    sn_share part = sn_split_share(block, t->lanes, number);
    for (size_t at = 0; at < part.count; at += BATCH) {
        size_t n = part.count - at < BATCH ? part.count - at : BATCH;
        choose(t, t->lane[number].counter, part.hash + at, n, counts, part.answer + at);
        for (size_t i = 0; i < n && t->what == SN_UNIQ_COUNTED; i++)
            block->value[part.line ? part.line[at + i] : at + i] = counts[i];
    }
    sn_split_return(&part, block);
    return SEEN_OK;
}

/* Looks up notes for keys that are not in the counters; filters out counts that are too small. */
static seen_status look_at_notes(void *context, sn_block *block, seen_error *error)
{
    const sn_uniq *u = context;
    counting *t = u->state;
    seen_status status = SEEN_OK;
    for (size_t i = 0; i < block->lines && status == SEEN_OK; i++) {
        if (block->answer[i] == SEEN_UNKNOWN) {
            status = sn_notes_get(&t->notes, block->first_line + i, &block->value[i], error);
            block->answer[i] = block->value[i] ? SEEN_NEW : SEEN_BEFORE;
        }
        if (t->what != SN_UNIQ_COUNTED || block->answer[i] != SEEN_NEW)
            continue;
        if (block->value[i] < u->options->min ||
            (u->options->top && !sn_top_takes(&t->top, block->value[i])))
            block->answer[i] = SEEN_BEFORE;
    }
    return status;
}

static size_t write_count(char *to, uint64_t count, const sn_uniq_options *options)
{
    if (options->padded && !options->column)
        return (size_t)snprintf(to, COUNT_TEXT, "%7llu ", (unsigned long long)count);
    return (size_t)snprintf(to, COUNT_TEXT, "%llu%c", (unsigned long long)count,
                            options->column ? options->column : '\t');
}

/* COUNT and line, each followed by a terminator. */
static seen_status render_counts(void *context, sn_block *block, seen_error *error)
{
    const sn_uniq *u = context;
    size_t chosen = 0, bytes = 0;
    for (size_t i = 0; i < block->lines; i++)
        if (block->answer[i] == SEEN_NEW) {
            chosen++;
            bytes += block->start[i + 1] - block->start[i];
        }
    block->number_out = chosen;
    if (!u->output)
        return SEEN_OK;
    seen_status status = sn_block_second(block, bytes + chosen * (COUNT_TEXT + 1) + 1, error);
    if (status != SEEN_OK)
        return status;
    char *to = block->second;
    for (size_t i = 0; i < block->lines; i++) {
        size_t length;
        const char *line = sn_block_line(block, i, &length);
        if (block->answer[i] != SEEN_NEW)
            continue;
        to += write_count(to, block->value[i], u->options);
        memcpy(to, line, length);
        to += length;
        *to++ = block->terminator;
    }
    block->out = block->second;
    block->out_length = (size_t)(to - block->second);
    return SEEN_OK;
}

/* Stores the lines of --top until all are known. */
static seen_status keep_top(void *context, sn_block *block, seen_error *error)
{
    sn_uniq *u = context;
    counting *t = u->state;
    const char *at = block->out;
    seen_status status = SEEN_OK;
    u->result->written += block->number_out;
    for (size_t i = 0; i < block->lines && status == SEEN_OK && u->output; i++) {
        if (block->answer[i] != SEEN_NEW)
            continue;
        char text[COUNT_TEXT];
        size_t length;
        (void)sn_block_line(block, i, &length);
        length += write_count(text, block->value[i], u->options) + 1;
        status = sn_top_insert(&t->top, block->value[i], at, length, error);
        at += length;
    }
    return status;
}

static seen_status second_reading(counting *t, seen_error *error)
{
    sn_uniq *u = t->u;
    bool counted = t->what == SN_UNIQ_COUNTED, top = u->options->top != 0;
    sn_pipeline_steps steps = {.context = u,
                               .prepare = prepare_again,
                               .lookup = choose_share,
                               .lanes = t->lanes,
                               .decide = look_at_notes,
                               .render = counted ? render_counts : sn_uniq_select,
                               .emit = counted && top ? keep_top : sn_uniq_write};
    if (top)
        sn_top_select(&t->top);
    seen_status status = sn_uniq_pass_again(u, &t->copy, &steps, error);
    u->result->lines = t->lines;
    if (status == SEEN_OK && top && u->output && !u->result->stopped)
        status = sn_top_write(&t->top, u->output, error);
    return status;
}

/* ---- Run ------------------------------------------------------------------------------------ */

static seen_status open_counters(counting *t, seen_error *error)
{
    unsigned wanted =
        sn_uniq_tables_choose(t->limit, sn_pipeline_threads(&t->u->options->pipeline));
    seen_status status = SEEN_OK;
    for (; t->lanes < wanted && status == SEEN_OK; t->lanes++)
        status = sn_counter_open(t->limit / 4 * 3 / wanted, t->expected / wanted,
                                 &t->lane[t->lanes].counter, error);
    return status;
}

static seen_status run(counting *t, seen_error *error)
{
    sn_uniq_result *result = t->u->result;
    seen_status status = first_reading(t, error);
    /* Counts are final only at the end, so there is no output for a prefix of the input. */
    if (status != SEEN_OK || result->stopped)
        return status;
    for (unsigned i = 0; i < t->lanes && status == SEEN_OK; i++)
        status = offer_counts(t, t->lane[i].counter, error);
    if (status == SEEN_OK && t->deferred.files)
        status = decide_deferred(t, error);
    if (status != SEEN_OK || result->stopped)
        return status;
    return second_reading(t, error);
}

seen_status sn_uniq_run_count(sn_uniq *u, seen_error *error)
{
    counting *t = calloc(1, sizeof *t);
    if (!t)
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory to count lines");
    t->u = u;
    t->what = u->options->what;
    t->limit = sn_uniq_table_memory(u->options);
    t->expected = u->plan->lines == UINT64_MAX ? 0 : u->plan->lines;
    u->state = t;
    seen_status status = seen_hasher_random(SEEN_XXH3, &u->hasher, error);
    if (status == SEEN_OK)
        status = open_counters(t, error);
    if (status == SEEN_OK)
        status = sn_top_open(&t->top, u->options->top, error);
    if (status == SEEN_OK)
        status = run(t, error);
    u->result->distinct = atomic_load(&t->distinct_later);
    for (unsigned i = 0; i < t->lanes; i++) {
        count_lane *lane = &t->lane[i];
        u->result->distinct += lane->counter ? sn_counter_count(lane->counter) : 0;
        u->result->memory += lane->counter ? sn_counter_bytes(lane->counter) : 0;
        u->result->memory += lane->spare ? sn_counter_bytes(lane->spare) : 0;
        sn_counter_close(lane->counter);
        sn_counter_close(lane->spare);
    }
    sn_top_close(&t->top);
    sn_notes_close(&t->notes);
    sn_deferred_close(&t->deferred);
    sn_copy_close(&t->copy);
    free(t);
    return status;
}
