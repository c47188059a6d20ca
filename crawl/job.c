/* The pool of transfers. */
#include "crawl/job.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_LEAD 4 /* how many more transfers a thread may have to keep a connection */

static void free_job(sn_job *job)
{
    sn_unpack_begin(&job->unpack);
    sn_links_destroy(job->links);
    sn_spool_free(&job->body);
    sn_digest_destroy(job->digest);
    free(job->url);
    free(job->parent);
    sn_hrefs_free(&job->hrefs);
    sn_follow_urls_free(&job->urls);
    free(job->sitemap);
}

bool sn_job_create_all(sn_transfers *t, struct sn_engine *engine, size_t count)
{
    t->jobs = calloc(count, sizeof *t->jobs);
    t->idle = calloc(count, sizeof(sn_job *));
    if (!t->jobs || !t->idle)
        return false;
    t->count = count;
    for (size_t i = 0; i < count; i++) {
        t->jobs[i].engine = engine;
        sn_spool_init(&t->jobs[i].body);
        t->idle[t->idle_count++] = &t->jobs[i];
    }
    return true;
}

void sn_job_free_all(sn_transfers *t)
{
    for (size_t i = 0; t->jobs && i < t->count; i++)
        free_job(&t->jobs[i]);
    free(t->jobs);
    free(t->idle);
}

sn_job *sn_job_take(sn_transfers *t)
{
    return t->idle[--t->idle_count];
}

void sn_job_release(sn_transfers *t, sn_job *job, sn_transfer *transfer)
{
    if (transfer && job->on_thread)
        sn_fetch_thread_release(t->thread, transfer);
    else if (transfer)
        sn_fetch_release(t->fetch, transfer);
    job->other = NULL;
    t->idle[t->idle_count++] = job;
}

size_t sn_job_active(const sn_transfers *t)
{
    return t->count - t->idle_count;
}

static bool copy_text(char **to, size_t *room, size_t *to_len, const char *from, size_t len)
{
    if (len + 1 > *room) {
        char *more = realloc(*to, len + 256);
        if (!more)
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

bool sn_job_set_parent(sn_job *job, const char *url, size_t len)
{
    return copy_text(&job->parent, &job->parent_room, &job->parent_len, url, len);
}

void sn_job_reset(sn_job *job)
{
    job->begun = job->html = job->packed = job->cut = false;
    job->has_base = job->base_lost = false;
    job->listed = job->found = job->dropped = job->unpacked = 0;
    job->unread = false;
    job->lost = 0;
    sn_hrefs_reset(&job->hrefs);
    sn_follow_urls_reset(&job->urls);
    sn_spool_reset(&job->body);
}

/* Chooses the thread with less work, considering that the first one has other work too. A host with
 * one request at a time stays with one thread, which keeps its connection open. Sitemaps are parsed
 * into the frontier as they arrive, on the first thread. */
static bool choose_thread(const sn_transfers *t, const sn_job *job)
{
    if (!t->thread || !sn_fetch_thread_room(t->thread) || job->kind == SN_JOB_SITEMAP)
        return false;
    size_t there = sn_fetch_thread_active(t->thread), here = sn_job_active(t) - 1 - there;
    if (job->host->active > 0)
        return there * 3 <= here * 5;
    return job->host->hash & 1 ? there <= here + KEPT_LEAD : there + KEPT_LEAD <= here;
}

seen_status sn_job_start(sn_transfers *t, sn_job *job, uint64_t limit, seen_error *error)
{
    sn_transfer *transfer;
    seen_status status = SEEN_OK;
    sn_job_reset(job);
    job->date = time(NULL);
    job->on_thread = choose_thread(t, job);
    sn_pace_begin(t->pace, job->host);
    int64_t now = sn_fetch_now();
    job->host_waits = sn_pace_start(t->pace, job->host, now);
    job->other_waits = job->other && sn_pace_start(t->pace, job->other, now);
    uint64_t pace_ms = job->host_waits ? job->host->delay : 0;
    if (job->other_waits && (pace_ms == 0 || job->other->delay < pace_ms))
        pace_ms = job->other->delay;
    sn_fetch_request request = {
        .url = job->url, .limit = limit, .user = job, .pace_ms = pace_ms, .fresh = job->what.fresh};
    if (job->on_thread)
        sn_fetch_thread_start(t->thread, &request);
    else
        status = sn_fetch_start(t->fetch, &request, &transfer, error);
    return status;
}

void sn_job_sent(sn_transfers *t, sn_job *job, int64_t at)
{
    if (job->host_waits)
        sn_pace_sent(t->pace, job->host, at);
    if (job->other_waits)
        sn_pace_sent(t->pace, job->other, at);
    job->host_waits = job->other_waits = false;
}

void sn_job_end(sn_transfers *t, sn_job *job, const sn_transfer *transfer)
{
    if (transfer->sent != 0)
        sn_job_sent(t, job, transfer->sent);
    if (job->host_waits)
        sn_pace_unsent(t->pace, job->host);
    if (job->other_waits)
        sn_pace_unsent(t->pace, job->other);
    job->host_waits = job->other_waits = false;
    sn_pace_end(t->pace, job->host);
}

int64_t sn_job_backoff(const sn_crawl_options *o, uint32_t tries, const sn_transfer *t)
{
    uint64_t most = o->max_wait_ms, wait = o->backoff_ms;
    for (; tries > 0 && wait < most; tries--)
        wait *= 2;
    if (t->wait_ms > wait)
        wait = t->wait_ms;
    return (int64_t)(wait < most ? wait : most);
}
