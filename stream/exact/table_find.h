/* The exact table: looking up and marking. */
#ifndef SN_STREAM_EXACT_TABLE_FIND_H
#define SN_STREAM_EXACT_TABLE_FIND_H

#include "stream/exact/table_layout.h"

typedef struct found {
    sn_table_bucket *bucket; /* NULL: absent */
    unsigned slot;
} found;

/* A chunk of hashes, and the positions found so far. */
typedef struct chunk {
    size_t at;
    size_t count;
    size_t waiting;
    uint8_t later[SN_TABLE_CHUNK]; /* not in the home bucket: to be searched */
    found place[SN_TABLE_CHUNK];
} chunk;

typedef struct request {
    unsigned mark;
    int need;
    seen_answer *answers;
    sn_table *table;  /* counts: the table whose entries are changed, */
    uint64_t *counts; /* and their counts */
} request;

typedef void visitor(const request *r, size_t i, found place);

static inline void look_at_homes(const sn_table *table, const seen_hash *hashes, size_t total,
                                 chunk *c)
{
    c->waiting = 0;
    sn_table_fetch_chunk(table, hashes, c->at + c->count, total);
    for (size_t k = 0; k < c->count; k++) {
        seen_hash hash = hashes[c->at + k];
        sn_table_run run = sn_table_run_of(table, sn_table_part_of(table, hash.hi));
        uint32_t low = (uint32_t)(hash.lo >> 32);
        c->place[k].bucket = NULL;
        if (!run.n)
            continue;
        sn_table_bucket *b = run.bucket + sn_table_home(table, hash.hi, run.n);
        uint32_t state = atomic_load_explicit(&b->state, memory_order_relaxed);
        c->place[k].slot = sn_table_slot_with(b, state, hash.hi, low);
        if (c->place[k].slot < SN_TABLE_SLOTS)
            c->place[k].bucket = b;
        else if (state & SN_TABLE_PASSED)
            c->later[c->waiting++] = (uint8_t)k;
    }
    for (size_t k = 0; k < c->waiting; k++)
        sn_table_fetch_second(table, hashes[c->at + c->later[k]]);
}

static inline __attribute__((always_inline)) void
finish(const sn_table *table, const seen_hash *hashes, chunk *c, const request *r, visitor *visit)
{
    for (size_t k = 0; k < c->waiting; k++) {
        found *place = &c->place[c->later[k]];
        place->bucket = sn_table_find(table, hashes[c->at + c->later[k]], &place->slot);
    }
    for (size_t k = 0; k < c->count; k++)
        visit(r, c->at + k, c->place[k]);
}

/* Finds all hashes and visits them in order. A chunk is finished after the home buckets of the next
 * one were checked, when its second buckets are in the cache: a stall on a cache miss would cost
 * more than everything else. */
static inline __attribute__((always_inline)) void search(const sn_table *table,
                                                         const seen_hash *hashes, size_t count,
                                                         const request *r, visitor *visit)
{
    chunk chunks[2];
    unsigned turn = 0;
    sn_table_fetch_chunk(table, hashes, 0, count);
    for (size_t at = 0; at < count; at += SN_TABLE_CHUNK, turn ^= 1) {
        chunk *c = &chunks[turn];
        c->at = at;
        c->count = count - at < SN_TABLE_CHUNK ? count - at : SN_TABLE_CHUNK;
        look_at_homes(table, hashes, count, c);
        if (at)
            finish(table, hashes, &chunks[!turn], r, visit);
    }
    if (count)
        finish(table, hashes, &chunks[!turn], r, visit);
}

static inline uint32_t mark_bit(unsigned mark, unsigned slot)
{
    return (uint32_t)1 << (SN_TABLE_MARK_SHIFT + mark * SN_TABLE_SLOTS + slot);
}

static inline bool has_mark(found place, unsigned mark)
{
    return atomic_load_explicit(&place.bucket->state, memory_order_relaxed) &
           mark_bit(mark, place.slot);
}

static inline void visit_check(const request *r, size_t i, found place)
{
    r->answers[i] = place.bucket ? SEEN_BEFORE : SEEN_NEW;
}

