/* Info, merging sets, and copying between stores. */
#include "set/set.h"

#include "base/error.h"
#include "filter/kernel.h"
#include "set/forks.h"
#include "set/layers.h"

#include <assert.h>
#include <stdlib.h>

/* ---- info ---- */

/* Fills the fields of *info that are in the image. */
static void shape(const sn_image *image, const char *store, seen_info *info)
{
    const sn_layer *current = &image->layer[image->current];
    *info = (seen_info){
        .size = sizeof *info,
        .kind = image->kind,
        .growth = image->growth,
        .hash = image->hash,
        .when_full = image->when_full,
        .store = store,
        .capacity = image->capacity,
        .error_rate = sn_image_rate_from64(image->rate64),
        .hashes = current->geometry.spread * current->geometry.probes,
        .spread = current->geometry.spread,
        .probes = current->geometry.probes,
        .shards = current->geometry.shards,
        .seed = {image->seed[0], image->seed[1]},
        .format_version = sn_image_version(image),
        .generations = image->generations,
        .window_seconds = image->window_seconds,
        .renew = image->renew,
    };
    memcpy(info->note, image->note, sizeof info->note);
    uint64_t capacity = 0;
    for (uint32_t p = 0; sn_image_has_tags(image) && p < SN_TAGS_PARTS; p++) {
        sn_tags_shape shape = sn_tags_shape_of(image->extra);
        info->bytes += sn_extent_bytes(&image->part[p]);
        capacity += sn_tags_limit(&shape, image->part[p].homes);
    }
    if (sn_image_has_tags(image)) {
        info->layers = info->spread = info->hashes = 1;
        info->probes = 1;
        info->shards = SN_TAGS_PARTS;
    }
    for (uint32_t i = 0; i < image->layers; i++) {
        info->bytes += sn_geometry_bytes(&image->layer[i].geometry);
        capacity += image->layer[i].capacity;
        info->layers += image->layer[i].generation != 0;
    }
    info->bits = info->bytes * 8;
    if (image->growth == SEEN_GROWING)
        info->capacity = capacity;
}

seen_status seen_get_shape(const seen_set *set, seen_info *info, seen_error *error)
{
    sn_image image;
    if (info->size != sizeof *info)
        return sn_error_set(error, SEEN_ERR_ARGUMENT, "info->size is not sizeof(seen_info)");
    seen_set *source = (seen_set *)(uintptr_t)set; /* reading the image may refresh the view */
    seen_status status = sn_forks_check(set, error);
    if (status == SEEN_OK)
        status = source->ops->image(source, &image, error);
    if (status == SEEN_OK)
        shape(&image, set->ops->store, info);
    return status;
}

seen_status seen_get_info(seen_set *set, seen_info *info, seen_error *error)
{
    seen_info out = {.size =
                         info->size}; /* nothing else of it is read before the size is validated */
    seen_status status = seen_get_shape(set, &out, error);
    if (status == SEEN_OK)
        status = set->ops->measure(set, &out, error);
    if (status == SEEN_OK)
        *info = out;
    return status;
}

/* ---- windows ---- */

seen_status seen_rotate(seen_set *set, seen_error *error)
{
    if (set->growth != SEEN_WINDOW)
        return sn_error_set(error, SEEN_ERR_KIND, "%s: only a window can rotate", set->where);
    if (set->read_only)
        return sn_error_set(error, SEEN_ERR_PERMISSION, "%s: opened for reading only", set->where);
    seen_status status = sn_forks_check(set, error);
    return status == SEEN_OK ? set->ops->rotate(set, error) : status;
}

/* ---- merging ---- */

