/* The spill strategy, if no table is large enough: A and B are decided slice by slice, and the
 * results are collected in a bitmap of A's lines, by which A is printed at the end.
 *
 * A slice is a range of the hash bits that the table does not use. Both sides are first split into
 * slices in temporary files. A slice that turns out to be too large for the table is split
 * further. */
#include "stream/join/internal.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 512 };

#define SPILL_MEMORY ((uint64_t)4 << 20)

/* ---- Spilling ------------------------------------------------------------------------------- */

static seen_status hash_lines(void *context, sn_block *block, seen_error *error)
{
    sn_join *s = context;
    seen_status status = sn_keys_hash(s->keys, &s->hasher, block, error);
    memset(block->answer, SEEN_BEFORE, block->lines);
    return status;
}

static seen_status hash_and_check(sn_join *s, seen_set *set, sn_block *block, seen_error *error)
{
    seen_status status = sn_keys_hash(s->keys, &s->hasher, block, error);
    return status == SEEN_OK
               ? seen_check_hashes(set, block->hash, block->lines, block->answer, error)
               : status;
}

/* Selects the lines of A that pass the filter of B and adds them to the filter of the
 * candidates. */
static seen_status check_a(void *context, sn_block *block, seen_error *error)
{
    sn_join *s = context;
    seen_status status = hash_and_check(s, s->filter, block, error);
    seen_hash hashes[BATCH];
    size_t n = 0;
    uint64_t total = 0;
    for (size_t i = 0; i < block->lines && status == SEEN_OK; i++) {
        hashes[n] = block->hash[i];
        n += block->answer[i] == SEEN_BEFORE;
        if (n == BATCH || i + 1 == block->lines) {
            status = seen_add_hashes(s->small, hashes, n, NULL, error);
            total += n;
            n = 0;
        }
    }
    atomic_fetch_add_explicit(&s->candidates, total, memory_order_relaxed);
    return status;
}

static seen_status check_b(void *context, sn_block *block, seen_error *error)
{
    sn_join *s = context;
    return hash_and_check(s, s->small, block, error);
}

static seen_status spill_hashes(void *context, sn_block *block, seen_error *error)
{
    sn_join *s = context;
    seen_status status = SEEN_OK;
    for (size_t i = 0; i < block->lines && status == SEEN_OK; i++)
        if (block->answer[i] == SEEN_BEFORE)
            status = sn_spill_add(s->spill, block->hash[i],
                                  s->spill_numbers ? block->first_line + i : 0, error);
    return status;
}

/* Reads one side and writes its hashes to *spill. */
static seen_status spill_source(sn_join *s, sn_join_source *source, bool parameters,
                                const char *what, sn_pipeline_step *prepare, double records,
                                sn_spill **spill, seen_error *error)
{
    const sn_pipeline_steps steps = {.context = s, .prepare = prepare, .decide = spill_hashes};
    seen_status status = sn_spill_open(s->options->temp_dir, (unsigned)s->plan.slices, SPILL_MEMORY,
                                       (uint64_t)(records * SN_SPILL_RECORD_BYTES), spill, error);
    if (status != SEEN_OK)
        return status;
    s->spill = *spill;
    s->spill_numbers = parameters;
    status = sn_join_pass(s, what, source, &steps, NULL, error);
    if (status == SEEN_OK)
        status = sn_spill_finish(*spill, error);
    s->result->temporary += sn_spill_bytes(*spill);
    s->spill = NULL;
    return status;
}

/* ---- Deciding a part ------------------------------------------------------------------------ */

typedef struct join {
    sn_join *s;
    sn_spill *a;
    sn_spill **b;
    seen_hash *records; /* one chunk */
    seen_answer *answers;
    unsigned part;
    unsigned pieces, piece; /* a part that was too large is decided in pieces */
    bool full;
} join;

