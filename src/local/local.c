/* Sets in addressable memory: layers, locks, batches. See local.h. */
#include "local/local.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"
#include "filter/plan.h"
#include "local/lookup.h"
#include "set/layers.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

/* Buffers to sort a batch into stripes; kept with the set, one per concurrent thread. */
struct sn_local_scratch {
    struct sn_local_scratch *next;
    /* Indices in the batch of the keys of each stripe. The row length is odd: with rows at
     * multiples of 4096 all would map to the same cache set. */
    uint16_t picks[SN_STRIPES][SN_LOOKUP_MAX + 96];
    unsigned held[SN_STRIPES];
    seen_hash hash[SN_LOOKUP_MAX];
    seen_answer answer[SN_LOOKUP_MAX];
};

static sn_view *view_of(sn_local *l)
{
    return atomic_load_explicit(&l->view, memory_order_acquire);
}

/* ---- open and close ---- */

/* Two per processor: contention is rare, and the share of a batch per stripe is still worth a
 * lock. */
static unsigned stripes_wanted(void)
{
    unsigned processors = sn_thread_cpus();
    unsigned stripes = SN_STRIPES_LEAST;
    while (stripes < SN_STRIPES && stripes < 2 * processors)
        stripes *= 2;
    return stripes;
}

static void init_locks(sn_local *l)
{
    pthread_rwlockattr_t attr;
    pthread_rwlockattr_init(&attr);
#ifdef __GLIBC__
    /* A thread that must grow the set must not starve behind threads that add. */
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    pthread_rwlock_init(&l->mode, &attr);
    pthread_rwlockattr_destroy(&attr);
    for (int i = 0; i < SN_STRIPES; i++)
        atomic_init(&l->stripe[i].lock, false);
    atomic_init(&l->all.lock, false);
    pthread_mutex_init(&l->scratch_lock, NULL);
    pthread_mutex_init(&l->older, NULL);
}

seen_status sn_local_init(sn_local *l, const sn_local_backing *backing, const sn_image *image,
                          const char *where, seen_error *error)
{
    l->backing = backing;
    l->kernel = sn_kernel_for(image->kind);
    l->base.where = strdup(where);
    if (!l->base.where)
        return sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", where);
    l->base.hasher = (seen_hasher){.kind = image->hash, .seed = {image->seed[0], image->seed[1]}};
    l->base.kind = image->kind;
    l->base.growth = image->growth;
    l->limit = image->growth == SEEN_FIXED ? sn_layers_limit(&image->layer[0]) : 0;
    sn_local_divide(l, image, stripes_wanted());
    l->few = image->growth == SEEN_FIXED && l->kernel->add_one;
    init_locks(l);
    return SEEN_OK;
}

void sn_local_divide(sn_local *l, const sn_image *image, unsigned stripes)
{
    if (image->growth != SEEN_GROWING)
        while (image->layer[0].geometry.shards % stripes != 0)
            stripes /= 2;
    l->stripes = stripes;
}

void sn_local_destroy(sn_local *l)
{
    for (sn_view *view = view_of(l), *older; view; view = older) {
        older = view->older;
        free(view);
    }
    for (sn_local_scratch *scratch = l->scratch, *next; scratch; scratch = next) {
        next = scratch->next;
        free(scratch);
    }
    if (l->base.where) {
        pthread_rwlock_destroy(&l->mode);
        pthread_mutex_destroy(&l->scratch_lock);
        pthread_mutex_destroy(&l->older);
    }
    free(l->base.where);
}

static seen_status no_memory(const sn_local *l, seen_error *error)
{
    return sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", l->base.where);
}

/* ---- locks ---- */

typedef enum hold { SOLO, SHARED } hold;

/* For a few keys, exclusive access costs less than sorting them and locking their stripes, and
 * another thread that has it for as few will soon be done. */
static bool lock_alone(sn_local *l, size_t count)
{
    enum { FEW = 16, TRIES = 16, PAUSES = 4 };
    bool locked = pthread_rwlock_trywrlock(&l->mode) == 0;
    for (unsigned tries = 1; !locked && count <= FEW && tries < TRIES; tries++) {
        for (unsigned i = 0; i < PAUSES; i++)
            sn_thread_pause();
        locked = pthread_rwlock_trywrlock(&l->mode) == 0;
    }
    return locked;
}

static void lock_exclusive(sn_local *l)
{
    pthread_rwlock_wrlock(&l->mode);
    sn_few_exclude(l);
}

