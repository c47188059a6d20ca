/* One key or a few of a set of layers, without the steps of a batch. See local.h. */
#include "local/local.h"
#include "local/lookup.h"
#include "set/layers.h"

static sn_view *view_of(sn_local *l)
{
    return atomic_load_explicit(&l->view, memory_order_acquire);
}

__attribute__((noinline)) static bool has_in_layers(const sn_kernel *kernel, const sn_view *view,
                                                    seen_hash hash)
{
    bool found = false;
    for (uint32_t i = 0; i < view->image.layers && !found; i++)
        found = kernel->check_one(&view->image.layer[i].geometry, view->bits[i], hash);
    return found;
}

static inline bool has(const sn_kernel *kernel, const sn_view *view, seen_hash hash)
{
    return view->image.layers == 1
               ? kernel->check_one(&view->image.layer[0].geometry, view->bits[0], hash)
               : has_in_layers(kernel, view, hash);
}

/* The rest, in a function of its own: sn_local_check_one saves fewer registers without it. */
__attribute__((noinline)) static seen_status check_other(seen_set *set, seen_hash hash,
                                                         seen_answer *answer, seen_error *error)
{
    sn_local *l = (sn_local *)set;
    if (set->growth == SEEN_WINDOW || !l->kernel->check_one) {
        seen_answer got;
        seen_status status = set->ops->check(set, &hash, 1, &got, error);
        if (status == SEEN_OK)
            *answer = got;
        return status;
    }
    seen_status status = sn_local_refresh(l, error);
    if (status == SEEN_OK)
        *answer = has(l->kernel, view_of(l), hash) ? SEEN_BEFORE : SEEN_NEW;
    return status;
}

seen_status sn_local_check_one(seen_set *set, seen_hash hash, seen_answer *answer,
                               seen_error *error)
{
    sn_local *l = (sn_local *)set;
    if (set->growth == SEEN_WINDOW || !l->kernel->check_one || l->backing->refresh)
        return check_other(set, hash, answer, error);
    *answer = has(l->kernel, view_of(l), hash) ? SEEN_BEFORE : SEEN_NEW;
    return SEEN_OK;
}

/* ---- add ---- */

static uint64_t room_of(const sn_local_lock *at)
{
    return atomic_load_explicit(&at->room, memory_order_relaxed);
}

static void set_room(sn_local_lock *at, uint64_t room)
{
    atomic_store_explicit(&at->room, room, memory_order_relaxed);
}

/* Provides room for `count` new keys; with the lock. Takes more than needed while the set is far
 * from full, so that the counter, a cache line that all threads share, is seldom modified. If it
 * fails, other locks may still have unused room: the counter is exact with exclusive access.
 *
 * A file's counter includes no room between calls, because a killed process would leave it
 * there. */
static bool reserve(sn_local *l, const sn_image *image, sn_local_lock *at, uint64_t count)
{
    enum { AHEAD = 64, FAR = 64 * AHEAD };
    uint64_t have = room_of(at);
    if (have >= count)
        return true;
    uint64_t *added = &l->added[0], more = count - have;
    uint64_t limit = sn_layers_bounded(image) ? l->limit : UINT64_MAX;
    if (l->keep_room && __atomic_load_n(added, __ATOMIC_RELAXED) + FAR < limit)
        more += AHEAD;
    if (__atomic_fetch_add(added, more, __ATOMIC_RELAXED) + more > limit) {
        __atomic_fetch_sub(added, more, __ATOMIC_RELAXED);
        return false;
    }
    set_room(at, have + more);
    return true;
}

static void return_room(sn_local *l, sn_local_lock *at)
{
    uint64_t room = room_of(at);
    if (room == 0)
        return;
    __atomic_fetch_sub(&l->added[0], room, __ATOMIC_RELAXED);
    set_room(at, 0);
}

static void use_room(sn_local *l, sn_local_lock *at, uint64_t count)
{
    set_room(at, room_of(at) - count);
    if (!l->keep_room)
        return_room(l, at);
}

/* Locks all stripes at once: those that are locked now are waited for, and a thread that locks one
 * later finds `all` locked and gives way. Both write first and read then, sequentially consistent:
 * at least one of them sees the other. */
static void lock_all(sn_local *l)
{
    enum { SPINS = 1000 }; /* about the time of a stripe's share of a batch */
    sn_spinlock_lock(&l->all.lock);
    for (unsigned i = 0, tries = 0; i < l->stripes; i++) {
        while (atomic_load(&l->stripe[i].lock) && tries++ < SPINS)
            sn_thread_pause();
        sn_spinlock_wait(&l->stripe[i].lock);
    }
}

void sn_few_exclude(sn_local *l)
{
    if (!l->few)
        return;
    lock_all(l);
    return_room(l, &l->all);
    for (unsigned i = 0; i < l->stripes; i++)
        return_room(l, &l->stripe[i]);
}

void sn_few_admit(sn_local *l)
{
    if (l->few)
        sn_spinlock_unlock(&l->all.lock);
}

