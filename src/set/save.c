/* Serializes a set: the same bytes as its file (docs/format.md). */
#include "set/forks.h"
#include "set/set.h"

#include "base/bytes.h"
#include "base/error.h"
#include "hash/hash.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = SN_COPY_LINES * SN_LINE_BYTES };

/* ---- saving ---- */

typedef struct sink {
    const seen_set *set; /* for messages */
    seen_write write;
    void *context;
    uint64_t at; /* bytes written */
} sink;

static seen_status put(sink *to, const void *data, size_t len, seen_error *error)
{
    seen_status status = to->write(to->context, data, len);
    if (status != SEEN_OK)
        return sn_error_set(error, status, "%s: not saved: the writer failed after %llu bytes",
                            to->set->where, (unsigned long long)to->at);
    to->at += len;
    return SEEN_OK;
}

static seen_status pad_to(sink *to, uint64_t at, seen_error *error)
{
    static const char ZEROS[SN_IMAGE_ALIGN];
    seen_status status = SEEN_OK;
    while (status == SEEN_OK && to->at < at)
        status = put(to, ZEROS, at - to->at < sizeof ZEROS ? (size_t)(at - to->at) : sizeof ZEROS,
                     error);
    return status;
}

static seen_status put_header(sink *to, const sn_image *image, seen_error *error)
{
    enum { TAG_COUNTERS = SN_LINE_BYTES + 16 * SN_TAGS_PARTS };
    unsigned char page[SN_IMAGE_BYTES], counters[TAG_COUNTERS] = {0};
    size_t bytes = sn_image_has_tags(image) ? TAG_COUNTERS : 8 * SN_IMAGE_LAYERS;
    sn_image_encode(image, page);
    if (sn_image_has_tags(image))
        sn_store64(counters, image->sequence);
    for (unsigned p = 0; sn_image_has_tags(image) && p < SN_TAGS_PARTS; p++)
        for (unsigned i = 0; i < 2; i++)
            sn_store64(counters + SN_LINE_BYTES + 16 * p + 8 * i, image->part[p].counts[i]);
    for (uint32_t i = 0; i < image->layers; i++)
        sn_store64(counters + 8 * i, image->layer[i].added);
    seen_status status = put(to, page, sizeof page, error);
    if (status == SEEN_OK)
        status = put(to, page, sizeof page, error);
    return status == SEEN_OK ? put(to, counters, bytes, error) : status;
}

/* The lines of the layers are read from `bits`, which is the set itself or a copy of it. */
static seen_status put_set(sink *to, seen_set *bits, sn_image *image, seen_error *error)
{
    uint64_t end = sn_image_lay_out(image);
    void *chunk = aligned_alloc(SN_LINE_BYTES, CHUNK_BYTES);
    if (!chunk)
        return sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", to->set->where);
    seen_status status = put_header(to, image, error);
    for (uint32_t i = 0; i < image->layers && status == SEEN_OK; i++) {
        uint64_t lines = sn_geometry_lines(&image->layer[i].geometry);
        status = pad_to(to, image->layer[i].offset, error);
        for (uint64_t line = 0; line < lines && status == SEEN_OK; line += SN_COPY_LINES) {
            uint64_t n = lines - line < SN_COPY_LINES ? lines - line : SN_COPY_LINES;
            status = bits->ops->read(bits, i, line, n, chunk, error);
            if (status == SEEN_OK)
                status = put(to, chunk, (size_t)n * SN_LINE_BYTES, error);
        }
    }
    free(chunk);
    return status == SEEN_OK ? pad_to(to, end, error) : status;
}

/* A window may rotate while it is read, and written output cannot be undone: it is copied into
 * memory first, and again if it has rotated by the end. */
static seen_status copy_window(seen_set *from, sn_image *image, seen_set **copy, seen_error *error)
{
    enum { TRIES = 100 };
    for (int i = 0; i < TRIES; i++) {
        sn_image now;
        bool rotated;
        seen_status status = sn_heap_create(image, copy, error);
        if (status != SEEN_OK)
            return status;
        status = sn_store_copy_lines(*copy, from, image, 0, error);
        if (status == SEEN_OK)
            status = sn_store_rotated(from, image, &now, &rotated, error);
        if (status == SEEN_OK && !rotated)
            return SEEN_OK;
        seen_close(*copy);
        if (status != SEEN_OK)
            return status;
        *image = now;
    }
    return sn_error_set(error, SEEN_ERR_CHANGED,
                        "%s: the window rotates faster than it can be saved; try again later",
                        from->where);
}