static void unlock(sn_local *l, hold how)
{
    if (how == SOLO)
        sn_few_admit(l);
    pthread_rwlock_unlock(&l->mode);
}

/* count: of keys to be added; 0: with exclusive access. */
static seen_status enter(sn_local *l, size_t count, hold *how, seen_error *error)
{
    enum { CROWD = 64 };
    *how = SOLO;
    if (count == 0) {
        lock_exclusive(l);
    } else if (atomic_load_explicit(&l->crowd, memory_order_relaxed) > 0) {
        atomic_fetch_sub_explicit(&l->crowd, 1, memory_order_relaxed);
        pthread_rwlock_rdlock(&l->mode);
        *how = SHARED;
    } else if (!lock_alone(l, count)) {
        /* Another thread is adding: do not try to lock exclusively for the next batches. */
        atomic_store_explicit(&l->crowd, CROWD, memory_order_relaxed);
        pthread_rwlock_rdlock(&l->mode);
        *how = SHARED;
    } else {
        sn_few_exclude(l);
    }
    seen_status status = l->backing->enter(l, error);
    if (status != SEEN_OK)
        unlock(l, *how);
    return status;
}

static void leave(sn_local *l, hold how)
{
    l->backing->leave(l);
    unlock(l, how);
}

/* ---- layers: exclusive access ---- */

static sn_view *copy_view(sn_local *l)
{
    const sn_view *from = view_of(l);
    sn_view *view = sn_view_take(l);
    if (view) {
        view->image = from->image;
        memcpy(view->bits, from->bits, sizeof view->bits);
    }
    return view;
}

static seen_status publish(sn_local *l, sn_view *view, seen_error *error)
{
    view->image.sequence++;
    seen_status status = l->backing->publish(l, view, error);
    if (status != SEEN_OK)
        sn_view_return(l, view);
    return status;
}

static seen_status open_next_layer(sn_local *l, seen_error *error)
{
    sn_view *view = copy_view(l);
    if (!view)
        return no_memory(l, error);
    sn_image *image = &view->image;
    sn_layer *layer = &image->layer[image->layers];
    char **bits = &view->bits[image->layers];
    seen_error why;
    seen_status status = sn_layers_next(image, layer, &why);
    if (status != SEEN_OK)
        sn_error_set(error, status, "%s: %s", l->base.where, why.message);
    else
        status = l->backing->open_layer(l, layer, bits, error);
    if (status != SEEN_OK) {
        sn_view_return(l, view);
        return status;
    }
    layer->born = sn_clock_now();
    __atomic_store_n(&l->added[image->layers], 0, __ATOMIC_RELAXED);
    image->current = image->layers++;
    return publish(l, view, error);
}

/* Release fence: a reader that sees the cleared words also sees keys re-added to a newer layer. */
static void clear_layer(sn_local *l, const sn_view *view, uint32_t i)
{
    sn_lookup_order();
    uint64_t words = sn_geometry_lines(&view->image.layer[i].geometry) * SN_LINE_WORDS;
    uint64_t *word = (uint64_t *)(void *)view->bits[i];
    for (uint64_t w = 0; w < words; w++)
        __atomic_store_n(word + w, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&l->added[i], 0, __ATOMIC_RELAXED);
}

/* The oldest generation is cleared before the image declares it the newest: a crash in between
 * loses only keys that were about to be dropped. */
static seen_status rotate_window(sn_local *l, seen_error *error)
{
    sn_view *view = copy_view(l);
    if (!view)
        return no_memory(l, error);
    sn_image *image = &view->image;
    uint32_t next = (image->current + 1) % image->layers;
    sn_layer *layer = &image->layer[next];
    if (layer->generation) {
        clear_layer(l, view, next);
        seen_status status = l->backing->sync(l, error);
        if (status != SEEN_OK) {
            sn_view_return(l, view);
            return status;
        }
    }
    __atomic_store_n(&l->added[next], 0, __ATOMIC_RELAXED);
    layer->generation = image->layer[image->current].generation + 1;
    layer->born = sn_clock_now();
    image->current = next;
    return publish(l, view, error);
}

/* ---- add ---- */

static bool rotation_due(const sn_image *image)
{
    return image->growth == SEEN_WINDOW && image->window_seconds &&
           sn_clock_now() >= image->layer[image->current].born + sn_layers_span(image);
}

