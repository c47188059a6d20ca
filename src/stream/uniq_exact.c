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
#include <stdlib.h>

#include "stream/fail.h"
#include "stream/keepmap.h"
#include "stream/memory.h"
#include "stream/records.h"
#include "stream/table.h"
#include "stream/uniq_inside.h"

enum { FILES_MAX = 64, FILES_BLIND = 16, BATCH = 2048, REPEATED = 0 };
#define TABLE_MIN ((uint64_t)1 << 20)

typedef struct exact_way {
    sn_table *table;
    bool singles;
    bool full;
    uint64_t mark;  /* the first line that the table did not decide; singles: 0 */
    uint64_t lines; /* read */
    uint64_t waiting;
    sn_records file[FILES_MAX];
    unsigned files;
    sn_keepmap map; /* SEEN_NEW, by the line's number from the mark on, or in the copy */
    sn_copy copy;
    bool copy_all; /* also the lines that are known to be repeats: they are written too */
    uint64_t copied;
} exact_way;

/* ---- The plan ------------------------------------------------------------------------------- */

static uint64_t table_limit(const sn_uniq_options *options)
{
    uint64_t memory = options->memory ? options->memory : sn_memory_free() / 2;
    uint64_t blocks = sn_pipeline_memory(&options->pipeline);
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

/* Adds hashes to the table while it has room, and returns how many that was. For the others:
 * SEEN_BEFORE where it knows them, SEEN_UNKNOWN where not. A key that found no room once is never
 * added, or its second time would look like its first. */
static size_t add(sn_table *table, bool full, const seen_hash *hashes, size_t count,
                  seen_answer *answers)
{
    size_t decided = full ? 0 : sn_table_add(table, hashes, count, answers);
    if (decided < count)
        sn_table_check(table, hashes + decided, count - decided, answers + decided);
    for (size_t i = decided; i < count; i++)
        if (answers[i] == SEEN_NEW)
            answers[i] = SEEN_UNKNOWN;
    return decided;
}

/* ---- The first reading ---------------------------------------------------------------------- */

/* As many files as it takes for each to fit the table, with a margin. */
static unsigned count_files(const sn_uniq *u, uint64_t first, uint64_t *expected)
{
    const exact_way *way = u->way;
    *expected = 0;
    if (u->plan->lines == UINT64_MAX || u->plan->lines <= first)
        return FILES_BLIND;
    uint64_t rest = u->plan->lines - first;
    *expected = rest * sizeof(seen_hash);
    uint64_t entries = sn_table_count(way->table) + 1;
    uint64_t files = rest + rest / 4;
    files = files / entries + 1;
    return files < 2 ? 2 : files > FILES_MAX ? FILES_MAX : (unsigned)files;
}

static seen_status begin_waiting(sn_uniq *u, uint64_t line, seen_error *error)
{
    exact_way *way = u->way;
    uint64_t expected;
    unsigned files = count_files(u, line, &expected);
    way->full = true;
    way->mark = way->singles ? 0 : line;
    seen_status status = SEEN_OK;
    while (way->files < files && status == SEEN_OK) {
        status = sn_records_open(&way->file[way->files], u->options->temp_dir, expected, error);
        way->files += status == SEEN_OK;
    }
    if (status == SEEN_OK && !way->singles && u->output && !sn_input_can_reread(u->input))
        status = sn_copy_open(&way->copy, u->options->temp_dir, error);
    return status;
}

/* The lines [first, lines) of a block, from the mark on: repeats, or without an answer. */
static seen_status let_wait(sn_uniq *u, sn_block *block, size_t first, seen_error *error)
{
    exact_way *way = u->way;
    for (size_t i = first; i < block->lines; i++) {
        uint64_t number = block->first_line + i - way->mark;
        bool waits = block->answer[i] == SEEN_UNKNOWN;
        if (way->copy.temp && !way->singles) {
            number = way->copied;
            way->copied += waits || way->copy_all;
        }
        if (!waits)
            continue;
        way->waiting++;
        uint64_t file = (uint64_t)sn_table_unused(block->hash[i]) * way->files >> 32;
        seen_status status = sn_records_add(&way->file[file], block->hash[i], number, error);
        if (status != SEEN_OK)
            return status;
    }
    return SEEN_OK;
}

static void mark_repeats(exact_way *way, const sn_block *block, size_t count)
{
    seen_hash again[BATCH];
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (block->answer[i] == SEEN_BEFORE)
            again[n++] = block->hash[i];
        if (n == BATCH || (i + 1 == count && n)) {
            sn_table_mark(way->table, REPEATED, -1, again, n);
            n = 0;
        }
    }
}

