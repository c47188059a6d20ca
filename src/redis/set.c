/* A set in Redis: open and close, and the table of its operations. */
#include "redis/set.h"

#include "base/clock.h"
#include "base/error.h"
#include "hash/hash.h"
#include "redis/cache.h"
#include "set/layers.h"

#include <stdlib.h>
#include <string.h>

/* ---- operations of the whole ---- */

static seen_status get_image(seen_set *base, sn_image *image, seen_error *error)
{
    sn_redis_set *set = (sn_redis_set *)base;
    sn_channel *ch;
    sn_redis_view view;
    seen_status status = sn_client_take(set->redis, &ch, error);
    if (status != SEEN_OK)
        return status;
    if (!base->read_only)
        status = sn_redis_flush_counts(set, ch, error);
    if (status == SEEN_OK)
        status = sn_redis_reload(set, ch, &view, error);
    if (status == SEEN_OK)
        status = sn_redis_read_counts(set, ch, &view, error);
    if (status == SEEN_OK)
        *image = view.image;
    sn_client_return(set->redis, ch);
    return status;
}

static seen_status sync_set(seen_set *base, seen_error *error)
{
    sn_redis_set *set = (sn_redis_set *)base;
    sn_channel *ch;
    sn_redis_view view;
    if (base->read_only)
        return SEEN_OK;
    seen_status status = sn_client_take(set->redis, &ch, error);
    if (status != SEEN_OK)
        return status;
    status = sn_redis_flush_counts(set, ch, error);
    /* Keys added to a filter that is gone are lost. */
    if (status == SEEN_OK)
        status = sn_redis_reload(set, ch, &view, error);
    if (status == SEEN_ERR_NOT_FOUND || status == SEEN_ERR_CHANGED) {
        view = sn_redis_get_view(set);
        sn_redis_sweep(ch, &view);
    }
    sn_client_return(set->redis, ch);
    return status == SEEN_OK ? sn_client_sync(set->redis, error) : status;
}

static seen_status rotate(seen_set *base, seen_error *error)
{
    sn_redis_set *set = (sn_redis_set *)base;
    sn_channel *ch;
    seen_status status = sn_client_take(set->redis, &ch, error);
    if (status != SEEN_OK)
        return status;
    sn_redis_view view;
    status = sn_redis_reload(set, ch, &view, error);
    for (bool mine = false; !mine && status == SEEN_OK;) {
        status = sn_redis_advance(set, ch, &view, &mine, error);
        view = sn_redis_get_view(set);
    }
    if (status == SEEN_OK)
        status = sn_redis_touch(set, ch, &view, error);
    sn_client_return(set->redis, ch);
    return status;
}

static void close_set(seen_set *base)
{
    sn_redis_set *set = (sn_redis_set *)base;
    sn_channel *ch;
    /* Without waiting for long: a lost count is only a count. */
    if (!base->read_only && (set->claim_left || set->claimed || set->uncounted)) {
        sn_client_limit_retry(set->redis, 100);
        if (sn_client_take(set->redis, &ch, NULL) == SEEN_OK) {
            sn_redis_flush_counts(set, ch, NULL);
            sn_client_return(set->redis, ch);
        }
    }
    sn_client_disconnect(set->redis);
    pthread_mutex_destroy(&set->lock);
    sn_cache_close(&set->cache);
    free(base->where);
    free(set);
}

#define REDIS_OPS(name)                                                                            \
    {                                                                                              \
        .store = (name), .add = sn_redis_add, .check = sn_redis_check, .remove = sn_redis_remove,  \
        .rotate = rotate, .sync = sync_set, .image = get_image, .measure = sn_redis_measure,       \
        .read = sn_redis_read_lines, .merge_lines = sn_redis_merge_lines,                          \
        .ensure_layers = sn_redis_ensure_layers, .finish_merge = sn_redis_finish_merge,            \
        .close = close_set                                                                         \
    }

static const sn_store_ops SERVER_OPS = REDIS_OPS("redis");
static const sn_store_ops CLUSTER_OPS = REDIS_OPS("redis-cluster");

/* ---- open ---- */

seen_status sn_redis_connect(const char *where, const seen_options *options, sn_client **redis,
                             sn_channel **ch, seen_error *error)
{
    sn_redis_address address;
    seen_status status = sn_redis_address_parse(where, &address, error);
    sn_client_options o = {.connect_ms = options->connect_ms,
                           .command_ms = options->command_ms,
                           .retry_ms = options->retry_ms,
                           .tls_ca = options->tls_ca,
                           .tls_cert = options->tls_cert,
                           .tls_key = options->tls_key};
    if (status == SEEN_OK)
        status = sn_client_connect(&address, &o, redis, error);
    explicit_bzero(&address, sizeof address);
    /* After connecting there is a free channel. */
    return status == SEEN_OK ? sn_client_take(*redis, ch, error) : status;
}

seen_status sn_redis_make_handle(sn_client *redis, const sn_redis_view *view, unsigned flags,
                                 seen_set **out, seen_error *error)
{
    sn_redis_set *set = calloc(1, sizeof *set);
    char *where = strdup(sn_client_address(redis)->shown);
    if (!set || !where) {
        free(set);
        free(where);
        return sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory",
                            sn_client_address(redis)->shown);
    }
    const sn_image *image = &view->image;
    set->base = (seen_set){
        .ops = sn_client_address(redis)->cluster ? &CLUSTER_OPS : &SERVER_OPS,
        .connected = true,
        .where = where,
        .hasher = {.kind = image->hash, .seed = {image->seed[0], image->seed[1]}},
        .kind = image->kind,
        .growth = image->growth,
        .read_only = flags & SEEN_READ_ONLY,
    };
    set->redis = redis;
    set->view = *view;
    set->checked_at = sn_clock_ms();
    set->limit = image->growth == SEEN_FIXED ? sn_layers_limit(&image->layer[0]) : 0;
    sn_cache_open(&set->cache);
    pthread_mutex_init(&set->lock, NULL);
    *out = &set->base;
    return SEEN_OK;
}

/* Verifies that all shards and the counters exist. */
static seen_status verify(sn_channel *ch, const sn_redis_view *view, seen_error *error)
{
    sn_verify_loss loss;
    seen_status status = sn_verify_all(ch, view, &loss, error);
    if (status != SEEN_OK || !(loss.shard || loss.counts))
        return status;
    /* Another client may be opening a layer: check again. */
    sn_redis_view now;
    status = sn_meta_load(ch, &now, error);
    if (status == SEEN_OK && (now.image.sequence == view->image.sequence || loss.counts))
        status = sn_verify_report(ch, view, &loss, error);
    return status;
}

seen_status sn_redis_open(const char *where, const seen_options *options, unsigned flags,
                          seen_set **out, seen_error *error)
{
    sn_client *redis;
    sn_channel *ch;
    sn_redis_view view;
    seen_status status = sn_redis_connect(where, options, &redis, &ch, error);
    if (status != SEEN_OK)
        return status;
    status = sn_meta_load(ch, &view, error);
    if (status == SEEN_OK && !sn_hash_supported(view.image.hash))
        status = sn_error_set(error, SEEN_ERR_UNSUPPORTED,
                              "%s: uses SipHash, which is not included in this build",
                              sn_client_address(redis)->shown);
    if (status == SEEN_OK)
        status = verify(ch, &view, error);
    sn_client_return(redis, ch);
    if (status == SEEN_OK)
        status = sn_redis_make_handle(redis, &view, flags, out, error);
    if (status != SEEN_OK)
        sn_client_disconnect(redis);
    return status;
}
