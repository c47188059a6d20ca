/* A table of hosts, and a heap of those that wait for their next request. */
#include "crawl/frontier/pace.h"

#include "base/error.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct sn_pace {
    sn_pace_options options;
    sn_host **table; /* open addressing, a power of two */
    size_t mask;
    size_t hosts, live, retries, rules_bytes;
    sn_host **heap;
    size_t heap_count;
    uint64_t turns;
    bool draining;            /* only retries are returned */
    sn_host *oldest, *newest; /* by last use */
};

sn_pace *sn_pace_create(const sn_pace_options *options)
{
    size_t slots = 64;
    while (slots < options->max_hosts * 2)
        slots *= 2;
    sn_pace *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->options = *options;
    p->mask = slots - 1;
    p->table = calloc(slots, sizeof(sn_host *));
    p->heap = calloc(options->max_hosts + 1, sizeof(sn_host *));
    if (!p->table || !p->heap) {
        sn_pace_destroy(p);
        return NULL;
    }
    return p;
}

static void drop_rules(sn_pace *p, sn_host *host)
{
    if (host->rules && p->options.free_rules)
        p->options.free_rules(host->rules);
    p->rules_bytes -= host->rules_bytes;
    host->rules = NULL;
    host->rules_bytes = 0;
}

static void free_host(sn_pace *p, sn_host *host)
{
    drop_rules(p, host);
    sn_queue_clear(&host->queue);
    for (sn_retry *retry = host->retries, *next; retry != NULL; retry = next) {
        next = retry->next;
        free(retry);
    }
    free(host->rules_url);
    free(host->origin);
    free(host);
}

void sn_pace_destroy(sn_pace *p)
{
    if (!p)
        return;
    for (sn_host *host = p->oldest, *next; host != NULL; host = next) {
        next = host->newer;
        free_host(p, host);
    }
    free(p->table);
    free(p->heap);
    free(p);
}

/* ---- The heap ---- */

static bool before(const sn_host *a, const sn_host *b)
{
    return a->heap_key != b->heap_key ? a->heap_key < b->heap_key : a->turn < b->turn;
}

static void heap_put(sn_pace *p, size_t at, sn_host *host)
{
    p->heap[at] = host;
    host->heap_at = at;
}

static void heap_up(sn_pace *p, size_t at)
{
    sn_host *host = p->heap[at];
    for (; at > 0 && before(host, p->heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap_put(p, at, p->heap[(at - 1) / 2]);
    heap_put(p, at, host);
}

static void heap_down(sn_pace *p, size_t at)
{
    sn_host *host = p->heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= p->heap_count)
            break;
        if (child + 1 < p->heap_count && before(p->heap[child + 1], p->heap[child]))
            child++;
        if (!before(p->heap[child], host))
            break;
        heap_put(p, at, p->heap[child]);
        at = child;
    }
    heap_put(p, at, host);
}

static void heap_remove(sn_pace *p, sn_host *host)
{
    size_t at = host->heap_at;
    if (at == SIZE_MAX)
        return;
    host->heap_at = SIZE_MAX;
    p->heap_count--;
    if (at == p->heap_count)
        return;
    heap_put(p, at, p->heap[p->heap_count]);
    heap_up(p, at);
    heap_down(p, p->heap[at]->heap_at);
}

/* ---- The order of use ---- */

static void unlink_host(sn_pace *p, sn_host *host)
{
    if (host->older)
        host->older->newer = host->newer;
    else
        p->oldest = host->newer;
    if (host->newer)
        host->newer->older = host->older;
    else
        p->newest = host->older;
    host->older = host->newer = NULL;
}

static void link_newest(sn_pace *p, sn_host *host)
{
    host->older = p->newest;
    if (p->newest)
        p->newest->newer = host;
    else
        p->oldest = host;
    p->newest = host;
}

static void touch(sn_pace *p, sn_host *host)
{
    if (p->newest == host)
        return;
    unlink_host(p, host);
    link_newest(p, host);
}

/* ---- The table ---- */

static size_t slot_of(const sn_pace *p, uint64_t hash, const char *origin, size_t len)
{
    size_t at = (size_t)hash & p->mask;
    for (;; at = (at + 1) & p->mask) {
        const sn_host *host = p->table[at];
        if (!host ||
            (host->hash == hash && host->len == len && memcmp(host->origin, origin, len) == 0))
            return at;
    }
}

