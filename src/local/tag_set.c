/* A growing set of tag lines: locks, batches, growth. See tag_set.h. */
#include "local/tag_set.h"

#include "base/error.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>

struct sn_tag_part_list {
    sn_tags_part part;
    struct sn_tag_part_list *next;
};

/* Buffers to sort a batch by partition; kept with the set, one per concurrent thread. */
struct sn_tag_scratch {
    struct sn_tag_scratch *next;
    unsigned start[SN_TAGS_PARTS + 1];
    uint16_t order[SN_TAGS_BATCH];
};

/* ---- open and close ---- */

static void init_locks(sn_tag_set *s)
{
    for (unsigned p = 0; p < SN_TAGS_PARTS; p++)
        pthread_mutex_init(&s->lock[p].mutex, NULL);
    pthread_mutex_init(&s->publishing, NULL);
    pthread_mutex_init(&s->scratch_lock, NULL);
}

seen_status sn_tag_set_init(sn_tag_set *s, const sn_tag_backing *backing, const sn_image *image,
                            const char *where, const sn_store_ops *ops, seen_error *error)
{
    s->backing = backing;
    s->kernel = sn_tags_kernel_best();
    s->shape = sn_tags_shape_of(image->extra);
    s->image = *image;
    s->adopted = image->sequence;
    s->base = (seen_set){
        .ops = ops,
        .where = strdup(where),
        .hasher = {.kind = image->hash, .seed = {image->seed[0], image->seed[1]}},
        .kind = image->kind,
        .growth = image->growth,
        .read_only = s->base.read_only,
    };
    if (!s->base.where)
        return sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", where);
    init_locks(s);
    return SEEN_OK;
}

void sn_tag_set_destroy(sn_tag_set *s)
{
    for (sn_tag_part_list *at = s->parts, *next; at; at = next) {
        next = at->next;
        free(at);
    }
    for (sn_tag_scratch *at = s->scratch, *next; at; at = next) {
        next = at->next;
        free(at);
    }
    if (s->base.where) {
        for (unsigned p = 0; p < SN_TAGS_PARTS; p++)
            pthread_mutex_destroy(&s->lock[p].mutex);
        pthread_mutex_destroy(&s->publishing);
        pthread_mutex_destroy(&s->scratch_lock);
    }
    free(s->base.where);
}

static seen_status no_memory(const sn_tag_set *s, seen_error *error)
{
    return sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", s->base.where);
}

static sn_tags_part part_at(const sn_tag_set *s, const sn_extent *extent, char *lines,
                            uint64_t *counts)
{
    return sn_tags_part_in(&s->shape, lines, extent->homes, extent->stash_words, counts);
}

bool sn_tag_set_install(sn_tag_set *s, unsigned p, const sn_extent *extent, char *lines)
{
    sn_tag_part_list *item = malloc(sizeof *item);
    if (!item)
        return false;
    item->part = part_at(s, extent, lines, s->counts[p]);
    item->next = s->parts;
    s->parts = item;
    __atomic_store_n(&s->part[p], &item->part, __ATOMIC_RELEASE);
    return true;
}

static const sn_tags_part *part_of(const sn_tag_set *s, unsigned p)
{
    return __atomic_load_n(&s->part[p], __ATOMIC_ACQUIRE);
}

/* ---- free space ---- */

