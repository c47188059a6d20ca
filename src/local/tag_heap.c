/* Tag lines in memory: extents in an arena.
 *
 * The arena consists of a few large mappings, each as large as all before it together; untouched
 * pages cost nothing. Every extent is placed after the one placed before it, and at the end of the
 * arena from its start again. Partitions grow in turn, so they leave their extents in the order in
 * which these were placed: the gaps are adjacent, and all pages in them go back to the system,
 * which uses them for the next extent. First fit would reuse the gaps without the system, but as an
 * extent is always larger than the one it replaces, a sixth of the arena was gaps that nothing
 * fitted into. */
#include "base/error.h"
#include "base/memory.h"
#include "local/tag_set.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
    SEGMENTS = 40,
    ALIGN = 4096,
    SEGMENT_LEAST = 4 << 20, /* huge pages from this size on */
    HUGE_PAGE = 2 << 20,
    EXTENTS = 2 * SN_TAGS_PARTS, /* of the partitions, and of those that are being written */
};

typedef struct segment {
    char *memory;
    uint64_t at, bytes; /* offsets in the arena */
} segment;

typedef struct heap_set {
    sn_tag_set tags;
    uint64_t sequence;
    uint64_t counts[SN_TAGS_PARTS][2];
    uint64_t next; /* the end of the extent placed last */
    unsigned segments;
    segment segment[SEGMENTS];
} heap_set;

static heap_set *of(sn_tag_set *s)
{
    return (heap_set *)s;
}

static bool add_segment(heap_set *h, uint64_t bytes)
{
    uint64_t end = 0;
    if (h->segments > 0)
        end = h->segment[h->segments - 1].at + h->segment[h->segments - 1].bytes;
    uint64_t size = bytes > end ? bytes : end;
    size = size > SEGMENT_LEAST ? (size + ALIGN - 1) / ALIGN * ALIGN : SEGMENT_LEAST;
    if (h->segments == SEGMENTS || size > SIZE_MAX / 2)
        return false;
    char *memory = sn_memory_map((size_t)size);
    if (!memory && bytes < size) { /* retry with a smaller mapping */
        size = (bytes + ALIGN - 1) / ALIGN * ALIGN;
        memory = sn_memory_map((size_t)size);
    }
    if (!memory)
        return false;
    h->segment[h->segments++] = (segment){memory, end, size};
    return true;
}

/* By offset. */
static void list_extents(const sn_tag_set *s, sn_extent used[EXTENTS])
{
    memcpy(used, s->image.part, sizeof s->image.part);
    memcpy(used + SN_TAGS_PARTS, s->pending, sizeof s->pending);
    sn_tag_extents_sort(used, EXTENTS);
}

/* Places an extent at or after `from`; false: there is no room. */
static bool place(heap_set *h, const sn_extent used[EXTENTS], uint64_t from, sn_extent *extent,
                  char **lines)
{
    uint64_t bytes = sn_extent_bytes(extent);
    for (unsigned i = 0; i < h->segments; i++) {
        const segment *g = &h->segment[i];
        uint64_t at = sn_tag_extents_fit(used, EXTENTS, from > g->at ? from : g->at,
                                         g->at + g->bytes, bytes, ALIGN);
        if (at == UINT64_MAX)
            continue;
        extent->offset = at;
        *lines = g->memory + (at - g->at);
        h->next = at + bytes;
        return true;
    }
    return false;
}

static seen_status take(sn_tag_set *s, sn_extent *extent, char **lines, seen_error *error)
{
    heap_set *h = of(s);
    uint64_t bytes = sn_extent_bytes(extent);
    sn_extent used[EXTENTS];
    list_extents(s, used);
    for (;;) {
        if (place(h, used, h->next, extent, lines) || place(h, used, 0, extent, lines))
            return SEEN_OK;
        if (!add_segment(h, bytes))
            return sn_error_set(
                error, SEEN_ERR_MEMORY,
                "%s: not enough memory to grow by %llu MiB; use a higher error rate, "
                "or a file",
                s->base.where ? s->base.where : "memory", (unsigned long long)(bytes >> 20));
    }
}

static seen_status publish(sn_tag_set *s, seen_error *error)
{
    (void)error;
    __atomic_store_n(&s->adopted, s->image.sequence, __ATOMIC_RELEASE);
    __atomic_store_n(s->sequence, s->image.sequence, __ATOMIC_RELEASE);
    return SEEN_OK;
}