/* The piece is selected by the last bits of hi, which do not affect positions in the table. */
static size_t only_piece(const join *j, seen_hash *records, size_t count)
{
    if (j->pieces == 1)
        return count;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        records[n] = records[i];
        n += ((records[i].hi & 0xffff) * j->pieces >> 16) == j->piece;
    }
    return n;
}

static seen_status read_chunk(join *j, sn_spill *spill, size_t chunk, size_t *count, uint64_t *base,
                              seen_error *error)
{
    seen_status status = sn_spill_read(spill, j->part, chunk, j->records, count, base, error);
    if (status == SEEN_OK)
        *count = only_piece(j, j->records, *count);
    return status;
}

static seen_status join_b(join *j, size_t number, seen_error *error)
{
    sn_join *s = j->s;
    sn_spill *spill = j->b[number];
    seen_status status = SEEN_OK;
    if (number > 0) {
        s->need = s->mark;
        s->mark = (int)(number % 2);
        sn_table_clear_mark(s->table, (unsigned)s->mark);
    }
    for (size_t i = 0; i < sn_spill_chunks(spill, j->part) && status == SEEN_OK && !j->full; i++) {
        size_t count = 0;
        uint64_t base = 0;
        status = read_chunk(j, spill, i, &count, &base, error);
        if (status != SEEN_OK)
            break;
        if (number > 0)
            sn_table_mark(s->table, (unsigned)s->mark, s->need, j->records, count);
        else
            j->full = sn_table_add(s->table, j->records, count, j->answers) < count;
    }
    return status;
}

static seen_status join_a(join *j, seen_error *error)
{
    sn_join *s = j->s;
    seen_status status = SEEN_OK;
    for (size_t i = 0; i < sn_spill_chunks(j->a, j->part) && status == SEEN_OK && !j->full; i++) {
        size_t count = 0;
        uint64_t base = 0;
        status = read_chunk(j, j->a, i, &count, &base, error);
        if (status != SEEN_OK)
            break;
        if (!sn_join_decide(s, j->records, count, j->answers)) {
            j->full = true;
            break;
        }
        for (size_t k = 0; k < count && status == SEEN_OK; k++)
            if (j->answers[k] == SEEN_BEFORE)
                status = sn_keep_set(&s->keep, base + (uint32_t)j->records[k].lo, error);
    }
    return status;
}

static seen_status join_piece(join *j, seen_error *error)
{
    sn_join *s = j->s;
    seen_status status = SEEN_OK;
    sn_table_clear(s->table);
    s->mark = -1;
    j->full = false;
    for (size_t i = 0; i < s->b_count && status == SEEN_OK && !j->full; i++)
        status = join_b(j, i, error);
    return status == SEEN_OK && !j->full ? join_a(j, error) : status;
}

/* Bits set before a piece turned out to be too large are correct and will be set again. */
static seen_status join_part(join *j, seen_error *error)
{
    seen_status status = SEEN_OK;
    j->pieces = 1;
    for (j->piece = 0; j->piece < j->pieces && status == SEEN_OK && !sn_join_stopped(j->s);) {
        status = join_piece(j, error);
        if (!j->full) {
            j->piece++;
            continue;
        }
        if (j->pieces >= 1 << 15)
            return sn_error_set(error, SEEN_ERR_MEMORY,
                                "the memory is not enough; give more "
                                "with -m");
        j->pieces *= 2;
        j->piece *= 2;
    }
    return status;
}

static seen_status open_table(sn_join *s, seen_error *error)
{
    uint64_t limit = s->plan.budget - s->keep.bytes;
    return sn_table_open(
        limit, (uint64_t)(s->plan.table_needs / SN_TABLE_ENTRY_BYTES / fmax(1, s->plan.slices)),
        &s->table, error);
}

static void tell(sn_join *s, const char *what)
{
    sn_join_progress *progress = s->options->progress;
    atomic_store(&s->pipeline.meter->bytes, 0);
    atomic_store(&s->pipeline.meter->lines, 0);
    if (!progress)
        return;
    atomic_store(&progress->total, 0);
    atomic_store(&progress->what, what);
    atomic_fetch_add(&progress->pass, 1);
}

