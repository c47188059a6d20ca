/* From a link to the frontier.
 *
 *     href -> canonical URL -> met lately? -> scope, limits -> candidate
 *     candidates -> seen? -> frontier (durable) -> seen-set -> answers -> frontier
 *
 * The seen-set is asked twice. The first time only to keep what is known out of the log; the second
 * time it is told, and its answer decides: whoever is told "new" owns the URL. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "crawl/engine.h"

#define ARENA_MAX (SN_BATCH_BYTES / 2)

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

seen_hash sn_admit_hash(const sn_engine *e, const char *url, size_t len, uint8_t kind)
{
    seen_hash hash = sn_known_hash(e->known, url, len);
    if (kind != SN_KIND_SITEMAP)
        return hash;
    char key[24] = "sitemap";
    sn_store64((uint8_t *)key + 8, hash.lo);
    sn_store64((uint8_t *)key + 16, hash.hi);
    return sn_known_hash(e->known, key, sizeof key);
}

void sn_admit_begin(sn_engine *e)
{
    e->parent_put = false;
}

/* Copies bytes into the arena; it is never larger than one batch. */
static bool keep(sn_engine *e, const char *bytes, size_t len, uint32_t *at)
{
    if (e->arena_len + len > e->arena_room) {
        size_t room = e->arena_room == 0 ? 64u << 10 : e->arena_room;
        while (room < e->arena_len + len)
            room *= 2;
        char *more = realloc(e->arena, room);
        if (more == NULL)
            return false;
        e->arena = more;
        e->arena_room = room;
    }
    *at = (uint32_t)e->arena_len;
    if (len > 0)
        memcpy(e->arena + e->arena_len, bytes, len);
    e->arena_len += len;
    return true;
}

static seen_status add_candidate(sn_engine *e, const sn_admit_page *page, const char *url,
                                 size_t len, const sn_candidate *like)
{
    if (e->candidate_count == SN_BATCH_URLS || e->arena_len + len > ARENA_MAX) {
        seen_status status = sn_admit_commit(e);
        if (status != SEEN_OK)
            return status;
    }
    if (!e->parent_put) {
        e->parent_len = page == NULL ? 0 : (uint32_t)page->len;
        if (!keep(e, page == NULL ? "" : page->url, e->parent_len, &e->parent_at))
            return sn_error_memory(e->error);
        e->parent_put = true;
    }
    sn_candidate *c = &e->candidates[e->candidate_count];
    *c = *like;
    c->len = (uint32_t)len;
    c->parent_at = e->parent_at;
    c->parent_len = e->parent_len;
    if (!keep(e, url, len, &c->at))
        return sn_error_memory(e->error);
    if (e->candidate_count++ == 0)
        e->oldest = sn_fetch_now();
    return SEEN_OK;
}

/* --include is about links: where a start URL leads to need not match, nor a sitemap. */
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

/* May this target of a redirection be less deep than where it was found before? */
static bool shallower(const sn_engine *e, uint16_t depth, uint8_t hops)
{
    return hops > 0 && depth <= e->level && e->level < UINT16_MAX;
}

seen_status sn_admit(sn_engine *e, const sn_admit_page *page, const char *url, size_t len,
                     seen_hash hash, uint16_t depth, uint8_t hops, uint8_t kind)
{
    /* A page without depth that was found on another is where a start URL leads to. As a link it
     * may have been met, and left aside, before. */
    bool link = depth > 0 && kind == SN_KIND_PAGE;
    bool again = !link || shallower(e, depth, hops);
    if (page != NULL &&
        (depth > e->options->max_depth || (sn_known_lately(e->known, hash) && !again)))
        return SEEN_OK;
    return sn_admit_fresh(e, page, url, len, hash, depth, hops, kind);
}

seen_status sn_admit_fresh(sn_engine *e, const sn_admit_page *page, const char *url, size_t len,
                           seen_hash hash, uint16_t depth, uint8_t hops, uint8_t kind)
{
    if (page != NULL && !in_scope(e, url, len, depth > 0 && kind == SN_KIND_PAGE))
        return SEEN_OK;
    sn_candidate like = {.hash = hash, .depth = depth, .hops = hops, .kind = kind};
    return add_candidate(e, page, url, len, &like);
}

seen_status sn_admit_there(sn_engine *e, const sn_admit_page *page, const char *url, size_t len,
                           uint16_t depth, uint8_t hops, uint8_t kind)
{
    sn_candidate like = {
        .hash = sn_admit_hash(e, url, len, kind), .depth = depth, .hops = hops, .kind = kind};
    sn_admit_begin(e);
    return add_candidate(e, page, url, len, &like);
}

bool sn_admit_still(sn_engine *e, const sn_frontier_record *record)
{
    bool link = record->depth > 0 && record->kind == SN_KIND_PAGE;
    if (record->parent_len == 0)
        return true;
    /* It may stand there with all that --drop-www and the like leave out. */
    size_t n = sn_admit_resolve(e, record->url, record->len, NULL, 0);
    return n > 0 && record->depth <= e->options->max_depth &&
           in_scope(e, e->follower.text, n, link);
}

