/* Hosts -> transfers. */
#include "crawl/engine.h"

#include "base/error.h"
#include "crawl/robots/robots.h"

#include <stdio.h>
#include <string.h>

#define TURN_MS 20                /* then transfers and timers are served */
#define SITEMAP_BYTES (50u << 20) /* the limit of the protocol */

/* A URL that is not fetched: denied, over a limit, or no longer in scope. */
static seen_status skip(sn_engine *e, const sn_frontier_record *record)
{
    return sn_settle_done(e, &(sn_frontier_done){.record = record, .outcome = SN_OUTCOME_SKIPPED});
}

/* Whether the rules of its host allow this URL. */
static bool allowed(const sn_host *host, const sn_frontier_record *record)
{
    return !host->rules ||
           sn_robots_allowed(host->rules, record->url + host->len, record->len - host->len);
}

/* Pages in progress and those that wait for a retry count. A sitemap is not a page. */
static bool over_host_limit(const sn_engine *e, const sn_host *host,
                            const sn_frontier_record *record)
{
    return e->options->max_host_pages > 0 && record->kind != SN_KIND_SITEMAP &&
           host->pages + host->begun >= e->options->max_host_pages;
}

/* A job for a URL of the frontier, ready to start. */
static seen_status make_job(sn_engine *e, sn_host *host, const sn_frontier_record *record,
                            sn_try what, sn_job **made)
{
    sn_job *job = sn_job_take(&e->transfers);
    *made = job;
    job->kind = record->kind == SN_KIND_SITEMAP ? SN_JOB_SITEMAP : SN_JOB_PAGE;
    job->host = host;
    job->what = what;
    job->what.place = record->place;
    job->depth = record->depth;
    job->hops = record->hops;
    if (!sn_job_set_url(job, record->url, record->len) ||
        !sn_job_set_parent(job, record->parent, record->parent_len))
        return sn_error_memory(e->error);
    return SEEN_OK;
}

static seen_status start_page(sn_engine *e, sn_host *host, const sn_frontier_record *record,
                              sn_try what)
{
    sn_job *job;
    seen_status status = make_job(e, host, record, what, &job);
    if (status != SEEN_OK)
        return status;
    bool sitemap = job->kind == SN_JOB_SITEMAP;
    if (!what.again && !sitemap)
        e->intake.frontier->class->started(e->intake.frontier);
    host->begun += !sitemap;
    return sn_job_start(&e->transfers, job, sitemap ? SITEMAP_BYTES : e->options->max_body,
                        e->error);
}

/* The host is down, or its rules are not available: the URL fails without a request. */
static seen_status fail_page(sn_engine *e, sn_host *host, const sn_frontier_record *record)
{
    static const sn_transfer nothing;
    sn_job *job;
    seen_status status = make_job(e, host, record, (sn_try){.tries = 0}, &job);
    if (status == SEEN_OK)
        status = sn_outputs_put_page(
            &e->outputs,
            &(sn_outputs_page){.job = job, .transfer = &nothing, .error = host->deny_reason},
            e->error);
    sn_job_release(&e->transfers, job, NULL);
    if (status != SEEN_OK)
        return status;
    return sn_settle_done(e, &(sn_frontier_done){.record = record,
                                                 .outcome = SN_OUTCOME_FAILED,
                                                 .status = SN_NOT_REQUESTED,
                                                 .why = host->deny_reason});
}

/* Handles one URL of a host that is ready. *spent: a request was started. */
static seen_status serve(sn_engine *e, sn_host *host, int64_t now, bool *spent)
{
    sn_try what;
    bool got = false;
    sn_frontier_record record;
    seen_status status = sn_pace_pop(e->transfers.pace, host, now, &what, &got, e->error);
    if (status != SEEN_OK || !got)
        return status;
    status = e->intake.frontier->class->load(e->intake.frontier, what.place, &record, e->error);
    if (status != SEEN_OK)
        return status;
    /* It is counted again when its next request starts. */
    host->begun -= what.again && record.kind != SN_KIND_SITEMAP;
    if (e->result->resumed && !sn_admit_still(&e->intake, &record))
        return skip(e, &record);
    if (host->rules_state == SN_RULES_DENY)
        return fail_page(e, host, &record);
    if (!allowed(host, &record)) {
        e->counts.robots++;
        if (e->result->denied_url[0] == '\0')
            snprintf(e->result->denied_url, sizeof e->result->denied_url, "%.*s", (int)record.len,
                     record.url);
        return skip(e, &record);
    }
    if (!what.again && over_host_limit(e, host, &record)) {
        e->counts.host_limit++;
        return skip(e, &record);
    }
    *spent = true;
    return start_page(e, host, &record, what);
}

/* At the limit, pages that were started are finished, including their retries. */
static bool may_start(sn_engine *e)
{
    sn_frontier_permit permit = e->intake.frontier->class->permit(e->intake.frontier);
    e->limit_reached = permit == SN_PERMIT_LIMIT;
    e->no_permit = permit == SN_PERMIT_WAIT;
    if (e->limit_reached)
        sn_pace_drain(e->transfers.pace);
    return permit != SN_PERMIT_WAIT;
}

/* Takes at most TURN_MS: robots.txt may deny many URLs in a row. */
seen_status sn_dispatch_run(sn_engine *e)
{
    int64_t until = sn_fetch_now() + TURN_MS;
    seen_status status = e->limit_reached ? SEEN_OK : sn_hosts_refill(e, until);
    while (status == SEEN_OK && e->transfers.idle_count > 0 && may_start(e)) {
        int64_t now = sn_fetch_now();
        sn_host *host = sn_pace_take(e->transfers.pace, now);
        if (!host)
            break;
        if (host->rules_state >= SN_RULES_KNOWN && now >= host->rules_until)
            sn_pace_set_rules(e->transfers.pace, host, SN_RULES_UNKNOWN, NULL, 0);
        if (host->rules_state == SN_RULES_UNKNOWN) {
            status = sn_host_rules_fetch(e, host);
            continue;
        }
        bool spent = false;
        status = serve(e, host, now, &spent);
        if (!spent) {
            host->next = now;
            sn_pace_update(e->transfers.pace, host);
            sn_hosts_check_quiet(e, host);
        }
        if (status == SEEN_OK && e->next != SN_NEXT_END)
            status = sn_hosts_refill(e, until);
        if (sn_fetch_now() >= until)
            break;
    }
    return status;
}
