/* With a depth limit, what belongs to the depth that is about to be finished and
 * stands behind deeper URLs in the log.
 *
 * A redirection is not a link: where it leads to is as deep as itself, and is found while pages of
 * that depth are fetched whose links stand in the log already. Two cases:
 *
 *     deeper ... T         T was found by the redirection first
 *     T (deeper) ... T     T was found by a link first, and is void where the redirection put it
 *
 * Both are fetched before the next depth begins. So a page has the least number of links on any way
 * to it, and the links on it have one more, whatever came first. All of it stands in the log, and
 * holds when a crawl goes on.
 *
 * Each time looks through all of the log that was not read, and takes every chain of redirections
 * one further. A target of the second kind does not know how long its chain is, so the times are
 * counted: of chains that are longer than we follow the links decide. */
#include <stdlib.h>

#include "base/error.h"
#include "crawl/engine.h"

#define MOVED_MAX (1u << 20) /* targets that are looked for; of more the links decide */

typedef struct look {
    sn_engine *e;
    uint64_t *moved; /* hashes of targets that were found before, sorted */
    size_t count, room;
    uint16_t next; /* the least depth that is deeper */
    bool any;      /* something was placed */
    bool full;     /* there is no room for another host: the rest is for the next time */
} look;

static seen_status collect(void *user, const sn_frontier_record *record, bool is_void, bool *taken)
{
    look *l = user;
    (void)taken;
    if (is_void && record->hops == 0)
        return SEEN_OK;
    if (record->depth > l->e->level && record->depth < l->next)
        l->next = record->depth;
    if (!is_void || record->depth > l->e->level || l->count == MOVED_MAX ||
        l->e->rounds >= SN_MAX_HOPS)
        return SEEN_OK;
    if (l->count == l->room) {
        size_t room = l->room * 2 + 256;
        uint64_t *more = realloc(l->moved, room * sizeof *more);
        if (more == NULL)
            return sn_error_memory(l->e->error);
        l->moved = more;
        l->room = room;
    }
    l->moved[l->count++] = sn_known_hash(l->e->known, record->url, record->len).lo;
    return SEEN_OK;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool is_moved(const look *l, const char *url, size_t len)
{
    uint64_t hash = sn_known_hash(l->e->known, url, len).lo;
    return l->count > 0 && bsearch(&hash, l->moved, l->count, sizeof hash, by_number) != NULL;
}

static seen_status take(look *l, const char *url, size_t len, sn_place at, bool *taken)
{
    seen_status status = sn_dispatch_place(l->e, url, len, at, taken);
    l->any = l->any || *taken;
    l->full = l->full || !*taken;
    return status;
}

static seen_status choose(void *user, const sn_frontier_record *record, bool is_void, bool *taken)
{
    look *l = user;
    if (is_void || l->full ||
        (record->depth > l->e->level && !is_moved(l, record->url, record->len)))
        return SEEN_OK;
    return take(l, record->url, record->len, record->place, taken);
}

seen_status sn_ahead(sn_engine *e, uint16_t *level)
{
    look l = {.e = e, .next = e->held_depth};
    seen_status status = sn_frontier_ahead(e->frontier, collect, &l, e->error);
    if (status == SEEN_OK && l.count > 1)
        qsort(l.moved, l.count, sizeof *l.moved, by_number);
    /* The one that is held was given out. */
    bool taken = false;
    if (status == SEEN_OK && is_moved(&l, e->held_url, e->held_len)) {
        status = take(&l, e->held_url, e->held_len, e->held_place, &taken);
        e->held = !taken;
    }
    if (status == SEEN_OK)
        status = sn_frontier_ahead(e->frontier, choose, &l, e->error);
    free(l.moved);
    e->early = l.full;
    e->rounds += !l.full;
    *level = l.any || l.full ? e->level : l.next;
    return status;
}
