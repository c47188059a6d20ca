/* Handles bodies as they arrive, and complete responses. */
#include "crawl/engine.h"

#include "base/error.h"
#include "crawl/html/header_link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_HOPS 10               /* consecutive redirects */
#define SITEMAP_BYTES (50u << 20) /* the limit of the protocol */

/* ---- While the body arrives ---- */

/* Stores a link unresolved; it can be resolved when the page's <base> is known. */
static void on_link(void *user, const sn_html_link *link)
{
    sn_job *job = user;
    const sn_engine *e = job->engine;
    bool kept = link->len <= 3 * e->options->max_url;
    if (link->kind == SN_LINK_BASE) {
        kept = kept && sn_hrefs_put(&job->hrefs, link->href, link->len, &job->base_at);
        job->base_len = (uint32_t)link->len;
        job->has_base = kept;
        job->base_lost = !kept;
    } else if (kept) {
        bool nofollow = (link->rel & SN_REL_NOFOLLOW) != 0;
        kept = sn_hrefs_add(&job->hrefs, &e->hasher, link->href, link->len, nofollow,
                            (size_t)e->options->max_links) != SN_HREFS_FULL;
    }
    job->dropped += !kept;
}

/* The end of the text is handled like a separator; after a comma follows what a proxy added. */
static bool type_is(const char *type, const char *name)
{
    size_t len = strlen(name);
    return strncasecmp(type, name, len) == 0 && strchr("; \t,", type[len]);
}

/* Whether it is a page. Without a type, decided by the first byte that is not a space. */
static bool is_html(const char *type, const char *bytes, size_t len)
{
    if (type[0] != '\0')
        return type_is(type, "text/html") || type_is(type, "application/xhtml+xml");
    size_t at = 0;
    while (at < len && (bytes[at] == ' ' || (bytes[at] >= '\t' && bytes[at] <= '\r')))
        at++;
    return at < len && bytes[at] == '<';
}

static void on_sitemap(void *user, sn_sitemap_kind kind, const char *url, size_t len)
{
    sn_job *job = user;
    sn_engine *e = job->engine;
    sn_admit_page page = {job->url, job->url_len};
    bool index = kind == SN_SITEMAP_INDEX;
    if (e->failed != SEEN_OK || (index && job->hops >= MAX_HOPS))
        return;
    uint8_t lists = index ? SN_KIND_SITEMAP : SN_KIND_PAGE;
    size_t n = sn_admit_resolve(&e->intake, url, len, job->url, job->url_len);
    job->listed++;
    if (n > 0)
        e->failed = sn_admit_url(&e->intake, &page, e->intake.resolver.text, n,
                                 index ? job->depth : (uint16_t)(job->depth + 1),
                                 index ? (uint8_t)(job->hops + 1) : 0, lists);
}

/* An sn_unpack_sink: a piece of a gzipped sitemap. */
static bool on_unpacked(void *user, const char *bytes, size_t len)
{
    sn_job *job = user;
    job->unpacked += len;
    if (job->unpacked > SITEMAP_BYTES)
        return false;
    sn_sitemap_feed(job->sitemap, bytes, len);
    return true;
}

static bool begin_sitemap(sn_job *job, const char *bytes, size_t len)
{
    if (!job->sitemap && !(job->sitemap = malloc(sizeof *job->sitemap)))
        return false;
    sn_admit_begin(&job->engine->intake);
    sn_sitemap_begin(job->sitemap, on_sitemap, job);
    job->packed = len >= 2 && (uint8_t)bytes[0] == 0x1f && (uint8_t)bytes[1] == 0x8b;
    if (!job->packed)
        return true;
    sn_unpack_begin(&job->unpack);
    return sn_unpack_header(&job->unpack, "gzip", 4);
}

