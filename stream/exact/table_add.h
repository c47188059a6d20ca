/* The exact table: adding.
 *
 *     hash   hi: 64 bits                          lo: 32 bits stored, 32 ignored
 *            |part|  position in the part ...  |
 *
 * The first bits of hi select a part of the table. A part is an array of buckets of one cache line,
 * five entries each:
 *
 *     high[5]  40 bytes | low[5]  20 bytes | state  4 bytes: count, passed, 4 x 5 marks
 *
 * An entry is in its home bucket, given by the rest of hi, or, if that is full, in a second bucket
 * given by low, or else in the next bucket with room, wrapping around at the end of the part.
 * `passed` is set if an entry was placed beyond this bucket: a search ends at the first bucket
 * without it. This is correct because entries are never removed.
 *
 * The parts of one group grow together (table_grow.h), by a fifth, when one of them is nine tenths
 * full. The sizes of the groups are staggered, so that they are always between 75 and 90 percent
 * full and the table as a whole grows smoothly: 64 bytes / 5 / 0.82 = 15.6 per entry. A table that
 * doubles would need three times that while it grows. */
#ifndef SN_STREAM_EXACT_TABLE_ADD_H
#define SN_STREAM_EXACT_TABLE_ADD_H

#include "stream/exact/table_layout.h"

uint64_t sn_table_count(const sn_table *table)
{
    uint64_t count = 0;
    for (size_t i = 0; i < table->parts; i++)
        count += table->part[i].used;
    return count;
}

uint64_t sn_table_bytes(const sn_table *table)
{
    return atomic_load_explicit(&table->bytes, memory_order_relaxed);
}

/* Checks only the home bucket of a hash. Returns false if that is not sufficient (the search must
 * continue, or the part must grow) and prefetches the next bucket. A hash that is undecided here
 * stays undecided until the queue is empty, so that the first of equal hashes stays the first. */
static inline bool add_at_home(sn_table *table, seen_hash hash, seen_answer *answer)
{
    size_t number = sn_table_part_of(table, hash.hi);
    sn_table_part *p = &table->part[number];
    sn_table_run run = sn_table_run_of(table, number);
    uint32_t low = (uint32_t)(hash.lo >> 32);
    if (!run.n)
        return false;
    sn_table_bucket *b = run.bucket + sn_table_home(table, hash.hi, run.n);
    uint32_t state = atomic_load_explicit(&b->state, memory_order_relaxed);
    if (sn_table_slot_with(b, state, hash.hi, low) < SN_TABLE_SLOTS) {
        *answer = SEEN_BEFORE;
        return true;
    }
    uint32_t count = state & SN_TABLE_COUNT_MASK;
    if (count == SN_TABLE_SLOTS || p->used >= sn_table_group_of(table, number)->grow_at)
        return false;
    sn_table_put(b, state, hash.hi, low, 0, 0);
    p->used++;
    *answer = SEEN_NEW;
    return true;
}

/* Adds one hash; SEEN_UNKNOWN if there is no room. *moved: the part has grown, and home buckets may
 * have room again. */
static seen_answer add_slowly(sn_table *table, seen_hash hash, bool *moved)
{
    unsigned slot;
    if (sn_table_find(table, hash, &slot))
        return SEEN_BEFORE;
    size_t number = sn_table_part_of(table, hash.hi);
    sn_table_part *p = &table->part[number];
    if (p->used >= sn_table_group_of(table, number)->grow_at) {
        *moved = true;
        if (!sn_table_grow(table, number))
            return SEEN_UNKNOWN;
    }
    sn_table_place(table, sn_table_run_of(table, number), hash.hi, (uint32_t)(hash.lo >> 32), 0, 0);
    p->used++;
    return SEEN_NEW;
}

/* The same for a hash that is not in its home bucket, which is full unless *moved: searches for the
 * hash and for a free slot in one pass. */
