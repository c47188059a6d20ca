/* Bits in memory. */
#include "base/error.h"
#include "base/memory.h"
#include "local/local.h"
#include "local/tag_set.h"

#include <stdlib.h>

static seen_status open_layer(sn_local *l, sn_layer *layer, char **bits, seen_error *error)
{
    uint64_t bytes = sn_geometry_bytes(&layer->geometry);
    *bits = bytes > SIZE_MAX / 2 ? NULL : sn_memory_map((size_t)bytes);
    if (*bits)
        return SEEN_OK;
    return sn_error_set(error, SEEN_ERR_MEMORY,
                        "%s: not enough memory for a filter of %llu MiB; use fewer keys, a higher "
                        "error rate, or a file",
                        l->base.where ? l->base.where : "memory",
                        (unsigned long long)(bytes >> 20));
}

static seen_status nothing(sn_local *l, seen_error *error)
{
    (void)l;
    (void)error;
    return SEEN_OK;
}

static seen_status publish(sn_local *l, sn_view *view, seen_error *error)
{
    (void)error;
    sn_view_install(l, view);
    return SEEN_OK;
}

static bool locks(const sn_local *l)
{
    (void)l;
    return false;
}

static void leave(sn_local *l)
{
    (void)l;
}

static void free_set(sn_local *l)
{
    sn_view *view = atomic_load(&l->view);
    for (uint32_t i = 0; view && i < view->image.layers; i++)
        sn_memory_unmap(view->bits[i], sn_geometry_bytes(&view->image.layer[i].geometry));
    free(l->added);
    sn_local_destroy(l);
    free(l);
}

static const sn_local_backing HEAP = {.store = "memory",
                                      .open_layer = open_layer,
                                      .publish = publish,
                                      .locks = locks,
                                      .enter = nothing,
                                      .leave = leave,
                                      .sync = nothing,
                                      .free = free_set};

seen_status sn_heap_create(const sn_image *image, seen_set **set, seen_error *error)
{
    if (sn_image_has_tags(image))
        return sn_tag_heap_create(image, set, error);
    sn_local *l = calloc(1, sizeof *l);
    sn_view *view = calloc(1, sizeof *view);
    seen_status status = SEEN_ERR_MEMORY;
    if (!l || !view || !(l->added = calloc(SN_IMAGE_LAYERS, sizeof *l->added))) {
        sn_error_set(error, status, "out of memory");
        goto out;
    }
    status = sn_local_init(l, &HEAP, image, "memory", error);
    l->keep_room = true;
    view->image = *image;
    view->image.layers = 0;
    while (status == SEEN_OK && view->image.layers < image->layers) {
        uint32_t i = view->image.layers;
        status = open_layer(l, &view->image.layer[i], &view->bits[i], error);
        view->image.layers += status == SEEN_OK;
    }
    if (status != SEEN_OK)
        goto out;
    l->base.ops = &sn_heap_ops;
    sn_view_install(l, view);
    *set = &l->base;
    return SEEN_OK;
out:
    for (uint32_t i = 0; view && i < view->image.layers; i++)
        sn_memory_unmap(view->bits[i], sn_geometry_bytes(&view->image.layer[i].geometry));
    free(view);
    if (l) {
        free(l->added);
        sn_local_destroy(l);
    }
    free(l);
    return status;
}

void sn_heap_set_counters(seen_set *set, const sn_image *image)
{
    if (sn_image_has_tags(image)) /* they were set with the partitions */
        return;
    sn_local *l = (sn_local *)set;
    const sn_view *view = atomic_load(&l->view);
    for (uint32_t i = 0; i < image->layers; i++)
        l->added[i] = sn_sample_check_counter(l, view, i, image->layer[i].added);
}
