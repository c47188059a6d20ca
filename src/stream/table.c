/* An exact set of hashes.
 *
 *     hash   hi: 64 bits                          lo: 32 bits kept, 32 not looked at
 *            |part|  place in the part ...  |
 *
 * The table is cut into parts by the first bits of hi. A part is an array of buckets of one cache
 * line, five entries each:
 *
 *     high[5]  40 bytes | low[5]  20 bytes | state  4 bytes: count, passed, 4 x 5 marks
 *
 * An entry lies in the bucket that the rest of hi points to, or, where that is full, in one that
 * low points to, or else in the next one with room, around the end of the part. `passed` says that
 * some entry went by this bucket: a search ends at the first bucket that nobody passed. Entries are
 * never removed, so that is right.
 *
 * A part grows alone, by a fifth, when it is nine tenths full: its buckets are copied aside and its
 * entries put into place again, all within the second-level cache. The sizes of the parts are
 * staggered, so that at any time they are between 75 and 90 percent full and the table as a whole
 * grows smoothly: 64 bytes / 5 / 0.82 = 15.6 an entry. A table that doubles would need three times
 * that while it grows. Each part has a span of addresses that is large enough for the limit;
 * memory is taken only where buckets are. */
#include "stream/table.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "stream/fail.h"

enum {
    SLOTS = 5,
    CHUNK = 64, /* hashes whose buckets are fetched while those before are worked on */
    PAGE = 4096,
    PAGE_BUCKETS = PAGE / 64,
    PARTS_MIN = 16,
    PARTS_MAX = 4096,
    COUNT_BITS = 3,
    COUNT_MASK = (1 << COUNT_BITS) - 1,
    PASSED = 1 << COUNT_BITS,
    MARK_SHIFT = COUNT_BITS + 1,
};

#define PART_GOAL ((uint64_t)128 << 10) /* bytes of a part when all is there */
#define GROWTH 1.2
#define FILL 0.90      /* of the slots, when a part grows */
#define FILL_HARD 0.96 /* when it may not */

typedef struct bucket {
    uint64_t high[SLOTS];
    uint32_t low[SLOTS];
    _Atomic uint32_t state;
} bucket;

static_assert(sizeof(bucket) == 64, "a bucket is a cache line");

typedef struct part {
    _Atomic uint32_t buckets;
    uint32_t used;
    uint32_t grow_at;
    atomic_uint lock; /* sn_table_add_any */
} part;

struct sn_table {
    char *region;
    uint64_t region_bytes;
    uint64_t span;  /* bytes of address space per part */
    unsigned shift; /* 64 - bits of the part number */
    unsigned bits;
    size_t parts;
    uint64_t limit;
    uint64_t first_pages; /* of a part, when its first entry comes */
    _Atomic uint64_t bytes;
    pthread_mutex_t growing; /* guards scratch */
    bucket *scratch;
    uint64_t scratch_bytes;
    part *part;
};

/* ---- Making --------------------------------------------------------------------------------- */

static size_t choose_parts(uint64_t limit, uint64_t expected)
{
    uint64_t bytes = limit;
    if (expected && expected < limit / 16)
        bytes = expected * 16;
    size_t parts = PARTS_MIN;
    while (parts < PARTS_MAX && parts * PART_GOAL < bytes)
        parts *= 2;
    return parts;
}

seen_status sn_table_open(uint64_t limit, uint64_t expected, sn_table **table, seen_error *error)
{
    if (limit > (uint64_t)1 << 45)
        limit = (uint64_t)1 << 45;
    sn_table *made = calloc(1, sizeof *made);
    if (!made)
        return sn_stream_fail(error, SEEN_ERR_MEMORY, "no memory for a table");
    made->parts = choose_parts(limit, expected);
    made->bits = (unsigned)__builtin_ctzll(made->parts);
    made->shift = 64 - made->bits;
    made->limit = limit;
    /* Parts differ a little in size; half as much again is plenty for any of them. */
    made->span = (limit / made->parts * 3 / 2 / PAGE + 8) * PAGE;
    made->region_bytes = made->span * made->parts;
    made->part = calloc(made->parts, sizeof *made->part);
    void *region = mmap(NULL, made->region_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!made->part || region == MAP_FAILED) {
        if (region != MAP_FAILED)
            munmap(region, made->region_bytes);
        free(made->part);
        free(made);
        return sn_stream_fail(error, SEEN_ERR_MEMORY,
                              "no memory for a table of %llu MiB; ask for less with -m",
                              (unsigned long long)(limit >> 20));
    }
    /* A huge page for the first bucket of each part would pass the limit at once. */
    madvise(region, made->region_bytes, MADV_NOHUGEPAGE);
    made->region = region;
    atomic_init(&made->bytes, sizeof *made + made->parts * sizeof *made->part);
    pthread_mutex_init(&made->growing, NULL);
    *table = made;
    return SEEN_OK;
}

