/* uniq with a filter that remembers lines across runs.
 *
 * A line is added to the filter only after it has been written, so that a process killed at any
 * moment loses nothing: lines in flight are written again by the next run. Three cases:
 *
 *   shared server   added first, because exactly one of several clients must write the line. If the
 *                   connection is lost for good, lines already reported as new are still written
 *   unbuffered      (stdout) `decide` looks up the filter and the pending keys; `emit` writes the
 *                   lines, then adds them. With a regular file: written, synced, then added, in
 *                   batches, since a sync per block would dominate the run time
 *   deferred file   (-o) nothing is visible before the end, so the hashes are kept in a temporary
 *                   file and added after the output was renamed into place; a set in memory
 *                   represents them until then
 *
 * If repeats are printed and the others go to a file (-D --dropped), this applies to that file.
 * Other dropped lines are already in the filter. */
#include "stream/uniq/strategies.h"

#include "base/error.h"
#include "base/hashset.h"
#include "base/memory.h"
#include "stream/exact/split.h"
#include "stream/io/temp.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_KEYS = 1 << 20, REPLAY = 4096 };
#define BATCH_BYTES (64ull << 20)
#define STAND_IN_PART 0.05

typedef struct filter_state {
    /* Pending keys in two generations: `young` receives keys, `old` is cleared once all of its
     * blocks have been added. Protected by the decide turn. */
    sn_hashset young, old;
    uint64_t young_last, old_last; /* number of the last block with keys in it, plus one */
    _Atomic uint64_t added;        /* blocks before this number are in the filter */

    /* Hashes of written lines that wait for a sync. Protected by the emit turn. */
    seen_hash *batch;
    size_t batch_count, batch_room;
    uint64_t batch_bytes;
    bool each_block; /* nothing to sync: add after each block */
    bool renew;      /* window with renew: add every line, also known ones */
    size_t batch_most;

    unsigned lanes; /* each is processed in input order */
    /* State of a failed addition: the first failure, stored by the thread that sets `taken`, and
     * per lane the number of the first block with undecided lines. */
    atomic_flag taken;
    _Atomic bool failed;
    seen_status status;
    seen_error error;
    _Atomic uint64_t ended[SN_SPLIT_SERVER];
    _Atomic uint64_t told; /* keys reported as new */

    sn_temp *later; /* deferred: hashes to be added at the end */
    sn_approx stand_in;
} filter_state;

/* ---- Unbuffered output ---------------------------------------------------------------------- */

static void rotate_generations(filter_state *f, uint64_t added)
{
    if (f->old_last <= added)
        sn_hashset_clear(&f->old);
    if (f->old.count || !f->young.count)
        return;
    sn_hashset swap = f->old;
    f->old = f->young;
    f->young = swap;
    f->old_last = f->young_last;
}

static seen_status decide_in_place(void *context, sn_block *block, seen_error *error)
{
    sn_uniq *u = context;
    filter_state *f = u->state;
    /* Loaded before the lookup: keys dropped from `old` now are in the filter. */
    rotate_generations(f, atomic_load_explicit(&f->added, memory_order_acquire));
    seen_status status =
        seen_check_hashes(u->options->filter, block->hash, block->lines, block->answer, error);
    if (status != SEEN_OK)
        return status;
    size_t fresh = 0;
    for (size_t i = 0; i < block->lines; i++)
        fresh += block->answer[i] == SEEN_NEW;
    if (!sn_hashset_reserve(&f->young, fresh))
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for %zu pending keys",
                            f->young.count + fresh);
    for (size_t i = 0; i < block->lines; i++)
        if (block->answer[i] == SEEN_NEW &&
            (sn_hashset_has(&f->old, block->hash[i]) || !sn_hashset_add(&f->young, block->hash[i])))
            block->answer[i] = SEEN_BEFORE;
    f->young_last = block->number + 1;
    return SEEN_OK;
}