static seen_status decide(void *context, sn_block *block, seen_error *error)
{
    sn_uniq *u = context;
    exact_way *way = u->way;
    seen_status status = SEEN_OK;
    size_t decided = add(way->table, way->full, block->hash, block->lines, block->answer);
    if (decided < block->lines && !way->full)
        status = begin_waiting(u, block->first_line + decided, error);
    if (status == SEEN_OK && way->full)
        status = let_wait(u, block, decided, error);
    if (status == SEEN_OK && way->singles)
        mark_repeats(way, block, block->lines);
    way->lines = block->first_line + block->lines;
    /* The steps behind look only at the block: the table has gone on by then. */
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
    exact_way *way = u->way;
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
    exact_way *way = u->way;
    u->result->lines += block->lines;
    if (!way->copy.temp)
        return SEEN_OK;
    return sn_copy_add(&way->copy, block->bytes, block->length, block->terminator, error);
}

/* ---- What waited ---------------------------------------------------------------------------- */

/* One batch of records with the table: sets bits of those that are new. Those for which there is
 * no room go to `again`. */
static seen_status decide_batch(sn_uniq *u, const seen_hash *hashes, size_t count, uint64_t base,
                                sn_records *again, seen_error *error)
{
    exact_way *way = u->way;
    seen_answer answers[BATCH];
    add(way->table, again->count > 0, hashes, count, answers);
    for (size_t i = 0; i < count; i++) {
        uint64_t number = sn_records_number(base, hashes[i]);
        if (answers[i] == SEEN_UNKNOWN) {
            seen_status status = sn_records_add(again, hashes[i], number, error);
            if (status != SEEN_OK)
                return status;
        } else if (answers[i] == SEEN_NEW) {
            u->fresh++;
            if (!way->singles && way->map.words)
                sn_keepmap_set(&way->map, number);
        } else if (way->singles)
            sn_table_mark(way->table, REPEATED, -1, &hashes[i], 1);
    }
    return SEEN_OK;
}

/* Singles: of the records that the table holds, those without the mark. */
static void keep_unmarked(exact_way *way, const seen_hash *hashes, size_t count, uint64_t base)
{
    seen_answer there[BATCH], marked[BATCH];
    sn_table_check(way->table, hashes, count, there);
    sn_table_check_marked(way->table, REPEATED, hashes, count, marked);
    for (size_t i = 0; i < count; i++)
        if (there[i] == SEEN_BEFORE && marked[i] == SEEN_NEW)
            sn_keepmap_set(&way->map, sn_records_number(base, hashes[i]));
}

static seen_status each_batch(sn_uniq *u, sn_records *records, sn_records *again, seen_error *error)
{
    exact_way *way = u->way;
    seen_hash hashes[BATCH];
    for (uint64_t at = 0;;) {
        size_t got;
        uint64_t base;
        seen_status status = sn_records_read(records, at, hashes, BATCH, &got, &base, error);
        if (status != SEEN_OK || !got)
            return status;
        if (again)
            status = decide_batch(u, hashes, got, base, again, error);
        else
            keep_unmarked(way, hashes, got, base);
        if (status != SEEN_OK)
            return status;
        at += got;
    }
}

/* One file. Where its keys do not fit the table, what is left goes round again. */
static seen_status decide_file(sn_uniq *u, sn_records *records, seen_error *error)
{
    exact_way *way = u->way;
    while (records->count) {
        sn_records again = {0};
        sn_table_clear(way->table);
        seen_status status = sn_records_flush(records, error);
        if (status == SEEN_OK)
            status = sn_records_open(&again, u->options->temp_dir, 0, error);
        if (status == SEEN_OK)
            status = each_batch(u, records, &again, error);
        if (status == SEEN_OK && way->singles)
            status = each_batch(u, records, NULL, error);
        sn_records_close(records);
        *records = again;
        if (status != SEEN_OK)
            return status;
    }
    sn_records_close(records);
    return SEEN_OK;
}

static seen_status decide_waiting(sn_uniq *u, seen_error *error)
{
    exact_way *way = u->way;
    u->result->temporary += way->waiting * sizeof(seen_hash);
    u->fresh = 0;
    for (unsigned i = 0; i < way->files; i++) {
        if (sn_stop_get(u->options->pipeline.stop) != SN_STOP_NONE) {
            u->result->stopped = true;
            return SEEN_OK;
        }
        seen_status status = decide_file(u, &way->file[i], error);
        if (status != SEEN_OK)
            return status;
    }
    u->result->distinct += u->fresh;
    return SEEN_OK;
}

/* ---- The last reading ----------------------------------------------------------------------- */

static seen_status answer_by_map(void *context, sn_block *block, seen_error *error)
{
    (void)error;
    const sn_uniq *u = context;
    const exact_way *way = u->way;
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
    exact_way *way = u->way;
    sn_pipeline_steps steps = {u, NULL, answer_by_map, sn_uniq_select, sn_uniq_write};
    seen_status status = sn_uniq_pass_again(u, &way->copy, &steps, error);
    u->result->lines = way->lines;
    return status;
}

