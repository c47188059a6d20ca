/* What all stores have in common. */
#include "store/store.h"

#include "base/error.h"

#include <stdlib.h>

seen_status sn_store_pour(seen_set *into, seen_set *from, const sn_image *image, uint32_t shift,
                          seen_error *error)
{
    size_t room = (size_t)SN_COPY_LINES * SN_LINE_BYTES;
    void *chunk = aligned_alloc(SN_LINE_BYTES, room);
    if (!chunk)
        return sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", into->where);
    seen_status status = SEEN_OK;
    for (uint32_t i = 0; i < image->layers && status == SEEN_OK; i++) {
        if (image->growth == SEEN_WINDOW && !image->layer[i].generation)
            continue;
        uint64_t lines = sn_geometry_lines(&image->layer[i].geometry);
        uint32_t to = (i + shift) % image->layers;
        for (uint64_t at = 0; at < lines && status == SEEN_OK; at += SN_COPY_LINES) {
            uint64_t n = lines - at < SN_COPY_LINES ? lines - at : SN_COPY_LINES;
            status = from->ops->read(from, i, at, n, chunk, error);
            if (status == SEEN_OK)
                status = into->ops->combine(into, to, at, n, chunk, error);
        }
    }
    free(chunk);
    return status;
}
