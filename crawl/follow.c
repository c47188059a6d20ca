/* The links of a page, from what was written to URLs that are taken in. */
#include "crawl/follow.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "crawl/engine.h"
#include "crawl/relative.h"

#define AHEAD 8 /* links whose places in memory are asked for before they are needed */

void sn_follower_free(sn_follower *f)
{
    free(f->text);
    free(f->met);
    *f = (sn_follower){0};
}

/* ---- One link ---- */

/* Takes name and password out of a canonical URL. Pages are fetched without: a stranger's link is
 * no reason to log in, and a host would be as many hosts as there are names before it, each with a
 * pace of its own. */
static size_t drop_credentials(char *url, size_t len)
{
    char *host = memchr(url, ':', len);
    char *end = host == NULL ? NULL : memchr(host + 3, '/', len - (size_t)(host + 3 - url));
    char *at = end == NULL ? NULL : memrchr(host + 3, '@', (size_t)(end - host - 3));
    if (at == NULL)
        return len;
    size_t gone = (size_t)(at + 1 - (host + 3));
    memmove(host + 3, at + 1, len - (size_t)(at + 1 - url));
    return len - gone;
}

size_t sn_follow_resolve(sn_follower *f, const seen_url_options *options, const char *href,
                         size_t len, const char *base, size_t base_len)
{
    size_t out = 0;
    size_t need = SEEN_URL_BOUND(len, base_len);
    if (need > f->room) {
        char *more = realloc(f->text, need);
        if (more == NULL)
            return 0;
        f->text = more;
        f->room = need;
    }
    /* Bases are canonical: URLs of the frontier, or made here. */
    if (base != NULL && options->flags == 0 && options->drop_count == 0)
        out = sn_relative_resolve(href, len, base, base_len, f->text);
    if (out > 0)
        return out;
    return seen_url_canonical(href, len, base, base_len, options, f->text, f->room, &out) ==
                   SEEN_URL_OK
               ? drop_credentials(f->text, out)
               : 0;
}

/* ---- The links of a page ---- */

/* Empties the table of what was met on this page, with room for so many. */
static bool clear_met(sn_follower *f, size_t count)
{
    size_t slots = 256;
    while (slots < count * 2)
        slots *= 2;
    if (f->met == NULL || slots > f->met_mask + 1) {
        free(f->met);
        f->met = malloc(slots * sizeof *f->met);
        if (f->met == NULL) {
            f->met_mask = 0;
            return false;
        }
    }
    f->met_mask = slots - 1;
    memset(f->met, 0, slots * sizeof *f->met);
    return true;
}

static bool met_before(sn_follower *f, uint64_t hash)
{
    hash |= 1; /* 0 is an empty slot */
    size_t at = (size_t)(hash >> 8) & f->met_mask;
    for (; f->met[at] != 0; at = (at + 1) & f->met_mask)
        if (f->met[at] == hash)
            return true;
    f->met[at] = hash;
    return false;
}

/* What the links are relative to: the page's URL, or what its <base> says, which is in memory of
 * its own. The base is taken as it is written: what --drop-slash and the like leave out of a URL is
 * what the links need of it. One that was lost leaves nothing, and only whole links are URLs then.
 * False: no memory. */
static bool find_base(const sn_job *job, sn_follower *f, char **own, const char **base, size_t *len)
{
    static const seen_url_options whole = {.size = sizeof whole};
    *own = NULL;
    *base = job->base_lost ? NULL : job->url;
    *len = job->base_lost ? 0 : job->url_len;
    size_t n = !job->has_base ? 0
                              : sn_follow_resolve(f, &whole, job->hrefs.bytes + job->base_at,
                                                  job->base_len, job->url, job->url_len);
    if (n == 0)
        return true;
    *own = malloc(n);
    if (*own == NULL)
        return false;
    memcpy(*own, f->text, n);
    *base = *own;
    *len = n;
    return true;
}

bool sn_follow_read(sn_job *job, sn_follower *f)
{
    const sn_engine *e = job->engine;
    char *own;
    const char *base;
    size_t base_len;
    if (!clear_met(f, job->hrefs.len) || !find_base(job, f, &own, &base, &base_len))
        return false;
    for (size_t i = 0; i < job->hrefs.len; i++) {
        sn_href *href = &job->hrefs.list[i];
        size_t n = sn_follow_resolve(f, &e->url_options, job->hrefs.bytes + href->at, href->len,
                                     base, base_len);
        /* An empty link, or only a fragment, is the page itself. */
        href->leads = n > 0 && (n != job->url_len || memcmp(f->text, job->url, n) != 0);
        if (!href->leads)
            continue;
        href->hash = sn_frontier_hash(e->frontier, f->text, n, SN_KIND_PAGE);
        href->first = !met_before(f, href->hash.lo);
        job->found += href->first;
    }
    free(own);
    return true;
}

seen_status sn_follow_admit(sn_engine *e, sn_job *job, bool nofollow)
{
    bool follow_all = e->options->follow_nofollow, edges = e->out[SN_OUT_EDGES] != NULL;
    sn_admit_page page = {job->url, job->url_len};
    uint16_t depth = job->depth == UINT16_MAX ? UINT16_MAX : (uint16_t)(job->depth + 1);
    char *own;
    const char *base;
    size_t base_len, count = job->hrefs.len;
    seen_status status = SEEN_OK;
    if (!find_base(job, &e->follower, &own, &base, &base_len))
        return sn_error_memory(e->error);
    sn_admit_begin(e);
    for (size_t i = 0; status == SEEN_OK && i < count; i++) {
        const sn_href *href = &job->hrefs.list[i];
        if (i + AHEAD < count)
            sn_link_cache_prefetch(e->link_cache, href[AHEAD].hash);
        if (!href->leads)
            continue;
        bool edge = edges && href->first;
        bool fresh = (follow_all || (!nofollow && !href->nofollow)) &&
                     depth <= e->options->max_depth &&
                     !sn_link_cache_add(e->link_cache, href->hash);
        if (!edge && !fresh)
            continue;
        size_t n = sn_admit_resolve(e, job->hrefs.bytes + href->at, href->len, base, base_len);
        if (n == 0)
            status = sn_error_memory(e->error);
        if (edge && n > 0)
            sn_results_edge(e, job->url, job->url_len, e->follower.text, n);
        if (fresh && n > 0)
            status = sn_admit_link(e, &page, e->follower.text, n, href->hash, depth);
    }
    free(own);
    return status;
}
