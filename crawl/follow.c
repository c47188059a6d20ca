/* From the links of a page to URLs for the frontier. */
#include "crawl/follow.h"

#include "base/error.h"
#include "base/memory.h"
#include "crawl/engine.h"

#include <stdlib.h>
#include <string.h>

#define PREFETCH 8 /* links whose slots in the cache are loaded before they are needed */

void sn_follower_free(sn_follower *f)
{
    sn_resolver_free(&f->resolver);
    sn_hashset_free(&f->urls);
    *f = (sn_follower){0};
}

void sn_follow_urls_reset(sn_follow_urls *urls)
{
    urls->text_len = 0;
}

void sn_follow_urls_free(sn_follow_urls *urls)
{
    free(urls->text);
    *urls = (sn_follow_urls){0};
}

/* ---- On the thread of the transfer ---- */

/* The base of the links: the page's URL, or its <base>, which is copied. The base is used as
 * written: what --drop-slash etc. remove from a URL is needed for relative links. If the base was
 * lost only absolute links are resolved. False: out of memory. */
static bool find_base(const sn_job *job, sn_follower *f, char **own, const char **base, size_t *len)
{
    *own = NULL;
    *base = job->base_lost ? NULL : job->url;
    *len = job->base_lost ? 0 : job->url_len;
    size_t n = !job->has_base ? 0
                              : sn_resolve_link(&f->resolver, NULL, job->hrefs.bytes + job->base_at,
                                                job->base_len, job->url, job->url_len);
    if (n == 0)
        return true;
    *own = malloc(n);
    if (!*own)
        return false;
    memcpy(*own, f->resolver.text, n);
    *base = *own;
    *len = n;
    return true;
}

/* Replaces a link by the URL that it leads to. */
static bool keep(sn_follow_urls *urls, sn_href *href, const char *url, size_t len)
{
    if (urls->text_len + len > urls->text_room) {
        char *more = sn_memory_grow(urls->text, &urls->text_room, urls->text_len + len, 1);
        if (!more)
            return false;
        urls->text = more;
    }
    memcpy(urls->text + urls->text_len, url, len);
    href->at = (uint32_t)urls->text_len;
    href->len = (uint32_t)len;
    urls->text_len += len;
    return urls->text_len <= UINT32_MAX;
}

bool sn_follow_read(sn_job *job, sn_follower *f)
{
    const sn_intake *in = &job->engine->intake;
    char *own;
    const char *base;
    size_t base_len;
    sn_hashset_clear(&f->urls);
    bool ok =
        sn_hashset_reserve(&f->urls, job->hrefs.len) && find_base(job, f, &own, &base, &base_len);
    if (!ok)
        return false;
    for (size_t i = 0; ok && i < job->hrefs.len; i++) {
        sn_href *href = &job->hrefs.list[i];
        size_t n = sn_resolve_link(&f->resolver, &in->url_options, job->hrefs.bytes + href->at,
                                   href->len, base, base_len);
        const char *url = f->resolver.text;
        /* An empty link, or only a fragment, leads to the page itself. */
        href->leads = n > 0 && (n != job->url_len || memcmp(url, job->url, n) != 0);
        if (!href->leads)
            continue;
        href->hash = sn_frontier_hash(in->frontier, url, n, SN_KIND_PAGE);
        href->first = sn_hashset_add(&f->urls, href->hash);
        job->found += href->first;
        ok = keep(&job->urls, href, url, n);
    }
    free(own);
    return ok;
}

/* ---- On the first thread ---- */

seen_status sn_follow_admit(sn_engine *e, sn_job *job, bool nofollow)
{
    sn_intake *in = &e->intake;
    bool follow_all = e->options->follow_nofollow, edges = e->outputs.sink[SN_OUT_EDGES] != NULL;
    sn_admit_page page = {job->url, job->url_len};
    uint16_t depth = job->depth == UINT16_MAX ? UINT16_MAX : (uint16_t)(job->depth + 1);
    size_t count = job->hrefs.len;
    seen_status status = SEEN_OK;
    sn_admit_begin(in);
    for (size_t i = 0; status == SEEN_OK && i < count; i++) {
        const sn_href *href = &job->hrefs.list[i];
        if (i + PREFETCH < count)
            sn_link_cache_prefetch(in->link_cache, href[PREFETCH].hash);
        if (!href->leads)
            continue;
        const char *url = job->urls.text + href->at;
        if (edges && href->first)
            sn_outputs_put_edge(&e->outputs, job->url, job->url_len, url, href->len);
        if ((follow_all || (!nofollow && !href->nofollow)) && depth <= e->options->max_depth &&
            !sn_link_cache_add(in->link_cache, href->hash))
            status = sn_admit_link(in, &page, url, href->len, href->hash, depth);
    }
    return status;
}
