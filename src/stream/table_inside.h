/* Between the files of the exact table: its layout, and the way of a search. */
#ifndef SN_STREAM_TABLE_INSIDE_H
#define SN_STREAM_TABLE_INSIDE_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#include "stream/table.h"

enum {
    SN_TABLE_SLOTS = 5,
    SN_TABLE_CHUNK = 64, /* hashes that are worked on together */
    SN_TABLE_SEGMENT_BUCKETS = 64,
    SN_TABLE_COUNT_BITS = 3,
    SN_TABLE_COUNT_MASK = (1 << SN_TABLE_COUNT_BITS) - 1,
    SN_TABLE_PASSED = 1 << SN_TABLE_COUNT_BITS,
    SN_TABLE_MARK_SHIFT = SN_TABLE_COUNT_BITS + 1,
};

typedef struct sn_table_bucket {
    uint64_t high[SN_TABLE_SLOTS];
    uint32_t low[SN_TABLE_SLOTS];
    _Atomic uint32_t state;
} sn_table_bucket;

static_assert(sizeof(sn_table_bucket) == 64, "a bucket is a cache line");

typedef struct sn_table_segment {
    sn_table_bucket bucket[SN_TABLE_SEGMENT_BUCKETS];
} sn_table_segment;

typedef struct sn_table_part {
    _Atomic uint32_t buckets; /* whole segments */
    uint32_t used;
    uint32_t grow_at;
    atomic_uint lock; /* sn_table_add_any */
} sn_table_part;

struct sn_table {
    sn_table_segment *segment;
    _Atomic uint32_t *map; /* segment k of part p is number map[k * parts + p] */
    uint64_t map_bytes;
    unsigned bits; /* of the part's number */
    unsigned shift;
    size_t parts;
    uint32_t rows; /* segments that a part may have */
    uint64_t limit;
    uint32_t first;   /* segments of a part, when its first entry comes */
    uint32_t likely;  /* segments of a part that will be filled, as far as is known */
    atomic_bool full; /* a key was refused: were one added later, it might be that one */

    pthread_mutex_t growing; /* guards the rest; bytes may be read at any time */
    _Atomic uint64_t bytes;
    char *region; /* of addresses, with `segment` at a boundary of huge pages */
    uint64_t region_bytes;
    uint64_t step;     /* bytes of memory that are taken at once */
    uint64_t taken;    /* bytes, from the first segment on, that have memory */
    uint32_t segments; /* in use: these from the first on */
    sn_table_bucket *scratch;
    uint64_t scratch_bytes;
    sn_table_part *part;
};

static inline size_t sn_table_part_of(const sn_table *table, uint64_t hi)
{
    return hi >> table->shift;
}

static inline uint32_t sn_table_buckets(const sn_table *table, size_t part)
{
    return atomic_load_explicit(&table->part[part].buckets, memory_order_relaxed);
}

static inline sn_table_bucket *sn_table_bucket_at(const sn_table *table, size_t part, uint64_t at)
{
    uint64_t row = at / SN_TABLE_SEGMENT_BUCKETS;
    uint32_t segment =
        atomic_load_explicit(&table->map[row * table->parts + part], memory_order_relaxed);
    return &table->segment[segment].bucket[at % SN_TABLE_SEGMENT_BUCKETS];
}

/* The home of a hash among n buckets: order is kept, so that growing moves entries in sequence. */
static inline uint64_t sn_table_home(const sn_table *table, uint64_t hi, uint32_t n)
{
    return ((hi << table->bits) >> 32) * n >> 32;
}

static inline uint64_t sn_table_second(uint32_t low, uint32_t n)
{
    return (uint64_t)low * n >> 32;
}

/* Where the search goes on from a bucket that was passed: from home to a second place, which other
 * bits choose, and then from bucket to bucket. With the neighbour as second place full buckets
 * would grow together, and a search in vain take 2 steps on average instead of 1.4. */
static inline uint64_t sn_table_next(uint64_t at, uint64_t *tries, uint32_t low, uint32_t n)
{
    if ((*tries)++ == 0)
        return sn_table_second(low, n);
    return at + 1 == n ? 0 : at + 1;
}

static inline void sn_table_fetch(const sn_table *table, seen_hash hash)
{
    size_t part = sn_table_part_of(table, hash.hi);
    uint64_t home = sn_table_home(table, hash.hi, sn_table_buckets(table, part));
    __builtin_prefetch(sn_table_bucket_at(table, part, home), 1, 3);
}

/* Homes are fetched a chunk before they are looked at, so that many cache misses overlap; in a loop
 * that does nothing else, so that the processor looks far ahead in it. */
