/* The robots.txt of a host: requested before its first page, kept for a day. */
#include "crawl/engine.h"

#include "base/error.h"
#include "crawl/robots/robots.h"

#include <stdlib.h>
#include <string.h>

#define ROBOTS_BYTES (SN_ROBOTS_MAX + 1) /* one more shows that the last line is incomplete */

/* Takes a request slot at `there`, the host that robots.txt of `host` was redirected to. */
static void take_turn(sn_engine *e, sn_host *host, sn_host *there, int64_t now)
{
    /* Its delay has not begun if its last request is still to be sent. */
    int64_t turn = there->unsent > 0 ? now + (int64_t)there->delay : now;
    if (turn < host->next)
        turn = host->next;
    if (turn < there->next)
        turn = there->next;
    sn_pace_reserve(e->transfers.pace, host, turn);
    sn_pace_reserve(e->transfers.pace, there, turn + (int64_t)there->delay);
}

/* The other host that gets the request, or NULL. *later: its slot was missed, and another one was
 * taken. */
static seen_status find_other(sn_engine *e, sn_host *host, sn_host **other, bool *later)
{
    const char *url = host->rules_url;
    size_t origin = sn_frontier_origin(url, strlen(url));
    int64_t now = sn_fetch_now();
    seen_status status = sn_pace_find(e->transfers.pace, url, origin, now, other, e->error);
    if (status == SEEN_ERR_FULL || *other == host)
        *other = NULL;
    *later = *other && !sn_pace_ready(*other, now);
    if (*later)
        take_turn(e, host, *other, now);
    return status == SEEN_ERR_FULL ? SEEN_OK : status;
}

void sn_host_rules_hold(sn_engine *e, sn_host *host, int64_t until)
{
    sn_frontier *f = e->intake.frontier;
    sn_pace_hold(e->transfers.pace, host, until);
    if (f->class->host_hold)
        f->class->host_hold(f, host->origin, host->len, until - sn_fetch_now());
}

seen_status sn_host_rules_fetch(sn_engine *e, sn_host *host)
{
    bool later = false;
    sn_host *other = NULL;
    seen_status status = host->rules_url ? find_other(e, host, &other, &later) : SEEN_OK;
    if (status != SEEN_OK || later)
        return status;
    sn_job *job = sn_job_take(&e->transfers);
    char *url = host->rules_url;
    host->rules_url = NULL;
    if (!url) {
        url = malloc(host->len + sizeof "/robots.txt");
        if (!url)
            return sn_error_memory(e->error);
        memcpy(url, host->origin, host->len);
        memcpy(url + host->len, "/robots.txt", sizeof "/robots.txt");
        host->rules_hops = 0;
    }
    job->kind = SN_JOB_ROBOTS;
    job->host = host;
    job->other = other;
    job->what = (sn_try){.tries = 0};
    bool ok = sn_job_set_url(job, url, strlen(url));
    free(url);
    if (!ok)
        return sn_error_memory(e->error);
    sn_pace_set_rules(e->transfers.pace, host, SN_RULES_FETCHING, NULL, 0);
    return sn_job_start(&e->transfers, job, ROBOTS_BYTES, e->error);
}

/* Requests robots.txt where it was redirected to, after the delay. A request to another origin
 * counts there as well: many hosts may redirect to one. If there is no room for that one among the
 * hosts, only the delay of our own host counts. */
static seen_status redirect_robots(sn_engine *e, sn_host *host, const char *url, size_t len)
{
    sn_host *there = NULL;
    size_t origin = sn_frontier_origin(url, len);
    char *copy = malloc(len + 1);
    if (!copy)
        return sn_error_memory(e->error);
    memcpy(copy, url, len);
    copy[len] = '\0';
    int64_t now = sn_fetch_now();
    seen_status status = sn_pace_find(e->transfers.pace, url, origin, now, &there, e->error);
    if (status != SEEN_OK && status != SEEN_ERR_FULL) {
        free(copy);
        return status;
    }
    host->rules_url = copy;
    host->rules_hops++;
    sn_pace_set_rules(e->transfers.pace, host, SN_RULES_UNKNOWN, NULL, 0);
    if (there && there != host)
        take_turn(e, host, there, now);
    return SEEN_OK;
}

