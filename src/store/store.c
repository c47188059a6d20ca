/* What all stores have in common. */
#include "store/store.h"

#include "base/error.h"
#include "store/span.h"

#include <stdlib.h>

enum { TRIES = 16 };

static bool has_turned(const sn_image *before, const sn_image *now)
{
    return before->growth == SEEN_WINDOW &&
           (before->current != now->current ||
            before->layer[before->current].generation != now->layer[now->current].generation);
}

/* The layer of `image` for what layer i holds `now`: in a window that has turned since, the one of
 * the same age. Where that was not in use, the oldest that was: nothing is forgotten early. */
static uint32_t layer_for(const sn_image *image, const sn_image *now, uint32_t i)
{
    if (image->growth != SEEN_WINDOW)
        return i;
    uint32_t layers = image->layers, age = (now->current + layers - i) % layers;
    while (age && !image->layer[(image->current + layers - age) % layers].generation)
        age--;
    return (image->current + layers - age) % layers;
}

typedef struct pour {
    seen_set *into, *from;
    const sn_image *image;
    uint32_t shift;
    void *chunk;
} pour;

static seen_status pour_all(const pour *p, const sn_image *now, bool again, seen_error *error)
{
    seen_status status = SEEN_OK;
    for (uint32_t i = 0; i < now->layers && status == SEEN_OK; i++) {
        if (now->growth == SEEN_WINDOW &&
            (!now->layer[i].generation || (again && !sn_span_alive(now, i))))
            continue;
        uint64_t lines = sn_geometry_lines(&now->layer[i].geometry);
        uint32_t to = (layer_for(p->image, now, i) + p->shift) % now->layers;
        for (uint64_t at = 0; at < lines && status == SEEN_OK; at += SN_COPY_LINES) {
            uint64_t n = lines - at < SN_COPY_LINES ? lines - at : SN_COPY_LINES;
            status = p->from->ops->read(p->from, i, at, n, p->chunk, error);
            if (status == SEEN_OK)
                status = p->into->ops->combine(p->into, to, at, n, p->chunk, error);
        }
    }
    return status;
}

/* A window that turns between the reading of two generations may have taken a key from one that was
 * still to be read into one that was read before: then all is poured once more. */
seen_status sn_store_pour(seen_set *into, seen_set *from, const sn_image *image, uint32_t shift,
                          seen_error *error)
{
    size_t room = (size_t)SN_COPY_LINES * SN_LINE_BYTES;
    pour p = {.into = into,
              .from = from,
              .image = image,
              .shift = shift,
              .chunk = aligned_alloc(SN_LINE_BYTES, room)};
    if (!p.chunk)
        return sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", into->where);
    sn_image now = *image, after = *image;
    seen_status status = SEEN_OK;
    bool turned = true;
    for (int i = 0; i < TRIES && turned && status == SEEN_OK; i++) {
        now = after;
        status = pour_all(&p, &now, i > 0, error);
        if (status == SEEN_OK && now.growth == SEEN_WINDOW)
            status = from->ops->image(from, &after, error);
        turned = has_turned(&now, &after);
    }
    free(p.chunk);
    if (status != SEEN_OK || !turned)
        return status;
    return sn_error_set(error, SEEN_ERR_CHANGED, "%s: the window turns faster than it can be read",
                        from->where);
}
