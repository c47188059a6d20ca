/* Each line once, exactly, in bounded memory.
 *
 * A table of 96-bit fingerprints decides while it has room. From the line on at which it is full
 * (`mark`) nothing is written: a line that the table knows is a repeat, and of every other one the
 * fingerprint and its number go to one of some temporary files, cut by bits of the hash that the
 * table does not use. Then each of these files is decided with an empty table, and the answers are
 * put together in a map of one bit per line. A second reading, which hashes nothing, writes the
 * lines from the mark on. What comes from a pipe is copied to a temporary file from the mark on.
 *
 *     reading 1   [ table decides: written ........ | mark | known: repeat, else -> records ]
 *     records     file 1 -> table -> map   file 2 -> table -> map …
 *     reading 2   [ passed over ................... | mark | written by the map ............ ]
 *
 * Lines that never repeat (singles) are not known before the end, so all is written in the last
 * reading; where the table was full, a reading in between asks it about the lines that it knows. */
#include "stream/uniq/exact.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define TABLE_MIN ((uint64_t)1 << 20)

/* ---- The plan ------------------------------------------------------------------------------- */

static uint64_t table_limit(const sn_uniq_options *options)
{
    uint64_t memory = options->memory ? options->memory : sn_memory_free() / 2;
    bool lanes = sn_pipeline_threads(&options->pipeline) > 1;
    uint64_t blocks = sn_pipeline_memory(&options->pipeline, lanes) + sn_uniq_line_memory(options);
    return memory > blocks + TABLE_MIN ? memory - blocks : TABLE_MIN;
}

seen_status sn_uniq_plan_exact(const sn_uniq_options *options, sn_uniq_plan *plan,
                               seen_error *error)
{
    (void)error;
    uint64_t limit = table_limit(options);
    plan->error_rate = 0;
    if (!plan->capacity)
        plan->capacity = (uint64_t)((double)limit / SN_TABLE_ENTRY_BYTES);
    double need = (double)plan->capacity * SN_TABLE_ENTRY_BYTES;
    plan->memory = need < (double)limit ? (uint64_t)need : limit;
    return SEEN_OK;
}

/* ---- The first reading ---------------------------------------------------------------------- */

/* The first line of a block that its table has no answer for. */
static size_t first_unknown(const sn_block *block)
{
    const seen_answer *first = memchr(block->answer, SEEN_UNKNOWN, block->lines);
    return first ? (size_t)(first - block->answer) : block->lines;
}

/* From the mark on all that is new waits, also what a table that is not full has taken: it is to be
 * written in order, and the others come later. */
static void unsettle(sn_block *block, size_t first)
{
    for (size_t i = first; i < block->lines; i++)
        if (block->answer[i] == SEEN_NEW)
            block->answer[i] = SEEN_UNKNOWN;
}

static seen_status decide(void *context, sn_block *block, seen_error *error)
{
    sn_uniq *u = context;
    sn_uniq_exact *way = u->way;
    seen_status status = SEEN_OK;
    size_t decided = way->waits ? 0 : first_unknown(block);
    for (size_t i = 0; i < decided; i++)
        way->decided += block->answer[i] == SEEN_NEW;
    if (decided < block->lines && !way->waits)
        status = sn_wait_begin(u, block->first_line + decided, error);
    if (way->waits && !way->singles)
        unsettle(block, decided);
    if (status == SEEN_OK && way->waits)
        status = sn_wait_add(u, block, decided, error);
    way->lines = block->first_line + block->lines;
    /* The steps behind look only at the block: the tables have gone on by then. */
    block->number_out = decided;
    block->out = decided == block->lines ? block->bytes : NULL;
    return status;
}

/* ---- Writing what is decided, copying what waits ----------------------------------------------
 */

/* Hands runs of lines [first, end) with one answer to the output, the drops or the copy. */
static seen_status hand_out(sn_uniq *u, const sn_block *block, size_t first, size_t end,
                            seen_error *error)
{
    sn_uniq_exact *way = u->way;
    seen_status status = SEEN_OK;
    for (size_t i = first, next; i < end && status == SEEN_OK; i = next) {
        seen_answer answer = block->answer[i];
        for (next = i + 1; next < end && block->answer[next] == answer;)
            next++;
        const char *bytes = block->bytes + block->start[i];
        size_t length = block->start[next] - block->start[i];
        if (answer == SEEN_UNKNOWN || (way->copy_all && i >= block->number_out)) {
            if (way->copy.temp)
                status = sn_copy_add(&way->copy, bytes, length, block->terminator, error);
        } else if (i >= block->number_out)
            continue;
        else if (answer == u->keep) {
            u->result->written += next - i;
            if (u->output)
                status = sn_output_write(u->output, bytes, length, error);
        } else if (u->dropped)
            status = sn_output_write(u->dropped, bytes, length, error);
    }
    return status;
}

/* A block that the table decided wholly goes the usual way, the others line by line. */
static seen_status render(void *context, sn_block *block, seen_error *error)
{
    return block->out ? sn_uniq_select(context, block, error) : SEEN_OK;
}

static seen_status emit(void *context, sn_block *block, seen_error *error)
{
    sn_uniq *u = context;
    if (block->out)
        return sn_uniq_write(u, block, error);
    size_t decided = (size_t)block->number_out;
    u->result->lines += decided;
    seen_status status = hand_out(u, block, 0, decided, error);
    return status == SEEN_OK ? hand_out(u, block, decided, block->lines, error) : status;
}