static inline void sn_table_fetch_chunk(const sn_table *table, const seen_hash *hashes, size_t at,
                                        size_t count)
{
    size_t end = at + SN_TABLE_CHUNK < count ? at + SN_TABLE_CHUNK : count;
    for (size_t i = at; i < end; i++)
        sn_table_fetch(table, hashes[i]);
}

/* Where the search goes on when home does not end it, and the bucket behind, should that be full.
 */
static inline void sn_table_fetch_second(const sn_table *table, seen_hash hash)
{
    size_t part = sn_table_part_of(table, hash.hi);
    uint64_t at = sn_table_second((uint32_t)(hash.lo >> 32), sn_table_buckets(table, part));
    const sn_table_bucket *second = sn_table_bucket_at(table, part, at);
    __builtin_prefetch(second, 1, 3);
    __builtin_prefetch(second + 1, 1, 3);
}

/* Which slot holds this hash; SN_TABLE_SLOTS where none does. Spelled out, because what the
 * compiler makes of a loop takes three times as long. */
static inline unsigned sn_table_slot_with(const sn_table_bucket *b, uint32_t state, uint64_t high,
                                          uint32_t low)
{
    static_assert(SN_TABLE_SLOTS == 5, "all of them are spelled out");
    unsigned hit = (unsigned)(b->high[0] == high) | (unsigned)(b->high[1] == high) << 1 |
                   (unsigned)(b->high[2] == high) << 2 | (unsigned)(b->high[3] == high) << 3 |
                   (unsigned)(b->high[4] == high) << 4;
    hit &= (1u << (state & SN_TABLE_COUNT_MASK)) - 1;
    for (; hit; hit &= hit - 1) {
        unsigned slot = (unsigned)__builtin_ctz(hit);
        if (b->low[slot] == low)
            return slot;
    }
    return SN_TABLE_SLOTS;
}

/* The bucket and slot of a hash; NULL where it is not there. */
static inline sn_table_bucket *sn_table_find(const sn_table *table, seen_hash hash, unsigned *slot)
{
    size_t part = sn_table_part_of(table, hash.hi);
    uint32_t n = sn_table_buckets(table, part);
    if (!n)
        return NULL;
    uint32_t low = (uint32_t)(hash.lo >> 32);
    uint64_t at = sn_table_home(table, hash.hi, n), tries = 0;
    for (;;) {
        sn_table_bucket *b = sn_table_bucket_at(table, part, at);
        uint32_t state = atomic_load_explicit(&b->state, memory_order_relaxed);
        *slot = sn_table_slot_with(b, state, hash.hi, low);
        if (*slot < SN_TABLE_SLOTS)
            return b;
        if (!(state & SN_TABLE_PASSED))
            return NULL;
        at = sn_table_next(at, &tries, low, n);
    }
}

/* The marks of one slot, at the place of slot 0. */
static inline uint32_t sn_table_marks_of(uint32_t state, unsigned slot)
{
    const uint32_t firsts =
        1u | 1u << SN_TABLE_SLOTS | 1u << 2 * SN_TABLE_SLOTS | 1u << 3 * SN_TABLE_SLOTS;
    static_assert(SN_TABLE_MARKS == 4, "all of them are spelled out");
    return state >> slot & firsts << SN_TABLE_MARK_SHIFT;
}

/* table_grow.c: makes room in a part; false where the limit stands against it and it is full. */
bool sn_table_grow(sn_table *table, size_t part);

/* Puts an entry into a bucket, which has room. */
static inline void sn_table_put(sn_table_bucket *b, uint32_t state, uint64_t high, uint32_t low,
                                uint32_t marks)
{
    uint32_t slot = state & SN_TABLE_COUNT_MASK;
    b->high[slot] = high;
    b->low[slot] = low;
    atomic_store_explicit(&b->state, (state + 1) | marks << slot, memory_order_relaxed);
}

/* Puts an entry that is not there into the first bucket with room on its way. There is room. */
static inline void sn_table_place(const sn_table *table, size_t part, uint32_t n, uint64_t high,
                                  uint32_t low, uint32_t marks)
{
    for (uint64_t at = sn_table_home(table, high, n), tries = 0;;
         at = sn_table_next(at, &tries, low, n)) {
        sn_table_bucket *b = sn_table_bucket_at(table, part, at);
        uint32_t state = atomic_load_explicit(&b->state, memory_order_relaxed);
        if ((state & SN_TABLE_COUNT_MASK) < SN_TABLE_SLOTS) {
            sn_table_put(b, state, high, low, marks);
            return;
        }
        atomic_store_explicit(&b->state, state | SN_TABLE_PASSED, memory_order_relaxed);
    }
}

#endif