static seen_answer add_one(sn_table *table, seen_hash hash, bool *moved)
{
    size_t number = sn_table_part_of(table, hash.hi);
    sn_table_part *p = &table->part[number];
    if (*moved || p->used >= sn_table_group_of(table, number)->grow_at)
        return add_slowly(table, hash, moved);
    sn_table_run run = sn_table_run_of(table, number);
    uint32_t low = (uint32_t)(hash.lo >> 32);
    uint64_t at = sn_table_home(table, hash.hi, run.n), tries = 0;
    sn_table_bucket *b = run.bucket + at, *room = NULL;
    uint32_t state = atomic_load_explicit(&b->state, memory_order_relaxed), there = 0;
    for (bool searching = true;;) {
        searching = searching && (state & SN_TABLE_PASSED);
        if (!searching && room)
            break;
        if (!searching)
            atomic_store_explicit(&b->state, state | SN_TABLE_PASSED, memory_order_relaxed);
        at = sn_table_next(at, &tries, low, run.n);
        b = run.bucket + at;
        state = atomic_load_explicit(&b->state, memory_order_relaxed);
        if (searching && sn_table_slot_with(b, state, hash.hi, low) < SN_TABLE_SLOTS)
            return SEEN_BEFORE;
        if (!room && (state & SN_TABLE_COUNT_MASK) < SN_TABLE_SLOTS) {
            room = b;
            there = state;
        }
    }
    sn_table_put(room, there, hash.hi, low, 0, 0);
    p->used++;
    return SEEN_NEW;
}

/* Removes an entry. `passed` stays set, which only makes some searches longer. */
static void take_out(sn_table *table, seen_hash hash)
{
    unsigned slot;
    sn_table_bucket *b = sn_table_find(table, hash, &slot);
    assert(b);
    uint32_t state = atomic_load_explicit(&b->state, memory_order_relaxed);
    unsigned last = (state & SN_TABLE_COUNT_MASK) - 1;
    uint32_t marks = sn_table_marks_of(state, last);
    state &= ~(sn_table_marks_of(UINT32_MAX, slot) << slot | marks << last);
    b->high[slot] = b->high[last];
    b->low[slot] = b->low[last];
    sn_table_set_count(b, slot, sn_table_count_of(b, last));
    if (slot < last)
        state |= marks << slot;
    atomic_store_explicit(&b->state, state - 1, memory_order_relaxed);
    table->part[sn_table_part_of(table, hash.hi)].used--;
}

/* Removes the hashes that were added after one that found no room. */
static void undo(sn_table *table, const seen_hash *hashes, const seen_answer *answers, size_t first,
                 size_t end)
{
    for (size_t i = first; i < end; i++)
        if (answers[i] == SEEN_NEW)
            take_out(table, hashes[i]);
}

/* Hashes of a chunk that were not decided by their home bucket. */
typedef struct queue {
    size_t at; /* the chunk's first hash */
    size_t count;
    uint8_t behind[SN_TABLE_CHUNK]; /* offsets from `at` */
} queue;

/* Decides the queued hashes; false if there is no room for one, *stuck. */
static bool decide_queue(sn_table *table, const seen_hash *hashes, seen_answer *answers, queue *q,
                         bool *moved, size_t *stuck)
{
    for (size_t k = 0; k < q->count; k++) {
        size_t i = q->at + q->behind[k];
        answers[i] = add_one(table, hashes[i], moved);
        if (answers[i] == SEEN_UNKNOWN) {
            *stuck = i;
            return false;
        }
    }
    q->count = 0;
    return true;
}

/* A full table adds nothing. Threads that have not noticed may still be adding. */
static size_t add_known(sn_table *table, const seen_hash *hashes, size_t count,
                        seen_answer *answers)
{
    for (size_t i = 0; i < count; i++) {
        sn_table_part *p = &table->part[sn_table_part_of(table, hashes[i].hi)];
        unsigned slot;
        sn_table_lock(p);
        bool there = sn_table_find(table, hashes[i], &slot);
        sn_table_unlock(p);
        if (!there)
            return i;
        answers[i] = SEEN_BEFORE;
    }
    return count;
}

static bool is_full(const sn_table *table)
{
    return atomic_load_explicit(&table->full, memory_order_relaxed);
}

