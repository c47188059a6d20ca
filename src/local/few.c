/* One key of a set of layers, without the steps of a batch. See local.h. */
#include "local/local.h"
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

/* A separate function, so that the hash of the others stays in registers. */
__attribute__((noinline)) static seen_status check_batch(seen_set *set, seen_hash hash,
                                                         seen_answer *answer, seen_error *error)
{
    seen_answer got;
    seen_status status = set->ops->check(set, &hash, 1, &got, error);
    if (status == SEEN_OK)
        *answer = got;
    return status;
}

seen_status sn_local_check_one(seen_set *set, seen_hash hash, seen_answer *answer,
                               seen_error *error)
{
    sn_local *l = (sn_local *)set;
    if (set->growth == SEEN_WINDOW || !l->kernel->check_one)
        return check_batch(set, hash, answer, error);
    seen_status status = sn_local_refresh(l, error);
    if (status == SEEN_OK)
        *answer = has(l->kernel, view_of(l), hash) ? SEEN_BEFORE : SEEN_NEW;
    return status;
}

/* With `mode` locked for writing. SEEN_UNKNOWN: the set is full. */
static seen_status add_alone(sn_local *l, seen_hash hash, seen_answer *got, seen_error *error)
{
    seen_status status = sn_local_refresh(l, error);
    if (status != SEEN_OK)
        return status;
    const sn_view *view = view_of(l);
    uint64_t added = __atomic_load_n(&l->added[0], __ATOMIC_RELAXED);
    if (added >= l->limit && sn_layers_bounded(&view->image))
        return SEEN_OK;
    bool had = l->kernel->add_one(&view->image.layer[0].geometry, view->bits[0], hash);
    if (!had)
        __atomic_store_n(&l->added[0], added + 1, __ATOMIC_RELAXED);
    *got = had ? SEEN_BEFORE : SEEN_NEW;
    return SEEN_OK;
}

/* A fixed set that no other thread or process is modifying: the key is added, and counted without a
 * reservation. All other sets use the batch path. */
seen_status sn_local_add_one(seen_set *set, seen_hash hash, seen_answer *answer, seen_error *error)
{
    sn_local *l = (sn_local *)set;
    seen_answer got = SEEN_UNKNOWN;
    seen_status status = SEEN_OK;
    if (set->growth == SEEN_FIXED && l->kernel->add_one && !l->backing->locks(l) &&
        atomic_load_explicit(&l->crowd, memory_order_relaxed) == 0 &&
        pthread_rwlock_trywrlock(&l->mode) == 0) {
        status = add_alone(l, hash, &got, error);
        pthread_rwlock_unlock(&l->mode);
    }
    if (status == SEEN_OK && got == SEEN_UNKNOWN)
        status = set->ops->add(set, &hash, 1, &got, error);
    if (status == SEEN_OK)
        *answer = got;
    return status;
}
