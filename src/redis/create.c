/* Creating, copying and dropping a filter in Redis. It is staged under its own name, then
 * published. */
#include "redis/set.h"

#include "base/error.h"
#include "hash/hash.h"
#include "local/local.h"
#include "set/layers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STAGE_SECONDS = 86400, /* an unfinished copy expires by itself */
    AT_ONCE = 4096,
    REPLACE_TRIES = 100,
    COPY_TRIES = 16, /* of a window that rotates concurrently */
};

/* ---- staging ---- */

static seen_status draw_id(sn_redis_view *view, seen_error *error)
{
    uint64_t random[2];
    seen_status status = sn_hash_seed(random, error);
    if (status == SEEN_OK)
        snprintf(view->id, sizeof view->id, "%016" PRIx64, random[0]);
    return status;
}

static const char *refusal(const sn_redis_view *view)
{
    const sn_image *image = &view->image;
    const sn_geometry *g = &image->layer[0].geometry;
    if (view->layout == SEEN_LAYOUT_BITMAP &&
        (image->growth != SEEN_FIXED || image->kind != SEEN_BLOOM || g->shards != 1))
        return "a plain bitmap must be of kind bloom, fixed size and one shard";
    for (uint32_t i = 0; i < image->layers; i++)
        if (image->layer[i].geometry.shard_lines > (1u << 29) / SN_LINE_BYTES)
            return "its shards do not fit the 512 MiB of a Redis string";
    return view->ttl > UINT32_MAX ? "the time to live is too long" : NULL;
}

/* There is no connection yet, and `where` may contain a password, which must not appear in
 * messages. */
static seen_status check_image(const sn_redis_view *view, const char *where, seen_error *error)
{
    sn_redis_address address;
    const char *why = refusal(view);
    if (!why)
        return SEEN_OK;
    seen_status status = sn_redis_address_parse(where, &address, error);
    if (status == SEEN_OK)
        status = sn_error_set(error, SEEN_ERR_ARGUMENT, "%s: %s", address.shown, why);
    explicit_bzero(&address, sizeof address);
    return status;
}

/* Fails early if a filter with the name exists; fills *old if it is to be replaced. */
static seen_status find_old(sn_channel *ch, unsigned flags, sn_redis_view *old, bool *found,
                            seen_error *error)
{
    seen_error quiet;
    seen_status status = sn_meta_load(ch, old, &quiet);
    *found = status == SEEN_OK;
    if (status == SEEN_ERR_NOT_FOUND)
        return SEEN_OK;
    if (status == SEEN_OK && !(flags & SEEN_REPLACE))
        return sn_error_set(error, SEEN_ERR_EXISTS,
                            "%s: a filter of this name exists; open it, replace it, or choose "
                            "another name",
                            sn_channel_address(ch)->shown);
    if (status != SEEN_OK && error)
        *error = quiet;
    return status;
}

static seen_status changing_too_fast(const sn_channel *ch, seen_error *error)
{
    return sn_error_set(error, SEEN_ERR_CHANGED,
                        "%s: the filter of this name changes faster than it can be replaced",
                        sn_channel_address(ch)->shown);
}

/* Removes the hash; *view is the last state, whose shards must be removed too. */
static seen_status drop_hash(sn_channel *ch, sn_redis_view *view, seen_error *error)
{
    seen_status status = SEEN_OK;
    for (int i = 0; i < REPLACE_TRIES && status == SEEN_OK; i++) {
        bool done;
        status = sn_meta_unname(ch, view, &done, error);
        if (status != SEEN_OK || done)
            return status;
        status = sn_meta_load(ch, view, error);
    }
    return status == SEEN_OK ? changing_too_fast(ch, error) : status;
}

/* Whether `from` is the filter described by the hash, under any address. */
static bool is_this(seen_set *from, const sn_redis_view *there)
{
    if (!from->connected)
        return false;
    sn_redis_view view = sn_redis_get_view((sn_redis_set *)from);
    return memcmp(view.id, there->id, SN_REDIS_ID) == 0;
}

