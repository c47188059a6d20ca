/* crawl/page.c: what arrives, and what an answer means. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "crawl/engine.h"
#include "crawl/fail.h"

/* ---- While it arrives ---- */

void sn_page_reset(sn_job *job)
{
    job->begun = job->html = job->has_base = job->inflating = false;
    job->urls = job->dropped = 0;
    job->unread = false;
    job->transfer = NULL;
    sn_hrefs_reset(&job->hrefs);
    job->inflated = 0;
    sn_spool_reset(&job->body);
}

/* Keeps what was written in a link; it can be resolved when the page's <base> is known. */
static void on_link(void *user, const sn_link *link)
{
    sn_job *job = user;
    const sn_engine *e = job->engine;
    bool kept = link->len <= 3 * e->options->max_url;
    if (kept && link->kind == SN_LINK_BASE) {
        kept = sn_hrefs_put(&job->hrefs, link->href, link->len, &job->base_at);
        job->base_len = (uint32_t)link->len;
        job->has_base = kept;
    } else if (kept) {
        bool nofollow = (link->rel & SN_REL_NOFOLLOW) != 0;
        kept = sn_hrefs_add(&job->hrefs, &e->hasher, link->href, link->len, nofollow,
                            (size_t)e->options->max_links) != SN_HREFS_FULL;
    }
    job->dropped += !kept;
}

/* The end of the text is found like the others; behind a comma stands what a proxy added. */
static bool type_is(const char *type, const char *name)
{
    size_t len = strlen(name);
    return strncasecmp(type, name, len) == 0 && strchr("; \t,", type[len]) != NULL;
}

/* Is it a page? Without a type, by its first byte that is not a space. */
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
    if (e->failed != SEEN_OK || (index && job->hops >= SN_MAX_HOPS))
        return;
    size_t n = sn_admit_resolve(e, url, len, job->url, job->url_len);
    job->urls++;
    if (n > 0)
        e->failed =
            sn_admit(e, &page, e->scratch, n, sn_known_hash(e->known, e->scratch, n),
                     index ? job->depth : (uint16_t)(job->depth + 1),
                     index ? (uint8_t)(job->hops + 1) : 0, index ? SN_KIND_SITEMAP : SN_KIND_PAGE);
}

/* A sitemap that is a gzip file, of one part or several; false: enough, or broken. */
static bool inflate_sitemap(sn_job *job, const char *bytes, size_t len)
{
    z_stream *z = job->inflate;
    char out[16384];
    uint8_t in[16384];
    while (len > 0) {
        size_t n = len < sizeof in ? len : sizeof in;
        memcpy(in, bytes, n);
        bytes += n;
        len -= n;
        z->next_in = in;
        z->avail_in = (uInt)n;
        do {
            z->next_out = (uint8_t *)out;
            z->avail_out = sizeof out;
            int result = inflate(z, Z_NO_FLUSH);
            size_t made = sizeof out - z->avail_out;
            job->inflated += made;
            if (job->inflated > SN_SITEMAP_BYTES)
                return false;
            sn_sitemap_feed(job->sitemap, out, made);
            job->inflating = result != Z_STREAM_END;
            if (result == Z_STREAM_END)
                result = inflateReset(z);
            /* All that was made may just have filled the buffer: then nothing was left to do. */
            if (result != Z_OK && !(result == Z_BUF_ERROR && z->avail_in == 0))
                return false;
        } while ((job->inflating && z->avail_out == 0) || z->avail_in > 0);
    }
    return true;
}

static bool begin_sitemap(sn_job *job, const char *bytes, size_t len)
{
    if (job->sitemap == NULL && (job->sitemap = malloc(sizeof *job->sitemap)) == NULL)
        return false;
    sn_admit_begin(job->engine);
    sn_sitemap_begin(job->sitemap, on_sitemap, job);
    job->html = false;
    if (len >= 2 && (uint8_t)bytes[0] == 0x1f && (uint8_t)bytes[1] == 0x8b) {
        z_stream *z = job->inflate != NULL ? job->inflate : calloc(1, sizeof *z);
        if (z == NULL)
            return false;
        int ok = job->inflate != NULL ? inflateReset(z) : inflateInit2(z, 15 + 16);
        job->inflate = z;
        job->html = true; /* of a sitemap: it is compressed */
        return ok == Z_OK;
    }
    return true;
}

