/* Offers links to the frontier: link cache, scope, limits, and a batch. */
#include "crawl/admit.h"

#include "base/clock.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_MAX (SN_BATCH_BYTES / 2)
#define ARENA_ROOM (ARENA_MAX + 2 * (SN_FRONTIER_URL_MAX + 1)) /* and one link with its page */

size_t sn_admit_resolve(sn_intake *in, const char *href, size_t len, const char *base,
                        size_t base_len)
{
    return sn_resolve_link(&in->resolver, &in->url_options, href, len, base, base_len);
}

size_t sn_admit_resolve_whole(sn_intake *in, const char *href, size_t len, const char *base,
                              size_t base_len)
{
    return sn_resolve_link(&in->resolver, NULL, href, len, base, base_len);
}

void sn_admit_free(sn_intake *in)
{
    sn_resolver_free(&in->resolver);
    sn_link_cache_destroy(in->link_cache);
    sn_scope_destroy(in->scope);
    free(in->arena);
}

void sn_admit_begin(sn_intake *in)
{
    in->parent = NULL;
}

/* Copies bytes into the arena, which has room for them. */
static const char *keep(sn_intake *in, const char *bytes, size_t len)
{
    char *copy = in->arena + in->arena_len;
    if (len > 0)
        memcpy(copy, bytes, len);
    in->arena_len += len;
    return copy;
}

static seen_status add_link(sn_intake *in, const sn_admit_page *page, const char *url, size_t len,
                            const sn_frontier_link *like)
{
    if (len > SN_FRONTIER_URL_MAX || (page && page->len > SN_FRONTIER_URL_MAX))
        return SEEN_OK; /* longer than max_url can be */
    if (in->count == SN_BATCH_URLS || in->arena_len + len > ARENA_MAX) {
        seen_status status = sn_admit_commit(in);
        if (status != SEEN_OK)
            return status;
    }
    if (!in->arena && !(in->arena = malloc(ARENA_ROOM)))
        return sn_error_memory(in->error);
    if (!in->parent) {
        in->parent_len = page ? (uint32_t)page->len : 0;
        in->parent = keep(in, page ? page->url : "", in->parent_len);
    }
    sn_frontier_link *link = &in->links[in->count];
    *link = *like;
    link->parent = in->parent;
    link->parent_len = in->parent_len;
    link->url = keep(in, url, len);
    link->len = (uint32_t)len;
    if (in->count++ == 0)
        in->oldest = (int64_t)sn_clock_ms();
    return SEEN_OK;
}

/* --include applies to links: the redirect target of a start URL need not match, nor a sitemap. */
static bool in_scope(sn_intake *in, const char *url, size_t len, bool link)
{
    switch (sn_scope_check(in->scope, url, len)) {
    case SN_SCOPE_IN:
        return true;
    case SN_SCOPE_NOT_INCLUDED:
        return !link;
    case SN_SCOPE_TOO_LONG:
    case SN_SCOPE_TOO_DEEP:
    case SN_SCOPE_REPEATS:
        in->counts->dropped++;
        return false;
    default:
        return false;
    }
}

/* A page of depth 0 that was found on another page is the redirect target of a start URL, or of a
 * sitemap. As a link it may have been found before, and been out of scope. */
static bool is_link(uint16_t depth, uint8_t kind)
{
    return depth > 0 && kind == SN_KIND_PAGE;
}

seen_status sn_admit_url(sn_intake *in, const sn_admit_page *page, const char *url, size_t len,
                         uint16_t depth, uint8_t hops, uint8_t kind)
{
    seen_hash hash = sn_frontier_hash(in->frontier, url, len, kind);
    bool link = is_link(depth, kind);
    if (page &&
        (depth > in->options->max_depth || (sn_link_cache_add(in->link_cache, hash) && link) ||
         !in_scope(in, url, len, link)))
        return SEEN_OK;
    sn_frontier_link like = {.hash = hash, .depth = depth, .hops = hops, .kind = kind};
    return add_link(in, page, url, len, &like);
}

seen_status sn_admit_link(sn_intake *in, const sn_admit_page *page, const char *url, size_t len,
                          seen_hash hash, uint16_t depth)
{
    sn_frontier_link like = {.hash = hash, .depth = depth};
    return in_scope(in, url, len, is_link(depth, SN_KIND_PAGE))
               ? add_link(in, page, url, len, &like)
               : SEEN_OK;
}

bool sn_admit_in_scope(sn_intake *in, const char *url, size_t len)
{
    return in_scope(in, url, len, false);
}

seen_status sn_admit_any(sn_intake *in, const sn_admit_page *page, const char *url, size_t len,
                         uint16_t depth, uint8_t hops, uint8_t kind, uint8_t flags)
{
    sn_frontier_link like = {.hash = sn_frontier_hash(in->frontier, url, len, kind),
                             .depth = depth,
                             .hops = hops,
                             .kind = kind,
                             .flags = flags};
    sn_admit_begin(in);
    return add_link(in, page, url, len, &like);
}

bool sn_admit_still(sn_intake *in, const sn_frontier_record *record)
{
    if (record->parent_len == 0)
        return true;
    /* It may be stored with the parts that --drop-www etc. remove. */
    size_t n = sn_admit_resolve(in, record->url, record->len, NULL, 0);
    return n > 0 && record->depth <= in->options->max_depth &&
           in_scope(in, in->resolver.text, n, is_link(record->depth, record->kind));
}

seen_status sn_admit_commit(sn_intake *in)
{
    if (in->count == 0)
        return SEEN_OK;
    seen_status status = in->frontier->class->offer(in->frontier, in->links, in->count, in->error);
    in->counts->found = in->found_before + in->frontier->found;
    in->offered = true;
    in->count = 0;
    in->arena_len = 0;
    in->parent = NULL;
    return status;
}