/* A plain bitmap has no ID, and the old and the new one have the same name: the old one is removed
 * first, so that a partial new one is never taken for it. Without an old filter an existing key is
 * adopted, and extended to its size. Only a string is removed, and not the source of the copy. */
static seen_status stage_bitmap(sn_channel *ch, const sn_redis_view *view, sn_redis_view *old,
                                bool replace, seen_set *from, seen_error *error)
{
    int64_t length;
    bool plain = old && old->layout == SEEN_LAYOUT_BITMAP;
    if (!replace)
        return sn_redis_bitmap_adopt(ch, view, from, error);
    if (plain && from && is_this(from, old))
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "%s: a plain bitmap cannot be copied onto itself; choose another name",
                            sn_channel_address(ch)->shown);
    seen_status status = sn_redis_bitmap_length(ch, view, &length, error);
    if (plain && status == SEEN_OK) {
        status = drop_hash(ch, old, error);
        if (status == SEEN_OK)
            status = sn_redis_drop_counts(ch, old, error);
    }
    if (status == SEEN_ERR_NOT_FOUND)
        status = SEEN_OK;
    return status == SEEN_OK ? sn_redis_drop_shards(ch, view, 0, error) : status;
}

/* Creates the shards under a new ID that no other client knows; they expire unless the filter is
 * finished. */
static seen_status stage(sn_channel *ch, const sn_redis_view *view, seen_error *error)
{
    seen_status status = SEEN_OK;
    bool bitmap = view->layout == SEEN_LAYOUT_BITMAP;
    for (uint32_t i = 0; i < view->image.layers && status == SEEN_OK; i++)
        if (view->image.layer[i].generation)
            status = sn_redis_make_shards(ch, view, i, sn_redis_layer_closed(&view->image, i),
                                          bitmap ? 0 : STAGE_SECONDS, error);
    return status;
}

/* Removes the expiry of the shards (or sets the requested one). */
static seen_status finish(sn_channel *ch, const sn_redis_view *view, seen_error *error)
{
    const sn_image *image = &view->image;
    seen_status status = SEEN_OK;
    for (uint32_t i = 0; i < image->layers && status == SEEN_OK; i++) {
        bool closed = sn_redis_layer_closed(image, i);
        uint64_t expire = closed && image->window_seconds ? image->window_seconds : view->ttl;
        if (!image->layer[i].generation)
            continue;
        sn_redis_namer namer;
        sn_redis_namer_begin(&namer, sn_channel_address(ch), view, i, closed);
        for (uint64_t s = 0; s < image->layer[i].geometry.shards && status == SEEN_OK; s++) {
            const sn_redis_key *key = sn_redis_namer_shard(&namer, s);
            sn_command_begin(ch, 0, key->slot, expire ? 3 : 2);
            sn_command_text(ch, expire ? "EXPIRE" : "PERSIST");
            sn_command_arg(ch, key->text, key->len);
            if (expire)
                sn_command_number(ch, expire);
            if (sn_channel_pending(ch) >= AT_ONCE)
                status = sn_channel_run(ch, sn_reply_take_any, NULL, error);
        }
    }
    if (view->ttl && status == SEEN_OK) {
        sn_redis_key key;
        sn_redis_key_added(sn_channel_address(ch), view, &key);
        sn_redis_write_expire(ch, &key, view->ttl);
    }
    if (status == SEEN_OK)
        status = sn_channel_run(ch, sn_reply_take_any, NULL, error);
    sn_verify_loss loss = {0};
    if (status == SEEN_OK)
        status = sn_verify_all(ch, view, &loss, error);
    if (status == SEEN_OK && (loss.shard || loss.counts))
        status =
            sn_error_set(error, SEEN_ERR_SPACE,
                         "%s: the server has dropped parts of the filter while it was created; "
                         "raise maxmemory, and set maxmemory-policy to noeviction",
                         sn_channel_address(ch)->shown);
    return status;
}