void sn_table_reserve(sn_table *table, uint64_t entries)
{
    double buckets = (double)entries / (double)table->parts / SLOTS / (FILL - 0.03);
    uint64_t pages = (uint64_t)(buckets / PAGE_BUCKETS) + 1;
    if (pages > 1 && pages * PAGE * table->parts < table->limit && pages * PAGE <= table->span)
        table->first_pages = pages;
}

void sn_table_close(sn_table *table)
{
    if (!table)
        return;
    munmap(table->region, table->region_bytes);
    pthread_mutex_destroy(&table->growing);
    free(table->scratch);
    free(table->part);
    free(table);
}

void sn_table_clear(sn_table *table)
{
    madvise(table->region, table->region_bytes, MADV_DONTNEED);
    memset(table->part, 0, table->parts * sizeof *table->part);
    free(table->scratch);
    table->scratch = NULL;
    table->scratch_bytes = 0;
    atomic_store(&table->bytes, sizeof *table + table->parts * sizeof *table->part);
}

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

/* ---- Places --------------------------------------------------------------------------------- */

static inline bucket *buckets_of(const sn_table *table, size_t number)
{
    return (bucket *)(void *)(table->region + number * table->span);
}

static inline size_t part_of(const sn_table *table, uint64_t hi)
{
    return hi >> table->shift;
}

/* The home of a hash among n buckets: order is kept, so that growing moves entries in sequence. */
static inline uint64_t home_of(const sn_table *table, uint64_t hi, uint32_t n)
{
    return ((hi << table->bits) >> 32) * n >> 32;
}

/* Where the search goes on from a bucket that was passed: from home to a second place, which other
 * bits choose, and then from bucket to bucket. With the neighbour as second place full buckets
 * would grow together, and a search in vain take 2 steps on average instead of 1.4. */
static inline uint64_t next_of(uint64_t at, uint64_t *tries, uint32_t low, uint32_t n)
{
    if ((*tries)++ == 0)
        return (uint64_t)low * n >> 32;
    return at + 1 == n ? 0 : at + 1;
}

static inline uint32_t bucket_count(const sn_table *table, size_t number)
{
    return atomic_load_explicit(&table->part[number].buckets, memory_order_relaxed);
}

static inline void fetch(const sn_table *table, const seen_hash *hashes, size_t at, size_t end)
{
    for (size_t i = at; i < end; i++) {
        size_t number = part_of(table, hashes[i].hi);
        uint64_t home = home_of(table, hashes[i].hi, bucket_count(table, number));
        __builtin_prefetch(buckets_of(table, number) + home, 1, 2);
    }
}

/* Goes through a batch in chunks: returns where the chunk at `at` ends, and fetches the one behind
 * it, so that the cache misses of many hashes overlap. */
static inline size_t chunk_end(const sn_table *table, const seen_hash *hashes, size_t at,
                               size_t count)
{
    size_t end = count - at < CHUNK ? count : at + CHUNK;
    if (at == 0)
        fetch(table, hashes, 0, end);
    fetch(table, hashes, end, count - end < CHUNK ? count : end + CHUNK);
    return end;
}

/* Which slot holds this hash; SLOTS where none does. Spelled out, because what the compiler makes
 * of a loop takes three times as long. */
static inline unsigned slot_with(const bucket *b, uint32_t state, uint64_t high, uint32_t low)
{
    static_assert(SLOTS == 5, "all of them are spelled out");
    unsigned hit = (unsigned)(b->high[0] == high) | (unsigned)(b->high[1] == high) << 1 |
                   (unsigned)(b->high[2] == high) << 2 | (unsigned)(b->high[3] == high) << 3 |
                   (unsigned)(b->high[4] == high) << 4;
    hit &= (1u << (state & COUNT_MASK)) - 1;
    for (; hit; hit &= hit - 1) {
        unsigned slot = (unsigned)__builtin_ctz(hit);
        if (b->low[slot] == low)
            return slot;
    }
    return SLOTS;
}

