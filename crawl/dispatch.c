/* From the frontier to hosts, from hosts to transfers; robots.txt on the way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "crawl/engine.h"
#include "crawl/robots/robots.h"

#define KEPT_LEAD 4 /* transfers that one thread may have more for the sake of a connection */
#define TURN_MS 20  /* then transfers and the clock are looked after */
#define ROBOTS_BYTES (SN_ROBOTS_MAX + 1) /* one more shows that the last line is not whole */

/* ---- Jobs ---- */

sn_job *sn_job_take(sn_engine *e)
{
    return e->idle_jobs[--e->idle_count];
}

void sn_job_release(sn_engine *e, sn_job *job)
{
    e->idle_jobs[e->idle_count++] = job;
}

size_t sn_job_active(const sn_engine *e)
{
    return e->job_count - e->idle_count;
}

void sn_job_end(sn_engine *e, const sn_job *job, sn_transfer *transfer)
{
    if (job->aside)
        sn_aside_release(e->aside, transfer);
    else
        sn_fetch_release(e->fetch, transfer);
}

static bool copy_text(char **to, size_t *room, size_t *to_len, const char *from, size_t len)
{
    if (len + 1 > *room) {
        char *more = realloc(*to, len + 256);
        if (more == NULL)
            return false;
        *to = more;
        *room = len + 256;
    }
    if (len > 0)
        memcpy(*to, from, len);
    (*to)[len] = '\0';
    *to_len = len;
    return true;
}

bool sn_job_set_url(sn_job *job, const char *url, size_t len)
{
    return copy_text(&job->url, &job->url_room, &job->url_len, url, len);
}

/* Which thread fetches it: the one with less to do, where the first has other things to do as well.
 * A host that is asked one thing at a time stays with one of them, which keeps its connection. */
static bool goes_aside(const sn_engine *e, const sn_job *job)
{
    if (e->aside == NULL || !sn_aside_room(e->aside) || job->kind == SN_JOB_SITEMAP)
        return false;
    size_t there = sn_aside_active(e->aside), here = sn_job_active(e) - 1 - there;
    if (job->host->active > 0)
        return there * 3 <= here * 5;
    return job->host->hash & 1 ? there <= here + KEPT_LEAD : there + KEPT_LEAD <= here;
}

static seen_status start(sn_engine *e, sn_job *job, uint64_t limit)
{
    sn_transfer *transfer;
    seen_status status = SEEN_OK;
    sn_page_reset(job);
    job->date = time(NULL);
    job->aside = goes_aside(e, job);
    if (job->aside)
        sn_aside_start(e->aside, job->url, limit, job);
    else
        status = sn_fetch_start(e->fetch, job->url, limit, job, &transfer, e->error);
    if (status == SEEN_OK)
        sn_pace_begin(e->pace, job->host);
    return status;
}

/* ---- Reading the frontier ---- */

/* What the frontier knows about a host that gets its first URL. */
static void begin_host(sn_engine *e, sn_host *host)
{
    sn_frontier_host about;
    e->frontier->class->host_begin(e->frontier, host->origin, host->len, &about);
    host->pages = about.pages;
    if (about.wait_ms > 0)
        sn_pace_hold(e->pace, host, sn_fetch_now() + about.wait_ms);
}

/* Puts a URL in the queue of its host; *placed is false if too many hosts have work. */
static seen_status place(sn_engine *e, const sn_frontier_record *record, bool *placed)
{
    sn_host *host;
    *placed = false;
    size_t origin = sn_frontier_origin(record->url, record->len);
    seen_status status =
        sn_pace_host(e->pace, record->url, origin, sn_fetch_now(), &host, e->error);
    if (status == SEEN_ERR_FULL)
        return SEEN_OK;
    if (status == SEEN_OK && !host->live)
        begin_host(e, host);
    if (status == SEEN_OK)
        status = sn_pace_push(e->pace, host, record->place, e->error);
    *placed = status == SEEN_OK;
    return status;
}

/* Nothing that was taken is under way, and every link was offered. */
static bool idle(const sn_engine *e)
{
    return sn_pace_live(e->pace) == 0 && e->link_count == 0;
}

