/* Functions common to all stores. */
#include "set/store.h"

#include "base/error.h"

#include <stdlib.h>

static seen_status copy_layer_lines(seen_set *into, uint32_t to, seen_set *from, uint32_t i,
                                    uint64_t lines, void *chunk, seen_error *error)
{
    seen_status status = SEEN_OK;
    for (uint64_t at = 0; at < lines && status == SEEN_OK; at += SN_COPY_LINES) {
        uint64_t n = lines - at < SN_COPY_LINES ? lines - at : SN_COPY_LINES;
        status = from->ops->read(from, i, at, n, chunk, error);
        if (status == SEEN_OK)
            status = into->ops->merge_lines(into, to, at, n, chunk, error);
    }
    return status;
}

seen_status sn_store_copy_lines(seen_set *into, seen_set *from, const sn_image *image,
                                uint32_t shift, seen_error *error)
{
    void *chunk = aligned_alloc(SN_LINE_BYTES, (size_t)SN_COPY_LINES * SN_LINE_BYTES);
    if (!chunk)
        return sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", into->where);
    seen_status status = SEEN_OK;
    for (uint32_t n = 1; n <= image->layers && status == SEEN_OK; n++) {
        uint32_t i = (image->current + n) % image->layers, to = (i + shift) % image->layers;
        uint64_t lines = sn_geometry_lines(&image->layer[i].geometry);
        if (image->growth != SEEN_WINDOW || image->layer[i].generation)
            status = copy_layer_lines(into, to, from, i, lines, chunk, error);
    }
    free(chunk);
    return status;
}

seen_status sn_store_rotated(seen_set *from, const sn_image *image, sn_image *now, bool *rotated,
                             seen_error *error)
{
    seen_status status = from->ops->image(from, now, error);
    *rotated = status == SEEN_OK && now->growth == SEEN_WINDOW &&
               (now->sequence != image->sequence || now->current != image->current);
    return status;
}

seen_status sn_store_copy_parts(seen_set *into, seen_set *from, seen_error *error)
{
    seen_status status = SEEN_OK;
    for (unsigned p = 0; p < SN_TAGS_PARTS && status == SEEN_OK; p++) {
        sn_tags_part copy;
        status = from->ops->copy_part(from, p, &copy, error);
        if (status != SEEN_OK)
            break;
        status = into->ops->fill_part(into, p, &copy, error);
        sn_tags_part_free(&copy);
    }
    return status;
}
