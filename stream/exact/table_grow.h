/* The exact table: memory and growth.
 *
 *     addresses   | group 0 . . . . . . | group 1 . . . . . . |      an eighth of the limit each
 *                  part 0 | part 1 | …   part 64 | part 65 | …      contiguous
 *
 * A group is dense from its beginning, so that it can use huge pages without leaving some half
 * empty: probes in small pages take twice as long because of page-table walks. The positions of the
 * parts in a group follow from their size alone and need no map, which would not fit into the L1
 * cache. To grow, the parts are processed from the last to the first: each is copied to a scratch
 * buffer, and its entries are inserted at the new position, which is behind all parts not yet
 * moved. Access is sequential and stays in the cache.
 *
 * Without a forecast a group grows by a fifth at a time. With a forecast of the final number of
 * entries it triples, in such a way that the last step reaches the final size: every second entry
 * is moved once, and the table is half full most of the time, so most searches end in the home
 * bucket. */
#ifndef SN_STREAM_EXACT_TABLE_GROW_H
#define SN_STREAM_EXACT_TABLE_GROW_H

#include "base/error.h"
#include "stream/exact/table_layout.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PARTS_MIN = 16, PARTS_BLIND = 512, PARTS_MAX = 4096, BUCKETS_FIRST = 16 };

#define BUCKET ((uint64_t)sizeof(sn_table_bucket))
#define PART_GOAL ((uint64_t)512 << 10) /* bytes of a part at its final size */
#define PAGE ((uint64_t)4 << 10)
#define HUGE_PAGE ((uint64_t)2 << 20)
#define HUGE_FROM ((uint64_t)32 << 20) /* minimum limit of a table that uses huge pages */
#define LIMIT_MAX ((uint64_t)1 << 45)
#define GROWTH 1.2
#define GROWTH_EXPECTED 3.0
#define TRUSTED 3.4        /* cap for forecasts, as a multiple of the current entries */
#define FILL 0.92          /* used slots of the fullest part at which a group grows */
#define FILL_HARD 0.96     /* the same if it cannot grow */
#define FILL_EXPECTED 0.84 /* average over all parts; some are fuller */

/* ---- Creation ------------------------------------------------------------------------------- */

static size_t choose_parts(uint64_t limit, uint64_t expected)
{
    bool known = expected && expected < limit / 16;
    uint64_t bytes = known ? expected * 16 : limit;
    size_t parts = PARTS_MIN;
    while (parts < (expected ? PARTS_MAX : PARTS_BLIND) && parts * PART_GOAL < bytes)
        parts *= 2;
    return parts;
}

static uint64_t fixed_bytes(const sn_table *table)
{
    return sizeof *table + table->parts * sizeof *table->part;
}

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static uint64_t group_bytes(const sn_table *table, uint32_t buckets)
{
    return round_up(((uint64_t)buckets << table->group_shift) * BUCKET, PAGE);
}

/* The largest size of a part with which all groups, plus one part as scratch space, stay within
 * the limit. */
static uint32_t most_buckets(const sn_table *table)
{
    uint64_t used = fixed_bytes(table) + SN_TABLE_GROUPS * PAGE;
    uint64_t most = table->limit > used ? (table->limit - used) / (table->parts + 1) / BUCKET : 0;
    return most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
}

static bool map_all(sn_table *table)
{
    table->part = calloc(table->parts, sizeof *table->part);
#ifdef SN_TABLE_COUNTS
    table->carry = calloc(SN_TABLE_CARRIES, sizeof *table->carry); /* pages are allocated on first
                                                                    * use */
    if (!table->carry)
        return false;
#endif
    uint64_t each = round_up(group_bytes(table, table->most), HUGE_PAGE);
    table->region_bytes = each * SN_TABLE_GROUPS + HUGE_PAGE;
    void *region = mmap(NULL, table->region_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED || !table->part) {
        table->region_bytes = region == MAP_FAILED ? 0 : table->region_bytes;
        table->region = region == MAP_FAILED ? NULL : region;
        return false;
    }
    table->region = region;
    char *first = table->region + (HUGE_PAGE - (uintptr_t)region % HUGE_PAGE) % HUGE_PAGE;
    for (unsigned i = 0; i < SN_TABLE_GROUPS; i++)
        table->group[i].bucket = (sn_table_bucket *)(void *)(first + i * each);
    return true;
}