/* Removes a host and moves the following ones up, so that no search stops at the hole. */
static void table_remove(sn_pace *p, const sn_host *host)
{
    size_t hole = slot_of(p, host->hash, host->origin, host->len);
    for (size_t at = (hole + 1) & p->mask; p->table[at] != NULL; at = (at + 1) & p->mask) {
        size_t home = (size_t)p->table[at]->hash & p->mask;
        if (((at - home) & p->mask) >= ((at - hole) & p->mask)) {
            p->table[hole] = p->table[at];
            hole = at;
        }
    }
    p->table[hole] = NULL;
}

/* A host whose delay still runs is kept: created again, it would get a request at once. */
static bool evict(sn_pace *p, int64_t now)
{
    sn_host *host = p->oldest;
    while (host && (host->live || host->unsent > 0 || host->next > now))
        host = host->newer;
    if (!host)
        return false;
    unlink_host(p, host);
    table_remove(p, host);
    heap_remove(p, host);
    free_host(p, host);
    p->hosts--;
    return true;
}

static sn_host *new_host(sn_pace *p, uint64_t hash, const char *origin, size_t len)
{
    sn_host *host = calloc(1, sizeof *host);
    char *copy = malloc(len + 1);
    if (!host || !copy) {
        free(host);
        free(copy);
        return NULL;
    }
    memcpy(copy, origin, len);
    copy[len] = '\0';
    host->origin = copy;
    host->len = len;
    host->hash = hash;
    host->heap_at = SIZE_MAX;
    host->delay = p->options.delay;
    host->next = host->held = host->asked = INT64_MIN / 2; /* a delay can be added */
    return host;
}

seen_status sn_pace_find(sn_pace *p, const char *origin, size_t len, int64_t now, sn_host **out,
                         seen_error *error)
{
    uint64_t hash = seen_hash_key(&p->options.hasher, origin, len).lo;
    sn_host *host = p->table[slot_of(p, hash, origin, len)];
    if (!host) {
        if (p->hosts >= p->options.max_hosts && !evict(p, now))
            return SEEN_ERR_FULL;
        host = new_host(p, hash, origin, len);
        if (!host)
            return sn_error_memory(error);
        p->table[slot_of(p, hash, origin, len)] = host;
        p->hosts++;
        link_newest(p, host);
    }
    touch(p, host);
    *out = host;
    return SEEN_OK;
}

seen_status sn_pace_host(sn_pace *p, const char *origin, size_t len, int64_t now, sn_host **out,
                         seen_error *error)
{
    uint64_t hash = seen_hash_key(&p->options.hasher, origin, len).lo;
    const sn_host *host = p->table[slot_of(p, hash, origin, len)];
    if ((!host || !host->live) && p->live >= p->options.max_live)
        return SEEN_ERR_FULL;
    return sn_pace_find(p, origin, len, now, out, error);
}

/* ---- Work ---- */

void sn_pace_update(sn_pace *p, sn_host *host)
{
    bool work = host->queue.count > 0 || host->retries;
    bool live = work || host->active > 0;
    if (live != host->live) {
        host->live = live;
        p->live += live ? 1 : (size_t)-1;
    }
    heap_remove(p, host);
    bool queued = host->queue.count > 0 && !p->draining;
    if ((!queued && !host->retries) || host->active >= p->options.per_host || host->unsent > 0 ||
        host->rules_state == SN_RULES_FETCHING)
        return;
    host->heap_key = host->next;
    if (!queued && host->retries->due > host->heap_key)
        host->heap_key = host->retries->due;
    host->turn = p->turns++;
    heap_put(p, p->heap_count, host);
    heap_up(p, p->heap_count++);
}

seen_status sn_pace_push(sn_pace *p, sn_host *host, sn_frontier_place place, seen_error *error)
{
    seen_status status = sn_queue_push(p->options.queues, &host->queue, place, error);
    if (status == SEEN_OK && host->queue.count == 1)
        sn_pace_update(p, host);
    return status;
}

bool sn_pace_retry(sn_pace *p, sn_host *host, sn_try what, int64_t due)
{
    if (p->retries >= p->options.max_retries)
        return false;
    sn_retry *retry = malloc(sizeof *retry);
    if (!retry)
        return false;
    sn_retry **at = &host->retries;
    while (*at && (*at)->due <= due)
        at = &(*at)->next;
    *retry = (sn_retry){*at, what, due};
    *at = retry;
    p->retries++;
    sn_pace_update(p, host);
    return true;
}