/* False: stop, or an error. */
static bool feed_sitemap(sn_job *job, const char *bytes, size_t len)
{
    /* Two sitemaps may arrive interleaved, and the links of one page must be adjacent in a
     * batch. */
    sn_admit_begin(&job->engine->intake);
    if (!job->packed) {
        sn_sitemap_feed(job->sitemap, bytes, len);
        return true;
    }
    bool ok = sn_unpack_feed(&job->unpack, bytes, len, on_unpacked, job) == SN_UNPACK_OK;
    job->cut = !sn_unpack_end(&job->unpack);
    return ok;
}

static bool begin_links(sn_job *job, const sn_transfer *t)
{
    job->html = true;
    if (!job->links)
        job->links = sn_links_create(
            &(sn_links_options){.sink = on_link, .user = job, .robots_name = job->engine->bot});
    else
        sn_links_reset(job->links);
    if (job->links)
        sn_links_declare(job->links, t->type);
    return job->links != NULL;
}

/* The response to a sitemap request may be a page, or redirect to one. It counts as fetched, so its
 * links are read as well; decided by its type alone, since a sitemap begins like a page. */
static bool begin_body(sn_job *job, const sn_transfer *t, const char *bytes, size_t len)
{
    job->begun = true;
    if (!job->digest && !(job->digest = sn_digest_create()))
        return false;
    sn_digest_begin(job->digest);
    if (t->status < 200 || t->status >= 300 || job->kind == SN_JOB_ROBOTS)
        return true;
    bool sitemap = job->kind == SN_JOB_SITEMAP;
    if (sitemap && !begin_sitemap(job, bytes, len))
        return false;
    if (job->packed || (sitemap && t->type[0] == '\0') || !is_html(t->type, bytes, len))
        return true;
    return begin_links(job, t);
}

/* Runs on the thread of the transfer: only for a sitemap, which is fetched by the first thread,
 * does it modify more than the job. */
bool sn_page_body(sn_transfer *t, const char *bytes, size_t len)
{
    sn_job *job = t->user;
    sn_engine *e = job->engine;
    if (!job->begun && !begin_body(job, t, bytes, len)) {
        job->lost = ENOMEM;
        return false;
    }
    if (job->kind == SN_JOB_ROBOTS || e->outputs.warc)
        if (!sn_spool_put(&job->body, bytes, len)) {
            job->lost = errno;
            return false;
        }
    if (job->digest)
        sn_digest_add(job->digest, bytes, len);
    if (job->html && !sn_links_feed(job->links, bytes, len))
        job->unread = true;
    if (job->kind == SN_JOB_SITEMAP && t->status / 100 == 2)
        return feed_sitemap(job, bytes, len) && e->failed == SEEN_OK;
    return true;
}

static sn_follower *follower_of(const sn_job *job)
{
    return job->on_thread ? &job->engine->thread_follower : &job->engine->follower;
}

/* Resolved now, since a <base> does not apply to it. */
static void on_header_link(void *user, const char *href, size_t len, bool nofollow)
{
    sn_job *job = user;
    sn_follower *f = follower_of(job);
    size_t n = len > 3 * job->engine->options->max_url
                   ? 0
                   : sn_resolve_link(&f->resolver, &job->engine->intake.url_options, href, len,
                                     job->url, job->url_len);
    if (n > 0)
        on_link(job, &(sn_html_link){.kind = SN_LINK_NEXT,
                                     .rel = nofollow ? SN_REL_NOFOLLOW : 0,
                                     .href = f->resolver.text,
                                     .len = n});
}

void sn_page_link(sn_transfer *t, bool refresh, const char *value, size_t len)
{
    sn_job *job = t->user;
    if (job->kind != SN_JOB_PAGE)
        return;
    if (!refresh)
        sn_header_link(value, len, on_header_link, job);
    else if (sn_links_refresh(value, len, &value, &len))
        on_header_link(job, value, len, false);
}

/* Whether the links found are followed. Links before a broken connection are as good as those
 * before a limit; damaged data may contain wrong ones. */