/* Whether sets with these images can be merged; otherwise the error says why not. */
static seen_status compatible(const sn_image *into, const sn_image *from, const char *into_name,
                              const char *from_name, seen_error *error)
{
    const char *differs = NULL;
    if (into->kind != from->kind)
        differs = "kind";
    else if (into->growth != from->growth)
        differs = "growth";
    else if (into->hash != from->hash)
        differs = "hash";
    else if (into->seed[0] != from->seed[0] || into->seed[1] != from->seed[1])
        differs = "seed";
    else if (into->generations != from->generations)
        differs = "number of generations"; /* rings of different lengths cannot be aligned */
    else if (sn_image_has_tags(into) != sn_image_has_tags(from))
        return sn_error_set(error, SEEN_ERR_MISMATCH,
                            "%s and %s cannot be merged: one consists of layers (Redis, or an "
                            "earlier version of seen) and the other is not; add the keys of one to "
                            "the other",
                            into_name, from_name);
    else if (sn_image_has_tags(into) && (into->extra > from->extra || into->rate64 < from->rate64))
        differs = "error rate"; /* a set with a lower rate may be merged into one with a higher */
    uint32_t layers = into->layers < from->layers ? into->layers : from->layers;
    for (uint32_t i = 0; !differs && i < layers; i++) {
        const sn_geometry *a = &into->layer[i].geometry, *b = &from->layer[i].geometry;
        if (a->spread != b->spread || a->probes != b->probes || a->shards != b->shards ||
            a->shard_lines != b->shard_lines)
            differs = "geometry";
    }
    if (!differs && into->growth == SEEN_GROWING && !sn_image_has_tags(into) &&
        (into->rate64 != from->rate64 || into->capacity != from->capacity))
        differs = "geometry";
    /* A removal goes to the first layer that has the key. Merging adds cells to the first layers,
     * so that a key of a later layer may appear to be in an earlier one, and its removal would
     * decrement cells of other keys. */
    if (!differs && into->kind == SEEN_COUNTING && (into->layers > 1 || from->layers > 1))
        return sn_error_set(
            error, SEEN_ERR_KIND,
            "%s and %s cannot be merged: a counting set that has grown cannot be merged; "
            "create them with a larger capacity",
            into_name, from_name);
    if (!differs)
        return SEEN_OK;
    return sn_error_set(error, SEEN_ERR_MISMATCH,
                        "%s and %s cannot be merged: they differ in their %s; create one like "
                        "the other (seen create --like)",
                        into_name, from_name, differs);
}

/* The rate of layer i, and the rate it would have with all cells of layer i of `from`. */
static seen_status merge_rate(seen_set *into, seen_set *from, uint32_t i, const sn_geometry *g,
                              double *before, double *rate, seen_error *error)
{
    size_t room = (size_t)SN_COPY_LINES * SN_LINE_BYTES;
    char *mine = aligned_alloc(SN_LINE_BYTES, room), *theirs = aligned_alloc(SN_LINE_BYTES, room);
    seen_status status = SEEN_OK;
    sn_tally alone = {0}, tally = {0};
    if (!mine || !theirs)
        status = sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", into->where);
    uint64_t lines = sn_geometry_lines(g);
    for (uint64_t at = 0; at < lines && status == SEEN_OK; at += SN_COPY_LINES) {
        uint64_t n = lines - at < SN_COPY_LINES ? lines - at : SN_COPY_LINES;
        status = into->ops->read(into, i, at, n, mine, error);
        if (status == SEEN_OK)
            status = from->ops->read(from, i, at, n, theirs, error);
        if (status == SEEN_OK) {
            sn_tally_lines(g, mine, n, &alone);
            sn_kernel_merge_lines(into->kind, mine, theirs, n);
            sn_tally_lines(g, mine, n, &tally);
        }
    }
    *before = sn_tally_rate(g, &alone);
    *rate = sn_tally_rate(g, &tally);
    free(mine);
    free(theirs);
    return status;
}

/* A set that refuses when full also refuses a merge that would exceed its error rate. (The rate of
 * a small set that is just full may exceed it by chance: a merge that changes nothing is allowed.)
 * The cells are read only if the counters do not decide, because they count common keys twice. A
 * window never refuses; it drops old keys. */