void sn_pace_drain(sn_pace *p)
{
    if (p->draining)
        return;
    p->draining = true;
    for (sn_host *host = p->oldest; host != NULL; host = host->newer)
        sn_pace_update(p, host);
}

sn_host *sn_pace_take(sn_pace *p, int64_t now)
{
    if (p->heap_count == 0 || p->heap[0]->heap_key > now)
        return NULL;
    sn_host *host = p->heap[0];
    host->next = now + (int64_t)host->delay;
    touch(p, host);
    sn_pace_update(p, host);
    return host;
}

seen_status sn_pace_pop(sn_pace *p, sn_host *host, int64_t now, sn_try *what, bool *got,
                        seen_error *error)
{
    sn_retry *retry = host->retries;
    seen_status status = SEEN_OK;
    *got = false;
    if (retry && retry->due <= now) {
        *what = retry->what;
        *got = true;
        host->retries = retry->next;
        p->retries--;
        free(retry);
    } else if (!p->draining) {
        *what = (sn_try){.tries = 0};
        status = sn_queue_pop(p->options.queues, &host->queue, &what->place, got, error);
    }
    sn_pace_update(p, host);
    return status;
}

int64_t sn_pace_wait(const sn_pace *p, int64_t now)
{
    if (p->heap_count == 0)
        return -1;
    int64_t key = p->heap[0]->heap_key;
    return key <= now ? 0 : key - now;
}

void sn_pace_begin(sn_pace *p, sn_host *host)
{
    host->active++;
    sn_pace_update(p, host);
}

void sn_pace_end(sn_pace *p, sn_host *host)
{
    assert(host->active > 0);
    host->active--;
    sn_pace_update(p, host);
}

bool sn_pace_start(sn_pace *p, sn_host *host, int64_t now)
{
    host->asked = now;
    if (host->delay == 0)
        return false;
    host->unsent++;
    sn_pace_reserve(p, host, now + (int64_t)host->delay);
    return true;
}

void sn_pace_unsent(sn_pace *p, sn_host *host)
{
    assert(host->unsent > 0);
    host->unsent--;
    sn_pace_update(p, host);
}

void sn_pace_sent(sn_pace *p, sn_host *host, int64_t at)
{
    if (at > host->asked)
        host->asked = at;
    sn_pace_unsent(p, host);
    sn_pace_reserve(p, host, at + (int64_t)host->delay);
}

bool sn_pace_ready(const sn_host *host, int64_t now)
{
    return host->unsent == 0 && now >= host->asked + (int64_t)host->delay && now >= host->held;
}

void sn_pace_hold(sn_pace *p, sn_host *host, int64_t until)
{
    if (until > host->held)
        host->held = until;
    sn_pace_reserve(p, host, until);
}

void sn_pace_reserve(sn_pace *p, sn_host *host, int64_t until)
{
    if (until > host->next)
        host->next = until;
    sn_pace_update(p, host);
}

void sn_pace_set_rules(sn_pace *p, sn_host *host, sn_rules_state state, void *rules, size_t bytes)
{
    drop_rules(p, host);
    host->rules_state = state;
    host->rules = rules;
    host->rules_bytes = bytes;
    p->rules_bytes += bytes;
    /* Drops the least recently used rules; they are fetched again when needed. */
    for (sn_host *old = p->oldest; old && p->rules_bytes > p->options.max_rules_bytes;
         old = old->newer) {
        if (old == host || !old->rules)
            continue;
        drop_rules(p, old);
        old->rules_state = SN_RULES_UNKNOWN;
    }
    sn_pace_update(p, host);
}

void sn_pace_drop_hosts(sn_pace *p, size_t count, sn_pace_dropped *give, void *user)
{
    for (sn_host *host = p->oldest; host && count > 0; host = host->newer) {
        if (!host->live || host->active > 0 || host->unsent > 0 || host->retries)
            continue;
        sn_queue_drop(p->options.queues, &host->queue);
        sn_pace_update(p, host);
        give(user, host);
        count--;
    }
}

size_t sn_pace_hosts(const sn_pace *p)
{
    return p->hosts;
}

size_t sn_pace_live(const sn_pace *p)
{
    return p->live;
}

size_t sn_pace_retries(const sn_pace *p)
{
    return p->retries;
}