static bool readable(const sn_job *job, const sn_transfer *t)
{
    return (job->html || job->hrefs.len > 0) &&
           (t->error == SN_FETCH_OK || sn_fetch_error_passes(t->error));
}

void sn_page_over(sn_transfer *t)
{
    sn_job *job = t->user;
    if (job->html && job->links && sn_links_end(job->links)->base_lost)
        job->base_lost = true;
    if (readable(job, t) && !sn_follow_read(job, follower_of(job)))
        job->lost = ENOMEM;
}

/* ---- Complete responses ---- */

/* With --drop-www, --drop-slash etc. the page redirects to itself. */
static bool is_itself(sn_engine *e, const sn_job *job, const sn_transfer *t)
{
    if (e->intake.url_options.flags == 0 && e->intake.url_options.drop_count == 0)
        return false;
    size_t n = sn_admit_resolve(&e->intake, t->location, t->location_len, job->url, job->url_len);
    seen_hash to = sn_frontier_hash(e->intake.frontier, e->intake.resolver.text, n, SN_KIND_PAGE);
    n = sn_admit_resolve(&e->intake, job->url, job->url_len, NULL, 0);
    seen_hash from = sn_frontier_hash(e->intake.frontier, e->intake.resolver.text, n, SN_KIND_PAGE);
    return from.lo == to.lo && from.hi == to.hi;
}

/* The server redirects to a URL with the part that those options drop: the page is fetched
 * there. */
static seen_status insisted(sn_engine *e, sn_job *job, const sn_transfer *t)
{
    sn_admit_page page = {job->url, job->url_len};
    size_t n =
        sn_admit_resolve_whole(&e->intake, t->location, t->location_len, job->url, job->url_len);
    if (n == 0 || n > e->options->max_url)
        return SEEN_OK;
    sn_outputs_put_edge(&e->outputs, job->url, job->url_len, e->intake.resolver.text, n);
    return sn_admit_any(&e->intake, &page, e->intake.resolver.text, n, job->depth,
                        (uint8_t)(job->hops + 1),
                        job->kind == SN_JOB_SITEMAP ? SN_KIND_SITEMAP : SN_KIND_PAGE, 0);
}

static bool is_redirect(const sn_transfer *t)
{
    return t->status >= 300 && t->status < 400 && t->location;
}

/* A sitemap's redirect to a URL that ends with a slash: admitted if it was not seen as a page. */
static seen_status redirected_sitemap(sn_engine *e, const sn_job *job, size_t n)
{
    sn_admit_page page = {job->url, job->url_len};
    if (!sn_admit_in_scope(&e->intake, e->intake.resolver.text, n))
        return SEEN_OK;
    return sn_admit_any(&e->intake, &page, e->intake.resolver.text, n, job->depth,
                        (uint8_t)(job->hops + 1), SN_KIND_SITEMAP, SN_OFFER_UNLESS_PAGE);
}

static seen_status redirected(sn_engine *e, sn_job *job, const sn_transfer *t)
{
    sn_admit_page page = {job->url, job->url_len};
    e->counts.redirects++;
    bool itself = is_itself(e, job, t);
    size_t n = sn_admit_resolve(&e->intake, t->location, t->location_len, job->url, job->url_len);
    if (n == 0)
        return SEEN_OK;
    if (job->hops >= MAX_HOPS) {
        e->counts.dropped++;
        return SEEN_OK;
    }
    if (itself)
        return insisted(e, job, t);
    sn_outputs_put_edge(&e->outputs, job->url, job->url_len, e->intake.resolver.text, n);
    /* The redirect target of a start URL is what the user wanted. */
    if (job->depth == 0 && job->kind == SN_JOB_PAGE) {
        seen_status status = sn_seeds_add(e, e->intake.resolver.text, n);
        if (status != SEEN_OK)
            return status;
    }
    uint8_t kind = job->kind == SN_JOB_SITEMAP ? SN_KIND_SITEMAP : SN_KIND_PAGE;
    /* Some sites redirect every missing page to their home page: that is not a sitemap, and not
     * fetched again. */
    if (kind == SN_KIND_SITEMAP && e->intake.resolver.text[n - 1] == '/')
        return redirected_sitemap(e, job, n);
    sn_admit_begin(&e->intake);
    return sn_admit_url(&e->intake, &page, e->intake.resolver.text, n, job->depth,
                        (uint8_t)(job->hops + 1), kind);
}