static seen_status put_parts(sink *to, seen_set *copy, seen_error *error)
{
    sn_image image;
    seen_status status = copy->ops->image(copy, &image, error);
    uint64_t end = sn_image_lay_out(&image);
    if (status == SEEN_OK)
        status = put_header(to, &image, error);
    for (unsigned p = 0; p < SN_TAGS_PARTS && status == SEEN_OK; p++) {
        sn_tags_part part;
        status = pad_to(to, image.part[p].offset, error);
        if (status == SEEN_OK)
            status = copy->ops->copy_part(copy, p, &part, error);
        if (status != SEEN_OK)
            break;
        status = put(to, part.lines, (size_t)sn_extent_bytes(&image.part[p]), error);
        sn_tags_part_free(&part);
    }
    return status == SEEN_OK ? pad_to(to, end, error) : status;
}

/* Partitions may grow while they are read, and the header with their sizes is written first: tag
 * lines are copied into memory before. */
static seen_status save_tags(sink *to, seen_set *set, const sn_image *image, seen_error *error)
{
    seen_set *copy;
    seen_status status = sn_heap_create(image, &copy, error);
    if (status != SEEN_OK)
        return status;
    status = sn_store_copy_parts(copy, set, error);
    if (status == SEEN_OK)
        status = put_parts(to, copy, error);
    seen_close(copy);
    return status;
}

seen_status seen_save(seen_set *set, seen_write write, void *context, seen_error *error)
{
    sn_image image;
    sink to = {.set = set, .write = write, .context = context};
    seen_status status = sn_forks_check(set, error);
    if (status == SEEN_OK)
        status = set->ops->image(set, &image, error);
    if (status != SEEN_OK)
        return status;
    if (sn_image_has_tags(&image))
        return save_tags(&to, set, &image, error);
    if (image.growth != SEEN_WINDOW)
        return put_set(&to, set, &image, error);
    seen_set *copy;
    status = copy_window(set, &image, &copy, error);
    if (status != SEEN_OK)
        return status;
    status = put_set(&to, copy, &image, error);
    seen_close(copy);
    return status;
}

/* ---- loading ---- */

typedef struct source {
    seen_read read;
    void *context;
    uint64_t at; /* bytes read */
} source;

static seen_status refuse(seen_error *error, const char *why)
{
    return sn_error_set(error, SEEN_ERR_FORMAT, "saved set: refused: %s", why);
}

static seen_status get(source *from, void *data, size_t len, seen_error *error)
{
    for (size_t have = 0; have < len;) {
        size_t got = 0;
        seen_status status = from->read(from->context, (char *)data + have, len - have, &got);
        if (status != SEEN_OK)
            return sn_error_set(error, status,
                                "saved set: not loaded: the reader failed after %llu bytes",
                                (unsigned long long)from->at);
        if (got == 0 || got > len - have)
            return refuse(error, from->at + have < SN_IMAGE_ALIGN
                                     ? "it is not a seen filter, or it is truncated"
                                     : "it is truncated");
        have += got;
    }
    from->at += len;
    return SEEN_OK;
}

static seen_status skip_to(source *from, uint64_t at, seen_error *error)
{
    char unused[SN_IMAGE_ALIGN];
    seen_status status = SEEN_OK;
    while (status == SEEN_OK && from->at < at)
        status =
            get(from, unused,
                at - from->at < sizeof unused ? (size_t)(at - from->at) : sizeof unused, error);
    return status;
}

static seen_status get_header(source *from, sn_image *image, seen_error *error)
{
    unsigned char pages[2 * SN_IMAGE_BYTES], counters[8 * SN_IMAGE_LAYERS];
    const char *why;
    seen_status status = get(from, pages, sizeof pages, error);
    if (status != SEEN_OK)
        return status;
    static const unsigned char NO_BOOT[SN_BOOT_BYTES]; /* saved data is valid everywhere */
    if (!sn_image_choose(pages, 0, NO_BOOT, image, &why))
        return refuse(error, why);
    if (!sn_hash_supported(image->hash))
        return sn_error_set(
            error, SEEN_ERR_UNSUPPORTED,
            "saved set: uses SipHash, which is not included in this build; build with "
            "SEEN_WITH_SIPHASH=ON");
    status = get(from, counters, sizeof counters, error);
    for (uint32_t i = 0; i < image->layers && status == SEEN_OK; i++)
        image->layer[i].added = sn_load64(counters + 8 * i);
    return status;
}

