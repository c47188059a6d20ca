/* Keys that are known to be there.
 *
 * A bit never goes back: a key that was seen or added stays seen as long as the filter is there.
 * The last ones are kept, so that those that come again and again do not travel. Not for windows,
 * which forget, and not for counters. Two halves of different keys that meet here would have to be
 * the halves of a third.
 *
 * A server may lose keys after all (redis_known.c): with any sign of that all are forgotten, so
 * that who adds them again to be on the safe side really does. */
#include "redis/batch.h"

static bool can_recall(const sn_redis_set *set)
{
    return set->base.kind == SEEN_BLOOM && set->base.growth != SEEN_WINDOW;
}

static _Atomic uint64_t *place_of(sn_redis_set *set, seen_hash h)
{
    return set->recent[h.lo % SN_REDIS_RECENT];
}

void sn_batch_recall(sn_redis_set *set, sn_batch *b)
{
    unsigned epoch = sn_client_epoch(set->redis);
    if (atomic_exchange(&set->recent_epoch, epoch) != epoch)
        sn_batch_forget(set);
    for (size_t i = 0; can_recall(set) && i < b->keys; i++) {
        sn_batch_key *k = &b->key[i];
        _Atomic uint64_t *at = place_of(set, k->hash);
        if (atomic_load_explicit(&at[0], memory_order_relaxed) == k->hash.lo &&
            atomic_load_explicit(&at[1], memory_order_relaxed) == k->hash.hi) {
            k->answer = SEEN_BEFORE;
            k->recalled = true;
        }
    }
}

void sn_batch_remember(sn_redis_set *set, const sn_batch *b, bool added)
{
    if (b->epoch != sn_client_epoch(set->redis))
        return;
    for (size_t i = 0; can_recall(set) && i < b->keys; i++) {
        const sn_batch_key *k = &b->key[i];
        if (k->answer != SEEN_BEFORE && !(added && k->answer == SEEN_NEW))
            continue;
        _Atomic uint64_t *at = place_of(set, k->hash);
        atomic_store_explicit(&at[0], k->hash.lo, memory_order_relaxed);
        atomic_store_explicit(&at[1], k->hash.hi, memory_order_relaxed);
    }
    /* It went by meanwhile, and another thread may have emptied the memory before we wrote. */
    if (b->epoch != sn_client_epoch(set->redis))
        atomic_store(&set->recent_epoch, b->epoch);
}

/* Every place holds what can never be looked for there: a hash that belongs next door. */
void sn_batch_forget(sn_redis_set *set)
{
    for (uint64_t i = 0; i < SN_REDIS_RECENT; i++)
        atomic_store_explicit(&set->recent[i][0], i + 1, memory_order_relaxed);
}