/* Whether the hash may refer to this filter, after an error that leaves this open. */
static bool may_be_visible(sn_channel *ch, const sn_redis_view *view)
{
    sn_redis_view there;
    seen_status status = sn_meta_load(ch, &there, NULL);
    if (status == SEEN_OK)
        return memcmp(there.id, view->id, SN_REDIS_ID) == 0;
    return status != SEEN_ERR_NOT_FOUND;
}

/* A window that rotates while its generations are read may have moved a key from one that was still
 * to be read to one that was already read. */
static seen_status check_rotation(const sn_image *image, seen_set *from, bool *rotated,
                                  seen_error *error)
{
    sn_image now;
    if (image->growth != SEEN_WINDOW)
        return SEEN_OK;
    seen_status status = from->ops->image(from, &now, error);
    *rotated = status == SEEN_OK &&
               (now.current != image->current ||
                now.layer[now.current].generation != image->layer[image->current].generation);
    if (!*rotated)
        return status;
    return sn_error_set(error, SEEN_ERR_CHANGED,
                        "%s: the window rotates faster than it can be read", from->where);
}

static seen_status copy_in(sn_channel *ch, const sn_redis_view *view, seen_set *from, bool *rotated,
                           seen_error *error)
{
    void *chunk = aligned_alloc(SN_LINE_BYTES, (size_t)SN_COPY_LINES * SN_LINE_BYTES);
    if (!chunk)
        return sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory",
                            sn_channel_address(ch)->shown);
    seen_status status = SEEN_OK;
    /* New shards are zero; a plain bitmap may have been adopted. */
    bool fresh = view->layout == SEEN_LAYOUT_SHARDS;
    for (uint32_t i = 0; i < view->image.layers && status == SEEN_OK; i++) {
        uint64_t lines = sn_geometry_lines(&view->image.layer[i].geometry);
        if (!view->image.layer[i].generation)
            continue;
        for (uint64_t at = 0; at < lines && status == SEEN_OK; at += SN_COPY_LINES) {
            uint64_t n = lines - at < SN_COPY_LINES ? lines - at : SN_COPY_LINES;
            status = from->ops->read(from, i, at, n, chunk, error);
            if (status == SEEN_OK && !(fresh && sn_redis_all_zero(chunk, n * SN_LINE_BYTES)))
                status = sn_redis_write_lines(ch, view, i, at, n, chunk, error);
        }
    }
    free(chunk);
    return status == SEEN_OK ? check_rotation(&view->image, from, rotated, error) : status;
}

/* Makes a filter visible. *old is what it replaced, if *found: others may do the same concurrently,
 * and each drops the one that it replaced. */
static seen_status publish(sn_channel *ch, const sn_redis_view *view, unsigned flags,
                           sn_redis_view *old, bool *found, seen_error *error)
{
    seen_status status = SEEN_OK;
    for (int i = 0; i < REPLACE_TRIES && status == SEEN_OK; i++) {
        bool done;
        status = sn_meta_publish(ch, view, *found ? old : NULL, &done, error);
        if (status != SEEN_OK || done)
            return status;
        status = find_old(ch, flags, old, found, error);
    }
    return status == SEEN_OK ? changing_too_fast(ch, error) : status;
}

/* Creates a filter, empty or as a copy of `from`. *rotated: `from` is a window and has rotated
 * during the copy. */
static seen_status make_filter(sn_channel *ch, const sn_redis_view *view, unsigned flags,
                               seen_set *from, bool *rotated, seen_error *error)
{
    sn_redis_view old;
    bool replace = flags & SEEN_REPLACE, found;
    bool bitmap = view->layout == SEEN_LAYOUT_BITMAP;
    seen_status status = find_old(ch, flags, &old, &found, error);
    if (status != SEEN_OK)
        return status;
    if (bitmap)
        status = stage_bitmap(ch, view, found ? &old : NULL, replace, from, error);
    if (status == SEEN_OK)
        status = stage(ch, view, error);
    if (status == SEEN_OK && from)
        status = copy_in(ch, view, from, rotated, error);
    if (status == SEEN_OK)
        status = sn_redis_begin_counts(ch, view, error);
    if (status == SEEN_OK)
        status = finish(ch, view, error);
    if (status == SEEN_OK)
        status = publish(ch, view, flags, &old, &found, error);
    if (status != SEEN_OK) {
        /* A visible filter keeps its shards. */
        if (!bitmap && !may_be_visible(ch, view))
            sn_redis_drop_all(ch, view, NULL);
        return status;
    }
    /* The plain key of a bitmap is the same before and after. */
    if (found && bitmap && old.layout == SEEN_LAYOUT_BITMAP)
        sn_redis_drop_counts(ch, &old, NULL);
    else if (found)
        sn_redis_drop_all(ch, &old, NULL);
    return SEEN_OK;
}