/* The bucket and slot of a hash; NULL where it is not there. */
static inline bucket *find(const sn_table *table, seen_hash hash, unsigned *slot)
{
    size_t number = part_of(table, hash.hi);
    uint32_t n = bucket_count(table, number);
    if (!n)
        return NULL;
    bucket *buckets = buckets_of(table, number);
    uint32_t low = (uint32_t)(hash.lo >> 32);
    uint64_t at = home_of(table, hash.hi, n), tries = 0;
    for (;;) {
        bucket *b = &buckets[at];
        uint32_t state = atomic_load_explicit(&b->state, memory_order_relaxed);
        *slot = slot_with(b, state, hash.hi, low);
        if (*slot < SLOTS)
            return b;
        if (!(state & PASSED))
            return NULL;
        at = next_of(at, &tries, low, n);
    }
}

/* ---- Growing -------------------------------------------------------------------------------- */

/* Puts an entry into a bucket; false where that is full, and then it is passed. */
static inline bool put(bucket *b, uint64_t high, uint32_t low, uint32_t marks)
{
    uint32_t state = atomic_load_explicit(&b->state, memory_order_relaxed);
    uint32_t slot = state & COUNT_MASK;
    if (__builtin_expect(slot == SLOTS, 0)) {
        atomic_store_explicit(&b->state, state | PASSED, memory_order_relaxed);
        return false;
    }
    b->high[slot] = high;
    b->low[slot] = low;
    atomic_store_explicit(&b->state, (state + 1) | marks << slot, memory_order_relaxed);
    return true;
}

/* Puts an entry that is not there into the first bucket with room on its way. There is room. */
static inline void place(const sn_table *table, bucket *buckets, uint32_t n, uint64_t high,
                         uint32_t low, uint32_t marks)
{
    uint64_t at = home_of(table, high, n), tries = 0;
    while (!put(&buckets[at], high, low, marks))
        at = next_of(at, &tries, low, n);
}

/* The marks of one slot, at the place of slot 0. */
static inline uint32_t marks_of(uint32_t state, unsigned slot)
{
    const uint32_t firsts = 1u | 1u << SLOTS | 1u << 2 * SLOTS | 1u << 3 * SLOTS;
    static_assert(SN_TABLE_MARKS == 4, "all of them are spelled out");
    return state >> slot & firsts << MARK_SHIFT;
}

static void replace_all(sn_table *table, size_t number, uint32_t before, uint32_t after)
{
    bucket *buckets = buckets_of(table, number);
    if (!before)
        return;
    memcpy(table->scratch, buckets, before * sizeof *buckets);
    memset(buckets, 0, before * sizeof *buckets);
    for (uint32_t i = 0; i < before; i++) {
        const bucket *b = &table->scratch[i];
        uint32_t state = atomic_load_explicit(&b->state, memory_order_relaxed);
        for (unsigned slot = 0; slot < (state & COUNT_MASK); slot++)
            place(table, buckets, after, b->high[slot], b->low[slot], marks_of(state, slot));
    }
}

/* The next size of a part, in pages. The sizes of part i are 1.2^(k + i / parts): each part has
 * its own, so that they do not all grow at once. */
static uint64_t next_pages(const sn_table *table, size_t number)
{
    uint64_t now = bucket_count(table, number) / PAGE_BUCKETS;
    if (!now && table->first_pages)
        return table->first_pages;
    double size = 1 + (GROWTH - 1) * (double)number / (double)table->parts;
    while ((uint64_t)size <= now)
        size *= GROWTH;
    return (uint64_t)size;
}

/* The scratch that copying so many bytes takes: what there is, or some more than that. */
static uint64_t scratch_for(const sn_table *table, uint64_t bytes)
{
    return bytes <= table->scratch_bytes ? table->scratch_bytes
                                         : (bytes + bytes / 4 + 63) / 64 * 64;
}

static bool reserve_scratch(sn_table *table, uint64_t bytes)
{
    if (bytes == table->scratch_bytes)
        return true;
    bucket *scratch = aligned_alloc(64, bytes);
    if (!scratch)
        return false;
    free(table->scratch);
    table->scratch = scratch;
    atomic_fetch_add(&table->bytes, bytes - table->scratch_bytes);
    table->scratch_bytes = bytes;
    return true;
}

