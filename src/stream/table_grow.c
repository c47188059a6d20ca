/* The exact table: its memory, and how it grows.
 *
 *     addresses   | segment 0 | segment 1 | segment 2 | segment 3 | …        taken in steps
 *     map           part 5, 1st  part 0, 1st  part 5, 2nd  part 7, 1st
 *
 * Segments are handed out one after the other to whichever part grows, so that memory is dense: the
 * tables of pages that the processor walks for each probe stay in its cache, and where the system
 * gives huge pages, none is half empty. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "stream/fail.h"
#include "stream/table_inside.h"

enum { PARTS_MIN = 16, PARTS_MAX = 512 };

#define SEGMENT ((uint64_t)sizeof(sn_table_segment))
#define PART_GOAL ((uint64_t)256 << 10) /* bytes of a part when all is there */
#define HUGE_PAGE ((uint64_t)2 << 20)
#define STEP ((uint64_t)256 << 10)     /* bytes of memory that are taken at once, */
#define STEP_FROM ((uint64_t)32 << 20) /* where the limit is not small */
#define LIMIT_MAX ((uint64_t)1 << 45)
#define GROWTH 1.2
#define SURE 0.5       /* of the entries that are foreseen, or that the limit allows */
#define FILL 0.90      /* of the slots, when a part grows */
#define FILL_HARD 0.96 /* when it may not */

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

static void *map_memory(uint64_t bytes)
{
    void *region = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return region == MAP_FAILED ? NULL : region;
}