static bool begin_body(sn_job *job, const sn_transfer *t, const char *bytes, size_t len)
{
    job->begun = true;
    bool good = t->status >= 200 && t->status < 300;
    if (job->kind == SN_JOB_SITEMAP)
        return !good || begin_sitemap(job, bytes, len);
    if (job->kind != SN_JOB_PAGE || !good || !is_html(t->type, bytes, len))
        return true;
    job->html = true;
    if (job->links == NULL)
        job->links = sn_links_create(&(sn_links_options){
            .sink = on_link, .user = job, .robots_name = job->engine->options->agent});
    else
        sn_links_reset(job->links);
    return job->links != NULL;
}

void sn_page_read(void *user, const char *bytes, size_t len)
{
    sn_job *job = user;
    if (!sn_links_feed(job->links, bytes, len))
        job->unread = true;
}

bool sn_page_body(sn_transfer *t, const char *bytes, size_t len)
{
    sn_job *job = t->user;
    sn_engine *e = job->engine;
    if (!job->begun && !begin_body(job, t, bytes, len))
        return false;
    if (job->kind == SN_JOB_ROBOTS || e->warc != NULL)
        if (!sn_spool_put(&job->body, bytes, len)) {
            e->failed = sn_crawl_fail_in(e->error, -1, "keep a page in", "a temporary file");
            return false;
        }
    if (job->kind == SN_JOB_PAGE && job->html) {
        if (e->aside != NULL)
            sn_aside_put(e->aside, job, bytes, len);
        else
            sn_page_read(job, bytes, len);
        return true;
    }
    if (job->kind == SN_JOB_SITEMAP && t->status / 100 == 2) {
        /* Two sitemaps may arrive in turns, and each page's links stand together in a batch. */
        sn_admit_begin(e);
        if (job->html)
            return inflate_sitemap(job, bytes, len) && e->failed == SEEN_OK;
        sn_sitemap_feed(job->sitemap, bytes, len);
        return e->failed == SEEN_OK;
    }
    return true;
}

/* ---- When it is there ---- */

/* Empties the table of what was met on this page, with room for so many. */
static bool clear_met(sn_engine *e, size_t count)
{
    size_t slots = 256;
    while (slots < count * 2)
        slots *= 2;
    if (slots > e->met_mask + 1 || e->met == NULL) {
        free(e->met);
        e->met = malloc(slots * sizeof *e->met);
        if (e->met == NULL) {
            e->met_mask = 0;
            return false;
        }
    }
    e->met_mask = slots - 1;
    memset(e->met, 0, slots * sizeof *e->met);
    return true;
}

static bool met_before(sn_engine *e, uint64_t hash)
{
    hash |= 1; /* 0 is an empty slot */
    size_t at = (size_t)(hash >> 8) & e->met_mask;
    for (; e->met[at] != 0; at = (at + 1) & e->met_mask)
        if (e->met[at] == hash)
            return true;
    e->met[at] = hash;
    return false;
}

/* What the links are relative to: the page's URL, or what its <base> says. */
static seen_status find_base(sn_engine *e, sn_job *job, char **base, size_t *len)
{
    *base = NULL;
    if (!job->has_base)
        return SEEN_OK;
    size_t n =
        sn_admit_resolve(e, job->hrefs.bytes + job->base_at, job->base_len, job->url, job->url_len);
    if (n == 0)
        return SEEN_OK;
    *base = malloc(n);
    if (*base == NULL)
        return sn_crawl_fail_memory(e->error);
    memcpy(*base, e->scratch, n);
    *len = n;
    return SEEN_OK;
}

