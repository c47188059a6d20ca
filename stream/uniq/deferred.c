/* Deferred keys in temporary files. */
#include "stream/uniq/deferred.h"

#include "stream/exact/table.h"
#include "stream/pipeline/pipeline.h"

#include <pthread.h>
#include <stdatomic.h>

enum { FILES_BLIND = 16 };

/* The number of files, chosen so that each fits into one table, with a margin. */
static unsigned count_files(uint64_t rest, uint64_t entries, unsigned lanes)
{
    if (rest == UINT64_MAX)
        return FILES_BLIND * lanes;
    uint64_t files = (rest + rest / 4) / (entries + 1) + 1;
    return files < 2 ? 2 : files > SN_DEFERRED_FILES ? SN_DEFERRED_FILES : (unsigned)files;
}

seen_status sn_deferred_open(sn_deferred *wait, uint64_t rest, uint64_t entries, unsigned lanes,
                             const char *dir, seen_error *error)
{
    unsigned files = count_files(rest, entries, lanes);
    uint64_t expected = rest == UINT64_MAX ? 0 : rest * sizeof(seen_hash);
    seen_status status = SEEN_OK;
    wait->dir = dir;
    while (wait->files < files && status == SEEN_OK) {
        status = sn_records_open(&wait->file[wait->files], dir, expected, error);
        wait->files += status == SEEN_OK;
    }
    return status;
}

void sn_deferred_close(sn_deferred *wait)
{
    for (unsigned i = 0; i < wait->files; i++)
        sn_records_close(&wait->file[i]);
    wait->files = 0;
}

seen_status sn_deferred_add(sn_deferred *wait, seen_hash hash, uint64_t number, seen_error *error)
{
    uint64_t file = (uint64_t)sn_table_unused(hash) * wait->files >> 32;
    wait->count++;
    return sn_records_add(&wait->file[file], hash, number, error);
}

seen_status sn_deferred_each(sn_records *records, sn_deferred_batch *batch, void *context,
                             seen_error *error)
{
    seen_hash hashes[SN_DEFERRED_BATCH];
    for (uint64_t at = 0;;) {
        size_t got;
        uint64_t base;
        seen_status status =
            sn_records_read(records, at, hashes, SN_DEFERRED_BATCH, &got, &base, error);
        if (status == SEEN_OK && got)
            status = batch(context, hashes, got, base, error);
        if (status != SEEN_OK || !got)
            return status;
        at += got;
    }
}

/* ---- Deciding ------------------------------------------------------------------------------- */

typedef struct worker {
    sn_deferred *wait;
    unsigned lane;
    atomic_uint *next; /* next file, shared by all workers */
    sn_deferred_step *step;
    void *context;
    sn_stop *stop;
    bool stopped;
    seen_status status;
    seen_error error;
} worker;

/* Decides one file. Keys that do not fit into the table are processed in another round. */
static seen_status decide_file(worker *w, sn_records *records)
{
    while (records->count) {
        sn_records again = {0};
        seen_status status = sn_records_flush(records, &w->error);
        if (status == SEEN_OK)
            status = sn_records_open(&again, w->wait->dir, 0, &w->error);
        if (status == SEEN_OK)
            status = w->step(w->context, w->lane, records, &again, &w->error);
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
    for (;;) {
        unsigned file = atomic_fetch_add(w->next, 1);
        if (file >= w->wait->files)
            return NULL;
        w->stopped = sn_stop_get(w->stop) != SN_STOP_NONE;
        if (!w->stopped)
            w->status = decide_file(w, &w->wait->file[file]);
        if (w->stopped || w->status != SEEN_OK) {
            atomic_store(w->next, w->wait->files); /* the other workers can stop too */
            return NULL;
        }
    }
}

seen_status sn_deferred_decide(sn_deferred *wait, unsigned lanes, sn_deferred_step *step,
                               void *context, sn_stop *stop, bool *stopped, seen_error *error)
{
    worker workers[SN_DEFERRED_LANES];
    pthread_t threads[SN_DEFERRED_LANES];
    atomic_uint next = 0;
    unsigned others = lanes - 1;
    for (unsigned i = 0; i < lanes; i++)
        workers[i] = (worker){
            .wait = wait, .lane = i, .next = &next, .step = step, .context = context, .stop = stop};
    unsigned started = sn_pipeline_start(threads, others, decide_files, workers, sizeof *workers);
    decide_files(&workers[others]);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < lanes; i++) {
        *stopped |= workers[i].stopped;
        if (workers[i].status != SEEN_OK) {
            if (error)
                *error = workers[i].error;
            return workers[i].status;
        }
    }
    return SEEN_OK;
}