static bool map_all(sn_table *table)
{
    uint64_t segments = table->limit / SEGMENT + 1;
    table->region_bytes = (segments * SEGMENT / HUGE_PAGE + 2) * HUGE_PAGE;
    table->region = map_memory(table->region_bytes);
    /* Parts differ a little in size; half as much again is plenty for any of them. */
    table->rows = (uint32_t)(segments / table->parts * 3 / 2 + 8);
    table->map_bytes = table->rows * table->parts * sizeof *table->map;
    table->map = map_memory(table->map_bytes);
    table->part = calloc(table->parts, sizeof *table->part);
    if (!table->region || !table->map || !table->part)
        return false;
    uintptr_t first = ((uintptr_t)table->region + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    table->segment = (sn_table_segment *)first;
    table->step = table->limit >= STEP_FROM ? STEP : SEGMENT;
    return true;
}

static uint64_t fixed_bytes(const sn_table *table)
{
    return sizeof *table + table->parts * sizeof *table->part;
}

seen_status sn_table_open(uint64_t limit, uint64_t expected, sn_table **table, seen_error *error)
{
    sn_table *made = calloc(1, sizeof *made);
    if (!made)
        return sn_stream_fail(error, SEEN_ERR_MEMORY, "no memory for a table");
    made->limit = limit < LIMIT_MAX ? limit : LIMIT_MAX;
    made->parts = choose_parts(made->limit, expected);
    made->bits = (unsigned)__builtin_ctzll(made->parts);
    made->shift = 64 - made->bits;
    pthread_mutex_init(&made->growing, NULL);
    if (!map_all(made)) {
        sn_table_close(made);
        return sn_stream_fail(error, SEEN_ERR_MEMORY,
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
    if (table->map)
        munmap(table->map, table->map_bytes);
    pthread_mutex_destroy(&table->growing);
    free(table->scratch);
    free(table->part);
    free(table);
}

void sn_table_clear(sn_table *table)
{
    madvise(table->region, table->region_bytes, MADV_DONTNEED);
    madvise(table->map, table->map_bytes, MADV_DONTNEED);
    memset(table->part, 0, table->parts * sizeof *table->part);
    free(table->scratch);
    table->scratch = NULL;
    table->scratch_bytes = table->taken = 0;
    table->segments = 0;
    atomic_store(&table->full, false);
    atomic_store(&table->bytes, fixed_bytes(table));
}

void sn_table_empty(sn_table *table)
{
    memset(table->segment, 0, table->segments * SEGMENT);
    for (size_t i = 0; i < table->parts; i++)
        table->part[i].used = 0;
    atomic_store(&table->full, false);
}

/* Segments of a part, when the table holds so many entries. */
static double segments_for(const sn_table *table, double entries, double fill)
{
    return entries / (double)table->parts / SN_TABLE_SLOTS / SN_TABLE_SEGMENT_BUCKETS / fill;
}

void sn_table_reserve(sn_table *table, uint64_t entries)
{
    double segments = segments_for(table, (double)entries, FILL - 0.03) + 1;
    if (segments >= 2 && segments < table->rows &&
        segments * (double)(SEGMENT * table->parts) < (double)table->limit)
        table->first = (uint32_t)segments;
}

void sn_table_foresee(sn_table *table, uint64_t entries)
{
    double segments = segments_for(table, (double)entries, FILL);
    double most = (double)table->limit / (double)(SEGMENT * table->parts);
    table->likely = (uint32_t)((segments < most ? segments : most) * SURE);
}

/* ---- Growing -------------------------------------------------------------------------------- */

/* Copies a part's buckets aside and puts the entries into place again. */
static void replace_all(sn_table *table, size_t part, uint32_t before, uint32_t after)
{
    for (uint32_t i = 0; i < before; i += SN_TABLE_SEGMENT_BUCKETS) {
        sn_table_bucket *segment = sn_table_bucket_at(table, part, i);
        memcpy(table->scratch + i, segment, SEGMENT);
        memset(segment, 0, SEGMENT);
    }
    for (uint32_t i = 0; i < before; i++) {
        const sn_table_bucket *b = &table->scratch[i];
        uint32_t state = atomic_load_explicit(&b->state, memory_order_relaxed);
        for (unsigned slot = 0; slot < (state & SN_TABLE_COUNT_MASK); slot++)
            sn_table_place(table, part, after, b->high[slot], b->low[slot],
                           sn_table_marks_of(state, slot));
    }
}

/* The next size of a part, in segments. The sizes of part i are 1.2^(k + i / parts): each part has
 * its own, so that they do not all grow at once. While that many are sure to come, it doubles. */
static uint32_t next_size(const sn_table *table, size_t part)
{
    uint32_t now = sn_table_buckets(table, part) / SN_TABLE_SEGMENT_BUCKETS;
    if (!now && table->first)
        return table->first;
    double size = 1 + (GROWTH - 1) * (double)part / (double)table->parts;
    while ((uint64_t)size <= now)
        size *= GROWTH;
    while (size * GROWTH <= (double)table->likely && size * GROWTH <= 2.0 * now)
        size *= GROWTH;
    return size < (double)UINT32_MAX ? (uint32_t)size : UINT32_MAX;
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
    sn_table_bucket *scratch = aligned_alloc(64, bytes);
    if (!scratch)
        return false;
    free(table->scratch);
    table->scratch = scratch;
    atomic_fetch_add(&table->bytes, bytes - table->scratch_bytes);
    table->scratch_bytes = bytes;
    return true;
}

/* Gives a part more segments; false where the limit stands against it. */
static bool take_segments(sn_table *table, size_t part, uint32_t before, uint32_t after)
{
    uint64_t end = (table->segments + (uint64_t)(after - before)) * SEGMENT;
    uint64_t taken =
        end <= table->taken ? table->taken : (end + table->step - 1) / table->step * table->step;
    uint64_t scratch = scratch_for(table, before * SEGMENT);
    uint64_t more = taken - table->taken + scratch - table->scratch_bytes;
    if (after > table->rows || table->segments + (uint64_t)after > UINT32_MAX ||
        atomic_load(&table->bytes) + more > table->limit || !reserve_scratch(table, scratch))
        return false;
    /* In one call: a fault for each small page would take longer than filling it. Where the system
     * does not know how, the faults do it. */
    if (taken > table->taken)
        madvise((char *)table->segment + table->taken, taken - table->taken, MADV_POPULATE_WRITE);
    atomic_fetch_add(&table->bytes, taken - table->taken);
    table->taken = taken;
    for (uint32_t row = before; row < after; row++)
        atomic_store_explicit(&table->map[row * table->parts + part], table->segments++,
                              memory_order_relaxed);
    return true;
}

static uint32_t share_of(uint64_t buckets, double fill)
{
    return (uint32_t)((double)(buckets * SN_TABLE_SLOTS) * fill);
}

bool sn_table_grow(sn_table *table, size_t part)
{
    sn_table_part *p = &table->part[part];
    uint32_t before = sn_table_buckets(table, part);
    pthread_mutex_lock(&table->growing);
    uint32_t size = next_size(table, part);
    bool grown = take_segments(table, part, before / SN_TABLE_SEGMENT_BUCKETS, size);
    if (grown) {
        uint32_t after = size * SN_TABLE_SEGMENT_BUCKETS;
        replace_all(table, part, before, after);
        atomic_store_explicit(&p->buckets, after, memory_order_relaxed);
        p->grow_at = share_of(after, FILL);
    }
    pthread_mutex_unlock(&table->growing);
    if (!grown)
        p->grow_at = share_of(before, FILL_HARD);
    return p->used < p->grow_at;
}
