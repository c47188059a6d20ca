/* The layout of the exact table, and how a search proceeds in it.
 *
 * The same code is compiled twice: table.c has five entries in a cache line, counter.c (which
 * defines SN_TABLE_COUNTS) four entries with a count of 24 bits each. */
#ifndef SN_STREAM_EXACT_TABLE_LAYOUT_H
#define SN_STREAM_EXACT_TABLE_LAYOUT_H

#include "stream/exact/table.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#ifdef SN_TABLE_COUNTS
enum { SN_TABLE_SLOTS = 4 };
#else
enum { SN_TABLE_SLOTS = 5 };
#endif

enum {
    SN_TABLE_CHUNK = 16, /* hashes processed together: as many as a core can have outstanding cache
                          * misses */
    SN_TABLE_GROUPS = 8,
    SN_TABLE_COUNT_BITS = 3,
    SN_TABLE_COUNT_MASK = (1 << SN_TABLE_COUNT_BITS) - 1,
    SN_TABLE_PASSED = 1 << SN_TABLE_COUNT_BITS,
    SN_TABLE_MARK_SHIFT = SN_TABLE_COUNT_BITS + 1,
};

typedef struct sn_table_bucket {
    uint64_t high[SN_TABLE_SLOTS];
    uint32_t low[SN_TABLE_SLOTS];
#ifdef SN_TABLE_COUNTS
    uint16_t count_low[SN_TABLE_SLOTS];
    uint8_t count_high[SN_TABLE_SLOTS];
#endif
    _Atomic uint32_t state;
} sn_table_bucket;

static_assert(sizeof(sn_table_bucket) == 64, "a bucket is a cache line");

typedef struct sn_table_part {
    uint32_t used;
    atomic_uint lock; /* used by sn_table_add_any */
} sn_table_part;

/* Adjacent parts that grow together: part i of a group has the buckets [i * buckets, (i + 1) *
 * buckets). Modified only while all its parts are locked. */
typedef struct sn_table_group {
    sn_table_bucket *bucket;
    _Atomic uint32_t buckets; /* of each part */
    uint32_t grow_at;         /* entries of a part */
    uint64_t taken;           /* bytes with allocated memory, from the first bucket on */
} sn_table_group;

#ifdef SN_TABLE_COUNTS
/* How often the count of an entry has overflowed. Enough for 10^12 lines. */
typedef struct sn_table_carry {
    uint64_t high;
    uint64_t times;
    uint32_t low;
} sn_table_carry;

enum { SN_TABLE_CARRIES = 1 << 16 };
#endif

struct sn_table {
    sn_table_group group[SN_TABLE_GROUPS];
    sn_table_part *part;
    unsigned bits; /* of the part number */
    unsigned shift;
    unsigned group_shift; /* shift from part number to group number */
    size_t parts;
    uint64_t limit;
    uint32_t most;   /* maximum buckets of a part */
    uint32_t first;  /* buckets of a part when the first entry is added; 0: few */
    uint32_t likely; /* buckets of a part that are likely needed */
    atomic_bool
        full; /* a key was refused: adding it later could report a second occurrence as new */

    pthread_mutex_t growing; /* protects the rest; bytes may be read at any time */
    _Atomic uint64_t bytes;
    char *region; /* address range, with the groups aligned to huge pages */
    uint64_t region_bytes;
    sn_table_bucket *scratch;
    uint64_t scratch_bytes;

#ifdef SN_TABLE_COUNTS
    sn_table_carry *carry; /* for counts of 2^24 or more */
    size_t carries;
#endif
};

static inline size_t sn_table_part_of(const sn_table *table, uint64_t hi)
{
    return hi >> table->shift;
}

static inline const sn_table_group *sn_table_group_of(const sn_table *table, size_t part)
{
    return &table->group[part >> table->group_shift];
}

/* The buckets of a part. */
typedef struct sn_table_run {
    sn_table_bucket *bucket;
    uint32_t n; /* 0: still empty */
} sn_table_run;

static inline sn_table_run sn_table_run_of(const sn_table *table, size_t part)
{
    const sn_table_group *group = sn_table_group_of(table, part);
    uint32_t n = atomic_load_explicit(&group->buckets, memory_order_relaxed);
    size_t at = part & (((size_t)1 << table->group_shift) - 1);
    return (sn_table_run){group->bucket + at * n, n};
}

/* The home bucket of a hash among n buckets. Monotonic in hi, so that growing moves entries
 * sequentially. */
static inline uint64_t sn_table_home(const sn_table *table, uint64_t hi, uint32_t n)
{
    return ((hi << table->bits) >> 32) * n >> 32;
}

static inline uint64_t sn_table_second(uint32_t low, uint32_t n)
{
    return (uint64_t)low * n >> 32;
}

/* The next bucket of a search: from home to a second bucket selected by other bits, then linearly.
 * With the neighbour as second bucket, full buckets would cluster, and an unsuccessful search would
 * take 2 steps on average instead of 1.4. */
static inline uint64_t sn_table_next(uint64_t at, uint64_t *tries, uint32_t low, uint32_t n)
{
    if ((*tries)++ == 0)
        return sn_table_second(low, n);
    return at + 1 == n ? 0 : at + 1;
}

static inline void sn_table_fetch(const sn_table *table, seen_hash hash)
{
    sn_table_run run = sn_table_run_of(table, sn_table_part_of(table, hash.hi));
    __builtin_prefetch(run.bucket + sn_table_home(table, hash.hi, run.n), 1, 3);
}

/* Prefetches the home buckets of a chunk, so that many cache misses overlap. A loop that does
 * nothing else lets the processor run far ahead. */