static seen_status join_all(sn_join *s, sn_spill *a, sn_spill **b, seen_error *error)
{
    join j = {.s = s, .a = a, .b = b};
    size_t room = sn_spill_chunk_records(a);
    j.records = malloc(room * sizeof *j.records);
    j.answers = malloc(room * sizeof *j.answers);
    seen_status status = SEEN_OK;
    if (!j.records || !j.answers)
        status = sn_error_set(error, SEEN_ERR_MEMORY, "no memory to decide lines");
    if (status == SEEN_OK)
        status = open_table(s, error);
    tell(s, "deciding part by part");
    for (unsigned part = 0;
         part < (unsigned)s->plan.slices && status == SEEN_OK && !sn_join_stopped(s); part++) {
        j.part = part;
        status = join_part(&j, error);
        atomic_fetch_add(&s->pipeline.meter->lines, sn_spill_count(a, part));
    }
    free(j.records);
    free(j.answers);
    return status;
}

/* ---- The two strategies --------------------------------------------------------------------- */

static seen_status spill_both(sn_join *s, sn_spill **a, sn_spill **b, seen_error *error)
{
    seen_status status = SEEN_OK;
    for (size_t i = 0; i < s->b_count && status == SEEN_OK && !sn_join_stopped(s); i++)
        status = spill_source(s, &s->b[i], false, "reading B, spilling its hashes", hash_lines,
                              s->parameters.lines_b / (double)s->b_count, &b[i], error);
    if (status == SEEN_OK && !sn_join_stopped(s))
        status = spill_source(s, &s->a, true, "reading A, spilling its hashes", hash_lines,
                              s->parameters.lines_a, a, error);
    return status;
}

static seen_status spill_filtered(sn_join *s, sn_spill **a, sn_spill **b, seen_error *error)
{
    seen_status status = SEEN_OK;
    if (!s->filter) {
        status =
            sn_join_make_filter(s, s->parameters.lines_first, s->plan.filter, &s->filter, error);
        if (status == SEEN_OK)
            status = sn_join_fill_filter(s, &s->b[0], error);
    }
    if (status == SEEN_OK && !sn_join_stopped(s))
        status = sn_join_make_filter(s, s->plan.candidates, s->plan.small, &s->small, error);
    atomic_store(&s->candidates, 0);
    if (status == SEEN_OK && !sn_join_stopped(s))
        status = spill_source(s, &s->a, true, "reading A, spilling what may be in B", check_a,
                              s->plan.candidates, a, error);
    seen_close(s->filter);
    s->filter = NULL;
    for (size_t i = 0; i < s->b_count && status == SEEN_OK && !sn_join_stopped(s); i++)
        status = spill_source(s, &s->b[i], false, "reading B again, spilling what may be in A",
                              check_b, s->plan.survivors / (double)s->b_count, &b[i], error);
    seen_close(s->small);
    s->small = NULL;
    return status;
}

seen_status sn_join_run_spill(sn_join *s, bool filtered, seen_error *error)
{
    sn_spill *a = NULL;
    sn_spill **b = calloc(s->b_count, sizeof(sn_spill *));
    if (!b)
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for temporary files");
    seen_status status = filtered ? spill_filtered(s, &a, b, error) : spill_both(s, &a, b, error);
    if (status == SEEN_OK && !sn_join_stopped(s))
        status = sn_keep_open(&s->keep, s->a.lines, s->plan.map, s->options->temp_dir, error);
    if (status == SEEN_OK && !sn_join_stopped(s))
        status = join_all(s, a, b, error);
    sn_table_close(s->table);
    s->table = NULL;
    for (size_t i = 0; i < s->b_count; i++)
        sn_spill_close(b[i]);
    sn_spill_close(a);
    free(b);
    return status == SEEN_OK && !sn_join_stopped(s) ? sn_join_print_map(s, error) : status;
}