static seen_status add_batch(sn_uniq *u, seen_error *error)
{
    filter_state *f = u->state;
    seen_status status = SEEN_OK;
    if (u->output && f->batch_count)
        status = sn_output_sync(u->output, error);
    if (status == SEEN_OK && u->dropped && f->batch_count)
        status = sn_output_sync(u->dropped, error);
    if (status == SEEN_OK)
        status = seen_add_hashes(u->options->filter, f->batch, f->batch_count, NULL, error);
    f->batch_count = 0;
    f->batch_bytes = 0;
    return status;
}

/* Collects the hashes of the lines just written. */
static seen_status gather(filter_state *f, const sn_block *block, seen_error *error)
{
    size_t need = f->batch_count + block->lines;
    if (need > f->batch_room) {
        seen_hash *batch = realloc(f->batch, 2 * need * sizeof *batch);
        if (!batch)
            return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for %zu pending keys", need);
        f->batch = batch;
        f->batch_room = 2 * need;
    }
    for (size_t i = 0; i < block->lines; i++)
        if (block->answer[i] == SEEN_NEW || f->renew)
            f->batch[f->batch_count++] = block->hash[i];
    return SEEN_OK;
}

static seen_status write_then_add(void *context, sn_block *block, seen_error *error)
{
    sn_uniq *u = context;
    filter_state *f = u->state;
    seen_status status = sn_uniq_write(u, block, error);
    /* Lines not accepted by a closed pipe were not written. */
    if (status != SEEN_OK || sn_stop_get(u->options->pipeline.stop) == SN_STOP_CLOSED)
        return status;
    status = gather(f, block, error);
    f->batch_bytes += block->out_length;
    if (status == SEEN_OK &&
        (f->each_block || f->batch_count >= f->batch_most || f->batch_bytes >= BATCH_BYTES)) {
        status = add_batch(u, error);
        if (status == SEEN_OK)
            atomic_store_explicit(&f->added, block->number + 1, memory_order_release);
    }
    return status;
}

/* With a memory limit, a sixteenth of it is for pending keys, but not so little that syncs dominate
 * the run time. */
static size_t batch_most(uint64_t memory)
{
    enum { LEAST = 1 << 16, BYTES = 192 }; /* per key, in both generations and in the batch */
    uint64_t most = memory ? memory / 16 / BYTES : BATCH_KEYS;
    return most < LEAST ? LEAST : most > BATCH_KEYS ? BATCH_KEYS : (size_t)most;
}

static seen_status run_in_place(sn_uniq *u, seen_error *error)
{
    filter_state *f = u->state;
    f->batch_most = batch_most(u->options->memory);
    f->each_block = !sn_output_is_file(sn_uniq_fresh(u));
    sn_pipeline_steps steps = {.context = u,
                               .prepare = sn_uniq_hash,
                               .decide = decide_in_place,
                               .render = sn_uniq_select,
                               .emit = write_then_add};
    seen_status status = sn_uniq_pass(u, &steps, error);
    /* Also after a failure: lines written before it must be added. */
    seen_status last = add_batch(u, status == SEEN_OK ? error : NULL);
    return status != SEEN_OK ? status : last;
}

/* ---- Deferred output ------------------------------------------------------------------------ */

static seen_status decide_deferred(void *context, sn_block *block, seen_error *error)
{
    sn_uniq *u = context;
    filter_state *f = u->state;
    seen_status status =
        seen_check_hashes(u->options->filter, block->hash, block->lines, block->answer, error);
    if (status != SEEN_OK)
        return status;
    /* Lines that are not in the filter are looked up in the set in memory, in one call: their
     * hashes are first compacted in a copy. */
    status = sn_block_scratch(block, block->lines * (sizeof(seen_hash) + 1), error);
    if (status != SEEN_OK)
        return status;
    seen_hash *hashes = block->scratch;
    seen_answer *answers = (seen_answer *)(hashes + block->lines);
    size_t count = 0;
    for (size_t i = 0; i < block->lines; i++)
        if (block->answer[i] == SEEN_NEW)
            hashes[count++] = block->hash[i];
    status = sn_approx_add(&f->stand_in, hashes, count, answers, error);
    if (status != SEEN_OK)
        return status;
    size_t fresh = 0;
    for (size_t i = 0, at = 0; i < block->lines; i++)
        if (block->answer[i] == SEEN_NEW) {
            block->answer[i] = answers[at];
            if (answers[at] == SEEN_NEW)
                hashes[fresh++] = block->hash[i];
            at++;
        }
    if (f->renew)
        return sn_temp_write(f->later, block->hash, block->lines * sizeof *hashes, error);
    return sn_temp_write(f->later, hashes, fresh * sizeof *hashes, error);
}

