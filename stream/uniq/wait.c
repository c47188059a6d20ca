/* What waits while `uniq --exact` reads: records in temporary files, cut by the bits of the hash
 * that the tables do not use. After the reading each file is decided with an empty table, several
 * at once. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "stream/uniq/exact.h"

enum { FILES_BLIND = 16 };

/* As many files as it takes for each to fit one of the tables, with a margin. */
static unsigned count_files(const sn_uniq *u, uint64_t first, uint64_t *expected)
{
    const sn_uniq_exact *way = u->way;
    *expected = 0;
    if (u->plan->lines == UINT64_MAX || u->plan->lines <= first)
        return FILES_BLIND * way->lanes;
    uint64_t rest = u->plan->lines - first;
    *expected = rest * sizeof(seen_hash);
    /* Of their memory: the tables that have room are adding meanwhile. */
    uint64_t entries =
        (uint64_t)((double)sn_lanes_bytes(way) / SN_TABLE_ENTRY_BYTES / way->lanes) + 1;
    uint64_t files = (rest + rest / 4) / entries + 1;
    return files < 2 ? 2 : files > SN_EXACT_FILES ? SN_EXACT_FILES : (unsigned)files;
}

seen_status sn_wait_begin(sn_uniq *u, uint64_t line, seen_error *error)
{
    sn_uniq_exact *way = u->way;
    uint64_t expected;
    unsigned files = count_files(u, line, &expected);
    way->waits = true;
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

seen_status sn_wait_add(sn_uniq *u, sn_block *block, size_t first, seen_error *error)
{
    sn_uniq_exact *way = u->way;
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

/* ---- Deciding ------------------------------------------------------------------------------- */

/* One thread with a lane's table. */
typedef struct worker {
    sn_uniq *u;
    sn_exact_lane *lane;
    atomic_uint *next; /* file, for all of them */
    uint64_t fresh;
    bool stopped;
    seen_status status;
    seen_error error;
} worker;

/* One batch of records with the table: sets bits of those that are new. Those for which there is
 * no room go to `again`. */
static seen_status decide_batch(worker *w, const seen_hash *hashes, size_t count, uint64_t base,
                                sn_records *again)
{
    sn_uniq_exact *way = w->u->way;
    seen_answer answers[SN_EXACT_BATCH];
    sn_lanes_add(w->lane, hashes, count, answers);
    for (size_t i = 0; i < count; i++) {
        uint64_t number = sn_records_number(base, hashes[i]);
        if (answers[i] == SEEN_UNKNOWN) {
            seen_status status = sn_records_add(again, hashes[i], number, &w->error);
            if (status != SEEN_OK)
                return status;
        } else if (answers[i] == SEEN_NEW) {
            w->fresh++;
            if (!way->singles && way->map.words)
                sn_keepmap_set(&way->map, number);
        } else if (way->singles)
            sn_table_mark(w->lane->table, SN_EXACT_REPEATED, -1, &hashes[i], 1);
    }
    return SEEN_OK;
}

/* Singles: of the records that the table holds, those without the mark. */
static void keep_unmarked(worker *w, const seen_hash *hashes, size_t count, uint64_t base)
{
    sn_uniq_exact *way = w->u->way;
    seen_answer there[SN_EXACT_BATCH], marked[SN_EXACT_BATCH];
    sn_table_check(w->lane->table, hashes, count, there);
    sn_table_check_marked(w->lane->table, SN_EXACT_REPEATED, hashes, count, marked);
    for (size_t i = 0; i < count; i++)
        if (there[i] == SEEN_BEFORE && marked[i] == SEEN_NEW)
            sn_keepmap_set(&way->map, sn_records_number(base, hashes[i]));
}

static seen_status each_batch(worker *w, sn_records *records, sn_records *again)
{
    seen_hash hashes[SN_EXACT_BATCH];
    for (uint64_t at = 0;;) {
        size_t got;
        uint64_t base;
        seen_status status =
            sn_records_read(records, at, hashes, SN_EXACT_BATCH, &got, &base, &w->error);
        if (status != SEEN_OK || !got)
            return status;
        if (again)
            status = decide_batch(w, hashes, got, base, again);
        else
            keep_unmarked(w, hashes, got, base);
        if (status != SEEN_OK)
            return status;
        at += got;
    }
}

/* One file. Where its keys do not fit the table, what is left goes round again. */
static seen_status decide_file(worker *w, sn_records *records)
{
    const sn_uniq_exact *way = w->u->way;
    while (records->count) {
        sn_records again = {0};
        sn_table_empty(w->lane->table);
        w->lane->full = false;
        seen_status status = sn_records_flush(records, &w->error);
        if (status == SEEN_OK)
            status = sn_records_open(&again, w->u->options->temp_dir, 0, &w->error);
        if (status == SEEN_OK)
            status = each_batch(w, records, &again);
        if (status == SEEN_OK && way->singles)
            status = each_batch(w, records, NULL);
        sn_records_close(records);
        *records = again;
        if (status != SEEN_OK)
            return status;
    }
    sn_records_close(records);
    return SEEN_OK;
}

static void *decide_files(void *argument)
{
    worker *w = argument;
    sn_uniq_exact *way = w->u->way;
    for (;;) {
        unsigned file = atomic_fetch_add(w->next, 1);
        if (file >= way->files)
            return NULL;
        w->stopped = sn_stop_get(w->u->options->pipeline.stop) != SN_STOP_NONE;
        if (!w->stopped)
            w->status = decide_file(w, &way->file[file]);
        if (w->stopped || w->status != SEEN_OK) {
            atomic_store(w->next, way->files); /* the others need not go on either */
            return NULL;
        }
    }
}

seen_status sn_wait_decide(sn_uniq *u, seen_error *error)
{
    sn_uniq_exact *way = u->way;
    worker workers[SN_EXACT_LANES];
    pthread_t threads[SN_EXACT_LANES];
    atomic_uint next = 0;
    unsigned others = way->lanes - 1;
    u->result->temporary += way->waiting * sizeof(seen_hash);
    for (unsigned i = 0; i < way->lanes; i++)
        workers[i] = (worker){.u = u, .lane = &way->lane[i], .next = &next};
    unsigned started = sn_pipeline_start(threads, others, decide_files, workers, sizeof *workers);
    decide_files(&workers[others]);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < way->lanes; i++) {
        u->result->distinct += workers[i].fresh;
        u->result->stopped |= workers[i].stopped;
        if (workers[i].status != SEEN_OK) {
            if (error)
                *error = workers[i].error;
            return workers[i].status;
        }
    }
    return SEEN_OK;
}