uint64_t sn_few_room(const sn_local *l)
{
    uint64_t room = room_of(&l->all);
    for (unsigned i = 0; i < l->stripes; i++)
        room += room_of(&l->stripe[i]);
    return room;
}

static bool try_stripe(sn_local *l, sn_local_lock *stripe)
{
    if (atomic_load_explicit(&stripe->lock, memory_order_relaxed) ||
        !sn_spinlock_try(&stripe->lock))
        return false;
    if (!atomic_load(&l->all.lock))
        return true;
    sn_spinlock_unlock(&stripe->lock);
    return false;
}

static inline void lock_stripe(sn_local *l, sn_local_lock *stripe)
{
    sn_spinlock_lock(&stripe->lock);
    while (atomic_load(&l->all.lock)) {
        sn_spinlock_unlock(&stripe->lock);
        sn_spinlock_wait(&l->all.lock);
        sn_spinlock_lock(&stripe->lock);
    }
}

/* Locks a stripe that is not done yet. Each batch starts with a different one, so that threads do
 * not queue up behind each other; a thread that finds all remaining ones locked spins for about the
 * time of a stripe's share of a batch, because sleeping costs more. */
unsigned sn_local_take_stripe(sn_local *l, unsigned from, unsigned stripes, unsigned left)
{
    enum { TRIES = 1000 };
    for (unsigned tries = 0;; tries++) {
        unsigned after = left & ~0u << from, s = (unsigned)__builtin_ctz(after ? after : left);
        if (tries == TRIES)
            lock_stripe(l, &l->stripe[s]);
        if (tries == TRIES || try_stripe(l, &l->stripe[s]))
            return s;
        if (tries >= stripes)
            sn_thread_pause();
        from = (s + 1) % SN_STRIPES;
    }
}

/* For a line that will be modified: a processor that reads it first would have to ask for it
 * twice. */
static inline void prefetch_own(const void *p)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
#else
    __builtin_prefetch(p, 1, 3);
#endif
}

static inline void prefetch_key(const sn_geometry *g, const char *bits, seen_hash h)
{
    if (g->spread == 1) {
        prefetch_own(bits + sn_place_only(g, h) * SN_LINE_BYTES);
        return;
    }
    uint64_t f, shard = sn_place_shard(g, h, &f);
    for (unsigned j = 0; j < g->spread; j++)
        prefetch_own(bits + (shard * g->shard_lines + sn_place_line(g, f, j)) * SN_LINE_BYTES);
}

/* SEEN_UNKNOWN: no room. */
static seen_answer add_alone(sn_local *l, seen_hash hash)
{
    const sn_view *view = view_of(l);
    const sn_geometry *g = &view->image.layer[0].geometry;
    char *bits = view->bits[0];
    sn_local_lock *stripe = &l->stripe[sn_local_stripe_of(hash, l->stripes)];
    seen_answer got = SEEN_UNKNOWN;
    prefetch_key(g, bits, hash);
    lock_stripe(l, stripe);
    uint64_t room = room_of(stripe);
    if (room == 0 && l->kernel->check_one(g, bits, hash)) {
        got = SEEN_BEFORE; /* a present key needs no room */
    } else if (room > 0 || reserve(l, &view->image, stripe, 1)) {
        bool had = l->kernel->add_one(g, bits, hash);
        use_room(l, stripe, !had);
        got = had ? SEEN_BEFORE : SEEN_NEW;
    }
    sn_spinlock_unlock(&stripe->lock);
    return got;
}

bool sn_few_add(sn_local *l, const seen_hash *h, size_t count, seen_answer *answers)
{
    if (count == 0 || sn_local_refresh(l, NULL) != SEEN_OK)
        return false;
    if (count == 1)
        return (answers[0] = add_alone(l, h[0])) != SEEN_UNKNOWN;
    const sn_view *view = view_of(l);
    lock_all(l);
    bool fits = reserve(l, &view->image, &l->all, count);
    if (fits)
        use_room(l, &l->all, sn_lookup_add(l->kernel, view, h, count, answers));
    sn_spinlock_unlock(&l->all.lock);
    return fits;
}

__attribute__((noinline)) static seen_status add_batch(seen_set *set, seen_hash hash,
                                                       seen_answer *answer, seen_error *error)
{
    seen_answer got;
    seen_status status = set->ops->add(set, &hash, 1, &got, error);
    if (status == SEEN_OK)
        *answer = got;
    return status;
}

seen_status sn_local_add_one(seen_set *set, seen_hash hash, seen_answer *answer, seen_error *error)
{
    sn_local *l = (sn_local *)set;
    if (!l->few || sn_local_refresh(l, NULL) != SEEN_OK)
        return add_batch(set, hash, answer, error);
    seen_answer got = add_alone(l, hash);
    if (got == SEEN_UNKNOWN)
        return add_batch(set, hash, answer, error);
    *answer = got;
    return SEEN_OK;
}