static seen_status put_page(sn_engine *e, const sn_job *job, const sn_transfer *t,
                            const char *error, uint64_t links)
{
    sn_outputs_page page = {.job = job, .transfer = t, .error = error, .links = links};
    return sn_outputs_put_page(&e->outputs, &page, e->error);
}

static bool passes(const sn_transfer *t)
{
    if (t->error != SN_FETCH_OK)
        return sn_fetch_error_passes(t->error);
    return t->status == 408 || t->status == 429 || t->status >= 500;
}

/* Schedules a retry; false: the page has failed. */
static bool retry(sn_engine *e, sn_job *job, const sn_transfer *t)
{
    bool doubtful = e->reach.doubtful;
    if (!passes(t) && !doubtful)
        return false;
    /* LATE: it was not sent; another process may own the host by now. STALE: the server closed a
     * connection that it had kept open. Neither counts as a try. */
    sn_try what = {job->what.place, job->what.tries, true, t->error == SN_FETCH_STALE};
    if (t->error == SN_FETCH_LATE || t->error == SN_FETCH_STALE)
        return sn_pace_retry(e->transfers.pace, job->host, what, sn_fetch_now());
    int64_t due = sn_fetch_now() + sn_job_backoff(e->options, what.tries, t);
    what.tries += !doubtful;
    bool again = (doubtful || job->what.tries < e->options->retries) && !e->stopping &&
                 sn_pace_retry(e->transfers.pace, job->host, what, due);
    e->counts.retried += again;
    /* A Retry-After holds for the whole host. A host that does not answer gets no other request
     * either, until it is found to be down. */
    if (t->wait_ms > 0 || t->status == 429)
        sn_host_rules_hold(e, job->host, due);
    else if (again && (t->error == SN_FETCH_CONNECT || doubtful))
        sn_pace_hold(e->transfers.pace, job->host, due);
    return again;
}

static void count_failures(sn_engine *e, sn_host *host, const sn_transfer *t)
{
    bool down = t->error == SN_FETCH_CONNECT || t->error == SN_FETCH_DNS;
    if (!down) {
        host->failures = 0;
        return;
    }
    if (++host->failures < SN_DOWN_AFTER)
        return;
    host->failures = 0;
    host->deny_reason = "host down";
    host->rules_until = sn_fetch_now() + SN_DOWN_MS;
    sn_pace_set_rules(e->transfers.pace, host, SN_RULES_DENY, NULL, 0);
}

static seen_status follow(sn_engine *e, sn_job *job, const sn_transfer *t)
{
    e->counts.links += job->found;
    bool nofollow = t->nofollow || (job->html && sn_links_end(job->links)->nofollow);
    return sn_follow_admit(e, job, nofollow);
}

/* The links that did arrive are followed: pages that only they lead to would be lost until the
 * retry, and forever if the page always breaks off. */
static seen_status give_up(sn_engine *e, sn_job *job, const sn_transfer *t, const char *why)
{
    seen_status status = readable(job, t) ? follow(e, job, t) : SEEN_OK;
    return status == SEEN_OK ? put_page(e, job, t, why, job->found) : status;
}

