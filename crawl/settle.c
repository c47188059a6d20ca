/* Writes the outputs, then settles the frontier. */
#include "crawl/engine.h"

#include "crawl/frontier/folder.h"

#include <stdio.h>

seen_status sn_settle_run(sn_engine *e, bool sync)
{
    sn_frontier *f = e->intake.frontier;
    sn_frontier_progress progress = {.counts = &e->counts,
                                     .transfers = sn_job_active(&e->transfers)};
    seen_status status = sn_admit_commit(&e->intake);
    if (status == SEEN_OK)
        status =
            sn_outputs_flush(&e->outputs, sync && (e->folder >= 0 || e->options->join), e->error);
    if (status != SEEN_OK)
        return status;
    for (int i = 0; i < SN_OUT_COUNT; i++) {
        const sn_sink *sink = e->outputs.sink[i];
        progress.out_length[i] = sink ? sn_sink_length(sink) : 0;
        progress.out_path[i] = sn_folder_path_hash(sn_outputs_path(e->options, i));
    }
    if (sync)
        e->done_since_sync = 0;
    return f->class->settle(f, &progress, sync, e->error);
}

/* The first page that failed, for the summary. */
static void remember_failure(sn_crawl_result *result, const sn_frontier_done *done)
{
    if (result->failed_reason)
        return;
    snprintf(result->failed_url, sizeof result->failed_url, "%.*s", (int)done->record->len,
             done->record->url);
    result->failed_reason = done->why;
}

seen_status sn_settle_done(sn_engine *e, const sn_frontier_done *done)
{
    sn_frontier *f = e->intake.frontier;
    e->done_since_sync++;
    if (done->outcome == SN_OUTCOME_FAILED) {
        e->counts.failed++;
        remember_failure(e->result, done);
    }
    return f->class->done(f, done, e->error);
}

void sn_settle_measure(sn_engine *e)
{
    sn_frontier *f = e->intake.frontier;
    f->class->get_info(f, true, &e->info);
    e->counts.lost += (double)(e->counts.found - e->found_at_info) * e->info.error_rate;
    e->found_at_info = e->counts.found;
}