static int by_offset(const void *a, const void *b)
{
    const sn_extent *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

void sn_tag_extents_sort(sn_extent *list, size_t count)
{
    qsort(list, count, sizeof *list, by_offset);
}

uint64_t sn_tag_extents_fit(const sn_extent *list, size_t count, uint64_t from, uint64_t to,
                            uint64_t bytes, uint64_t align)
{
    uint64_t at = (from + align - 1) / align * align;
    for (size_t i = 0; i < count; i++) {
        uint64_t end = list[i].offset + sn_extent_bytes(&list[i]);
        if (end <= at || list[i].homes == 0)
            continue;
        if (list[i].offset >= at + bytes)
            break;
        at = (end + align - 1) / align * align;
    }
    return at + bytes <= to ? at : UINT64_MAX;
}

/* ---- growth: with the lock of the partition ---- */

static uint64_t next_homes(const sn_tag_set *s, unsigned p, uint64_t homes)
{
    unsigned step = s->shape.steps * (sn_tags_level(homes) - sn_tags_level(SN_TAGS_HOMES));
    while (sn_tags_homes_at(&s->shape, p, step) <= homes)
        step++;
    return sn_tags_homes_at(&s->shape, p, step);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static seen_status take_extent(sn_tag_set *s, unsigned p, uint64_t homes, char **lines,
                               seen_error *error)
{
    sn_extent extent = {.homes = homes, .stash_words = sn_tags_stash_words(&s->shape, homes)};
    pthread_mutex_lock(&s->publishing);
    seen_status status = s->backing->take(s, &extent, lines, error);
    if (status == SEEN_OK)
        s->pending[p] = extent;
    pthread_mutex_unlock(&s->publishing);
    return status;
}

static void drop_extent(sn_tag_set *s, unsigned p)
{
    pthread_mutex_lock(&s->publishing);
    sn_extent extent = s->pending[p];
    s->pending[p] = (sn_extent){0};
    s->backing->give_back(s, &extent);
    pthread_mutex_unlock(&s->publishing);
}

/* Replaces the old partition by the new one. Until here the counters are those of the old
 * partition: a process that is killed before leaves them unchanged. */
static seen_status publish_part(sn_tag_set *s, unsigned p, char *lines, const uint64_t counts[2],
                                seen_error *error)
{
    pthread_mutex_lock(&s->publishing);
    sn_extent old = s->image.part[p];
    uint64_t sequence = s->image.sequence;
    sn_tags_part *before = s->part[p];
    seen_status status = SEEN_OK;
    s->image.part[p] = s->pending[p];
    s->image.sequence++;
    if (!sn_tag_set_install(s, p, &s->pending[p], lines))
        status = no_memory(s, error);
    else
        status = s->backing->publish(s, error);
    if (status == SEEN_OK) {
        __atomic_store_n(&s->counts[p][0], counts[0], __ATOMIC_RELAXED);
        __atomic_store_n(&s->counts[p][1], counts[1], __ATOMIC_RELAXED);
        s->pending[p] = (sn_extent){0};
        /* Lookups that may still read the old lines must see the new sequence first. */
        atomic_thread_fence(memory_order_seq_cst);
        s->backing->give_back(s, &old);
    } else {
        __atomic_store_n(&s->part[p], before, __ATOMIC_RELEASE);
        s->image.part[p] = old;
        s->image.sequence = sequence;
    }
    pthread_mutex_unlock(&s->publishing);
    return status;
}

/* Rewrites partition p into one with at least this many home lines. */
static seen_status grow_to(sn_tag_set *s, unsigned p, uint64_t homes, seen_error *error)
{
    uint64_t began = now_ns();
    for (;; homes = next_homes(s, p, homes)) {
        char *lines;
        uint64_t counts[2] = {0};
        if (homes >> SN_TAGS_LEVEL_MAX)
            return sn_error_set(error, SEEN_ERR_FULL,
                                "%s: a set holds at most 10^12 keys; use several", s->base.where);
        seen_status status = take_extent(s, p, homes, &lines, error);
        if (status != SEEN_OK)
            return status;
        sn_tags_part to = part_at(s, &s->pending[p], lines, counts);
        if (!s->kernel->rewrite(&s->shape, part_of(s, p), &to)) {
            drop_extent(s, p);
            continue;
        }
        status = publish_part(s, p, lines, counts, error);
        if (status != SEEN_OK)
            drop_extent(s, p);
        uint64_t took = now_ns() - began, longest = atomic_load(&s->longest_ns);
        while (took > longest && !atomic_compare_exchange_weak(&s->longest_ns, &longest, took))
            ;
        return status;
    }
}

static seen_status grow(sn_tag_set *s, unsigned p, seen_error *error)
{
    return grow_to(s, p, next_homes(s, p, part_of(s, p)->homes), error);
}

static bool is_due(const sn_tags_part *part)
{
    return __atomic_load_n(&part->counts[0], __ATOMIC_RELAXED) >= part->limit ||
           __atomic_load_n(&part->counts[1], __ATOMIC_RELAXED) > part->stash_words / 2;
}

uint64_t sn_tag_set_longest(const sn_tag_set *s)
{
    return atomic_load(&s->longest_ns);
}

/* ---- add ---- */

static sn_tag_scratch *take_scratch(sn_tag_set *s)
{
    pthread_mutex_lock(&s->scratch_lock);
    sn_tag_scratch *scratch = s->scratch;
    if (scratch)
        s->scratch = scratch->next;
    pthread_mutex_unlock(&s->scratch_lock);
    return scratch ? scratch : malloc(sizeof *scratch);
}

static void keep_scratch(sn_tag_set *s, sn_tag_scratch *scratch)
{
    pthread_mutex_lock(&s->scratch_lock);
    scratch->next = s->scratch;
    s->scratch = scratch;
    pthread_mutex_unlock(&s->scratch_lock);
}

/* Stable: the first of equal keys stays the first. */
static void sort_batch(sn_tag_scratch *scratch, const seen_hash *h, size_t count)
{
    unsigned next[SN_TAGS_PARTS], at = 0;
    unsigned held[SN_TAGS_PARTS] = {0};
    for (size_t i = 0; i < count; i++)
        held[sn_tags_part_of(h[i])]++;
    for (unsigned p = 0; p < SN_TAGS_PARTS; p++) {
        scratch->start[p] = next[p] = at;
        at += held[p];
    }
    scratch->start[SN_TAGS_PARTS] = at;
    for (size_t i = 0; i < count; i++)
        scratch->order[next[sn_tags_part_of(h[i])]++] = (uint16_t)i;
}

/* Adds the keys of one partition, whose lock is held. Grows before it adds: a failure leaves the
 * keys undecided. */
static seen_status add_part(sn_tag_set *s, unsigned p, const seen_hash *h, uint16_t *order,
                            size_t count, seen_answer *answers, seen_error *error)
{
    while (count > 0) {
        if (is_due(part_of(s, p))) {
            seen_status status = grow(s, p, error);
            if (status != SEEN_OK)
                return status;
        }
        size_t undone = s->kernel->add(&s->shape, part_of(s, p), h, order, count, answers);
        if (undone == count || (undone > 0 && !is_due(part_of(s, p)))) {
            seen_status status = grow(s, p, error); /* no room for a single key */
            if (status != SEEN_OK)
                return status;
        }
        count = undone;
    }
    return SEEN_OK;
}

/* The next partition with keys, from p on; SN_TAGS_PARTS if there is none. */
static unsigned next_part(const sn_tag_scratch *scratch, unsigned p)
{
    while (p < SN_TAGS_PARTS && scratch->start[p] == scratch->start[p + 1])
        p++;
    return p;
}

static seen_status add_sorted(sn_tag_set *s, sn_tag_scratch *scratch, const seen_hash *h,
                              seen_answer *answers, seen_error *error)
{
    seen_status status = SEEN_OK;
    unsigned p = next_part(scratch, 0);
    while (p < SN_TAGS_PARTS && status == SEEN_OK) {
        unsigned at = scratch->start[p];
        pthread_mutex_lock(&s->lock[p].mutex);
        status = add_part(s, p, h, scratch->order + at, scratch->start[p + 1] - at, answers, error);
        pthread_mutex_unlock(&s->lock[p].mutex);
        p = next_part(scratch, p + 1);
    }
    return status;
}

static seen_status tag_check(seen_set *set, const seen_hash *h, size_t count, seen_answer *answers,
                             seen_error *error);

/* Whether all of a few keys are present, so that adding them changes nothing: a lookup costs less
 * than the system calls of a lock between processes. */
static bool all_present(sn_tag_set *s, const seen_hash *h, size_t count, seen_answer *answers)
{
    enum { FEW = 64 };
    if (!s->backing->locks(s) || count > FEW ||
        tag_check(&s->base, h, count, answers, NULL) != SEEN_OK)
        return false;
    size_t present = 0;
    while (present < count && answers[present] == SEEN_BEFORE)
        present++;
    return present == count;
}

enum { FEW_KEYS = 64 };

/* So few keys that sorting them by partition would cost more than a lock for each. Their lines are
 * prefetched. */
static seen_status add_few(sn_tag_set *s, const seen_hash *h, size_t count, seen_answer *answers,
                           seen_error *error)
{
    seen_status status = SEEN_OK;
    for (size_t i = 0; i < count; i++) {
        const sn_tags_part *part = part_of(s, sn_tags_part_of(h[i]));
        __builtin_prefetch(sn_tags_line(part, sn_tags_home(part, sn_tags_position(h[i]))));
    }
    for (size_t i = 0; i < count && status == SEEN_OK; i++) {
        unsigned p = sn_tags_part_of(h[i]);
        uint16_t order = 0;
        pthread_mutex_lock(&s->lock[p].mutex);
        status = add_part(s, p, h + i, &order, 1, answers + i, error);
        pthread_mutex_unlock(&s->lock[p].mutex);
    }
    return status;
}

static seen_status add_chunk(sn_tag_set *s, const seen_hash *h, size_t count, seen_answer *answers,
                             seen_error *error)
{
    if (all_present(s, h, count, answers))
        return SEEN_OK;
    memset(answers, SEEN_UNKNOWN, count);
    sn_tag_scratch *scratch = count > FEW_KEYS ? take_scratch(s) : NULL;
    if (count > FEW_KEYS && !scratch)
        return no_memory(s, error);
    if (scratch)
        sort_batch(scratch, h, count);
    seen_status status = s->backing->enter(s, error);
    if (status == SEEN_OK) {
        status = scratch ? add_sorted(s, scratch, h, answers, error)
                         : add_few(s, h, count, answers, error);
        s->backing->leave(s);
    }
    if (scratch)
        keep_scratch(s, scratch);
    return status;
}

static seen_status tag_add(seen_set *set, const seen_hash *h, size_t count, seen_answer *answers,
                           seen_error *error)
{
    sn_tag_set *s = (sn_tag_set *)set;
    for (size_t at = 0; at < count; at += SN_TAGS_BATCH) {
        size_t n = count - at < SN_TAGS_BATCH ? count - at : SN_TAGS_BATCH;
        seen_status status = add_chunk(s, h + at, n, answers + at, error);
        if (status != SEEN_OK) {
            memset(answers + at + n, SEEN_UNKNOWN, count - at - n);
            return status;
        }
    }
    return SEEN_OK;
}

/* ---- check ---- */

static uint64_t sequence_of(const sn_tag_set *s)
{
    return __atomic_load_n(s->sequence, __ATOMIC_ACQUIRE);
}

/* The sequence of the partitions, after changes published by other processes were adopted. */
static seen_status begin_read(sn_tag_set *s, uint64_t *sequence, seen_error *error)
{
    *sequence = sequence_of(s);
    if (__builtin_expect(*sequence == __atomic_load_n(&s->adopted, __ATOMIC_ACQUIRE), 1))
        return SEEN_OK;
    return s->backing->refresh(s, error);
}

/* Whether everything read since begin_read was valid. */
static bool end_read(const sn_tag_set *s, uint64_t sequence)
{
#ifndef __SANITIZE_THREAD__ /* it does not support fences; lines are read atomically there anyway  \
                             */
    atomic_thread_fence(memory_order_acquire);
#endif
    return sequence_of(s) == sequence;
}

static seen_status tag_check(seen_set *set, const seen_hash *h, size_t count, seen_answer *answers,
                             seen_error *error)
{
    sn_tag_set *s = (sn_tag_set *)set;
    for (size_t at = 0; at < count;) {
        uint64_t sequence;
        size_t n = count - at < SN_TAGS_LOOKUP ? count - at : SN_TAGS_LOOKUP;
        seen_status status = begin_read(s, &sequence, error);
        if (status != SEEN_OK) {
            memset(answers + at, SEEN_UNKNOWN, count - at);
            return status;
        }
        s->kernel->check(&s->shape, s->part, h + at, n, answers + at);
        if (end_read(s, sequence))
            at += n;
    }
    return SEEN_OK;
}

/* ---- one key ---- */

static seen_status tag_check_one(seen_set *set, seen_hash hash, seen_answer *answer,
                                 seen_error *error)
{
    sn_tag_set *s = (sn_tag_set *)set;
    for (;;) {
        uint64_t sequence;
        seen_answer got;
        seen_status status = begin_read(s, &sequence, error);
        if (status != SEEN_OK)
            return status;
        s->kernel->check_one(&s->shape, part_of(s, sn_tags_part_of(hash)), hash, &got);
        if (end_read(s, sequence)) {
            *answer = got;
            return SEEN_OK;
        }
    }
}

/* Holds the lock of one partition; no sorting needed. */
static seen_status tag_add_one(seen_set *set, seen_hash hash, seen_answer *answer,
                               seen_error *error)
{
    sn_tag_set *s = (sn_tag_set *)set;
    unsigned p = sn_tags_part_of(hash);
    uint16_t order = 0;
    seen_answer got = SEEN_UNKNOWN;
    if (all_present(s, &hash, 1, answer))
        return SEEN_OK;
    seen_status status = s->backing->enter(s, error);
    if (status != SEEN_OK)
        return status;
    pthread_mutex_lock(&s->lock[p].mutex);
    status = add_part(s, p, &hash, &order, 1, &got, error);
    pthread_mutex_unlock(&s->lock[p].mutex);
    s->backing->leave(s);
    if (status == SEEN_OK)
        *answer = got;
    return status;
}

/* ---- other operations ---- */

/* Tags are shared: two keys with the same tag have one slot, so removing it would remove both. */
static seen_status tag_remove(seen_set *set, const seen_hash *h, size_t count, seen_answer *answers,
                              seen_error *error)
{
    (void)h;
    memset(answers, SEEN_UNKNOWN, count);
    return sn_error_set(
        error, SEEN_ERR_KIND,
        "%s: keys cannot be removed from a growing set; create one of kind counting", set->where);
}

static seen_status tag_rotate(seen_set *set, seen_error *error)
{
    return sn_error_set(error, SEEN_ERR_KIND, "%s: only a window can rotate", set->where);
}

static seen_status tag_sync(seen_set *set, seen_error *error)
{
    sn_tag_set *s = (sn_tag_set *)set;
    return s->backing->sync(s, error);
}

static seen_status tag_image(seen_set *set, sn_image *image, seen_error *error)
{
    sn_tag_set *s = (sn_tag_set *)set;
    uint64_t sequence;
    seen_status status = begin_read(s, &sequence, error);
    if (status != SEEN_OK)
        return status;
    pthread_mutex_lock(&s->publishing);
    *image = s->image;
    pthread_mutex_unlock(&s->publishing);
    memset(image->boot, 0, sizeof image->boot);
    for (unsigned p = 0; p < SN_TAGS_PARTS; p++)
        for (unsigned i = 0; i < 2; i++)
            image->part[p].counts[i] = __atomic_load_n(&s->counts[p][i], __ATOMIC_RELAXED);
    return SEEN_OK;
}

static seen_status tag_copy_part(seen_set *set, unsigned p, sn_tags_part *copy, seen_error *error)
{
    sn_tag_set *s = (sn_tag_set *)set;
    for (;;) {
        uint64_t sequence;
        seen_status status = begin_read(s, &sequence, error);
        if (status != SEEN_OK)
            return status;
        const sn_tags_part *part = part_of(s, p);
        sn_extent extent = {.homes = part->homes, .stash_words = part->stash_words};
        uint64_t bytes = sn_extent_bytes(&extent);
        const uint64_t *from = (const uint64_t *)(const void *)part->lines;
        uint64_t *to = aligned_alloc(SN_LINE_BYTES,
                                     (bytes + SN_LINE_BYTES - 1) / SN_LINE_BYTES * SN_LINE_BYTES);
        uint64_t *counts = calloc(2, sizeof *counts);
        if (!to || !counts) {
            free(to);
            free(counts);
            return no_memory(s, error);
        }
        for (uint64_t i = 0; i < bytes / 8; i++)
            to[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
        counts[0] = __atomic_load_n(&part->counts[0], __ATOMIC_RELAXED);
        counts[1] = __atomic_load_n(&part->counts[1], __ATOMIC_RELAXED);
        *copy = part_at(s, &extent, (char *)to, counts);
        if (end_read(s, sequence))
            return SEEN_OK;
        sn_tags_part_free(copy);
    }
}

/* False positives were not added: the last of n keys was one with the probability of the current
 * rate, which grows about linearly. */
static seen_status tag_measure(seen_set *set, seen_info *info, seen_error *error)
{
    sn_tag_set *s = (sn_tag_set *)set;
    double slots = 0, tags = 0, keys = 0, rate = 0;
    for (unsigned p = 0; p < SN_TAGS_PARTS; p++) {
        sn_tags_part copy;
        seen_status status = tag_copy_part(set, p, &copy, error);
        if (status != SEEN_OK)
            return status;
        sn_tags_tally tally = sn_tags_measure(&s->shape, &copy);
        sn_tags_part_free(&copy);
        tags += tally.tags;
        keys += tally.keys;
        slots += tally.slots;
        rate += tally.rate / SN_TAGS_PARTS;
    }
    info->fill = slots > 0 ? tags / slots : 0;
    info->keys_estimated = keys * (1 + rate / 2);
    info->error_rate_now = rate < 1 ? rate : 1;
    info->sampled = false;
    return SEEN_OK;
}

static void tag_close(seen_set *set)
{
    sn_tag_set *s = (sn_tag_set *)set;
    s->backing->free(s);
}

/* ---- merge ---- */

typedef struct merging {
    sn_tag_set *into;
    unsigned p;
    seen_error *error;
    seen_status status;
} merging;

static bool merge_cell(void *context, const sn_tags_cell *cell, uint64_t first, uint64_t last)
{
    merging *m = context;
    for (;;) {
        const sn_tags_part *part = part_of(m->into, m->p);
        if (!is_due(part) && sn_tags_add_cell(&m->into->shape, part, cell, first, last))
            return true;
        m->status = grow(m->into, m->p, m->error);
        if (m->status != SEEN_OK)
            return false;
    }
}

/* Home lines for all tags of both, and at least as many as either has: in fewer lines tags would
 * lose bits. */
static uint64_t merged_homes(const sn_tag_set *into, unsigned p, const sn_tags_part *theirs)
{
    const sn_tags_part *mine = part_of(into, p);
    uint64_t homes = mine->homes, tags = mine->counts[0] + theirs->counts[0];
    while (homes < theirs->homes || sn_tags_limit(&into->shape, homes) < tags)
        homes = next_homes(into, p, homes);
    return homes;
}

static seen_status merge_part(sn_tag_set *into, unsigned p, const sn_tags_part *theirs,
                              const sn_tags_shape *shape, seen_error *error)
{
    merging m = {into, p, error, SEEN_OK};
    uint64_t homes = merged_homes(into, p, theirs);
    if (homes > part_of(into, p)->homes)
        m.status = grow_to(into, p, homes, error);
    if (m.status == SEEN_OK)
        sn_tags_walk(shape, theirs, merge_cell, &m);
    return m.status;
}

/* A partition of the same size is copied unchanged. One that has grown since the empty set was
 * created is merged. */
static seen_status tag_fill_part(seen_set *set, unsigned p, const sn_tags_part *copy,
                                 seen_error *error)
{
    sn_tag_set *s = (sn_tag_set *)set;
    const sn_tags_part *part = part_of(s, p);
    if (part->homes != copy->homes || part->stash_words != copy->stash_words)
        return merge_part(s, p, copy, &s->shape, error);
    memcpy(part->lines, copy->lines, sn_tags_bytes(copy->homes, copy->stash_words));
    memcpy(part->counts, copy->counts, 2 * sizeof *copy->counts);
    return SEEN_OK;
}

static seen_status tag_merge(seen_set *set, seen_set *from, seen_error *error)
{
    sn_tag_set *into = (sn_tag_set *)set, *other = sn_tag_set_of(from);
    for (unsigned p = 0; p < SN_TAGS_PARTS; p++) {
        sn_tags_part theirs = {0};
        seen_status status = tag_copy_part(&other->base, p, &theirs, error);
        if (status != SEEN_OK)
            return status;
        assert(theirs.counts);
        status = into->backing->enter(into, error);
        if (status == SEEN_OK) {
            pthread_mutex_lock(&into->lock[p].mutex);
            status = merge_part(into, p, &theirs, &other->shape, error);
            pthread_mutex_unlock(&into->lock[p].mutex);
            into->backing->leave(into);
        }
        sn_tags_part_free(&theirs);
        if (status != SEEN_OK)
            return status;
    }
    return SEEN_OK;
}

sn_tag_set *sn_tag_set_of(const seen_set *set)
{
    return set->ops == &sn_tag_heap_ops || set->ops == &sn_tag_file_ops
               ? (sn_tag_set *)(uintptr_t)set
               : NULL;
}

/* Takes the locks in the order of tag_set.h. */
static void heap_fork(seen_set *set, sn_fork_phase phase)
{
    sn_tag_set *s = (sn_tag_set *)set;
    if (phase == SN_FORK_CHILD) {
        init_locks(s);
        return;
    }
    int (*lock)(pthread_mutex_t *) =
        phase == SN_FORK_BEFORE ? pthread_mutex_lock : pthread_mutex_unlock;
    for (unsigned p = 0; p < SN_TAGS_PARTS; p++)
        lock(&s->lock[p].mutex);
    lock(&s->publishing);
    lock(&s->scratch_lock);
}

#define TAG_OPS(name, forking)                                                                     \
    {                                                                                              \
        .store = (name), .add = tag_add, .check = tag_check, .remove = tag_remove,                 \
        .add_one = tag_add_one, .check_one = tag_check_one, .rotate = tag_rotate,                  \
        .sync = tag_sync, .image = tag_image, .measure = tag_measure, .merge = tag_merge,          \
        .copy_part = tag_copy_part, .fill_part = tag_fill_part, .fork = (forking),                 \
        .close = tag_close                                                                         \
    }

const sn_store_ops sn_tag_heap_ops = TAG_OPS("memory", heap_fork);
const sn_store_ops sn_tag_file_ops = TAG_OPS("file", NULL);