static seen_status answered(sn_engine *e, sn_job *job, const sn_transfer *t)
{
    seen_status status = SEEN_OK;
    uint64_t links = 0;
    bool ok = t->status >= 200 && t->status < 300;
    e->counts.pages++;
    e->run_pages++;
    e->counts.ok += ok;
    e->counts.bytes += t->bytes;
    e->counts.truncated += t->truncated;
    if (job->kind == SN_JOB_SITEMAP && ok && job->begun) {
        sn_admit_begin(&e->intake);
        sn_sitemap_end(job->sitemap);
        links = job->listed;
        e->counts.links += links;
        status = e->failed;
    } else if (is_redirect(t)) {
        status = redirected(e, job, t);
    }
    if (status == SEEN_OK && !is_redirect(t) && readable(job, t)) {
        links += job->found;
        status = follow(e, job, t);
    }
    return status != SEEN_OK ? status : put_page(e, job, t, NULL, links);
}

/* The page needs no further request. `why` NULL: it got a response. */
static seen_status finish(sn_engine *e, sn_job *job, const sn_transfer *t, const char *why)
{
    bool page = job->kind == SN_JOB_PAGE;
    sn_frontier_record record = {.url = job->url,
                                 .len = job->url_len,
                                 .parent = job->parent,
                                 .parent_len = job->parent_len,
                                 .depth = job->depth,
                                 .hops = job->hops,
                                 .kind = page ? SN_KIND_PAGE : SN_KIND_SITEMAP,
                                 .place = job->what.place};
    sn_frontier_done done = {.record = &record,
                             .outcome = why ? SN_OUTCOME_FAILED : SN_OUTCOME_FETCHED,
                             .counts = page,
                             .status = t->status,
                             .ms = (uint64_t)t->ms,
                             .bytes = t->bytes,
                             .why = why};
    job->host->begun -= page;
    job->host->pages += page;
    return sn_settle_done(e, &done);
}

/* NULL: the response is not a failure. */
static const char *failure(const sn_transfer *t)
{
    if (t->error != SN_FETCH_OK)
        return sn_fetch_error_text(t->error);
    return passes(t) ? "server error" : NULL;
}

/* A page or a sitemap: to be retried, failed or answered. */
static seen_status judge(sn_engine *e, sn_job *job, const sn_transfer *t)
{
    if (retry(e, job, t))
        return SEEN_OK;
    count_failures(e, job->host, t);
    if (e->stopping && passes(t) && job->what.tries < e->options->retries)
        return SEEN_OK; /* not done: the next run retries it */
    const char *why = failure(t);
    seen_status status = why ? give_up(e, job, t, why) : answered(e, job, t);
    return status == SEEN_OK ? finish(e, job, t, why) : status;
}

/* The first host whose address is not public, for the summary. */
static void remember_refused(sn_crawl_result *result, const sn_host *host, const sn_transfer *t)
{
    if (result->refused_host[0] != '\0')
        return;
    snprintf(result->refused_host, sizeof result->refused_host, "%s", host->origin);
    snprintf(result->refused_address, sizeof result->refused_address, "%s", t->address);
}

seen_status sn_page_arrived(sn_engine *e, sn_transfer *t)
{
    sn_job *job = t->user;
    sn_host *host = job->host;
    if (job->lost == ENOMEM)
        return sn_error_memory(e->error);
    if (job->lost != 0) {
        errno = job->lost;
        return sn_error_cannot_in(e->error, errno, -1, "keep a page in", "a temporary file");
    }
    e->counts.dropped += job->dropped;
    t->truncated = t->truncated || job->unread || job->cut;
    /* The target is in the headers: nothing is missing without the body. */
    if (is_redirect(t) && sn_fetch_error_passes(t->error)) {
        t->error = SN_FETCH_OK;
        t->truncated = t->cut = true;
    }
    if (t->error == SN_FETCH_PRIVATE)
        remember_refused(e->result, host, t);
    seen_status status = sn_reach_note(e, host, t);
    if (status != SEEN_OK)
        return status;
    if (job->kind == SN_JOB_ROBOTS)
        return sn_host_rules_arrived(e, job, t);
    status = judge(e, job, t);
    sn_job_end(&e->transfers, job, t);
    sn_hosts_check_quiet(e, host);
    sn_job_release(&e->transfers, job, t);
    return status;
}