static uint32_t share_of(uint64_t buckets, double fill)
{
    return (uint32_t)((double)(buckets * SLOTS) * fill);
}

/* Makes room in a part; false where the limit stands against it and it is full. */
static bool grow(sn_table *table, size_t number)
{
    part *p = &table->part[number];
    uint64_t pages = next_pages(table, number), bytes = pages * PAGE;
    uint32_t before = bucket_count(table, number);
    uint64_t old_bytes = before * sizeof(bucket);
    bool grown = false;
    pthread_mutex_lock(&table->growing);
    uint64_t scratch = scratch_for(table, old_bytes);
    uint64_t taken = atomic_load(&table->bytes) + (scratch - table->scratch_bytes);
    if (bytes <= table->span && pages * PAGE_BUCKETS < UINT32_MAX / SLOTS &&
        taken + (bytes - old_bytes) <= table->limit && reserve_scratch(table, scratch)) {
        atomic_fetch_add(&table->bytes, bytes - old_bytes);
        uint32_t after = (uint32_t)(pages * PAGE_BUCKETS);
        replace_all(table, number, before, after);
        atomic_store_explicit(&p->buckets, after, memory_order_relaxed);
        p->grow_at = share_of(after, FILL);
        grown = true;
    }
    pthread_mutex_unlock(&table->growing);
    if (grown)
        return true;
    p->grow_at = share_of(before, FILL_HARD);
    return p->used < p->grow_at;
}

/* ---- Adding --------------------------------------------------------------------------------- */

/* Looks at the home of a hash only. False where that does not decide: the search must go on, or the
 * part must grow; what comes next is fetched meanwhile. A hash that stays undecided here is
 * undecided until nobody waits any more, so that of equal ones the first stays the first. */
static inline bool add_at_home(sn_table *table, seen_hash hash, seen_answer *answer)
{
    size_t number = part_of(table, hash.hi);
    part *p = &table->part[number];
    uint32_t low = (uint32_t)(hash.lo >> 32), n = bucket_count(table, number);
    if (!n)
        return false;
    bucket *buckets = buckets_of(table, number);
    bucket *b = buckets + home_of(table, hash.hi, n);
    uint32_t state = atomic_load_explicit(&b->state, memory_order_relaxed);
    if (slot_with(b, state, hash.hi, low) < SLOTS) {
        *answer = SEEN_BEFORE;
        return true;
    }
    uint32_t count = state & COUNT_MASK;
    if (count == SLOTS || p->used >= p->grow_at) {
        __builtin_prefetch(buckets + ((uint64_t)low * n >> 32), 1, 2);
        return false;
    }
    b->high[count] = hash.hi;
    b->low[count] = low;
    atomic_store_explicit(&b->state, state + 1, memory_order_relaxed);
    p->used++;
    *answer = SEEN_NEW;
    return true;
}

/* Adds one hash; SEEN_UNKNOWN where there is no room for it. */
static seen_answer add_one(sn_table *table, seen_hash hash)
{
    unsigned slot;
    if (find(table, hash, &slot))
        return SEEN_BEFORE;
    size_t number = part_of(table, hash.hi);
    part *p = &table->part[number];
    if (p->used >= p->grow_at && !grow(table, number))
        return SEEN_UNKNOWN;
    place(table, buckets_of(table, number), bucket_count(table, number), hash.hi,
          (uint32_t)(hash.lo >> 32), 0);
    p->used++;
    return SEEN_NEW;
}

static inline void lock(part *p)
{
    for (unsigned spins = 0; atomic_exchange_explicit(&p->lock, 1, memory_order_acquire); spins++)
        if (spins > 100)
            sched_yield();
}

static inline void unlock(part *p)
{
    atomic_store_explicit(&p->lock, 0, memory_order_release);
}

/* Takes an entry out again. `passed` stays: a search then goes on where it need not. */
static void take_out(sn_table *table, seen_hash hash)
{
    unsigned slot;
    bucket *b = find(table, hash, &slot);
    assert(b);
    uint32_t state = atomic_load_explicit(&b->state, memory_order_relaxed);
    unsigned last = (state & COUNT_MASK) - 1;
    uint32_t marks = marks_of(state, last);
    state &= ~(marks_of(UINT32_MAX, slot) << slot | marks << last);
    b->high[slot] = b->high[last];
    b->low[slot] = b->low[last];
    if (slot < last)
        state |= marks << slot;
    atomic_store_explicit(&b->state, state - 1, memory_order_relaxed);
    table->part[part_of(table, hash.hi)].used--;
}