static seen_status follow(sn_engine *e, sn_job *job, uint64_t *links)
{
    const sn_links_page *about = sn_links_end(job->links);
    bool nofollow = about->nofollow && !e->options->follow_nofollow;
    sn_admit_page page = {job->url, job->url_len};
    uint16_t depth = job->depth == UINT16_MAX ? UINT16_MAX : (uint16_t)(job->depth + 1);
    char *own_base;
    size_t base_len = job->url_len;
    seen_status status = find_base(e, job, &own_base, &base_len);
    if (status == SEEN_OK && !clear_met(e, job->hrefs.len))
        status = sn_crawl_fail_memory(e->error);
    const char *base = own_base != NULL ? own_base : job->url;
    sn_admit_begin(e);
    for (size_t i = 0; status == SEEN_OK && i < job->hrefs.len; i++) {
        const sn_href *href = &job->hrefs.list[i];
        size_t n = sn_admit_resolve(e, job->hrefs.bytes + href->at, href->len, base, base_len);
        if (n == 0)
            continue;
        seen_hash hash = sn_known_hash(e->known, e->scratch, n);
        /* An empty link, or only a fragment, is the page itself. */
        if (n == job->url_len && memcmp(e->scratch, job->url, n) == 0)
            continue;
        if (!met_before(e, hash.lo)) {
            ++*links;
            if (e->out[SN_OUT_EDGES] != NULL)
                sn_results_edge(e, job->url, job->url_len, e->scratch, n);
        }
        if (nofollow || (href->nofollow && !e->options->follow_nofollow))
            continue;
        status = sn_admit(e, &page, e->scratch, n, hash, depth, 0, SN_KIND_PAGE);
    }
    free(own_base);
    return status;
}

/* By --drop-www, --drop-slash and the like the page redirects to itself. */
static bool is_itself(sn_engine *e, const sn_job *job, const sn_transfer *t)
{
    if (e->url_options.flags == 0 && e->url_options.drop_count == 0)
        return false;
    size_t n = sn_admit_resolve(e, t->location, t->location_len, job->url, job->url_len);
    seen_hash to = sn_known_hash(e->known, e->scratch, n);
    n = sn_admit_resolve(e, job->url, job->url_len, NULL, 0);
    seen_hash from = sn_known_hash(e->known, e->scratch, n);
    return from.lo == to.lo && from.hi == to.hi;
}

/* The server insists on what those options leave out: the page is fetched there. */
static seen_status insisted(sn_engine *e, sn_job *job, const sn_transfer *t)
{
    sn_admit_page page = {job->url, job->url_len};
    size_t n = sn_admit_resolve_whole(e, t->location, t->location_len, job->url, job->url_len);
    if (n == 0 || n > e->options->max_url)
        return SEEN_OK;
    if (e->out[SN_OUT_EDGES] != NULL)
        sn_results_edge(e, job->url, job->url_len, e->scratch, n);
    return sn_admit_there(e, &page, e->scratch, n, job->depth, (uint8_t)(job->hops + 1),
                          job->kind == SN_JOB_SITEMAP ? SN_KIND_SITEMAP : SN_KIND_PAGE);
}

static seen_status redirected(sn_engine *e, sn_job *job, const sn_transfer *t)
{
    sn_admit_page page = {job->url, job->url_len};
    e->counts.redirects++;
    bool itself = is_itself(e, job, t);
    size_t n = sn_admit_resolve(e, t->location, t->location_len, job->url, job->url_len);
    if (n == 0)
        return SEEN_OK;
    if (job->hops >= SN_MAX_HOPS) {
        e->counts.dropped++;
        return SEEN_OK;
    }
    if (itself)
        return insisted(e, job, t);
    if (e->out[SN_OUT_EDGES] != NULL)
        sn_results_edge(e, job->url, job->url_len, e->scratch, n);
    /* Where a start URL leads to is where the user wanted to go. */
    if (job->depth == 0 && job->kind == SN_JOB_PAGE) {
        seen_status status = sn_crawl_add_seed(e, e->scratch, n);
        if (status != SEEN_OK)
            return status;
    }
    sn_admit_begin(e);
    return sn_admit(e, &page, e->scratch, n, sn_known_hash(e->known, e->scratch, n), job->depth,
                    (uint8_t)(job->hops + 1),
                    job->kind == SN_JOB_SITEMAP ? SN_KIND_SITEMAP : SN_KIND_PAGE);
}

static bool passes(const sn_transfer *t)
{
    if (t->error != SN_FETCH_OK)
        return sn_fetch_error_passes(t->error);
    return t->status == 408 || t->status == 429 || t->status >= 500;
}