static inline void sn_table_fetch_chunk(const sn_table *table, const seen_hash *hashes, size_t at,
                                        size_t count)
{
    size_t end = at + SN_TABLE_CHUNK < count ? at + SN_TABLE_CHUNK : count;
    for (size_t i = at; i < end; i++)
        sn_table_fetch(table, hashes[i]);
}

/* Prefetches the second bucket and the one behind it, in case that is full. */
static inline void sn_table_fetch_second(const sn_table *table, seen_hash hash)
{
    sn_table_run run = sn_table_run_of(table, sn_table_part_of(table, hash.hi));
    const sn_table_bucket *second = run.bucket + sn_table_second((uint32_t)(hash.lo >> 32), run.n);
    __builtin_prefetch(second, 1, 3);
    __builtin_prefetch(second + 1, 1, 3);
}

/* The slot that holds this hash; SN_TABLE_SLOTS if none does. Unrolled by hand, because the
 * compiler's code for a loop takes three times as long. */
static inline unsigned sn_table_slot_with(const sn_table_bucket *b, uint32_t state, uint64_t high,
                                          uint32_t low)
{
    unsigned hit = (unsigned)(b->high[0] == high) | (unsigned)(b->high[1] == high) << 1 |
                   (unsigned)(b->high[2] == high) << 2 | (unsigned)(b->high[3] == high) << 3;
#ifndef SN_TABLE_COUNTS
    hit |= (unsigned)(b->high[4] == high) << 4;
#endif
    hit &= (1u << (state & SN_TABLE_COUNT_MASK)) - 1;
    for (; hit; hit &= hit - 1) {
        unsigned slot = (unsigned)__builtin_ctz(hit);
        if (b->low[slot] == low)
            return slot;
    }
    return SN_TABLE_SLOTS;
}

/* The bucket and slot of a hash; NULL if absent. */
static inline sn_table_bucket *sn_table_find(const sn_table *table, seen_hash hash, unsigned *slot)
{
    sn_table_run run = sn_table_run_of(table, sn_table_part_of(table, hash.hi));
    if (!run.n)
        return NULL;
    uint32_t low = (uint32_t)(hash.lo >> 32);
    uint64_t at = sn_table_home(table, hash.hi, run.n), tries = 0;
    for (;;) {
        sn_table_bucket *b = run.bucket + at;
        uint32_t state = atomic_load_explicit(&b->state, memory_order_relaxed);
        *slot = sn_table_slot_with(b, state, hash.hi, low);
        if (*slot < SN_TABLE_SLOTS)
            return b;
        if (!(state & SN_TABLE_PASSED))
            return NULL;
        at = sn_table_next(at, &tries, low, run.n);
    }
}

/* The marks of one slot, shifted to slot 0. */
static inline uint32_t sn_table_marks_of(uint32_t state, unsigned slot)
{
    const uint32_t firsts =
        1u | 1u << SN_TABLE_SLOTS | 1u << 2 * SN_TABLE_SLOTS | 1u << 3 * SN_TABLE_SLOTS;
    static_assert(SN_TABLE_MARKS == 4, "all of them are spelled out");
    return state >> slot & firsts << SN_TABLE_MARK_SHIFT;
}

/* table_grow.h: makes room in a part and its neighbours; false if the limit does not allow it and
 * the part is full. sn_table_grow needs exclusive access; the other is for concurrent threads that
 * hold no part lock. */
bool sn_table_grow(sn_table *table, size_t part);
bool sn_table_grow_shared(sn_table *table, size_t part);

static inline void sn_table_lock(sn_table_part *p)
{
    for (unsigned spins = 0; atomic_exchange_explicit(&p->lock, 1, memory_order_acquire); spins++)
        if (spins > 100)
            sched_yield();
}

static inline void sn_table_unlock(sn_table_part *p)
{
    atomic_store_explicit(&p->lock, 0, memory_order_release);
}

static inline uint32_t sn_table_count_of(const sn_table_bucket *b, unsigned slot)
{
#ifdef SN_TABLE_COUNTS
    return b->count_low[slot] | (uint32_t)b->count_high[slot] << 16;
#else
    (void)b;
    (void)slot;
    return 0;
#endif
}

static inline void sn_table_set_count(sn_table_bucket *b, unsigned slot, uint32_t count)
{
#ifdef SN_TABLE_COUNTS
    b->count_low[slot] = (uint16_t)count;
    b->count_high[slot] = (uint8_t)(count >> 16);
#else
    (void)b;
    (void)slot;
    (void)count;
#endif
}

/* Inserts an entry into a bucket that has room. */
static inline void sn_table_put(sn_table_bucket *b, uint32_t state, uint64_t high, uint32_t low,
                                uint32_t marks, uint32_t count)
{
    uint32_t slot = state & SN_TABLE_COUNT_MASK;
    sn_table_set_count(b, slot, count);
    b->high[slot] = high;
    b->low[slot] = low;
    atomic_store_explicit(&b->state, (state + 1) | marks << slot, memory_order_relaxed);
}

/* Inserts an absent entry into the first bucket with room in its probe sequence. There must be
 * room. */
static inline void sn_table_place(const sn_table *table, sn_table_run run, uint64_t high,
                                  uint32_t low, uint32_t marks, uint32_t count)
{
    for (uint64_t at = sn_table_home(table, high, run.n), tries = 0;;
         at = sn_table_next(at, &tries, low, run.n)) {
        sn_table_bucket *b = run.bucket + at;
        uint32_t state = atomic_load_explicit(&b->state, memory_order_relaxed);
        if ((state & SN_TABLE_COUNT_MASK) < SN_TABLE_SLOTS) {
            sn_table_put(b, state, high, low, marks, count);
            return;
        }
        atomic_store_explicit(&b->state, state | SN_TABLE_PASSED, memory_order_relaxed);
    }
}

#endif