/* Singles, between the readings: what the full table of the first reading knows about its lines. */
static seen_status ask_marks(void *context, sn_block *block, seen_error *error)
{
    seen_status status = sn_uniq_hash(context, block, error);
    const sn_uniq *u = context;
    exact_way *way = u->way;
    if (status != SEEN_OK)
        return status;
    sn_table_check_marked(way->table, REPEATED, block->hash, block->lines, block->answer);
    if (!way->full)
        return SEEN_OK;
    /* Waiting lines are not in the table, so they have no mark either. */
    seen_answer there[BATCH];
    for (size_t first = 0; first < block->lines; first += BATCH) {
        size_t count = block->lines - first < BATCH ? block->lines - first : BATCH;
        sn_table_check(way->table, block->hash + first, count, there);
        for (size_t i = 0; i < count; i++)
            if (there[i] == SEEN_NEW)
                block->answer[first + i] = SEEN_BEFORE;
    }
    return SEEN_OK;
}

static seen_status note_in_map(void *context, sn_block *block, seen_error *error)
{
    (void)error;
    const sn_uniq *u = context;
    exact_way *way = u->way;
    for (size_t i = 0; i < block->lines; i++)
        if (block->answer[i] == SEEN_NEW)
            sn_keepmap_set(&way->map, block->first_line + i);
    return SEEN_OK;
}

/* ---- Both ways ------------------------------------------------------------------------------ */

static seen_status run_singles(sn_uniq *u, seen_error *error)
{
    exact_way *way = u->way;
    seen_status status = SEEN_OK;
    if (!sn_input_can_reread(u->input))
        status = sn_copy_open(&way->copy, u->options->temp_dir, error);
    way->copy_all = true;
    if (status == SEEN_OK) {
        sn_pipeline_steps first = {u, sn_uniq_hash, decide, NULL, emit_nothing};
        status = sn_uniq_pass(u, &first, error);
    }
    if (status != SEEN_OK || u->result->stopped)
        return status;
    u->result->distinct = sn_table_count(way->table);
    if (!way->full) {
        sn_pipeline_steps last = {u, ask_marks, NULL, sn_uniq_select, sn_uniq_write};
        status = sn_uniq_pass_again(u, &way->copy, &last, error);
        u->result->lines = way->lines;
        return status;
    }
    status = sn_keepmap_open(&way->map, way->lines, u->options->temp_dir, error);
    if (status == SEEN_OK) {
        sn_pipeline_steps between = {u, ask_marks, note_in_map, NULL, NULL};
        status = sn_uniq_pass_again(u, &way->copy, &between, error);
    }
    if (status == SEEN_OK && !u->result->stopped)
        status = decide_waiting(u, error);
    return status == SEEN_OK && !u->result->stopped ? write_by_map(u, error) : status;
}

static seen_status run_first(sn_uniq *u, seen_error *error)
{
    exact_way *way = u->way;
    way->copy_all = u->dropped || u->keep == SEEN_BEFORE;
    sn_pipeline_steps first = {u, sn_uniq_hash, decide, render, emit};
    seen_status status = sn_uniq_pass(u, &first, error);
    u->result->distinct = sn_table_count(way->table);
    if (status != SEEN_OK || u->result->stopped || !way->full)
        return status;
    if (u->output) {
        uint64_t lines = way->copy.temp ? way->copied : way->lines - way->mark;
        status = sn_keepmap_open(&way->map, lines, u->options->temp_dir, error);
    }
    if (status == SEEN_OK)
        status = decide_waiting(u, error);
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
    exact_way *way = calloc(1, sizeof *way);
    if (!way)
        return sn_stream_fail(error, SEEN_ERR_MEMORY, "no memory for an exact table");
    u->way = way;
    way->singles = u->options->what == SN_UNIQ_SINGLES;
    uint64_t expected = u->plan->lines == UINT64_MAX ? 0 : u->plan->lines;
    seen_status status = seen_hasher_random(SEEN_XXH3, &u->hasher, error);
    if (status == SEEN_OK)
        status = sn_table_open(table_limit(u->options), expected, &way->table, error);
    if (status == SEEN_OK)
        status = way->singles ? run_singles(u, error) : run_first(u, error);
    if (way->table)
        u->result->memory = sn_table_bytes(way->table);
    for (unsigned i = 0; i < way->files; i++)
        sn_records_close(&way->file[i]);
    sn_keepmap_close(&way->map);
    sn_copy_close(&way->copy);
    sn_table_close(way->table);
    free(way);
    return status;
}