/* Takes URLs until one cannot be placed, or the turn is over. */
static seen_status refill(sn_engine *e, int64_t until)
{
    sn_frontier *f = e->frontier;
    bool placed = true;
    seen_status status = SEEN_OK;
    e->hosts_full = false;
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

/* ---- robots.txt ---- */

static seen_status fetch_robots(sn_engine *e, sn_host *host)
{
    sn_job *job = sn_job_take(e);
    char *url = host->rules_url;
    host->rules_url = NULL;
    if (url == NULL) {
        url = malloc(host->len + sizeof "/robots.txt");
        if (url == NULL)
            return sn_error_memory(e->error);
        memcpy(url, host->origin, host->len);
        memcpy(url + host->len, "/robots.txt", sizeof "/robots.txt");
        host->rules_hops = 0;
    }
    job->kind = SN_JOB_ROBOTS;
    job->host = host;
    bool ok = sn_job_set_url(job, url, strlen(url));
    free(url);
    if (!ok)
        return sn_error_memory(e->error);
    sn_pace_set_rules(e->pace, host, SN_RULES_FETCHING, NULL, 0);
    return start(e, job, ROBOTS_BYTES);
}

/* Has robots.txt asked for where it was redirected to, in its turn. That of another origin is
 * booked there as well: many hosts may send us to one. Where that one has no room among the hosts
 * the delay of our own will do. */
static seen_status redirect_robots(sn_engine *e, sn_host *host, const char *url, size_t len)
{
    sn_host *there = NULL;
    size_t origin = sn_frontier_origin(url, len);
    char *copy = malloc(len + 1);
    if (copy == NULL)
        return sn_error_memory(e->error);
    memcpy(copy, url, len);
    copy[len] = '\0';
    int64_t turn = sn_fetch_now();
    seen_status status = sn_pace_find(e->pace, url, origin, turn, &there, e->error);
    if (status != SEEN_OK && status != SEEN_ERR_FULL) {
        free(copy);
        return status;
    }
    host->rules_url = copy;
    host->rules_hops++;
    sn_pace_set_rules(e->pace, host, SN_RULES_UNKNOWN, NULL, 0);
    if (there == NULL || there == host)
        return SEEN_OK;
    if (turn < host->next)
        turn = host->next;
    if (turn < there->next)
        turn = there->next;
    sn_pace_hold(e->pace, host, turn);
    sn_pace_hold(e->pace, there, turn + (int64_t)there->delay);
    return SEEN_OK;
}

/* Sitemaps that robots.txt names, or the usual one. */
static seen_status admit_sitemaps(sn_engine *e, const sn_job *job, const sn_robots *rules)
{
    sn_admit_page page = {job->url, job->url_len};
    size_t i = 0, len = 0;
    sn_admit_begin(e);
    for (;; i++) {
        const char *href = rules == NULL ? NULL : sn_robots_sitemap(rules, i, &len);
        if (href == NULL && i == 0) {
            href = "/sitemap.xml";
            len = strlen(href);
            rules = NULL;
        }
        if (href == NULL)
            return SEEN_OK;
        size_t n = sn_admit_resolve(e, href, len, job->url, job->url_len);
        seen_status status = SEEN_OK;
        if (n > 0)
            status = sn_admit(e, &page, e->follower.text, n,
                              sn_frontier_hash(e->frontier, e->follower.text, n, SN_KIND_SITEMAP),
                              0, 0, SN_KIND_SITEMAP);
        if (status != SEEN_OK || rules == NULL)
            return status;
    }
}

static seen_status take_rules(sn_engine *e, sn_job *job, sn_robots *rules, size_t bytes)
{
    sn_host *host = job->host;
    uint64_t delay = 0;
    host->delay = e->options->delay_ms;
    if (rules != NULL && sn_robots_crawl_delay(rules, &delay)) {
        if (delay > e->options->max_delay_ms)
            delay = e->options->max_delay_ms;
        if (delay > host->delay)
            host->delay = delay;
    }
    host->rules_tries = 0;
    host->rules_until = sn_fetch_now() + (int64_t)SN_ROBOTS_CACHE_SECONDS * 1000;
    sn_pace_set_rules(e->pace, host, SN_RULES_KNOWN, rules, bytes);
    sn_pace_hold(e->pace, host, sn_fetch_now() + (int64_t)host->delay);
    return e->options->sitemaps ? admit_sitemaps(e, job, rules) : SEEN_OK;
}

static seen_status parse_rules(sn_engine *e, sn_job *job)
{
    size_t len = (size_t)sn_spool_length(&job->body);
    char *bytes = malloc(len + 1);
    if (bytes == NULL)
        return sn_error_memory(e->error);
    size_t got = 0;
    for (long n; got < len; got += (size_t)n)
        if ((n = sn_spool_read(&job->body, got, bytes + got, len - got)) <= 0)
            break;
    sn_robots *rules = sn_robots_parse(bytes, got, e->options->agent);
    free(bytes);
    if (rules == NULL)
        return sn_error_memory(e->error);
    return take_rules(e, job, rules, got + 256);
}

int64_t sn_dispatch_backoff(const sn_engine *e, uint32_t tries, const sn_transfer *t)
{
    uint64_t most = e->options->max_wait_ms, wait = e->options->backoff_ms;
    for (; tries > 0 && wait < most; tries--)
        wait *= 2;
    if (t->wait_ms > wait)
        wait = t->wait_ms;
    return (int64_t)(wait < most ? wait : most);
}

/* The rules cannot be had: asked for again a few times, then the host is denied for a while. */
static void postpone(sn_engine *e, sn_host *host, const sn_transfer *t)
{
    int64_t now = sn_fetch_now();
    bool hopeless =
        t->error == SN_FETCH_PRIVATE || t->error == SN_FETCH_TLS || t->error == SN_FETCH_CA;
    if (host->rules_tries < e->options->retries && !hopeless) {
        int64_t wait = sn_dispatch_backoff(e, host->rules_tries++, t);
        e->counts.retried++;
        sn_pace_set_rules(e->pace, host, SN_RULES_UNKNOWN, NULL, 0);
        sn_pace_hold(e->pace, host, now + wait);
        return;
    }
    int64_t wait = sn_dispatch_backoff(e, 0, t);
    host->rules_tries = 0;
    host->rules_until = now + (wait > SN_DOWN_MS ? wait : SN_DOWN_MS);
    host->deny_why =
        t->error == SN_FETCH_OK ? "robots.txt unavailable" : sn_fetch_error_text(t->error);
    sn_pace_set_rules(e->pace, host, SN_RULES_DENY, NULL, 0);
}

seen_status sn_dispatch_robots(sn_engine *e, sn_job *job, sn_transfer *t)
{
    sn_host *host = job->host;
    sn_robots_verdict verdict = sn_robots_policy(t->error == SN_FETCH_OK ? t->status : 0);
    /* Of rules that end in the middle nobody knows what the rest denies. */
    if (verdict == SN_ROBOTS_PARSE && t->cut)
        verdict = SN_ROBOTS_DISALLOW_ALL;
    size_t n = 0;
    /* Not by --drop-www and the like: what they leave out may be all that was added. */
    if (verdict == SN_ROBOTS_REDIRECTED && host->rules_hops < SN_ROBOTS_REDIRECTS &&
        t->location != NULL)
        n = sn_admit_resolve_whole(e, t->location, t->location_len, job->url, job->url_len);
    seen_status status = SEEN_OK;
    int64_t now = sn_fetch_now(), wait = sn_dispatch_backoff(e, 0, t);
    if (verdict == SN_ROBOTS_PARSE)
        status = parse_rules(e, job);
    else if (verdict == SN_ROBOTS_DISALLOW_ALL)
        postpone(e, host, t);
    else if (n > 0)
        status = redirect_robots(e, host, e->follower.text, n);
    else
        status = take_rules(e, job, NULL, 0);
    /* A server that names a time is left alone until then, whatever it allows. */
    if (verdict != SN_ROBOTS_PARSE && verdict != SN_ROBOTS_DISALLOW_ALL &&
        (t->wait_ms > 0 || t->status == 429))
        sn_pace_hold(e->pace, host, now + wait);
    sn_pace_end(e->pace, host);
    sn_job_end(e, job, t);
    sn_job_release(e, job);
    return status;
}

/* ---- Pages ---- */

seen_status sn_dispatch_done(sn_engine *e, const sn_frontier_done *done)
{
    e->done_since_sync++;
    return e->frontier->class->done(e->frontier, done, e->error);
}

/* It is not fetched: denied, over a limit, or no longer wanted. */
static seen_status skip(sn_engine *e, const sn_frontier_record *record)
{
    return sn_dispatch_done(e, &(sn_frontier_done){.record = record, .fate = SN_FATE_SKIPPED});
}

/* May this URL be fetched by the rules of its host? */
static bool allowed(const sn_host *host, const sn_frontier_record *record)
{
    return host->rules == NULL ||
           sn_robots_allowed(host->rules, record->url + host->len, record->len - host->len);
}

/* Pages that were begun count, also those that wait to be tried again. A sitemap is none. */
static bool over_host_limit(const sn_engine *e, const sn_host *host,
                            const sn_frontier_record *record)
{
    return e->options->max_host_pages > 0 && record->kind != SN_KIND_SITEMAP &&
           host->pages + host->begun >= e->options->max_host_pages;
}

/* A job for a URL of the frontier, ready to start. */
static seen_status make_job(sn_engine *e, sn_host *host, const sn_frontier_record *record,
                            uint32_t tries, sn_job **made)
{
    sn_job *job = sn_job_take(e);
    *made = job;
    job->kind = record->kind == SN_KIND_SITEMAP ? SN_JOB_SITEMAP : SN_JOB_PAGE;
    job->host = host;
    job->place = record->place;
    job->tries = tries;
    job->depth = record->depth;
    job->hops = record->hops;
    if (!sn_job_set_url(job, record->url, record->len) ||
        !copy_text(&job->parent, &job->parent_room, &job->parent_len, record->parent,
                   record->parent_len))
        return sn_error_memory(e->error);
    return SEEN_OK;
}

static seen_status start_page(sn_engine *e, sn_host *host, const sn_frontier_record *record,
                              uint32_t tries)
{
    sn_job *job;
    seen_status status = make_job(e, host, record, tries, &job);
    if (status != SEEN_OK)
        return status;
    bool sitemap = job->kind == SN_JOB_SITEMAP;
    if (tries == 0 && !sitemap)
        e->frontier->class->started(e->frontier);
    host->begun += !sitemap;
    return start(e, job, sitemap ? SN_SITEMAP_BYTES : e->options->max_body);
}

/* The host is down, or does not tell its rules: the URL fails without being asked for. */
static seen_status fail_page(sn_engine *e, sn_host *host, const sn_frontier_record *record)
{
    static const sn_transfer nothing;
    sn_job *job;
    seen_status status = make_job(e, host, record, 0, &job);
    if (status == SEEN_OK)
        status = sn_results_page(e, job, &nothing, host->deny_why, 0);
    sn_job_release(e, job);
    if (status != SEEN_OK)
        return status;
    sn_results_failed(e, record, host->deny_why);
    return sn_dispatch_done(e, &(sn_frontier_done){.record = record,
                                                   .fate = SN_FATE_FAILED,
                                                   .status = SN_NOT_ASKED,
                                                   .why = host->deny_why});
}

/* Takes one URL of a host that is ready. *spent: a request was made. */
static seen_status serve(sn_engine *e, sn_host *host, int64_t now, bool *spent)
{
    sn_place at;
    uint32_t tries;
    bool got = false;
    sn_frontier_record record;
    seen_status status = sn_pace_pop(e->pace, host, now, &at, &tries, &got, e->error);
    if (status != SEEN_OK || !got)
        return status;
    status = e->frontier->class->load(e->frontier, at, &record, e->error);
    if (status != SEEN_OK)
        return status;
    /* It is not begun again before it is asked for again. */
    host->begun -= tries > 0 && record.kind != SN_KIND_SITEMAP;
    if (e->result->resumed && !sn_admit_still(e, &record))
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
    if (tries == 0 && over_host_limit(e, host, &record)) {
        e->counts.host_limit++;
        return skip(e, &record);
    }
    *spent = true;
    return start_page(e, host, &record, tries);
}

/* Pages that were begun are also finished: those that are to be tried again still are. */
static bool may_start(sn_engine *e)
{
    sn_frontier_permit permit = e->frontier->class->permit(e->frontier);
    e->limit_reached = permit == SN_PERMIT_LIMIT;
    if (e->limit_reached)
        sn_pace_drain(e->pace);
    return permit != SN_PERMIT_WAIT;
}

/* One turn; what is left, such as many URLs that robots.txt denies, is for the next. */
seen_status sn_dispatch(sn_engine *e)
{
    int64_t until = sn_fetch_now() + TURN_MS;
    seen_status status = e->limit_reached ? SEEN_OK : refill(e, until);
    while (status == SEEN_OK && e->idle_count > 0 && may_start(e)) {
        int64_t now = sn_fetch_now();
        sn_host *host = sn_pace_take(e->pace, now);
        if (host == NULL)
            break;
        if (host->rules_state >= SN_RULES_KNOWN && now >= host->rules_until)
            sn_pace_set_rules(e->pace, host, SN_RULES_UNKNOWN, NULL, 0);
        if (host->rules_state == SN_RULES_UNKNOWN) {
            status = fetch_robots(e, host);
            continue;
        }
        bool spent = false;
        status = serve(e, host, now, &spent);
        if (!spent) {
            host->next = now;
            sn_pace_update(e->pace, host);
        }
        if (status == SEEN_OK && e->next != SN_NEXT_END)
            status = refill(e, until);
        if (sn_fetch_now() >= until)
            break;
    }
    return status;
}