seen_status sn_redis_create(const char *where, const sn_image *image, const seen_options *options,
                            unsigned flags, seen_set **out, seen_error *error)
{
    sn_client *redis;
    sn_channel *ch;
    sn_redis_view view = {.image = *image,
                          .format = SN_META_FORMAT,
                          .layout = options->layout,
                          .ttl = options->ttl_seconds};
    view.image.wide = image->growth == SEEN_GROWING;
    seen_status status = check_image(&view, where, error);
    if (status == SEEN_OK)
        status = draw_id(&view, error);
    if (status == SEEN_OK)
        status = sn_redis_connect(where, options, &redis, &ch, error);
    if (status != SEEN_OK)
        return status;
    /* Creates the handle first: a failure after the filter is visible would have changed
     * something. */
    seen_set *set = NULL;
    status = sn_redis_make_handle(redis, &view, flags, &set, error);
    if (status == SEEN_OK)
        status = make_filter(ch, &view, flags, NULL, NULL, error);
    sn_client_return(redis, ch);
    if (status == SEEN_OK)
        *out = set;
    else if (set)
        set->ops->close(set);
    else
        sn_client_disconnect(redis);
    return status;
}

/* Counters on a server are not verified against the cells later. */
static seen_status source_image(seen_set *from, sn_image *image, seen_error *error)
{
    seen_status status = from->ops->image(from, image, error);
    if (status == SEEN_OK)
        sn_file_recount(from, image);
    return status;
}

seen_status sn_redis_copy(const char *where, unsigned flags, const seen_options *options,
                          seen_set *from, seen_error *error)
{
    sn_client *redis;
    sn_channel *ch;
    sn_redis_view view = {
        .format = SN_META_FORMAT, .layout = options->layout, .ttl = options->ttl_seconds};
    seen_status status = source_image(from, &view.image, error);
    if (status == SEEN_OK)
        status = check_image(&view, where, error);
    if (status == SEEN_OK)
        status = draw_id(&view, error);
    if (status == SEEN_OK)
        status = sn_redis_connect(where, options, &redis, &ch, error);
    if (status != SEEN_OK)
        return status;
    bool rotated = false;
    status = make_filter(ch, &view, flags, from, &rotated, error);
    for (int i = 1; i < COPY_TRIES && rotated; i++) {
        rotated = false;
        status = source_image(from, &view.image, error);
        if (status == SEEN_OK)
            status = draw_id(&view, error);
        if (status == SEEN_OK)
            status = make_filter(ch, &view, flags, from, &rotated, error);
    }
    if (status == SEEN_OK)
        status = sn_channel_sync(ch, error);
    sn_client_return(redis, ch);
    sn_client_disconnect(redis);
    return status;
}

seen_status sn_redis_drop(const char *where, const seen_options *options, seen_error *error)
{
    sn_client *redis;
    sn_channel *ch;
    sn_redis_view view;
    seen_status status = sn_redis_connect(where, options, &redis, &ch, error);
    if (status != SEEN_OK)
        return status;
    status = sn_meta_load(ch, &view, error);
    if (status == SEEN_OK)
        status = drop_hash(ch, &view, error);
    if (status == SEEN_OK)
        status = sn_redis_drop_all(ch, &view, error);
    sn_client_return(redis, ch);
    sn_client_disconnect(redis);
    return status;
}