static seen_status remember_later(sn_uniq *u, seen_error *error)
{
    filter_state *f = u->state;
    seen_hash *hashes = malloc(REPLAY * sizeof *hashes);
    if (!hashes)
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory to remember the lines written");
    seen_status status = sn_temp_flush(f->later, error);
    uint64_t length = sn_temp_length(f->later);
    for (uint64_t at = 0; status == SEEN_OK && at < length;) {
        size_t got;
        status = sn_temp_read(f->later, at, hashes, REPLAY * sizeof *hashes, &got, error);
        if (status == SEEN_OK)
            status = seen_add_hashes(u->options->filter, hashes, got / sizeof *hashes, NULL, error);
        at += got;
    }
    u->result->temporary = length;
    free(hashes);
    return status;
}

static seen_status run_deferred(sn_uniq *u, seen_error *error)
{
    filter_state *f = u->state;
    uint64_t room = sn_input_room(u->input, u->plan->lines, u->plan->bytes, true);
    /* Its false positives add to those of the filter. */
    double rate = fmin(1e-6, STAND_IN_PART * u->plan->error_rate);
    rate = fmax(rate, SN_APPROX_STRICTEST);
    sn_approx_options options = {.capacity = room, .error_rate = rate, .hasher = &u->hasher};
    seen_status status = sn_approx_open(&f->stand_in, &options, error);
    if (status == SEEN_OK)
        status = sn_temp_open(u->options->temp_dir, 0, &f->later, error);
    if (status != SEEN_OK)
        return status;
    sn_pipeline_steps steps = {.context = u,
                               .prepare = sn_uniq_hash,
                               .decide = decide_deferred,
                               .render = sn_uniq_select,
                               .emit = sn_uniq_write};
    status = sn_uniq_pass(u, &steps, error);
    if (status == SEEN_OK)
        status = sn_uniq_finish(u, error);
    if (status == SEEN_OK && !u->result->stopped)
        status = remember_later(u, error);
    return status;
}

/* ---- Common part, and the shared server ----------------------------------------------------- */

static seen_status split_first(void *context, sn_block *block, seen_error *error)
{
    const sn_uniq *u = context;
    const filter_state *f = u->state;
    seen_status status = sn_uniq_hash(context, block, error);
    return status == SEEN_OK ? sn_split_block(block, f->lanes, error) : status;
}

/* A failure does not end the run here: lines added before it, in this block and in other lanes,
 * must still be written. No further lines are added. */
static seen_status add_first(void *context, sn_block *block, unsigned lane, seen_error *error)
{
    const sn_uniq *u = context;
    filter_state *f = u->state;
    sn_share share = sn_split_share(block, f->lanes, lane);
    memset(share.answer, SEEN_UNKNOWN, share.count);
    bool good = !atomic_load(&f->failed) && f->ended[lane] > block->number;
    seen_status status = SEEN_OK;
    if (good)
        status = seen_add_hashes(u->options->filter, share.hash, share.count, share.answer, error);
    size_t fresh = 0;
    for (size_t i = 0; i < share.count; i++)
        fresh += share.answer[i] == SEEN_NEW;
    atomic_fetch_add(&f->told, fresh);
    sn_split_return(&share, block);
    if (status != SEEN_OK && !atomic_flag_test_and_set(&f->taken)) {
        f->status = status;
        f->error = *error;
        atomic_store(&f->failed, true);
    }
    if ((!good || status != SEEN_OK) && f->ended[lane] > block->number)
        f->ended[lane] = block->number;
    return SEEN_OK;
}

static seen_status report_failure(const filter_state *f, seen_error *error)
{
    if (error)
        *error = f->error;
    return f->status;
}