seen_status sn_admit_again(sn_engine *e, const sn_admit_page *page, const char *url, size_t len,
                           uint16_t depth, uint8_t kind)
{
    sn_candidate like = {
        .hash = sn_admit_hash(e, url, len, kind), .depth = depth, .kind = kind, .again = true};
    sn_admit_begin(e);
    return add_candidate(e, page, url, len, &like);
}

/* Puts the chosen candidates into a batch of the frontier. */
static seen_status put_batch(sn_engine *e, const uint16_t *chosen, size_t count)
{
    seen_status status = SEEN_OK;
    uint32_t parent = UINT32_MAX;
    for (size_t i = 0; i < count && status == SEEN_OK; i++) {
        const sn_candidate *c = &e->candidates[chosen[i]];
        if (c->parent_at != parent) {
            status =
                sn_frontier_put_page(e->frontier, e->arena + c->parent_at, c->parent_len, e->error);
            parent = c->parent_at;
        }
        sn_frontier_record record = {.url = e->arena + c->at,
                                     .len = c->len,
                                     .depth = c->depth,
                                     .hops = c->hops,
                                     .kind = c->kind};
        if (status == SEEN_OK)
            status = sn_frontier_put(e->frontier, &record, e->error);
    }
    return status;
}

/* What is read as a sitemap is not fetched again as a page because somebody links to it. */
static seen_status add_as_pages(sn_engine *e, const seen_hash *hashes, size_t count,
                                seen_error *error)
{
    seen_answer answers[SN_BATCH_URLS];
    return count == 0 ? SEEN_OK : sn_known_add(e->known, hashes, count, answers, error);
}

seen_status sn_admit_commit(sn_engine *e)
{
    seen_hash hashes[SN_BATCH_URLS];
    seen_answer answers[SN_BATCH_URLS];
    uint16_t chosen[SN_BATCH_URLS];
    size_t count = e->candidate_count, n = 0;
    if (count == 0)
        return SEEN_OK;
    for (size_t i = 0; i < count; i++)
        hashes[i] = e->candidates[i].hash;
    seen_status status = sn_known_check(e->known, hashes, count, answers, e->error);
    if (status != SEEN_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        sn_candidate *c = &e->candidates[i];
        e->early = e->early || c->depth <= e->level;
        if (answers[i] != SEEN_NEW && !c->again) {
            if (c->kind != SN_KIND_PAGE || !shallower(e, c->depth, c->hops))
                continue;
            c->kind = SN_KIND_MOVED;
        }
        hashes[n] = hashes[i];
        chosen[n++] = (uint16_t)i;
    }
    if (n > 0) {
        status = put_batch(e, chosen, n);
        if (status == SEEN_OK)
            status = sn_frontier_write(e->frontier, e->error);
        if (status == SEEN_OK)
            status = sn_known_add(e->known, hashes, n, answers, e->error);
        if (status != SEEN_OK)
            return status;
        for (size_t i = 0; i < n; i++) {
            e->counts.found += answers[i] == SEEN_NEW;
            if (e->candidates[chosen[i]].again)
                answers[i] = SEEN_NEW;
            if (e->candidates[chosen[i]].kind == SN_KIND_MOVED)
                answers[i] = SEEN_BEFORE;
        }
        status = sn_frontier_answer(e->frontier, answers, e->error);
        e->at_end = false;
        size_t pages = 0;
        for (size_t i = 0; i < n; i++) {
            const sn_candidate *c = &e->candidates[chosen[i]];
            if (c->kind == SN_KIND_SITEMAP)
                hashes[pages++] = sn_known_hash(e->known, e->arena + c->at, c->len);
        }
        if (status == SEEN_OK)
            status = add_as_pages(e, hashes, pages, e->error);
    }
    e->candidate_count = 0;
    e->arena_len = 0;
    e->parent_put = false;
    return status;
}

seen_status sn_admit_replay(void *engine, const sn_frontier_record *records, size_t count,
                            bool unanswered, seen_answer *answers, seen_error *error)
{
    sn_engine *e = engine;
    seen_hash hashes[SN_BATCH_URLS];
    seen_answer added[SN_BATCH_URLS];
    if (count == 0)
        return SEEN_OK;
    for (size_t i = 0; i < count; i++)
        hashes[i] = sn_admit_hash(e, records[i].url, records[i].len, records[i].kind);
    seen_status status = sn_known_add(e->known, hashes, count, added, error);
    /* Whether the last batch was added before the crash nobody knows: what the set has may be our
     * own doing. Fetching a page twice is the lesser evil. */
    for (size_t i = 0; status == SEEN_OK && unanswered && i < count; i++)
        answers[i] = records[i].kind == SN_KIND_MOVED || sn_known_lately(e->known, hashes[i])
                         ? SEEN_BEFORE
                         : SEEN_NEW;
    size_t pages = 0;
    for (size_t i = 0; i < count; i++)
        if (records[i].kind == SN_KIND_SITEMAP)
            hashes[pages++] = sn_known_hash(e->known, records[i].url, records[i].len);
    return status == SEEN_OK ? add_as_pages(e, hashes, pages, error) : status;
}