static void note_full(sn_table *table)
{
    atomic_store_explicit(&table->full, true, memory_order_relaxed);
}

/* The queue of a chunk is decided after the home buckets of the next chunk were checked: by then
 * its second buckets are in the cache. If a queued hash occurs again, it is queued again behind the
 * first, because a full home bucket stays full. When a part grows this no longer holds, so the
 * later queue is then decided at once. */
size_t sn_table_add(sn_table *table, const seen_hash *hashes, size_t count, seen_answer *answers)
{
    queue queues[2] = {{.count = 0}};
    size_t stuck;
    unsigned turn = 0;
    if (is_full(table))
        return add_known(table, hashes, count, answers);
    sn_table_fetch_chunk(table, hashes, 0, count);
    for (size_t at = 0, end; at < count; at = end, turn ^= 1) {
        queue *q = &queues[turn], *before = &queues[!turn];
        bool moved = false;
        end = count - at < SN_TABLE_CHUNK ? count : at + SN_TABLE_CHUNK;
        q->at = at;
        sn_table_fetch_chunk(table, hashes, end, count);
        for (size_t i = at; i < end; i++) {
            if (!add_at_home(table, hashes[i], &answers[i])) {
                answers[i] = SEEN_UNKNOWN;
                q->behind[q->count++] = (uint8_t)(i - at);
            }
        }
        for (size_t k = 0; k < q->count; k++)
            sn_table_fetch_second(table, hashes[at + q->behind[k]]);
        if (!decide_queue(table, hashes, answers, before, &moved, &stuck) ||
            ((moved || end == count) && !decide_queue(table, hashes, answers, q, &moved, &stuck))) {
            undo(table, hashes, answers, stuck + 1, end);
            note_full(table);
            return stuck;
        }
    }
    return count;
}

/* Adds one hash while other threads add; SEEN_UNKNOWN if there is no room. */
static seen_answer add_among_others(sn_table *table, seen_hash hash)
{
    size_t number = sn_table_part_of(table, hash.hi);
    sn_table_part *p = &table->part[number];
    for (;;) {
        seen_answer answer = SEEN_UNKNOWN;
        unsigned slot;
        sn_table_lock(p);
        if (sn_table_find(table, hash, &slot))
            answer = SEEN_BEFORE;
        else if (p->used < sn_table_group_of(table, number)->grow_at) {
            sn_table_place(table, sn_table_run_of(table, number), hash.hi,
                           (uint32_t)(hash.lo >> 32), 0, 0);
            p->used++;
            answer = SEEN_NEW;
        }
        sn_table_unlock(p);
        if (answer != SEEN_UNKNOWN || !sn_table_grow_shared(table, number))
            return answer;
    }
}

size_t sn_table_add_any(sn_table *table, const seen_hash *hashes, size_t count,
                        seen_answer *answers)
{
    if (is_full(table))
        return add_known(table, hashes, count, answers);
    sn_table_fetch_chunk(table, hashes, 0, count);
    for (size_t at = 0, end; at < count; at = end) {
        uint8_t later[SN_TABLE_CHUNK];
        size_t waiting = 0;
        end = count - at < SN_TABLE_CHUNK ? count : at + SN_TABLE_CHUNK;
        sn_table_fetch_chunk(table, hashes, end, count);
        for (size_t i = at; i < end; i++) {
            sn_table_part *p = &table->part[sn_table_part_of(table, hashes[i].hi)];
            sn_table_lock(p);
            if (!add_at_home(table, hashes[i], &answers[i]))
                later[waiting++] = (uint8_t)(i - at);
            sn_table_unlock(p);
        }
        for (size_t k = 0; k < waiting; k++)
            sn_table_fetch_second(table, hashes[at + later[k]]);
        for (size_t k = 0; k < waiting; k++) {
            size_t i = at + later[k];
            answers[i] = add_among_others(table, hashes[i]);
            if (answers[i] == SEEN_UNKNOWN) {
                note_full(table);
                return i;
            }
        }
    }
    return count;
}

#endif