seen_status sn_table_open(uint64_t limit, uint64_t expected, sn_table **table, seen_error *error)
{
    sn_table *made = calloc(1, sizeof *made);
    if (!made)
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for a table");
    made->limit = limit < LIMIT_MAX ? limit : LIMIT_MAX;
    made->parts = choose_parts(made->limit, expected);
    made->bits = (unsigned)__builtin_ctzll(made->parts);
    made->shift = 64 - made->bits;
    made->group_shift = made->bits - (unsigned)__builtin_ctz(SN_TABLE_GROUPS);
    made->most = most_buckets(made);
    pthread_mutex_init(&made->growing, NULL);
    if (!map_all(made)) {
        sn_table_close(made);
        return sn_error_set(error, SEEN_ERR_MEMORY,
                            "no memory for a table of %llu MiB; ask for less with -m",
                            (unsigned long long)(limit >> 20));
    }
    atomic_init(&made->bytes, fixed_bytes(made));
    *table = made;
    return SEEN_OK;
}

void sn_table_close(sn_table *table)
{
    if (!table)
        return;
    if (table->region)
        munmap(table->region, table->region_bytes);
    pthread_mutex_destroy(&table->growing);
#ifdef SN_TABLE_COUNTS
    free(table->carry);
#endif
    free(table->scratch);
    free(table->part);
    free(table);
}

void sn_table_clear(sn_table *table)
{
    madvise(table->region, table->region_bytes, MADV_DONTNEED);
    memset(table->part, 0, table->parts * sizeof *table->part);
    for (unsigned i = 0; i < SN_TABLE_GROUPS; i++) {
        atomic_store_explicit(&table->group[i].buckets, 0, memory_order_relaxed);
        table->group[i].grow_at = 0;
        table->group[i].taken = 0;
    }
    free(table->scratch);
    table->scratch = NULL;
    table->scratch_bytes = 0;
    atomic_store(&table->full, false);
    atomic_store(&table->bytes, fixed_bytes(table));
}

void sn_table_empty(sn_table *table)
{
    for (unsigned i = 0; i < SN_TABLE_GROUPS; i++)
        memset(table->group[i].bucket, 0, table->group[i].taken);
    for (size_t i = 0; i < table->parts; i++)
        table->part[i].used = 0;
#ifdef SN_TABLE_COUNTS
    table->carries = 0;
#endif
    atomic_store(&table->full, false);
}

/* Buckets per part if the table holds this many entries. */
static double buckets_for(const sn_table *table, uint64_t entries)
{
    return (double)entries / (double)table->parts / SN_TABLE_SLOTS / FILL_EXPECTED + 1;
}

void sn_table_reserve(sn_table *table, uint64_t entries)
{
    double buckets = buckets_for(table, entries);
    if (buckets >= BUCKETS_FIRST && buckets <= table->most)
        table->first = (uint32_t)buckets;
}

void sn_table_expect(sn_table *table, uint64_t entries)
{
    double buckets = buckets_for(table, entries);
    table->likely = buckets < table->most ? (uint32_t)buckets : table->most;
}

/* ---- Growing -------------------------------------------------------------------------------- */

/* Copies the buckets of a part to scratch space and reinserts the entries. */
static void move_part(sn_table *table, sn_table_run from, sn_table_run to,
                      const sn_table_bucket *old_end)
{
    if (from.n)
        memcpy(table->scratch, from.bucket, from.n * BUCKET);
    sn_table_bucket *end = to.bucket + to.n;
    if (to.bucket < old_end) /* the memory behind it was never written */
        memset(to.bucket, 0, (size_t)((end < old_end ? end : old_end) - to.bucket) * BUCKET);
    for (uint32_t i = 0; i < from.n; i++) {
        const sn_table_bucket *b = &table->scratch[i];
        uint32_t state = atomic_load_explicit(&b->state, memory_order_relaxed);
        for (unsigned slot = 0; slot < (state & SN_TABLE_COUNT_MASK); slot++)
            sn_table_place(table, to, b->high[slot], b->low[slot], sn_table_marks_of(state, slot),
                           sn_table_count_of(b, slot));
    }
}

