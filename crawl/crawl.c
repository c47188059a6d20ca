/* The loop of a crawl. */
#include "crawl/crawl.h"

#include "base/error.h"
#include "crawl/engine.h"

#include <stdlib.h>

#define TICK_MS 250
#define COMMIT_MS 100
#define COMMIT_URLS (SN_BATCH_URLS / 2)
#define DONE_MAX 200000 /* pages between two checkpoints, regardless of time */
#define INFO_MS 5000
#define INFO_BYTES (64u << 20) /* a larger set is measured only at checkpoints */

static bool finished(const sn_engine *e)
{
    return sn_job_active(&e->transfers) == 0 &&
           (e->stopping || (e->limit_reached && sn_pace_retries(e->transfers.pace) == 0) ||
            (sn_pace_live(e->transfers.pace) == 0 && e->intake.count == 0 &&
             e->next == SN_NEXT_END));
}

/* Links wait for a full batch, because each offer costs a sync, but not while transfers are idle.
 */
static seen_status commit_when_due(sn_engine *e, int64_t now)
{
    if (e->intake.count == 0)
        return SEEN_OK;
    bool starving = e->transfers.idle_count > 0 && sn_pace_wait(e->transfers.pace, now) < 0;
    if (e->intake.count < COMMIT_URLS && !starving && now - e->intake.oldest < COMMIT_MS)
        return SEEN_OK;
    return sn_admit_commit(&e->intake);
}

static void fill_status(sn_engine *e, sn_crawl_status *status)
{
    e->intake.frontier->class->get_info(e->intake.frontier, false, &e->info);
    *status = (sn_crawl_status){.counts = e->counts,
                                .run_pages = e->run_pages,
                                .queued = e->info.waiting,
                                .active = sn_job_active(&e->transfers),
                                .hosts = sn_pace_hosts(e->transfers.pace),
                                .seconds = (double)(sn_fetch_now() - e->began) / 1000,
                                .fill = e->info.fill,
                                .error_rate = e->info.error_rate,
                                .known = e->counts.found,
                                .set_bytes = e->info.set_bytes,
                                .stopping = e->stopping,
                                .waits = e->info.waits};
}

static seen_status settle_when_due(sn_engine *e, int64_t now)
{
    const sn_frontier *f = e->intake.frontier;
    bool many = f->settle_pages > 0 && e->done_since_sync >= f->settle_pages &&
                now - e->settled >= f->settle_ms / 2;
    bool sync = now - e->synced >= f->sync_ms || e->done_since_sync >= DONE_MAX || many;
    if (!sync && now - e->settled < f->settle_ms)
        return SEEN_OK;
    if (sync)
        sn_settle_measure(e);
    seen_status status = sn_settle_run(e, sync);
    e->settled = sn_fetch_now();
    if (sync)
        e->synced = e->settled;
    return status;
}

/* Periodic work: progress, checkpoints. */
static seen_status tick(sn_engine *e, int64_t now, sn_crawl_progress *progress, void *user)
{
    seen_status status = SEEN_OK;
    if (now - e->shown >= TICK_MS) {
        e->shown = now;
        status = sn_outputs_flush(&e->outputs, false, e->error);
        if (now - e->looked >= INFO_MS && e->info.set_bytes <= INFO_BYTES) {
            e->looked = now;
            sn_settle_measure(e);
        }
        if (progress) {
            sn_crawl_status about;
            fill_status(e, &about);
            progress(user, &about);
        }
    }
    return status == SEEN_OK ? settle_when_due(e, now) : status;
}

static int64_t time_to_wait(const sn_engine *e, int64_t now)
{
    int64_t wait = TICK_MS;
    bool unread = !e->stopping && !e->limit_reached && e->next == SN_NEXT_URL && !e->hosts_full;
    if (unread || (e->transfers.thread && sn_fetch_thread_ready(e->transfers.thread)))
        return 0;
    if (e->intake.count > 0)
        wait = COMMIT_MS;
    if (!e->stopping && !e->no_permit && e->transfers.idle_count > 0) {
        int64_t pace = sn_pace_wait(e->transfers.pace, now);
        if (pace >= 0 && pace < wait)
            wait = pace;
    }
    return wait;
}

