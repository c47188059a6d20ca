/* Hosts and the frontier. */
#include "crawl/engine.h"

#include "base/error.h"

/* Gets the state of a host that gets its first URL from the frontier. A process that was killed
 * before this one resumed its crawl may have sent the host a request just now. */
static seen_status begin_host(sn_engine *e, sn_host *host)
{
    sn_frontier *f = e->intake.frontier;
    sn_frontier_host about;
    f->class->host_begin(f, host->origin, host->len, &about);
    host->pages = about.pages;
    uint64_t most = e->options->max_delay_ms;
    uint64_t earlier = about.delay_ms < most ? about.delay_ms : most;
    uint64_t delay = earlier > host->delay ? earlier : host->delay;
    if (e->result->resumed)
        sn_pace_hold(e->transfers.pace, host, e->began + (int64_t)delay);
    if (about.wait_ms > 0)
        sn_pace_hold(e->transfers.pace, host, sn_fetch_now() + about.wait_ms);
    return about.rules ? sn_host_rules_use(e, host, about.rules, about.rules_len, about.rules_ms)
                       : SEEN_OK;
}

/* Puts a URL in the queue of its host; *placed is false if too many hosts have work. */
static seen_status place(sn_engine *e, const sn_frontier_record *record, bool *placed)
{
    sn_host *host;
    sn_frontier_place at = record->place;
    *placed = false;
    size_t origin = sn_frontier_origin(record->url, record->len);
    seen_status status =
        sn_pace_host(e->transfers.pace, record->url, origin, sn_fetch_now(), &host, e->error);
    if (status == SEEN_ERR_FULL)
        return SEEN_OK;
    if (status == SEEN_OK && !host->live)
        status = begin_host(e, host);
    if (status == SEEN_OK)
        status = sn_pace_push(e->transfers.pace, host, at, e->error);
    *placed = status == SEEN_OK;
    return status;
}

/* Nothing that was taken is in progress, and every link was offered. */
static bool idle(const sn_engine *e)
{
    return sn_pace_live(e->transfers.pace) == 0 && e->intake.count == 0;
}

seen_status sn_hosts_refill(sn_engine *e, int64_t until)
{
    sn_frontier *f = e->intake.frontier;
    bool placed = true;
    seen_status status = SEEN_OK;
    e->hosts_full = false;
    if (e->intake.offered)
        e->next = SN_NEXT_URL; /* there may be one */
    e->intake.offered = false;
    while (status == SEEN_OK && placed && e->next != SN_NEXT_END) {
        sn_frontier_record record;
        status = f->class->peek(f, idle(e), &record, &e->next, e->error);
        if (status != SEEN_OK || e->next != SN_NEXT_URL)
            break;
        status = place(e, &record, &placed);
        if (placed)
            f->class->take(f);
        e->hosts_full = !placed;
        if (sn_fetch_now() >= until)
            break;
    }
    return status;
}

/* An sn_pace_dropped. */
static void report_quiet(void *user, const sn_host *host)
{
    sn_frontier *f = user;
    int64_t wait = host->next - sn_fetch_now();
    f->class->host_quiet(f, host->origin, host->len, wait < 0 ? 0 : wait, host->failures);
}

void sn_hosts_check_quiet(sn_engine *e, sn_host *host)
{
    if (e->intake.frontier->class->host_quiet && !host->live)
        report_quiet(e->intake.frontier, host);
}

seen_status sn_hosts_poll(sn_engine *e)
{
    sn_frontier *f = e->intake.frontier;
    seen_status status = SEEN_OK;
    if (!f->class->poll)
        return SEEN_OK;
    for (sn_frontier_updates updates = {.seed = ""}; status == SEEN_OK && updates.seed;) {
        updates = (sn_frontier_updates){0};
        status = f->class->poll(f, &updates, e->error);
        if (status != SEEN_OK)
            break;
        e->stopping = e->stopping || updates.stop;
        if (updates.forget_links)
            sn_link_cache_clear(e->intake.link_cache);
        if (updates.give_back > 0)
            sn_pace_drop_hosts(e->transfers.pace, updates.give_back, report_quiet, f);
        if (updates.seed)
            status = sn_seeds_join(e, updates.seed, updates.seed_len);
    }
    /* END was based on the state of the frontier at that time. */
    if (status == SEEN_OK && f->wake_fd >= 0)
        e->next = SN_NEXT_URL;
    return status;
}
