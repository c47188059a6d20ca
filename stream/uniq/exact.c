/* Exact uniq in bounded memory.
 *
 * A table of 96-bit fingerprints decides while it has room. After the line at which it is full
 * (`mark`) nothing is written: a line found in the table is a duplicate; the fingerprint and the
 * number of every other line are written to temporary files. These are then decided file by file
 * with an empty table, and the results are collected in a bitmap. A second pass, without hashing,
 * writes the lines from the mark on. Lines of a pipe are copied to a temporary file from the mark
 * on.
 *
 *     pass 1      [ table decides: written ........ | mark | found: duplicate, else -> files ]
 *     files       file 1 -> table -> map   file 2 -> table -> map …
 *     pass 2      [ skipped ....................... | mark | written by the map ............ ] */
#include "stream/uniq/strategies.h"

#include "base/error.h"
#include "stream/exact/keepmap.h"
#include "stream/exact/split.h"
#include "stream/uniq/tables.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct exact {
    sn_uniq *u;
    sn_uniq_tables tables;
    sn_deferred deferred;
    uint64_t mark;    /* the first deferred line */
    uint64_t lines;   /* read */
    uint64_t decided; /* distinct keys before the mark */
    _Atomic uint64_t decided_later;
    sn_keepmap map; /* set for new lines, indexed by line number from the mark on, or in the copy */
    sn_copy copy;
    bool copy_all; /* also copy the known duplicates, because they are written too */
    uint64_t copied;
} exact;

static bool is_deferring(const exact *x)
{
    return x->deferred.files != 0;
}

/* ---- First pass ----------------------------------------------------------------------------- */

static seen_status hash_and_split(void *context, sn_block *block, seen_error *error)
{
    const sn_uniq *u = context;
    const exact *x = u->state;
    seen_status status = sn_uniq_hash(context, block, error);
    return status == SEEN_OK ? sn_split_block(block, x->tables.count, error) : status;
}

static seen_status lookup(void *context, sn_block *block, unsigned lane, seen_error *error)
{
    (void)error;
    const sn_uniq *u = context;
    exact *x = u->state;
    sn_uniq_tables_lookup(&x->tables, block, lane);
    return SEEN_OK;
}

/* The first line of a block that its table could not decide. */
static size_t first_unknown(const sn_block *block)
{
    const seen_answer *first = memchr(block->answer, SEEN_UNKNOWN, block->lines);
    return first ? (size_t)(first - block->answer) : block->lines;
}

static seen_status begin_deferring(exact *x, uint64_t line, seen_error *error)
{
    const sn_uniq *u = x->u;
    uint64_t lines = u->plan->lines, rest = UINT64_MAX;
    if (u->options->source && u->output && !sn_input_can_reread(u->input))
        return sn_error_set(error, SEEN_ERR_MEMORY,
                            "not enough memory for the line numbers of a pipe; give more with -m, "
                            "or omit --source");
    if (lines != UINT64_MAX && lines > line)
        rest = lines - line;
    /* Estimated from the memory, as tables with room are still adding. */
    double entries =
        (double)sn_uniq_tables_bytes(&x->tables) / SN_TABLE_ENTRY_BYTES / x->tables.count;
    x->mark = line;
    seen_status status = sn_deferred_open(&x->deferred, rest, (uint64_t)entries, x->tables.count,
                                          u->options->temp_dir, error);
    if (status == SEEN_OK && u->output && !sn_input_can_reread(u->input))
        status = sn_copy_open(&x->copy, u->options->temp_dir, error);
    return status;
}

/* From the mark on all new lines are deferred, even those added to a table that is not full: they
 * must be written in order, after lines that are not decided yet. */
static seen_status defer_from(exact *x, sn_block *block, size_t first, seen_error *error)
{
    seen_status status = SEEN_OK;
    for (size_t i = first; i < block->lines && status == SEEN_OK; i++) {
        uint64_t number = x->copy.temp ? x->copied : block->first_line + i - x->mark;
        if (block->answer[i] == SEEN_NEW)
            block->answer[i] = SEEN_UNKNOWN;
        bool waits = block->answer[i] == SEEN_UNKNOWN;
        x->copied += waits || x->copy_all;
        if (waits)
            status = sn_deferred_add(&x->deferred, block->hash[i], number, error);
    }
    return status;
}