/* The number of new keys the current layer accepts. */
static uint64_t limit_of(const sn_local *l, const sn_image *image)
{
    return image->growth == SEEN_FIXED ? l->limit : image->layer[image->current].capacity;
}

/* Reserves room for `count` new keys in the current layer; settle() returns the unused part.
 *
 * A process that is killed in between leaves its reservation in the counter of a file. A set that
 * is full or grows does so slightly early until it is opened the next time, and its error rate
 * still holds. A window would rotate early and drop recent keys: its reservations are kept in this
 * process, and other processes are locked out of the file. */
static bool claim(sn_local *l, const sn_image *image, uint64_t count)
{
    uint64_t *added = &l->added[image->current], before;
    bool window = image->growth == SEEN_WINDOW;
    if (window)
        before = atomic_fetch_add(&l->in_flight, count) + __atomic_load_n(added, __ATOMIC_RELAXED);
    else
        before = __atomic_fetch_add(added, count, __ATOMIC_RELAXED);
    if (!sn_layers_bounded(image) || before + count <= limit_of(l, image))
        return true;
    if (window)
        atomic_fetch_sub(&l->in_flight, count);
    else
        __atomic_fetch_sub(added, count, __ATOMIC_RELAXED);
    return false;
}

/* Updates the counter before releasing the reservation: another thread may count a key twice, but
 * never miss one. */
static void settle(sn_local *l, const sn_image *image, uint64_t count, uint64_t fresh)
{
    uint64_t *added = &l->added[image->current];
    if (image->growth == SEEN_WINDOW) {
        __atomic_fetch_add(added, fresh, __ATOMIC_RELAXED);
        atomic_fetch_sub(&l->in_flight, count);
    } else {
        __atomic_fetch_sub(added, count - fresh, __ATOMIC_RELAXED);
    }
}

/* ---- concurrent threads ---- */

static sn_local_scratch *take_scratch(sn_local *l)
{
    pthread_mutex_lock(&l->scratch_lock);
    sn_local_scratch *scratch = l->scratch;
    if (scratch)
        l->scratch = scratch->next;
    pthread_mutex_unlock(&l->scratch_lock);
    /* Mostly untouched: a stripe's share of a batch is small. */
    return scratch ? scratch : malloc(sizeof *scratch);
}

static void keep_scratch(sn_local *l, sn_local_scratch *scratch)
{
    pthread_mutex_lock(&l->scratch_lock);
    scratch->next = l->scratch;
    l->scratch = scratch;
    pthread_mutex_unlock(&l->scratch_lock);
}

/* A stripe is a whole number of shards in every layer that may be modified: in a growing counting
 * set these are all layers. */
static unsigned stripe_count(const sn_local *l, const sn_image *image)
{
    bool all = image->kind == SEEN_COUNTING && image->growth == SEEN_GROWING;
    uint64_t shards = l->stripes;
    for (uint32_t i = all ? 0 : image->current; i <= image->current; i++)
        while (image->layer[i].geometry.shards % shards != 0)
            shards /= 2;
    return (unsigned)shards;
}

static inline void pick(uint16_t *end[SN_STRIPES], const seen_hash *h, size_t i, unsigned stripes)
{
    *end[sn_local_stripe_of(h[i], stripes)]++ = (uint16_t)i;
}

/* Stable, so that the first of equal keys stays the first. Only indices are written, not hashes,
 * which the kernels read in place. Prefetches later hashes, one cache line of four at a time. */
static void sort_batch(sn_local_scratch *scratch, const seen_hash *h, size_t count,
                       unsigned stripes)
{
    enum { PREFETCH_HASHES = 512 };
    static_assert(4 * sizeof *h == SN_LINE_BYTES, "four hashes a line");
    uint16_t *end[SN_STRIPES];
    for (unsigned s = 0; s < stripes; s++)
        end[s] = scratch->picks[s];
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        __builtin_prefetch(h + i + PREFETCH_HASHES, 0, 3);
        pick(end, h, i, stripes);
        pick(end, h, i + 1, stripes);
        pick(end, h, i + 2, stripes);
        pick(end, h, i + 3, stripes);
    }
    for (; i < count; i++)
        pick(end, h, i, stripes);
    for (unsigned s = 0; s < stripes; s++)
        scratch->held[s] = (unsigned)(end[s] - scratch->picks[s]);
}