/* Merges the lines into an empty set. */
static seen_status get_layers(source *from, const sn_image *image, seen_set *into,
                              seen_error *error)
{
    void *chunk = aligned_alloc(SN_LINE_BYTES, CHUNK_BYTES);
    if (!chunk)
        return sn_error_set(error, SEEN_ERR_MEMORY, "saved set: out of memory");
    seen_status status = SEEN_OK;
    for (uint32_t i = 0; i < image->layers && status == SEEN_OK; i++) {
        uint64_t lines = sn_geometry_lines(&image->layer[i].geometry);
        status = skip_to(from, image->layer[i].offset, error);
        for (uint64_t line = 0; line < lines && status == SEEN_OK; line += SN_COPY_LINES) {
            uint64_t n = lines - line < SN_COPY_LINES ? lines - line : SN_COPY_LINES;
            status = get(from, chunk, (size_t)n * SN_LINE_BYTES, error);
            if (status == SEEN_OK)
                status = into->ops->merge_lines(into, i, line, n, chunk, error);
        }
    }
    free(chunk);
    return status == SEEN_OK ? skip_to(from, sn_image_end(image), error) : status;
}

/* Reads one partition and counts its tags. */
static seen_status get_part(source *from, const sn_image *image, unsigned p, seen_set *into,
                            seen_error *error)
{
    const sn_extent *extent = &image->part[p];
    sn_tags_shape shape = sn_tags_shape_of(image->extra);
    size_t bytes = (size_t)sn_extent_bytes(extent);
    char *lines =
        aligned_alloc(SN_LINE_BYTES, (bytes + SN_LINE_BYTES - 1) / SN_LINE_BYTES * SN_LINE_BYTES);
    uint64_t *counts = calloc(2, sizeof *counts);
    sn_tags_part part = sn_tags_part_in(&shape, lines, extent->homes, extent->stash_words, counts);
    if (!lines || !counts) {
        sn_tags_part_free(&part);
        return sn_error_set(error, SEEN_ERR_MEMORY, "saved set: out of memory");
    }
    seen_status status = get(from, lines, bytes, error);
    if (status == SEEN_OK) {
        sn_tags_tally tally = sn_tags_measure(&shape, &part);
        counts[0] = (uint64_t)tally.tags;
        for (uint64_t i = 0; i < part.stash_words; i++)
            counts[1] += part.stash[i] != 0;
        status = into->ops->fill_part(into, p, &part, error);
    }
    sn_tags_part_free(&part);
    return status;
}

/* Reads the partitions in file order. */
static seen_status get_parts(source *from, const sn_image *image, seen_set *into, seen_error *error)
{
    seen_status status = SEEN_OK;
    uint64_t at = 0;
    for (unsigned n = 0; n < SN_TAGS_PARTS && status == SEEN_OK; n++) {
        unsigned next = SN_TAGS_PARTS;
        for (unsigned p = 0; p < SN_TAGS_PARTS; p++)
            if (image->part[p].offset >= at &&
                (next == SN_TAGS_PARTS || image->part[p].offset < image->part[next].offset))
                next = p;
        if (next == SN_TAGS_PARTS)
            return refuse(error, "its header has invalid values");
        status = skip_to(from, image->part[next].offset, error);
        at = image->part[next].offset + 1;
        if (status == SEEN_OK)
            status = get_part(from, image, next, into, error);
    }
    return status == SEEN_OK ? skip_to(from, sn_image_end(image), error) : status;
}

seen_status seen_load(seen_read read, void *context, seen_set **set, seen_error *error)
{
    sn_image image;
    source from = {.read = read, .context = context};
    seen_set *made;
    seen_status status = get_header(&from, &image, error);
    if (status == SEEN_OK)
        status = sn_heap_create(&image, &made, error);
    if (status != SEEN_OK)
        return status;
    status = sn_image_has_tags(&image) ? get_parts(&from, &image, made, error)
                                       : get_layers(&from, &image, made, error);
    if (status != SEEN_OK) {
        seen_close(made);
        return status;
    }
    sn_heap_set_counters(made, &image);
    sn_forks_list(made);
    *set = made;
    return SEEN_OK;
}