static void move_all(sn_table *table, const sn_table_group *group, uint32_t before, uint32_t after)
{
    size_t parts = (size_t)1 << table->group_shift;
    const sn_table_bucket *old_end = group->bucket + parts * before;
    for (size_t i = parts; i-- > 0;)
        move_part(table, (sn_table_run){group->bucket + i * before, before},
                  (sn_table_run){group->bucket + i * after, after}, old_end);
}

/* The next size of a group's parts. The sizes of group i are 1.2^(k + i / groups), different for
 * each group so that they do not all grow at the same time. With a forecast: its size, or a third
 * or a ninth of it …, as far as the cap allows. */
static uint32_t next_size(const sn_table *table, unsigned group, uint32_t now)
{
    if (!now && table->first)
        return table->first;
    double size = BUCKETS_FIRST * (1 + (GROWTH - 1) * group / SN_TABLE_GROUPS);
    while (size < now + 1.0)
        size *= GROWTH;
    double expected_size = table->likely;
    while (expected_size > TRUSTED * (now ? now : BUCKETS_FIRST))
        expected_size /= GROWTH_EXPECTED;
    if (size < expected_size)
        size = expected_size;
    /* If the limit leaves only little for a last step, take it with this one. */
    return size * (GROWTH + 1) / 2 < table->most ? (uint32_t)size : table->most;
}

/* Allocates memory for a larger group, in one call: a page fault for each small page would take
 * longer than filling it. If the system does not support that, page faults do it. The end of the
 * group stays on small pages. */
static void take_memory(sn_table *table, sn_table_group *group, uint64_t bytes)
{
    if (bytes <= group->taken)
        return;
    char *first = (char *)group->bucket;
    uint64_t whole = bytes / HUGE_PAGE * HUGE_PAGE;
    if (whole > group->taken && table->limit >= HUGE_FROM)
        madvise(first + group->taken, whole - group->taken, MADV_HUGEPAGE);
    madvise(first + group->taken, bytes - group->taken, MADV_POPULATE_WRITE);
    atomic_fetch_add(&table->bytes, bytes - group->taken);
    group->taken = bytes;
}

static bool take_scratch(sn_table *table, uint64_t bytes)
{
    if (bytes <= table->scratch_bytes)
        return true;
    sn_table_bucket *scratch = aligned_alloc(64, bytes);
    if (!scratch)
        return false;
    free(table->scratch);
    table->scratch = scratch;
    atomic_fetch_add(&table->bytes, bytes - table->scratch_bytes);
    table->scratch_bytes = bytes;
    return true;
}

static uint32_t share_of(uint32_t buckets, double fill)
{
    return (uint32_t)((double)buckets * SN_TABLE_SLOTS * fill);
}

bool sn_table_grow(sn_table *table, size_t part)
{
    size_t number = part >> table->group_shift;
    sn_table_group *group = &table->group[number];
    uint32_t before = atomic_load_explicit(&group->buckets, memory_order_relaxed);
    uint32_t after = next_size(table, (unsigned)number, before);
    if (after > before && take_scratch(table, before * BUCKET)) {
        take_memory(table, group, group_bytes(table, after));
        move_all(table, group, before, after);
        atomic_store_explicit(&group->buckets, after, memory_order_relaxed);
        group->grow_at = share_of(after, after < table->most ? FILL : FILL_HARD);
    } else
        group->grow_at = share_of(before, FILL_HARD);
    return table->part[part].used < group->grow_at;
}

/* Grows with all parts of the group locked. The mutex is taken first, by threads that hold no part
 * lock. */
bool sn_table_grow_shared(sn_table *table, size_t part)
{
    size_t parts = (size_t)1 << table->group_shift;
    sn_table_part *first = &table->part[part / parts * parts];
    pthread_mutex_lock(&table->growing);
    for (size_t i = 0; i < parts; i++)
        sn_table_lock(&first[i]);
    /* Another thread may have grown it in between. */
    bool room = table->part[part].used < sn_table_group_of(table, part)->grow_at;
    if (!room)
        room = sn_table_grow(table, part);
    for (size_t i = 0; i < parts; i++)
        sn_table_unlock(&first[i]);
    pthread_mutex_unlock(&table->growing);
    return room;
}

#endif