/* Tries it again later; false: it is given up. */
static bool retry(sn_engine *e, sn_job *job, const sn_transfer *t)
{
    if (!passes(t))
        return false;
    int64_t due = sn_fetch_now() + sn_dispatch_backoff(e, job->tries, t);
    bool again = job->tries < e->options->retries && !e->stopping &&
                 sn_pace_retry(e->pace, job->host, job->place, job->tries + 1, due);
    e->counts.retried += again;
    /* A server that names a time is left alone as a whole, also by other pages; so is one that is
     * not there at all, until it is found to be down. */
    if (t->wait_ms > 0 || t->status == 429 || (again && t->error == SN_FETCH_CONNECT))
        sn_pace_hold(e->pace, job->host, due);
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
    host->deny_why = "host down";
    host->rules_until = sn_fetch_now() + SN_DOWN_MS;
    sn_pace_set_rules(e->pace, host, SN_RULES_DENY, NULL, 0);
}

static seen_status give_up(sn_engine *e, sn_job *job, const sn_transfer *t)
{
    const char *why = t->error != SN_FETCH_OK ? sn_fetch_error_text(t->error) : "server error";
    sn_frontier_record record = {.url = job->url,
                                 .len = job->url_len,
                                 .parent = job->parent,
                                 .parent_len = job->parent_len,
                                 .depth = job->depth,
                                 .hops = job->hops,
                                 .kind =
                                     job->kind == SN_JOB_SITEMAP ? SN_KIND_SITEMAP : SN_KIND_PAGE};
    seen_status status = sn_results_page(e, job, t, why, 0);
    return status != SEEN_OK ? status : sn_results_failed(e, &record, t->status, why);
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
        sn_admit_begin(e);
        sn_sitemap_end(job->sitemap);
        links = job->urls;
        status = e->failed;
    } else if (t->status >= 300 && t->status < 400 && t->location != NULL) {
        status = redirected(e, job, t);
    } else if (job->kind == SN_JOB_PAGE && job->html) {
        status = follow(e, job, &links);
    }
    e->counts.links += links;
    return status != SEEN_OK ? status : sn_results_page(e, job, t, NULL, links);
}

static seen_status finish(sn_engine *e, sn_job *job, sn_transfer *t)
{
    seen_status status = SEEN_OK;
    sn_host *host = job->host;
    e->counts.dropped += job->dropped;
    t->truncated = t->truncated || job->unread || job->inflating;
    if (t->error == SN_FETCH_PRIVATE)
        sn_results_refused(e, host, t);
    if (job->kind == SN_JOB_ROBOTS)
        return sn_dispatch_robots(e, job, t);
    bool again = retry(e, job, t);
    if (!again) {
        count_failures(e, host, t);
        if (e->stopping && passes(t) && job->tries < e->options->retries)
            again = true; /* not done: the next run tries it again */
        else
            status =
                t->error != SN_FETCH_OK || passes(t) ? give_up(e, job, t) : answered(e, job, t);
    }
    if (status == SEEN_OK && !again) {
        if (e->tally != NULL && t->error == SN_FETCH_OK && !sn_tally_add(e->tally, host->hash, 1))
            status = sn_crawl_fail_memory(e->error);
        e->completed += job->kind == SN_JOB_PAGE;
        if (status == SEEN_OK)
            status = sn_dispatch_done(e, job->place);
    }
    if (job->transfer == NULL)
        sn_pace_end(e->pace, host);
    else
        sn_pace_read(e->pace, host);
    sn_fetch_release(e->fetch, t);
    sn_job_release(e, job);
    return status;
}

seen_status sn_page_arrived(sn_engine *e, sn_transfer *t)
{
    sn_job *job = t->user;
    if (e->aside == NULL || job->kind != SN_JOB_PAGE || !job->html)
        return finish(e, job, t);
    job->transfer = t;
    e->reading++;
    sn_pace_arrive(e->pace, job->host);
    sn_aside_end(e->aside, job);
    return SEEN_OK;
}

seen_status sn_page_collect(sn_engine *e)
{
    seen_status status = SEEN_OK;
    for (sn_job *job;
         status == SEEN_OK && e->reading > 0 && (job = sn_aside_take(e->aside)) != NULL;) {
        e->reading--;
        status = finish(e, job, job->transfer);
    }
    return status;
}