static seen_status write_first(void *context, sn_block *block, seen_error *error)
{
    const sn_uniq *u = context;
    const filter_state *f = u->state;
    seen_status status = sn_uniq_write(context, block, error);
    bool over = true;
    for (unsigned lane = 0; lane < f->lanes; lane++)
        over &= f->ended[lane] <= block->number;
    return status == SEEN_OK && over ? report_failure(f, error) : status;
}

static seen_status run_remember_first(sn_uniq *u, seen_error *error)
{
    filter_state *f = u->state;
    for (unsigned lane = 0; lane < SN_SPLIT_SERVER; lane++)
        f->ended[lane] = UINT64_MAX;
    sn_pipeline_steps steps = {.context = u,
                               .prepare = split_first,
                               .lookup = add_first,
                               .lanes = f->lanes,
                               .render = sn_uniq_select,
                               .emit = write_first};
    seen_status status = sn_uniq_pass(u, &steps, error);
    if (sn_uniq_fresh(u) && f->told > sn_uniq_fresh_lines(u))
        u->result->lost = f->told - sn_uniq_fresh_lines(u);
    return status == SEEN_OK && f->failed ? report_failure(f, error) : status;
}

/* The expected number of unique lines lost while `lines` new ones were added.
 *
 * Each layer of a growing set has the same share of the error rate and a constant multiple of the
 * capacity of the one before, so the rate rises with the logarithm of the keys, starting at the
 * first layer. A window stays at its rate once it is filled. */
static double expect_lost(const seen_set *set, const seen_info *before, const seen_info *after,
                          double lines)
{
    double from = before->error_rate_now, to = after->error_rate_now;
    double held = before->keys_estimated, rise = to - from;
    if (after->growth == SEEN_FIXED)
        return sn_approx_expect_lost(set, held, lines);
    if (after->growth == SEEN_WINDOW) {
        double rising = fmin(lines, fmax((double)after->capacity - held, 0));
        return lines * to - rising * rise / 2;
    }
    if (after->capacity == before->capacity)
        return lines * (from + to) / 2;
    /* With tag lines, every doubling adds the same share of the rate. */
    double steps = (double)(after->layers - before->layers), step = 2;
    if (steps > 0)
        step = pow((double)after->capacity / (double)before->capacity, 1 / steps);
    held = fmax(held, (double)before->capacity / step);
    return lines * to + rise * (held - lines / log1p(lines / held));
}

seen_status sn_uniq_run_filter(sn_uniq *u, seen_error *error)
{
    filter_state f = {.taken = ATOMIC_FLAG_INIT};
    u->state = &f;
    u->hasher = seen_hasher_of(u->options->filter);
    seen_info before = {.size = sizeof before}, after = {.size = sizeof after};
    seen_status status = seen_get_info(u->options->filter, &before, error);
    if (status != SEEN_OK)
        return status;
    /* What a window drops depends on the order of all keys. */
    bool ordered = before.growth == SEEN_WINDOW || !u->options->pipeline.waits;
    f.renew = before.renew;
    f.lanes = ordered ? 1 : SN_SPLIT_SERVER;
    /* If no new line is written, none can be lost. */
    if (u->options->remember_first || !sn_uniq_fresh(u))
        status = run_remember_first(u, error);
    else if (sn_output_is_deferred(sn_uniq_fresh(u)))
        status = run_deferred(u, error);
    else
        status = run_in_place(u, error);
    seen_status synced = seen_sync(u->options->filter, status == SEEN_OK ? error : NULL);
    if (status == SEEN_OK)
        status = synced;
    if (status == SEEN_OK)
        status = seen_get_info(u->options->filter, &after, error);
    sn_uniq_result *result = u->result;
    result->distinct = sn_uniq_fresh_lines(u);
    result->memory = after.bytes;
    result->layers = after.layers;
    result->error_rate = fmax(after.error_rate, after.error_rate_now);
    sn_approx_error(&f.stand_in, &result->wrong);
    result->wrong += expect_lost(u->options->filter, &before, &after, (double)result->distinct);
    sn_hashset_free(&f.young);
    sn_hashset_free(&f.old);
    free(f.batch);
    sn_temp_close(f.later);
    sn_approx_close(&f.stand_in);
    return status;
}