/* For sets with more than one layer, with counters, and for windows. */
static uint64_t add_stripe_by_copy(const sn_local *l, const sn_view *view,
                                   sn_local_scratch *scratch, unsigned stripe, const seen_hash *h,
                                   seen_answer *answers)
{
    const uint16_t *picks = scratch->picks[stripe];
    size_t count = scratch->held[stripe];
    for (size_t i = 0; i < count; i++)
        scratch->hash[i] = h[picks[i]];
    uint64_t fresh = sn_lookup_add(l->kernel, view, scratch->hash, count, scratch->answer);
    for (size_t i = 0; i < count; i++)
        answers[picks[i]] = scratch->answer[i];
    return fresh;
}

static uint64_t add_striped(sn_local *l, const sn_view *view, sn_local_scratch *scratch,
                            const seen_hash *h, size_t count, seen_answer *answers)
{
    unsigned stripes = stripe_count(l, &view->image);
    bool direct = sn_lookup_direct(l->kernel, view);
    sort_batch(scratch, h, count, stripes);
    uint64_t fresh = 0;
    unsigned s = (unsigned)sn_mulhi(h[0].lo, stripes);
    unsigned left = 0;
    for (unsigned i = 0; i < stripes; i++)
        left |= (unsigned)(scratch->held[i] > 0) << i;
    while (left) {
        s = sn_local_take_stripe(l, s, stripes, left);
        if (direct)
            sn_lookup_add_picked(l->kernel, view, h, scratch->picks[s], scratch->held[s], answers);
        else
            fresh += add_stripe_by_copy(l, view, scratch, s, h, answers);
        sn_spinlock_unlock(&l->stripe[s].lock);
        left &= ~(1u << s);
    }
    return direct ? sn_lookup_count_new(answers, count) : fresh;
}

/* The current layer has no room for `count` new keys, or a generation has expired. With exclusive
 * access: continues in pieces that certainly fit, and grows, rotates or refuses in between. */
static seen_status add_tight(sn_local *l, const seen_hash *h, size_t count, seen_answer *answers,
                             seen_error *error)
{
    enum { NEARLY = 256, LARGE = 65536 };
    for (size_t done = 0; done < count;) {
        const sn_view *view = view_of(l);
        const sn_image *image = &view->image;
        uint64_t capacity = image->layer[image->current].capacity;
        uint64_t added = __atomic_load_n(&l->added[image->current], __ATOMIC_RELAXED);
        uint64_t limit = limit_of(l, image), room = added < limit ? limit - added : 0;
        /* The last few keys of a layer would be added one by one: open the next layer slightly
         * early. */
        if (image->growth == SEEN_GROWING && room < NEARLY && capacity > LARGE)
            room = 0;
        bool fits = !sn_layers_bounded(image) || room > 0;
        seen_status status = SEEN_OK;
        if (rotation_due(image) || (!fits && image->growth == SEEN_WINDOW)) {
            status = rotate_window(l, error);
        } else if (fits) {
            size_t n = count - done;
            if (sn_layers_bounded(image) && n > room)
                n = (size_t)room;
            uint64_t fresh = sn_lookup_add(l->kernel, view, h + done, n, answers + done);
            __atomic_fetch_add(&l->added[image->current], fresh, __ATOMIC_RELAXED);
            done += n;
        } else if (image->growth == SEEN_GROWING) {
            status = open_next_layer(l, error);
        } else {
            size_t known =
                sn_lookup_present(l->kernel, view, h + done, count - done, answers + done);
            /* Counters count every addition, also of present keys. */
            if (image->kind == SEEN_COUNTING) {
                sn_lookup_add(l->kernel, view, h + done, known, answers + done);
                memset(answers + done + known, SEEN_UNKNOWN, count - done - known);
            }
            done += known;
            if (done < count)
                return sn_error_set(error, SEEN_ERR_FULL,
                                    "%s: the set is full (%llu keys); create a larger one, or "
                                    "one that grows",
                                    l->base.where, (unsigned long long)capacity);
        }
        if (status != SEEN_OK)
            return status;
    }
    return SEEN_OK;
}