/* Whole huge pages only: a part of one would split it, and lookups would miss the TLB. Lookups may
 * still read them: they stay mapped, and read as zeros. */
static void release(const segment *g, uint64_t from, uint64_t to)
{
    from = (from - g->at + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    to = (to - g->at) / HUGE_PAGE * HUGE_PAGE;
    if (from < to)
        (void)madvise(g->memory + from, (size_t)(to - from), MADV_DONTNEED);
}

/* Releases the pages of an extent, and those that it shared with gaps beside it. */
static void give_back(sn_tag_set *s, const sn_extent *extent)
{
    heap_set *h = of(s);
    sn_extent used[EXTENTS];
    const segment *g = h->segment;
    while (extent->offset >= g->at + g->bytes)
        g++;
    uint64_t start = extent->offset, end = start + sn_extent_bytes(extent);
    uint64_t from = start - g->at < HUGE_PAGE ? g->at : start - HUGE_PAGE;
    uint64_t to = g->at + g->bytes - end < HUGE_PAGE ? g->at + g->bytes : end + HUGE_PAGE;
    list_extents(s, used);
    for (unsigned i = 0; i < EXTENTS; i++) {
        uint64_t after = used[i].offset + sn_extent_bytes(&used[i]);
        if (used[i].homes && after <= start && after > from)
            from = after;
        if (used[i].homes && used[i].offset >= end && used[i].offset < to)
            to = used[i].offset;
    }
    release(g, from, to);
}

static seen_status nothing(sn_tag_set *s, seen_error *error)
{
    (void)s;
    (void)error;
    return SEEN_OK;
}

static bool locks(const sn_tag_set *s)
{
    (void)s;
    return false;
}

static void leave(sn_tag_set *s)
{
    (void)s;
}

static void free_set(sn_tag_set *s)
{
    heap_set *h = of(s);
    for (unsigned i = 0; i < h->segments; i++)
        sn_memory_unmap(h->segment[i].memory, (size_t)h->segment[i].bytes);
    sn_tag_set_destroy(s);
    free(h);
}

static const sn_tag_backing HEAP = {.take = take,
                                    .publish = publish,
                                    .give_back = give_back,
                                    .enter = nothing,
                                    .leave = leave,
                                    .locks = locks,
                                    .refresh = nothing,
                                    .sync = nothing,
                                    .free = free_set};

static seen_status map_parts(heap_set *h, seen_error *error)
{
    sn_tag_set *s = &h->tags;
    sn_extent part[SN_TAGS_PARTS];
    memcpy(part, s->image.part, sizeof part);
    memset(s->image.part, 0, sizeof s->image.part);
    for (unsigned p = 0; p < SN_TAGS_PARTS; p++) {
        char *lines = NULL;
        sn_extent extent = part[p];
        seen_status status = take(s, &extent, &lines, error);
        if (status != SEEN_OK)
            return status;
        s->image.part[p] = extent;
        if (!sn_tag_set_install(s, p, &extent, lines))
            return sn_error_set(error, SEEN_ERR_MEMORY, "memory: out of memory");
    }
    return SEEN_OK;
}

seen_status sn_tag_heap_create(const sn_image *image, seen_set **set, seen_error *error)
{
    heap_set *h = calloc(1, sizeof *h);
    if (!h)
        return sn_error_set(error, SEEN_ERR_MEMORY, "out of memory");
    sn_tag_set *s = &h->tags;
    seen_status status = sn_tag_set_init(s, &HEAP, image, "memory", &sn_tag_heap_ops, error);
    uint64_t bytes = 0;
    for (unsigned p = 0; p < SN_TAGS_PARTS; p++)
        bytes += (sn_extent_bytes(&image->part[p]) + ALIGN - 1) / ALIGN * ALIGN;
    h->sequence = image->sequence;
    s->sequence = &h->sequence;
    s->counts = h->counts;
    if (status == SEEN_OK && !add_segment(h, bytes))
        status = sn_error_set(error, SEEN_ERR_MEMORY,
                              "memory: not enough memory for a filter of %llu MiB; use fewer keys, "
                              "a higher error rate, or a file",
                              (unsigned long long)(bytes >> 20));
    if (status == SEEN_OK)
        status = map_parts(h, error);
    if (status != SEEN_OK) {
        free_set(s);
        return status;
    }
    *set = &s->base;
    return SEEN_OK;
}