/* Singles: nothing is written yet. */
static seen_status emit_nothing(void *context, sn_block *block, seen_error *error)
{
    sn_uniq *u = context;
    sn_uniq_exact *way = u->way;
    u->result->lines += block->lines;
    if (!way->copy.temp)
        return SEEN_OK;
    return sn_copy_add(&way->copy, block->bytes, block->length, block->terminator, error);
}

/* ---- The last reading ----------------------------------------------------------------------- */

static seen_status answer_by_map(void *context, sn_block *block, seen_error *error)
{
    (void)error;
    const sn_uniq *u = context;
    const sn_uniq_exact *way = u->way;
    uint64_t mark = way->copy.temp ? 0 : way->mark;
    for (size_t i = 0; i < block->lines; i++) {
        uint64_t line = block->first_line + i;
        block->answer[i] = line < mark                              ? SEEN_UNKNOWN
                           : sn_keepmap_get(&way->map, line - mark) ? SEEN_NEW
                                                                    : SEEN_BEFORE;
    }
    return SEEN_OK;
}

static seen_status write_by_map(sn_uniq *u, seen_error *error)
{
    sn_uniq_exact *way = u->way;
    sn_pipeline_steps steps = {
        .context = u, .decide = answer_by_map, .render = sn_uniq_select, .emit = sn_uniq_write};
    seen_status status = sn_uniq_pass_again(u, &way->copy, &steps, error);
    u->result->lines = way->lines;
    return status;
}

/* Singles, between the readings: what the full tables of the first one know about its lines. */
static seen_status note_in_map(void *context, sn_block *block, seen_error *error)
{
    (void)error;
    const sn_uniq *u = context;
    sn_uniq_exact *way = u->way;
    for (size_t i = 0; i < block->lines; i++)
        if (block->answer[i] == SEEN_NEW)
            sn_keepmap_set(&way->map, block->first_line + i);
    return SEEN_OK;
}

/* ---- Both ways ------------------------------------------------------------------------------ */

static seen_status run_singles(sn_uniq *u, seen_error *error)
{
    sn_uniq_exact *way = u->way;
    seen_status status = SEEN_OK;
    if (!sn_input_can_reread(u->input))
        status = sn_copy_open(&way->copy, u->options->temp_dir, error);
    way->copy_all = true;
    if (status == SEEN_OK) {
        sn_pipeline_steps first = {
            u, sn_lanes_hash, decide, NULL, emit_nothing, sn_lanes_ask, way->lanes};
        status = sn_uniq_pass(u, &first, error);
    }
    if (status != SEEN_OK || u->result->stopped)
        return status;
    u->result->distinct = sn_lanes_count(way);
    if (!way->waits) {
        sn_pipeline_steps last = {.context = u,
                                  .prepare = sn_lanes_ask_marks,
                                  .render = sn_uniq_select,
                                  .emit = sn_uniq_write};
        status = sn_uniq_pass_again(u, &way->copy, &last, error);
        u->result->lines = way->lines;
        return status;
    }
    status = sn_keepmap_open(&way->map, way->lines, u->options->temp_dir, error);
    if (status == SEEN_OK) {
        sn_pipeline_steps between = {
            .context = u, .prepare = sn_lanes_ask_marks, .decide = note_in_map};
        status = sn_uniq_pass_again(u, &way->copy, &between, error);
    }
    if (status == SEEN_OK && !u->result->stopped)
        status = sn_wait_decide(u, error);
    return status == SEEN_OK && !u->result->stopped ? write_by_map(u, error) : status;
}

static seen_status run_first(sn_uniq *u, seen_error *error)
{
    sn_uniq_exact *way = u->way;
    way->copy_all = u->dropped || u->keep == SEEN_BEFORE;
    sn_pipeline_steps first = {u, sn_lanes_hash, decide, render, emit, sn_lanes_ask, way->lanes};
    seen_status status = sn_uniq_pass(u, &first, error);
    u->result->distinct = way->decided;
    if (status != SEEN_OK || u->result->stopped || !way->waits)
        return status;
    if (u->output) {
        uint64_t lines = way->copy.temp ? way->copied : way->lines - way->mark;
        status = sn_keepmap_open(&way->map, lines, u->options->temp_dir, error);
    }
    if (status == SEEN_OK)
        status = sn_wait_decide(u, error);
    if (status != SEEN_OK || u->result->stopped)
        return status;
    if (u->output)
        return write_by_map(u, error);
    sn_uniq_result *result = u->result;
    result->lines = way->lines;
    result->written = u->keep == SEEN_NEW ? result->distinct : result->lines - result->distinct;
    return SEEN_OK;
}

seen_status sn_uniq_run_exact(sn_uniq *u, seen_error *error)
{
    sn_uniq_exact *way = calloc(1, sizeof *way);
    if (!way)
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for an exact table");
    u->way = way;
    way->singles = u->options->what == SN_UNIQ_SINGLES;
    way->expected = u->plan->lines == UINT64_MAX ? 0 : u->plan->lines;
    seen_status status = seen_hasher_random(SEEN_XXH3, &u->hasher, error);
    if (status == SEEN_OK)
        status = sn_lanes_open(way, table_limit(u->options),
                               sn_pipeline_threads(&u->options->pipeline), error);
    if (status == SEEN_OK)
        status = way->singles ? run_singles(u, error) : run_first(u, error);
    u->result->memory = sn_lanes_bytes(way);
    for (unsigned i = 0; i < way->files; i++)
        sn_records_close(&way->file[i]);
    sn_keepmap_close(&way->map);
    sn_copy_close(&way->copy);
    sn_lanes_close(way);
    free(way);
    return status;
}