/* Takes back what was added from a chunk behind a hash that found no room. */
static void undo(sn_table *table, const seen_hash *hashes, const seen_answer *answers, size_t first,
                 size_t end)
{
    for (size_t i = first; i < end; i++)
        if (answers[i] == SEEN_NEW)
            take_out(table, hashes[i]);
}

size_t sn_table_add(sn_table *table, const seen_hash *hashes, size_t count, seen_answer *answers)
{
    for (size_t at = 0, end; at < count; at = end) {
        uint8_t later[CHUNK];
        size_t waiting = 0;
        end = chunk_end(table, hashes, at, count);
        for (size_t i = at; i < end; i++)
            if (!add_at_home(table, hashes[i], &answers[i])) {
                answers[i] = SEEN_UNKNOWN;
                later[waiting++] = (uint8_t)(i - at);
            }
        for (size_t k = 0; k < waiting; k++) {
            size_t i = at + later[k];
            answers[i] = add_one(table, hashes[i]);
            if (answers[i] == SEEN_UNKNOWN) {
                undo(table, hashes, answers, i + 1, end);
                return i;
            }
        }
    }
    return count;
}

size_t sn_table_add_any(sn_table *table, const seen_hash *hashes, size_t count,
                        seen_answer *answers)
{
    for (size_t at = 0, end; at < count; at = end) {
        uint8_t later[CHUNK];
        size_t waiting = 0;
        end = chunk_end(table, hashes, at, count);
        for (size_t i = at; i < end; i++) {
            part *p = &table->part[part_of(table, hashes[i].hi)];
            lock(p);
            if (!add_at_home(table, hashes[i], &answers[i]))
                later[waiting++] = (uint8_t)(i - at);
            unlock(p);
        }
        for (size_t k = 0; k < waiting; k++) {
            size_t i = at + later[k];
            part *p = &table->part[part_of(table, hashes[i].hi)];
            lock(p);
            answers[i] = add_one(table, hashes[i]);
            unlock(p);
            if (answers[i] == SEEN_UNKNOWN)
                return i;
        }
    }
    return count;
}

/* ---- Asking and marking --------------------------------------------------------------------- */

typedef struct found {
    bucket *bucket; /* NULL: not there */
    unsigned slot;
} found;

/* Finds a chunk of hashes. Those that are not at home are looked for when the buckets behind have
 * been fetched: a second cache miss that is waited for would cost more than all the rest. */
static inline void find_chunk(const sn_table *table, const seen_hash *hashes, size_t count,
                              found *places)
{
    uint8_t later[CHUNK];
    size_t waiting = 0;
    for (size_t i = 0; i < count; i++) {
        size_t number = part_of(table, hashes[i].hi);
        uint32_t n = bucket_count(table, number);
        uint32_t low = (uint32_t)(hashes[i].lo >> 32);
        bucket *buckets = buckets_of(table, number);
        bucket *b = buckets + home_of(table, hashes[i].hi, n);
        places[i].bucket = NULL;
        if (!n)
            continue;
        uint32_t state = atomic_load_explicit(&b->state, memory_order_relaxed);
        places[i].slot = slot_with(b, state, hashes[i].hi, low);
        if (places[i].slot < SLOTS)
            places[i].bucket = b;
        else if (state & PASSED) {
            __builtin_prefetch(buckets + ((uint64_t)low * n >> 32), 1, 2);
            later[waiting++] = (uint8_t)i;
        }
    }
    for (size_t k = 0; k < waiting; k++) {
        size_t i = later[k];
        places[i].bucket = find(table, hashes[i], &places[i].slot);
    }
}

static inline uint32_t mark_bit(unsigned mark, unsigned slot)
{
    return (uint32_t)1 << (MARK_SHIFT + mark * SLOTS + slot);
}

static inline bool has_mark(found place, unsigned mark)
{
    return atomic_load_explicit(&place.bucket->state, memory_order_relaxed) &
           mark_bit(mark, place.slot);
}