static seen_status check_union(seen_set *into, const sn_image *mine, seen_set *from,
                               const sn_image *theirs, seen_error *error)
{
    seen_status status = SEEN_OK;
    uint32_t layers = mine->layers < theirs->layers ? mine->layers : theirs->layers;
    for (uint32_t i = 0; i < layers && status == SEEN_OK; i++) {
        const sn_layer *a = &mine->layer[i], *b = &theirs->layer[i];
        double before, rate, promised = sn_image_rate_from64(a->rate64);
        if (a->added + b->added <= a->capacity)
            continue;
        status = merge_rate(into, from, i, &a->geometry, &before, &rate, error);
        if (status == SEEN_OK && rate > promised * 1.05 && rate > before)
            status = sn_error_set(error, SEEN_ERR_FULL,
                                  "%s and %s together exceed the capacity: the error rate would be "
                                  "%.3g instead of %.3g; create both with the total capacity, or "
                                  "let them exceed it (when full: go on)",
                                  into->where, from->where, rate, promised);
    }
    return status;
}

/* Expired generations must not reappear in another window. */
static void forget_dead(sn_image *image)
{
    for (uint32_t i = 0; i < image->layers; i++)
        if (!sn_layers_live(image, i))
            image->layer[i].generation = 0;
}

/* Moves layer i + shift of the image to position i. */
static void rotate_ring(sn_image *image, uint32_t shift)
{
    sn_image rotated = *image;
    assert(image->layers > 0);
    for (uint32_t i = 0; i < image->layers; i++)
        rotated.layer[(i + shift) % image->layers] = image->layer[i];
    rotated.current = (image->current + shift) % image->layers;
    *image = rotated;
}

/* Merges two windows, aligned by their newest generations. If `into` rotated during the merge, the
 * keys are one generation too old and would be dropped too early; if `from` did, keys may have been
 * missed: in both cases everything is merged again. Keys merged before stay, in generations that
 * are newer than necessary. */
static seen_status merge_windows(seen_set *into, const sn_image *mine, seen_set *from,
                                 sn_image *theirs, seen_error *error)
{
    enum { TRIES = 16 };
    seen_status status = into->ops->ensure_layers(into, theirs->layers, error);
    sn_image now = *mine, then;
    for (int i = 0; i < TRIES && status == SEEN_OK; i++) {
        bool rotated = false;
        uint32_t current = now.current;
        uint32_t shift = (current + now.layers - theirs->current) % now.layers;
        forget_dead(theirs);
        status = sn_store_copy_lines(into, from, theirs, shift, error);
        if (status == SEEN_OK)
            status = sn_store_rotated(from, theirs, &then, &rotated, error);
        if (status == SEEN_OK)
            status = into->ops->image(into, &now, error);
        if (status == SEEN_OK && !rotated && now.current == current) {
            rotate_ring(theirs, shift);
            return into->ops->finish_merge(into, theirs, error);
        }
        if (status == SEEN_OK && rotated) {
            *theirs = then;
            sn_file_recount(from, theirs);
        }
    }
    if (status != SEEN_OK)
        return status;
    return sn_error_set(error, SEEN_ERR_CHANGED,
                        "%s and %s: a window rotates faster than the two can be merged; try again "
                        "later",
                        into->where, from->where);
}

/* Opens as many layers as `from` has. Their sizes are the same unless the file was made by an
 * attacker or another program: then its lines cannot be merged. */
static seen_status open_layers(seen_set *into, seen_set *from, const sn_image *theirs,
                               seen_error *error)
{
    sn_image mine;
    seen_status status = into->ops->ensure_layers(into, theirs->layers, error);
    if (status == SEEN_OK)
        status = into->ops->image(into, &mine, error);
    return status == SEEN_OK ? compatible(&mine, theirs, into->where, from->where, error) : status;
}

/* Tags of both sets keep their length, so the rates add up; they do not decrease when the set
 * grows. */