static seen_status decide(void *context, sn_block *block, seen_error *error)
{
    const sn_uniq *u = context;
    exact *x = u->state;
    seen_status status = SEEN_OK;
    block->decided = is_deferring(x) ? 0 : first_unknown(block);
    for (size_t i = 0; i < block->decided; i++)
        x->decided += block->answer[i] == SEEN_NEW;
    if (block->decided < block->lines && !is_deferring(x))
        status = begin_deferring(x, block->first_line + block->decided, error);
    if (status == SEEN_OK && is_deferring(x))
        status = defer_from(x, block, block->decided, error);
    x->lines = block->first_line + block->lines;
    return status;
}

/* ---- Writing decided lines, copying deferred ones ------------------------------------------- */

/* Writes or copies lines [first, end) of a block, which have the same answer. */
static seen_status hand_out(sn_uniq *u, const sn_block *block, size_t first, size_t end,
                            seen_error *error)
{
    exact *x = u->state;
    const char *bytes = block->bytes + block->start[first];
    size_t length = block->start[end] - block->start[first];
    seen_answer answer = block->answer[first];
    if (first >= block->decided) {
        if (!x->copy.temp || (answer != SEEN_UNKNOWN && !x->copy_all))
            return SEEN_OK;
        return sn_copy_add(&x->copy, bytes, length, block->terminator, error);
    }
    if (answer != u->keep)
        return u->dropped ? sn_output_write(u->dropped, bytes, length, error) : SEEN_OK;
    u->result->written += end - first;
    return u->output ? sn_output_write(u->output, bytes, length, error) : SEEN_OK;
}

/* A block completely decided by the tables takes the fast path; others are handled line by line. */
static seen_status render(void *context, sn_block *block, seen_error *error)
{
    const sn_uniq *u = context;
    if (u->options->source && u->output)
        return sn_uniq_render_source(u, block, block->decided, error);
    return block->decided == block->lines ? sn_uniq_select(context, block, error) : SEEN_OK;
}

static seen_status emit(void *context, sn_block *block, seen_error *error)
{
    sn_uniq *u = context;
    if (block->decided == block->lines)
        return sn_uniq_write(u, block, error);
    u->result->lines += block->decided;
    seen_status status = SEEN_OK;
    size_t first = 0;
    if (u->options->source && u->output) {
        status = sn_output_block(u->output, block, error);
        u->result->written += block->number_out;
        first = block->decided;
    }
    for (size_t i = first, next; i < block->lines && status == SEEN_OK; i = next) {
        size_t end = i < block->decided ? block->decided : block->lines;
        for (next = i + 1; next < end && block->answer[next] == block->answer[i];)
            next++;
        status = hand_out(u, block, i, next, error);
    }
    return status;
}

/* ---- Deferred lines ------------------------------------------------------------------------- */

typedef struct batch {
    exact *x;
    sn_uniq_table *lane;
    sn_records *again;
} batch;

static seen_status decide_batch(void *context, const seen_hash *hashes, size_t count, uint64_t base,
                                seen_error *error)
{
    batch *b = context;
    seen_answer answers[SN_DEFERRED_BATCH];
    sn_uniq_tables_add(b->lane, hashes, count, answers);
    uint64_t fresh = 0;
    seen_status status = SEEN_OK;
    for (size_t i = 0; i < count && status == SEEN_OK; i++) {
        uint64_t number = sn_records_number(base, hashes[i]);
        if (answers[i] == SEEN_UNKNOWN)
            status = sn_records_add(b->again, hashes[i], number, error);
        else if (answers[i] == SEEN_NEW) {
            fresh++;
            if (b->x->map.words)
                sn_keepmap_set(&b->x->map, number);
        }
    }
    atomic_fetch_add_explicit(&b->x->decided_later, fresh, memory_order_relaxed);
    return status;
}