/* Sitemaps declared in robots.txt, or the default location. */
static seen_status admit_sitemaps(sn_engine *e, const sn_job *job, const sn_robots *rules)
{
    sn_admit_page page = {job->url, job->url_len};
    size_t i = 0, len = 0;
    sn_admit_begin(&e->intake);
    for (;; i++) {
        const char *href = rules ? sn_robots_sitemap(rules, i, &len) : NULL;
        if (!href && i == 0) {
            href = "/sitemap.xml";
            len = strlen(href);
            rules = NULL;
        }
        if (!href)
            return SEEN_OK;
        size_t n = sn_admit_resolve(&e->intake, href, len, job->url, job->url_len);
        seen_status status = SEEN_OK;
        if (n > 0)
            status =
                sn_admit_url(&e->intake, &page, e->intake.resolver.text, n, 0, 0, SN_KIND_SITEMAP);
        if (status != SEEN_OK || !rules)
            return status;
    }
}

static void set_delay(const sn_engine *e, sn_host *host, const sn_robots *rules)
{
    uint64_t delay = 0;
    host->delay = e->options->delay_ms;
    if (rules && sn_robots_crawl_delay(rules, &delay)) {
        if (delay > e->options->max_delay_ms)
            delay = e->options->max_delay_ms;
        if (delay > host->delay)
            host->delay = delay;
    }
}

/* Other processes that send requests to this host only need the rules for us. */
static seen_status publish(const sn_engine *e, const sn_host *host, const sn_robots *rules)
{
    sn_frontier *f = e->intake.frontier;
    char *text = NULL;
    size_t len = 0;
    if (!f->class->host_rules)
        return SEEN_OK;
    if (rules && !(text = sn_robots_text(rules, &len)))
        return sn_error_memory(e->error);
    f->class->host_rules(f, host->origin, host->len, text ? text : "", len,
                         (int64_t)SN_ROBOTS_CACHE_SECONDS * 1000);
    free(text);
    return SEEN_OK;
}

static seen_status take_rules(sn_engine *e, sn_job *job, sn_robots *rules, size_t bytes)
{
    sn_host *host = job->host;
    sn_frontier *f = e->intake.frontier;
    set_delay(e, host, rules);
    seen_status status = publish(e, host, rules);
    if (status == SEEN_OK && f->class->host_delay && host->delay > e->options->delay_ms)
        status = f->class->host_delay(f, host->origin, host->len, host->delay, e->error);
    host->rules_tries = 0;
    host->rules_until = sn_fetch_now() + (int64_t)SN_ROBOTS_CACHE_SECONDS * 1000;
    sn_pace_set_rules(e->transfers.pace, host, SN_RULES_KNOWN, rules, bytes);
    sn_pace_hold(e->transfers.pace, host, sn_fetch_now() + (int64_t)host->delay);
    return status == SEEN_OK && e->options->sitemaps ? admit_sitemaps(e, job, rules) : status;
}

seen_status sn_host_rules_use(sn_engine *e, sn_host *host, const char *text, size_t len,
                              int64_t for_ms)
{
    sn_robots *rules = NULL;
    if (len > 0 && !(rules = sn_robots_parse(text, len, e->options->agent)))
        return sn_error_memory(e->error);
    set_delay(e, host, rules);
    host->rules_until = sn_fetch_now() + for_ms;
    sn_pace_set_rules(e->transfers.pace, host, SN_RULES_KNOWN, rules, len + 256);
    return SEEN_OK;
}