static seen_status add_chunk(sn_local *l, const seen_hash *h, size_t count, seen_answer *answers,
                             seen_error *error)
{
    hold how;
    seen_status status = enter(l, count, &how, error);
    if (status != SEEN_OK)
        return status;
    const sn_view *view = view_of(l);
    if (!rotation_due(&view->image) && claim(l, &view->image, count)) {
        sn_local_scratch *scratch = how == SHARED ? take_scratch(l) : NULL;
        if (how == SHARED && !scratch) {
            settle(l, &view->image, count, 0);
            leave(l, how);
            return no_memory(l, error);
        }
        uint64_t fresh = how == SOLO ? sn_lookup_add(l->kernel, view, h, count, answers)
                                     : add_striped(l, view, scratch, h, count, answers);
        if (scratch)
            keep_scratch(l, scratch);
        settle(l, &view->image, count, fresh);
        leave(l, how);
        return SEEN_OK;
    }
    leave(l, how);
    status = enter(l, 0, &how, error);
    if (status != SEEN_OK)
        return status;
    status = add_tight(l, h, count, answers, error);
    leave(l, how);
    return status;
}

static seen_status local_check(seen_set *set, const seen_hash *h, size_t count,
                               seen_answer *answers, seen_error *error);

/* Whether all of a few keys are present, so that adding them changes nothing. Looking them up costs
 * less than the two system calls of a lock between processes, and crawlers mostly add present keys.
 * For a large batch the lock costs almost nothing. */
static bool all_present(sn_local *l, const seen_hash *h, size_t count, seen_answer *answers)
{
    enum { FEW = 64 };
    if (!l->backing->locks(l) || count > FEW || l->base.kind != SEEN_BLOOM ||
        l->base.growth == SEEN_WINDOW)
        return false;
    if (local_check(&l->base, h, count, answers, NULL) != SEEN_OK)
        return false;
    size_t present = 0;
    while (present < count && answers[present] == SEEN_BEFORE)
        present++;
    return present == count;
}

static seen_status local_add(seen_set *set, const seen_hash *h, size_t count, seen_answer *answers,
                             seen_error *error)
{
    sn_local *l = (sn_local *)set;
    if (l->few && count <= SN_FEW && sn_few_add(l, h, count, answers))
        return SEEN_OK;
    if (all_present(l, h, count, answers))
        return SEEN_OK;
    for (size_t at = 0; at < count; at += SN_LOOKUP_MAX) {
        size_t n = count - at < SN_LOOKUP_MAX ? count - at : SN_LOOKUP_MAX;
        memset(answers + at, SEEN_UNKNOWN, n);
        seen_status status = add_chunk(l, h + at, n, answers + at, error);
        if (status != SEEN_OK) {
            memset(answers + at + n, SEEN_UNKNOWN, count - at - n);
            return status;
        }
    }
    return SEEN_OK;
}

/* ---- check, remove ---- */

/* A window may rotate during a lookup. The oldest generation is checked first: a key that was added
 * again before that one was cleared is in a newer one by the time that is checked. If the window
 * has rotated by the end, the key may have been added to one that was already checked: check
 * again. */
static seen_status check_window(sn_local *l, const seen_hash *h, size_t count, seen_answer *answers,
                                seen_error *error)
{
    enum { TRIES = 100 };
    for (int i = 0; i < TRIES; i++) {
        uint64_t sequence = atomic_load(&l->sequence);
        sn_view *view = sn_view_acquire(l);
        sn_lookup_check(l->kernel, view, h, count, answers);
        sn_view_release(l, view);
        sn_lookup_order();
        seen_status status = sn_local_refresh(l, error);
        if (status != SEEN_OK || atomic_load(&l->sequence) == sequence)
            return status;
    }
    return SEEN_OK;
}

static seen_status local_check(seen_set *set, const seen_hash *h, size_t count,
                               seen_answer *answers, seen_error *error)
{
    sn_local *l = (sn_local *)set;
    seen_status status = sn_local_refresh(l, error);
    memset(answers, SEEN_NEW, count);
    if (status == SEEN_OK && set->growth != SEEN_WINDOW)
        sn_lookup_check(l->kernel, view_of(l), h, count, answers);
    for (size_t at = 0; status == SEEN_OK && set->growth == SEEN_WINDOW && at < count;) {
        size_t n = count - at < SN_LOOKUP_MAX ? count - at : SN_LOOKUP_MAX;
        status = check_window(l, h + at, n, answers + at, error);
        at += n;
    }
    if (status != SEEN_OK)
        memset(answers, SEEN_UNKNOWN, count);
    return status;
}

