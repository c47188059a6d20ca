/* From a link to the frontier: link cache, scope, limits, and a batch that waits to be offered. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "crawl/engine.h"

#define ARENA_MAX (SN_BATCH_BYTES / 2)
#define ARENA_ROOM (ARENA_MAX + 2 * (SN_FRONTIER_URL_MAX + 1)) /* and one link with its page */

size_t sn_admit_resolve(sn_engine *e, const char *href, size_t len, const char *base,
                        size_t base_len)
{
    return sn_follow_resolve(&e->follower, &e->url_options, href, len, base, base_len);
}

size_t sn_admit_resolve_whole(sn_engine *e, const char *href, size_t len, const char *base,
                              size_t base_len)
{
    return sn_follow_resolve(&e->follower, &(seen_url_options){.size = sizeof(seen_url_options)},
                             href, len, base, base_len);
}

void sn_admit_begin(sn_engine *e)
{
    e->parent = NULL;
}

/* Copies bytes into the arena, which has room for them. */
static const char *keep(sn_engine *e, const char *bytes, size_t len)
{
    char *copy = e->arena + e->arena_len;
    if (len > 0)
        memcpy(copy, bytes, len);
    e->arena_len += len;
    return copy;
}

static seen_status add_link(sn_engine *e, const sn_admit_page *page, const char *url, size_t len,
                            const sn_frontier_link *like)
{
    if (len > SN_FRONTIER_URL_MAX || (page != NULL && page->len > SN_FRONTIER_URL_MAX))
        return SEEN_OK; /* longer than max_url can be */
    if (e->link_count == SN_BATCH_URLS || e->arena_len + len > ARENA_MAX) {
        seen_status status = sn_admit_commit(e);
        if (status != SEEN_OK)
            return status;
    }
    if (e->arena == NULL && (e->arena = malloc(ARENA_ROOM)) == NULL)
        return sn_error_memory(e->error);
    if (e->parent == NULL) {
        e->parent_len = page == NULL ? 0 : (uint32_t)page->len;
        e->parent = keep(e, page == NULL ? "" : page->url, e->parent_len);
    }
    sn_frontier_link *link = &e->links[e->link_count];
    *link = *like;
    link->parent = e->parent;
    link->parent_len = e->parent_len;
    link->url = keep(e, url, len);
    link->len = (uint32_t)len;
    if (e->link_count++ == 0)
        e->oldest = sn_fetch_now();
    return SEEN_OK;
}

/* --include is about links: the target of a start URL's redirection need not match, nor a
 * sitemap. */
static bool in_scope(sn_engine *e, const char *url, size_t len, bool link)
{
    switch (sn_scope_check(e->scope, url, len)) {
    case SN_SCOPE_IN:
        return true;
    case SN_SCOPE_NOT_INCLUDED:
        return !link;
    case SN_SCOPE_TOO_LONG:
    case SN_SCOPE_TOO_DEEP:
    case SN_SCOPE_REPEATS:
        e->counts.dropped++;
        return false;
    default:
        return false;
    }
}

/* A page of depth 0 that was found on another page is the target of a start URL's redirection, or a
 * sitemap's. As a link it may have been found before, and left out of scope. */
static bool is_link(uint16_t depth, uint8_t kind)
{
    return depth > 0 && kind == SN_KIND_PAGE;
}

seen_status sn_admit(sn_engine *e, const sn_admit_page *page, const char *url, size_t len,
                     seen_hash hash, uint16_t depth, uint8_t hops, uint8_t kind)
{
    bool link = is_link(depth, kind);
    if (page != NULL &&
        (depth > e->options->max_depth || (sn_link_cache_add(e->link_cache, hash) && link) ||
         !in_scope(e, url, len, link)))
        return SEEN_OK;
    sn_frontier_link like = {.hash = hash, .depth = depth, .hops = hops, .kind = kind};
    return add_link(e, page, url, len, &like);
}

seen_status sn_admit_link(sn_engine *e, const sn_admit_page *page, const char *url, size_t len,
                          seen_hash hash, uint16_t depth)
{
    sn_frontier_link like = {.hash = hash, .depth = depth};
    return in_scope(e, url, len, is_link(depth, SN_KIND_PAGE)) ? add_link(e, page, url, len, &like)
                                                               : SEEN_OK;
}

bool sn_admit_in_scope(sn_engine *e, const char *url, size_t len)
{
    return in_scope(e, url, len, false);
}

seen_status sn_admit_any(sn_engine *e, const sn_admit_page *page, const char *url, size_t len,
                         uint16_t depth, uint8_t hops, uint8_t kind, uint8_t flags)
{
    sn_frontier_link like = {.hash = sn_frontier_hash(e->frontier, url, len, kind),
                             .depth = depth,
                             .hops = hops,
                             .kind = kind,
                             .flags = flags};
    sn_admit_begin(e);
    return add_link(e, page, url, len, &like);
}

bool sn_admit_still(sn_engine *e, const sn_frontier_record *record)
{
    if (record->parent_len == 0)
        return true;
    /* It may be stored with all that --drop-www and the like remove. */
    size_t n = sn_admit_resolve(e, record->url, record->len, NULL, 0);
    return n > 0 && record->depth <= e->options->max_depth &&
           in_scope(e, e->follower.text, n, is_link(record->depth, record->kind));
}

seen_status sn_admit_commit(sn_engine *e)
{
    if (e->link_count == 0)
        return SEEN_OK;
    seen_status status = e->frontier->class->offer(e->frontier, e->links, e->link_count, e->error);
    e->counts.found = e->found_before + e->frontier->found;
    e->next = SN_NEXT_URL; /* there may be one */
    e->link_count = 0;
    e->arena_len = 0;
    e->parent = NULL;
    return status;
}