void sn_table_check(const sn_table *table, const seen_hash *hashes, size_t count,
                    seen_answer *answers)
{
    found places[CHUNK];
    for (size_t at = 0, end; at < count; at = end) {
        end = chunk_end(table, hashes, at, count);
        find_chunk(table, hashes + at, end - at, places);
        for (size_t i = at; i < end; i++)
            answers[i] = places[i - at].bucket ? SEEN_BEFORE : SEEN_NEW;
    }
}

void sn_table_check_marked(const sn_table *table, unsigned mark, const seen_hash *hashes,
                           size_t count, seen_answer *answers)
{
    assert(mark < SN_TABLE_MARKS);
    found places[CHUNK];
    for (size_t at = 0, end; at < count; at = end) {
        end = chunk_end(table, hashes, at, count);
        find_chunk(table, hashes + at, end - at, places);
        for (size_t i = at; i < end; i++)
            answers[i] =
                places[i - at].bucket && has_mark(places[i - at], mark) ? SEEN_BEFORE : SEEN_NEW;
    }
}

/* Whether a mark may be set here and is not. */
static inline bool lacks_mark(found place, unsigned mark, int need)
{
    return place.bucket && (need < 0 || has_mark(place, (unsigned)need)) && !has_mark(place, mark);
}

void sn_table_mark(sn_table *table, unsigned mark, int need, const seen_hash *hashes, size_t count)
{
    assert(mark < SN_TABLE_MARKS && need < SN_TABLE_MARKS);
    found places[CHUNK];
    for (size_t at = 0, end; at < count; at = end) {
        end = chunk_end(table, hashes, at, count);
        find_chunk(table, hashes + at, end - at, places);
        for (size_t i = 0; i < end - at; i++)
            if (lacks_mark(places[i], mark, need))
                atomic_fetch_or_explicit(&places[i].bucket->state, mark_bit(mark, places[i].slot),
                                         memory_order_relaxed);
    }
}

void sn_table_take(sn_table *table, unsigned mark, int need, const seen_hash *hashes, size_t count,
                   seen_answer *answers)
{
    assert(mark < SN_TABLE_MARKS && need < SN_TABLE_MARKS);
    found places[CHUNK];
    for (size_t at = 0, end; at < count; at = end) {
        end = chunk_end(table, hashes, at, count);
        find_chunk(table, hashes + at, end - at, places);
        for (size_t i = 0; i < end - at; i++) {
            answers[at + i] = SEEN_BEFORE;
            if (!lacks_mark(places[i], mark, need))
                continue;
            atomic_fetch_or_explicit(&places[i].bucket->state, mark_bit(mark, places[i].slot),
                                     memory_order_relaxed);
            answers[at + i] = SEEN_NEW;
        }
    }
}

void sn_table_clear_mark(sn_table *table, unsigned mark)
{
    assert(mark < SN_TABLE_MARKS);
    uint32_t all = 0;
    for (unsigned slot = 0; slot < SLOTS; slot++)
        all |= mark_bit(mark, slot);
    for (size_t number = 0; number < table->parts; number++) {
        bucket *buckets = buckets_of(table, number);
        for (uint32_t i = 0; i < bucket_count(table, number); i++) {
            uint32_t state = atomic_load_explicit(&buckets[i].state, memory_order_relaxed);
            if (state & all)
                atomic_store_explicit(&buckets[i].state, state & ~all, memory_order_relaxed);
        }
    }
}

/* The cursor is part number * 2^32 + bucket. */
size_t sn_table_list(const sn_table *table, uint64_t *cursor, seen_hash *hashes, size_t room)
{
    size_t number = (size_t)(*cursor >> 32), made = 0;
    uint32_t at = (uint32_t)*cursor;
    for (; number < table->parts; number++, at = 0) {
        const bucket *buckets = buckets_of(table, number);
        for (; at < bucket_count(table, number); at++) {
            const bucket *b = &buckets[at];
            uint32_t count = atomic_load_explicit(&b->state, memory_order_relaxed) & COUNT_MASK;
            if (made + count > room)
                goto out;
            for (uint32_t i = 0; i < count; i++)
                hashes[made++] =
                    sn_table_kept((seen_hash){.hi = b->high[i], .lo = (uint64_t)b->low[i] << 32});
        }
    }
out:
    *cursor = (uint64_t)number << 32 | at;
    return made;
}