static seen_status local_remove(seen_set *set, const seen_hash *h, size_t count,
                                seen_answer *answers, seen_error *error)
{
    sn_local *l = (sn_local *)set;
    for (size_t at = 0; at < count; at += SN_LOOKUP_MAX) {
        size_t n = count - at < SN_LOOKUP_MAX ? count - at : SN_LOOKUP_MAX;
        hold how;
        seen_status status = enter(l, 0, &how, error);
        if (status != SEEN_OK) {
            memset(answers + at, SEEN_UNKNOWN, count - at);
            return status;
        }
        sn_lookup_remove(l->kernel, view_of(l), h + at, n, answers + at, l->added);
        sn_sample_recount(l, view_of(l), n);
        leave(l, how);
    }
    return SEEN_OK;
}

static seen_status local_rotate(seen_set *set, seen_error *error)
{
    sn_local *l = (sn_local *)set;
    hold how;
    seen_status status = enter(l, 0, &how, error);
    if (status != SEEN_OK)
        return status;
    status = rotate_window(l, error);
    leave(l, how);
    return status;
}

static seen_status local_sync(seen_set *set, seen_error *error)
{
    sn_local *l = (sn_local *)set;
    return l->backing->sync(l, error);
}

/* ---- info ---- */

static seen_status local_image(seen_set *set, sn_image *image, seen_error *error)
{
    sn_local *l = (sn_local *)set;
    seen_status status = sn_local_refresh(l, error);
    if (status != SEEN_OK)
        return status;
    sn_view *view = sn_view_acquire(l);
    *image = view->image;
    sn_view_release(l, view);
    uint64_t room = sn_few_room(l);
    for (uint32_t i = 0; i < image->layers; i++)
        image->layer[i].added = __atomic_load_n(&l->added[i], __ATOMIC_RELAXED);
    if (l->few) {
        uint64_t *added = &image->layer[0].added;
        *added -= room < *added ? room : *added;
    }
    return SEEN_OK;
}

static seen_status local_measure(seen_set *set, seen_info *info, seen_error *error)
{
    sn_local *l = (sn_local *)set;
    seen_status status = sn_local_refresh(l, error);
    if (status != SEEN_OK)
        return status;
    sn_view *view = sn_view_acquire(l);
    double wrong = 0, keys = 0, set_cells = 0, cells = 0;
    for (uint32_t i = 0; i < view->image.layers; i++) {
        const sn_geometry *g = &view->image.layer[i].geometry;
        if (!sn_layers_live(&view->image, i))
            continue;
        double rate = 0, set_here = 0;
        for (uint64_t s = 0; s < g->shards; s++) {
            sn_tally tally = {0};
            sn_tally_lines(g, view->bits[i] + s * g->shard_lines * SN_LINE_BYTES, g->shard_lines,
                           &tally);
            rate += sn_tally_rate(g, &tally) / (double)g->shards;
            set_here += (double)tally.set;
        }
        double here = (double)sn_geometry_lines(g) * sn_geometry_cells(g);
        keys += sn_layers_keys(&view->image, sn_plan_keys(g, set_here / here), wrong);
        wrong += rate * (1 - wrong); /* 1 - (1 - wrong) * (1 - rate), without cancellation */
        set_cells += set_here;
        cells += here;
    }
    sn_view_release(l, view);
    info->fill = cells > 0 ? set_cells / cells : 0;
    info->keys_estimated = keys;
    info->error_rate_now = wrong;
    info->sampled = false;
    return SEEN_OK;
}

/* ---- merging ---- */