static seen_status decide_file(void *context, unsigned lane, sn_records *records, sn_records *again,
                               seen_error *error)
{
    exact *x = context;
    batch b = {x, &x->tables.lane[lane], again};
    sn_table_empty(b.lane->table);
    b.lane->full = false;
    return sn_deferred_each(records, decide_batch, &b, error);
}

static seen_status decide_deferred(exact *x, seen_error *error)
{
    sn_uniq *u = x->u;
    seen_status status = SEEN_OK;
    if (u->output)
        status = sn_keepmap_open(&x->map, x->copy.temp ? x->copied : x->lines - x->mark,
                                 u->options->temp_dir, error);
    u->result->temporary += x->deferred.count * sizeof(seen_hash);
    if (status == SEEN_OK)
        status = sn_deferred_decide(&x->deferred, x->tables.count, decide_file, x,
                                    u->options->pipeline.stop, &u->result->stopped, error);
    u->result->distinct = x->decided + atomic_load(&x->decided_later);
    return status;
}

/* ---- Second pass ---------------------------------------------------------------------------- */

static seen_status answer_by_map(void *context, sn_block *block, seen_error *error)
{
    (void)error;
    const sn_uniq *u = context;
    const exact *x = u->state;
    uint64_t mark = x->copy.temp ? 0 : x->mark;
    for (size_t i = 0; i < block->lines; i++) {
        uint64_t line = block->first_line + i;
        block->answer[i] = line < mark                            ? SEEN_UNKNOWN
                           : sn_keepmap_get(&x->map, line - mark) ? SEEN_NEW
                                                                  : SEEN_BEFORE;
    }
    return SEEN_OK;
}

static seen_status write_by_map(exact *x, seen_error *error)
{
    sn_uniq *u = x->u;
    sn_pipeline_steps steps = {
        .context = u, .decide = answer_by_map, .render = sn_uniq_select, .emit = sn_uniq_write};
    seen_status status = sn_uniq_pass_again(u, &x->copy, &steps, error);
    u->result->lines = x->lines;
    return status;
}

/* ---- Run ------------------------------------------------------------------------------------ */

static seen_status run(exact *x, seen_error *error)
{
    sn_uniq *u = x->u;
    sn_uniq_result *result = u->result;
    x->copy_all = u->dropped || u->keep == SEEN_BEFORE;
    sn_pipeline_steps first = {u, hash_and_split, decide, render, emit, lookup, x->tables.count};
    seen_status status = sn_uniq_pass(u, &first, error);
    result->distinct = x->decided;
    if (status != SEEN_OK || result->stopped || !is_deferring(x))
        return status;
    status = decide_deferred(x, error);
    if (status != SEEN_OK || result->stopped)
        return status;
    if (u->output)
        return write_by_map(x, error);
    result->lines = x->lines;
    result->written = u->keep == SEEN_NEW ? result->distinct : result->lines - result->distinct;
    return SEEN_OK;
}

seen_status sn_uniq_run_exact(sn_uniq *u, seen_error *error)
{
    exact *x = calloc(1, sizeof *x);
    if (!x)
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for an exact table");
    x->u = u;
    u->state = x;
    uint64_t expected = u->plan->lines == UINT64_MAX ? 0 : u->plan->lines;
    seen_status status = seen_hasher_random(SEEN_XXH3, &u->hasher, error);
    if (status == SEEN_OK)
        status = sn_uniq_tables_open(&x->tables, sn_uniq_table_memory(u->options),
                                     sn_pipeline_threads(&u->options->pipeline), expected, error);
    if (status == SEEN_OK)
        status = run(x, error);
    u->result->memory = sn_uniq_tables_bytes(&x->tables);
    sn_deferred_close(&x->deferred);
    sn_keepmap_close(&x->map);
    sn_copy_close(&x->copy);
    sn_uniq_tables_close(&x->tables);
    free(x);
    return status;
}