static seen_status merge_tags(seen_set *into, const sn_image *mine, seen_set *from,
                              seen_error *error)
{
    seen_info a = {.size = sizeof a}, b = {.size = sizeof b};
    double promised = sn_image_rate_from64(mine->rate64);
    seen_status status = into->ops->measure(into, &a, error);
    if (status == SEEN_OK)
        status = from->ops->measure(from, &b, error);
    if (status != SEEN_OK)
        return status;
    double rate = a.error_rate_now + b.error_rate_now;
    if (mine->when_full == SEEN_FULL_REFUSE && rate > promised * 1.05 && b.error_rate_now > 0)
        return sn_error_set(
            error, SEEN_ERR_FULL,
            "%s and %s: the merged error rate would be %.3g instead of %.3g; create "
            "both with the total capacity, or with a lower error rate",
            into->where, from->where, rate, promised);
    return into->ops->merge(into, from, error);
}

seen_status seen_merge(seen_set *into, seen_set *from, seen_error *error)
{
    sn_image mine, theirs;
    if (into == from)
        return SEEN_OK;
    if (into->read_only)
        return sn_error_set(error, SEEN_ERR_PERMISSION, "%s: opened for reading only", into->where);
    if (sn_file_same(into, from)) /* nothing to add; counters would count twice */
        return SEEN_OK;
    seen_status status = sn_forks_check(into, error);
    if (status == SEEN_OK)
        status = sn_forks_check(from, error);
    if (status == SEEN_OK)
        status = into->ops->image(into, &mine, error);
    if (status == SEEN_OK)
        status = from->ops->image(from, &theirs, error);
    if (status == SEEN_OK)
        status = compatible(&mine, &theirs, into->where, from->where, error);
    if (status != SEEN_OK)
        return status;
    if (sn_image_has_tags(&mine))
        return merge_tags(into, &mine, from, error);
    sn_file_recount(from, &theirs);
    if (mine.growth == SEEN_WINDOW)
        return merge_windows(into, &mine, from, &theirs, error);
    if (mine.when_full == SEEN_FULL_REFUSE)
        status = check_union(into, &mine, from, &theirs, error);
    if (status == SEEN_OK && theirs.layers > mine.layers)
        status = open_layers(into, from, &theirs, error);
    if (status == SEEN_OK)
        status = sn_store_copy_lines(into, from, &theirs, 0, error);
    return status == SEEN_OK ? into->ops->finish_merge(into, &theirs, error) : status;
}

/* ---- copies ---- */

seen_status seen_copy(seen_set *from, const char *where, unsigned flags,
                      const seen_options *options, seen_error *error)
{
    if (!where)
        return sn_error_set(error, SEEN_ERR_ARGUMENT, "seen_copy: `where` is NULL");
    seen_status status = sn_forks_check(from, error);
    if (status == SEEN_OK)
        status = sn_set_take_options(&options, error);
    if (status != SEEN_OK)
        return status;
    const sn_store *store;
    sn_image image;
    status = sn_store_find(where, &store, error);
    if (status == SEEN_OK)
        status = from->ops->image(from, &image, error);
    if (status != SEEN_OK)
        return status;
    if (store->layered && sn_image_has_tags(&image))
        return sn_error_set(
            error, SEEN_ERR_KIND,
            "%s: a growing set in memory or in a file cannot be copied to Redis, "
            "which keeps growing sets as layers; create a growing set there and add "
            "the keys to it, or copy a set of fixed size",
            from->where);
    return store->copy(where, flags, options, from, error);
}

seen_status seen_drop(const char *where, const seen_options *options, seen_error *error)
{
    if (!where)
        return sn_error_set(error, SEEN_ERR_ARGUMENT, "seen_drop: `where` is NULL");
    seen_status status = sn_set_take_options(&options, error);
    if (status != SEEN_OK)
        return status;
    const sn_store *store;
    status = sn_store_find(where, &store, error);
    return status == SEEN_OK ? store->drop(where, options, error) : status;
}