static seen_status local_read(seen_set *set, uint32_t layer, uint64_t line, uint64_t lines,
                              void *out, seen_error *error)
{
    sn_local *l = (sn_local *)set;
    sn_view *view = sn_view_acquire(l);
    (void)error;
    assert(layer < view->image.layers);
    const uint64_t *from = (const uint64_t *)(void *)(view->bits[layer] + line * SN_LINE_BYTES);
    uint64_t *to = out;
    for (uint64_t i = 0; i < lines * SN_LINE_WORDS; i++)
        to[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
    sn_view_release(l, view);
    return SEEN_OK;
}

static seen_status local_merge_lines(seen_set *set, uint32_t layer, uint64_t line, uint64_t lines,
                                     const void *from, seen_error *error)
{
    sn_local *l = (sn_local *)set;
    hold how;
    seen_status status = enter(l, 0, &how, error);
    if (status != SEEN_OK)
        return status;
    sn_kernel_merge_lines(l->base.kind, view_of(l)->bits[layer] + line * SN_LINE_BYTES, from,
                          lines);
    leave(l, how);
    return SEEN_OK;
}

/* Takes the unused generations of a window into use, with the age of the current one, so that
 * nothing is dropped too early. Expired generations are cleared, so that their keys do not reappear
 * with the newer ones merged into them. */
static seen_status use_generations(sn_local *l, seen_error *error)
{
    sn_view *view = copy_view(l);
    if (!view)
        return no_memory(l, error);
    sn_image *image = &view->image;
    for (uint32_t i = 0; i < image->layers; i++)
        if (image->layer[i].generation && !sn_layers_live(image, i))
            clear_layer(l, view, i);
    for (uint32_t i = 0; i < image->layers; i++)
        if (!image->layer[i].generation) {
            image->layer[i].generation = 1;
            image->layer[i].born = image->layer[image->current].born;
        }
    return publish(l, view, error);
}

static seen_status local_ensure_layers(seen_set *set, uint32_t layers, seen_error *error)
{
    sn_local *l = (sn_local *)set;
    hold how;
    seen_status status = enter(l, 0, &how, error);
    if (status != SEEN_OK)
        return status;
    if (l->base.growth == SEEN_WINDOW)
        status = use_generations(l, error);
    while (status == SEEN_OK && view_of(l)->image.layers < layers)
        status = open_next_layer(l, error);
    leave(l, how);
    return status;
}

/* A merged generation gets the later of the two birth times, so that no key is dropped too
 * early. */
static seen_status merge_ages(sn_local *l, const sn_image *from, seen_error *error)
{
    sn_view *view = copy_view(l);
    if (!view)
        return no_memory(l, error);
    for (uint32_t i = 0; i < from->layers; i++) {
        sn_layer *layer = &view->image.layer[i];
        if (from->layer[i].generation && from->layer[i].born > layer->born)
            layer->born = from->layer[i].born;
    }
    return publish(l, view, error);
}

static void merge_counters(sn_local *l, const sn_image *from)
{
    const sn_view *view = view_of(l);
    for (uint32_t i = 0; i < from->layers; i++) {
        sn_sample sample = sn_sample_layer(&view->image.layer[i], view->bits[i], SN_SAMPLE_CAREFUL);
        uint64_t mine = __atomic_load_n(&l->added[i], __ATOMIC_RELAXED);
        uint64_t both =
            sn_sample_merge_counters(l->base.growth, &sample, mine, from->layer[i].added);
        __atomic_store_n(&l->added[i], both, __ATOMIC_RELAXED);
    }
}

static seen_status local_finish_merge(seen_set *set, const sn_image *from, seen_error *error)
{
    sn_local *l = (sn_local *)set;
    hold how;
    seen_status status = enter(l, 0, &how, error);
    if (status != SEEN_OK)
        return status;
    merge_counters(l, from);
    if (l->base.growth == SEEN_WINDOW)
        status = merge_ages(l, from, error);
    leave(l, how);
    return status;
}

static void local_close(seen_set *set)
{
    sn_local *l = (sn_local *)set;
    l->backing->free(l);
}

/* Takes the locks in the order of local.h; while mode is locked for writing no stripe is locked. */
static void heap_fork(seen_set *set, sn_fork_phase phase)
{
    sn_local *l = (sn_local *)set;
    if (phase == SN_FORK_BEFORE) {
        lock_exclusive(l);
        pthread_mutex_lock(&l->scratch_lock);
        pthread_mutex_lock(&l->older);
    } else if (phase == SN_FORK_PARENT) {
        pthread_mutex_unlock(&l->older);
        pthread_mutex_unlock(&l->scratch_lock);
        unlock(l, SOLO);
    } else {
        init_locks(l);
    }
}

#define LOCAL_OPS(name, forking)                                                                   \
    {                                                                                              \
        .store = (name), .add = local_add, .check = local_check, .remove = local_remove,           \
        .add_one = sn_local_add_one, .check_one = sn_local_check_one, .rotate = local_rotate,      \
        .sync = local_sync, .image = local_image, .measure = local_measure, .read = local_read,    \
        .merge_lines = local_merge_lines, .ensure_layers = local_ensure_layers,                    \
        .finish_merge = local_finish_merge, .fork = (forking), .close = local_close                \
    }

const sn_store_ops sn_heap_ops = LOCAL_OPS("memory", heap_fork);
const sn_store_ops sn_file_ops = LOCAL_OPS("file", NULL);