static seen_status parse_rules(sn_engine *e, sn_job *job)
{
    size_t len = (size_t)sn_spool_length(&job->body);
    char *bytes = malloc(len + 1);
    if (!bytes)
        return sn_error_memory(e->error);
    size_t got = 0;
    for (long n; got < len; got += (size_t)n)
        if ((n = sn_spool_read(&job->body, got, bytes + got, len - got)) <= 0)
            break;
    sn_robots *rules = sn_robots_parse(bytes, got, e->options->agent);
    free(bytes);
    if (!rules)
        return sn_error_memory(e->error);
    return take_rules(e, job, rules, got + 256);
}

/* Retry-After is for the host that answered, not for the one whose rules were requested. */
static void hold_answerer(sn_engine *e, const sn_job *job, const sn_transfer *t, int64_t until)
{
    if (t->wait_ms > 0 || t->status == 429)
        sn_host_rules_hold(e, job->other ? job->other : job->host, until);
}

/* The rules are not available: they are requested a few more times, then the host is denied for a
 * while. */
static void postpone(sn_engine *e, const sn_job *job, const sn_transfer *t)
{
    sn_host *host = job->host;
    int64_t now = sn_fetch_now();
    bool hopeless =
        t->error == SN_FETCH_PRIVATE || t->error == SN_FETCH_TLS || t->error == SN_FETCH_CA;
    bool doubtful = e->reach.doubtful;
    if (doubtful || (host->rules_tries < e->options->retries && !hopeless)) {
        int64_t wait = sn_job_backoff(e->options, host->rules_tries, t);
        host->rules_tries += !doubtful;
        e->counts.retried++;
        sn_pace_set_rules(e->transfers.pace, host, SN_RULES_UNKNOWN, NULL, 0);
        sn_pace_hold(e->transfers.pace, host, now + wait);
        hold_answerer(e, job, t, now + wait);
        return;
    }
    int64_t wait = sn_job_backoff(e->options, 0, t);
    if (job->other) /* the host itself gets no request while it is denied */
        hold_answerer(e, job, t, now + wait);
    host->rules_tries = 0;
    host->rules_until = now + (wait > SN_DOWN_MS ? wait : SN_DOWN_MS);
    host->deny_reason =
        t->error == SN_FETCH_OK ? "robots.txt unavailable" : sn_fetch_error_text(t->error);
    sn_pace_set_rules(e->transfers.pace, host, SN_RULES_DENY, NULL, 0);
}

seen_status sn_host_rules_arrived(sn_engine *e, sn_job *job, sn_transfer *t)
{
    sn_host *host = job->host;
    sn_robots_verdict verdict = sn_robots_policy(t->error == SN_FETCH_OK ? t->status : 0);
    /* The rest of truncated rules is unknown, and could deny anything. */
    if (verdict == SN_ROBOTS_PARSE && t->cut)
        verdict = SN_ROBOTS_DISALLOW_ALL;
    size_t n = 0;
    /* Without --drop-www etc., which may remove exactly what the redirect added. */
    if (verdict == SN_ROBOTS_REDIRECTED && host->rules_hops < SN_ROBOTS_REDIRECTS && t->location)
        n = sn_admit_resolve_whole(&e->intake, t->location, t->location_len, job->url,
                                   job->url_len);
    seen_status status = SEEN_OK;
    int64_t now = sn_fetch_now(), wait = sn_job_backoff(e->options, 0, t);
    if (verdict == SN_ROBOTS_PARSE)
        status = parse_rules(e, job);
    else if (verdict == SN_ROBOTS_DISALLOW_ALL)
        postpone(e, job, t);
    else if (n > 0)
        status = redirect_robots(e, host, e->intake.resolver.text, n);
    else
        status = take_rules(e, job, NULL, 0);
    /* Whatever the rules allow. */
    if (verdict != SN_ROBOTS_PARSE && verdict != SN_ROBOTS_DISALLOW_ALL)
        hold_answerer(e, job, t, now + wait);
    sn_job_end(&e->transfers, job, t);
    sn_job_release(&e->transfers, job, t);
    return status;
}