static inline void visit_check_marked(const request *r, size_t i, found place)
{
    r->answers[i] = place.bucket && has_mark(place, r->mark) ? SEEN_BEFORE : SEEN_NEW;
}

/* Sets the mark if `need` allows it and it is clear; false if nothing changed. */
static inline bool set_mark(const request *r, found place)
{
    if (!place.bucket || (r->need >= 0 && !has_mark(place, (unsigned)r->need)) ||
        has_mark(place, r->mark))
        return false;
    atomic_fetch_or_explicit(&place.bucket->state, mark_bit(r->mark, place.slot),
                             memory_order_relaxed);
    return true;
}

static inline void visit_mark(const request *r, size_t i, found place)
{
    (void)i;
    set_mark(r, place);
}

static inline void visit_take(const request *r, size_t i, found place)
{
    r->answers[i] = set_mark(r, place) ? SEEN_NEW : SEEN_BEFORE;
}

void sn_table_check(const sn_table *table, const seen_hash *hashes, size_t count,
                    seen_answer *answers)
{
    request r = {.answers = answers};
    search(table, hashes, count, &r, visit_check);
}

void sn_table_check_marked(const sn_table *table, unsigned mark, const seen_hash *hashes,
                           size_t count, seen_answer *answers)
{
    assert(mark < SN_TABLE_MARKS);
    request r = {.mark = mark, .answers = answers};
    search(table, hashes, count, &r, visit_check_marked);
}

void sn_table_mark(sn_table *table, unsigned mark, int need, const seen_hash *hashes, size_t count)
{
    assert(mark < SN_TABLE_MARKS && need < SN_TABLE_MARKS);
    request r = {.mark = mark, .need = need};
    search(table, hashes, count, &r, visit_mark);
}

void sn_table_take(sn_table *table, unsigned mark, int need, const seen_hash *hashes, size_t count,
                   seen_answer *answers)
{
    assert(mark < SN_TABLE_MARKS && need < SN_TABLE_MARKS);
    request r = {.mark = mark, .need = need, .answers = answers};
    search(table, hashes, count, &r, visit_take);
}

static uint64_t buckets_on(const sn_table *table, size_t group)
{
    return (uint64_t)sn_table_run_of(table, group << table->group_shift).n << table->group_shift;
}

void sn_table_clear_mark(sn_table *table, unsigned mark)
{
    assert(mark < SN_TABLE_MARKS);
    uint32_t all = 0;
    for (unsigned slot = 0; slot < SN_TABLE_SLOTS; slot++)
        all |= mark_bit(mark, slot);
    for (size_t group = 0; group < SN_TABLE_GROUPS; group++)
        for (uint64_t i = 0; i < buckets_on(table, group); i++) {
            sn_table_bucket *b = &table->group[group].bucket[i];
            uint32_t state = atomic_load_explicit(&b->state, memory_order_relaxed);
            if (state & all)
                atomic_store_explicit(&b->state, state & ~all, memory_order_relaxed);
        }
}

/* cursor = bucket number within the group * number of groups + group. */
size_t sn_table_list(const sn_table *table, uint64_t *cursor, seen_hash *hashes, size_t room)
{
    size_t made = 0, group = *cursor % SN_TABLE_GROUPS;
    uint64_t at = *cursor / SN_TABLE_GROUPS;
    for (; group < SN_TABLE_GROUPS; group++, at = 0)
        for (; at < buckets_on(table, group); at++) {
            const sn_table_bucket *b = &table->group[group].bucket[at];
            uint32_t count =
                atomic_load_explicit(&b->state, memory_order_relaxed) & SN_TABLE_COUNT_MASK;
            if (made + count > room) {
                *cursor = at * SN_TABLE_GROUPS + group;
                return made;
            }
            for (uint32_t i = 0; i < count; i++)
                hashes[made++] =
                    sn_table_stored((seen_hash){.hi = b->high[i], .lo = (uint64_t)b->low[i] << 32});
        }
    *cursor = UINT64_MAX; /* past the end of the last group */
    return made;
}

#endif