static seen_status wait(sn_engine *e, int64_t now)
{
    bool any = false;
    seen_status status = sn_fetch_poll(e->transfers.fetch, &any, e->error);
    if (status == SEEN_OK && !any)
        status = sn_fetch_wait(e->transfers.fetch, time_to_wait(e, now), e->error);
    return status == SEEN_OK ? e->failed : status;
}

/* Takes the reports of both threads: requests sent, transfers finished. */
static seen_status collect(sn_engine *e)
{
    seen_status status = SEEN_OK;
    sn_transfer *t;
    while ((t = sn_fetch_sent(e->transfers.fetch)) != NULL)
        sn_job_sent(&e->transfers, t->user, t->sent);
    while (status == SEEN_OK && (t = sn_fetch_finished(e->transfers.fetch)) != NULL)
        status = sn_page_arrived(e, t);
    while (status == SEEN_OK && e->transfers.thread) {
        bool sent;
        status = sn_fetch_thread_take(e->transfers.thread, &t, &sent, e->error);
        if (status != SEEN_OK || !t)
            break;
        if (sent)
            sn_job_sent(&e->transfers, t->user, t->sent);
        else
            status = sn_page_arrived(e, t);
    }
    return status;
}

static seen_status loop(sn_engine *e, const atomic_int *stop, sn_crawl_progress *progress,
                        void *user)
{
    seen_status status = SEEN_OK;
    while (status == SEEN_OK) {
        int64_t now = sn_fetch_now();
        if (stop && atomic_load_explicit(stop, memory_order_relaxed) != 0)
            e->stopping = true;
        status = sn_hosts_poll(e);
        if (status == SEEN_OK)
            status = commit_when_due(e, now);
        if (status == SEEN_OK && !e->stopping)
            status = sn_dispatch_run(e);
        if (status != SEEN_OK || finished(e))
            break;
        status = wait(e, now);
        if (status == SEEN_OK)
            status = collect(e);
        if (status == SEEN_OK)
            status = tick(e, sn_fetch_now(), progress, user);
    }
    return status;
}

static void fill_result(sn_engine *e, sn_crawl_result *result)
{
    if (!e->transfers.fetch || !e->intake.frontier)
        return;
    fill_status(e, &result->status);
    result->start_seen += e->info.start_seen;
    result->end = e->stopping ? SN_CRAWL_STOPPED : SN_CRAWL_DONE;
    if (!e->stopping && e->limit_reached && result->status.queued > 0)
        result->end = SN_CRAWL_LIMIT;
}

seen_status sn_crawl_run(const sn_crawl_options *options, const atomic_int *stop,
                         sn_crawl_progress *progress, void *user, sn_crawl_result *result,
                         seen_error *error)
{
    *result = (sn_crawl_result){0};
    sn_engine *e = calloc(1, sizeof *e);
    if (!e)
        return sn_error_memory(error);
    e->options = options;
    e->result = result;
    e->error = error;
    e->folder = e->lock = -1;
    e->began = sn_fetch_now();
    seen_status status = sn_crawl_open(e);
    if (status == SEEN_OK) {
        e->settled = e->synced = sn_fetch_now();
        status = loop(e, stop, progress, user);
    }
    if (status == SEEN_OK) {
        sn_settle_measure(e);
        status = sn_settle_run(e, true);
    }
    fill_result(e, result);
    /* The reader of the output closed the pipe: the crawl ends without an error. */
    if (status == SEEN_ERR_IO && sn_outputs_closed(&e->outputs)) {
        result->end = SN_CRAWL_STOPPED;
        status = SEEN_OK;
    }
    result->session_lost = status != SEEN_OK && sn_shared_lost(e);
    sn_crawl_close(e);
    return status;
}
