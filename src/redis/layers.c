/* Layers and generations shared by several clients.
 *
 * New keys go to the current layer. When a client finds it full (or expired) it opens the next one,
 * in three steps that any other client may repeat or complete:
 *
 *   1. create the shards of the next layer; existing ones are left unchanged
 *   2. close the shards of the current layer, one by one: a shard is renamed to NAME:closed, and a
 *      list takes its old name, so that a command for the shard fails there with WRONGTYPE
 *   3. update the filter's hash, if no other client has
 *
 * Step 2 is the fence that guarantees that each key is new once. A client with a view of the old
 * layer cannot add to it: its command changes nothing and fails, it reads the filter's hash again,
 * and starts over. A client with a view of the new layer got it after step 3, when every key that
 * was added to the old one is visible there. So two clients never decide about one key in two
 * layers. The lists outlive their generation by more than a client uses its view. */
#include "set/layers.h"
#include "base/clock.h"
#include "base/error.h"
#include "redis/set.h"
#include "redis/verify.h"

#include <time.h>

enum {
    TOMBSTONE_SECONDS = 7 * 86400, /* longer than any client sleeps with an old view */
    FORGOTTEN_SECONDS = 2 * 3600,  /* the same once the generation has expired; see IDLE_MS */
    EXPIRY_SLACK = 60,             /* tolerated difference of clients' clocks, in seconds */
    AT_ONCE = 4096,                /* commands per run */
    /* A server processes what one client has sent before it turns to the next: at most this much is
     * zeroed at a time. */
    ZEROED_AT_ONCE = 4 << 20,
};

static const char CLOSE[] = "local t=redis.call('TYPE',KEYS[1]).ok "
                            "if t=='string' then "
                            " redis.call('RENAMENX',KEYS[1],KEYS[2]) "
                            " if ARGV[1]~='0' then redis.call('EXPIRE',KEYS[2],ARGV[1]) end "
                            "end "
                            "if t=='string' or t=='none' then "
                            " redis.call('DEL',KEYS[1]) "
                            " redis.call('RPUSH',KEYS[1],'closed') "
                            " redis.call('EXPIRE',KEYS[1],ARGV[2]) "
                            "end "
                            "return 1";

/* A shard that another client has already closed was created. */
static bool take_made(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    (void)context;
    (void)tag;
    (void)again;
    return !sn_reply_is_error(reply) || sn_reply_error_is(reply, "WRONGTYPE");
}

void sn_redis_write_expire(sn_channel *ch, const sn_redis_key *key, uint64_t seconds)
{
    sn_command_begin(ch, 0, key->slot, 3);
    sn_command_text(ch, "EXPIRE");
    sn_command_arg(ch, key->text, key->len);
    sn_command_number(ch, seconds);
}

/* Creates a shard together with its expiry, atomically: a client that is killed in between leaves
 * nothing permanent. */
static void write_make_expiring(sn_channel *ch, const sn_redis_key *key, uint64_t last_bit,
                                uint64_t seconds)
{
    sn_command_begin(ch, 0, key->slot, 6);
    sn_command_text(ch, "EVAL");
    sn_command_text(ch, "redis.call('BITFIELD',KEYS[1],'INCRBY','u1',ARGV[1],0) "
                        "return redis.call('EXPIRE',KEYS[1],ARGV[2])");
    sn_command_text(ch, "1");
    sn_command_arg(ch, key->text, key->len);
    sn_command_number(ch, last_bit);
    sn_command_number(ch, seconds);
}

seen_status sn_redis_make_shards(sn_channel *ch, const sn_redis_view *view, uint32_t layer,
                                 bool closed, uint64_t expire, seen_error *error)
{
    const sn_geometry *g = &view->image.layer[layer].geometry;
    sn_redis_namer namer;
    sn_redis_namer_begin(&namer, sn_channel_address(ch), view, layer, closed);
    seen_status status = SEEN_OK;
    uint64_t bytes = sn_verify_length(view, layer), last_bit = bytes * 8 - 1;
    for (uint64_t s = 0; s < g->shards && status == SEEN_OK; s++) {
        const sn_redis_key *key = sn_redis_namer_shard(&namer, s);
        /* Adding nothing to the last bit extends the string to its final length, and changes
         * nothing if it exists. In one step, because the server over-allocates a string that
         * grows. */
        if (expire) {
            write_make_expiring(ch, key, last_bit, expire);
        } else {
            sn_command_begin(ch, 0, key->slot, 6);
            sn_command_text(ch, "BITFIELD");
            sn_command_arg(ch, key->text, key->len);
            sn_command_text(ch, "INCRBY");
            sn_command_text(ch, "u1");
            sn_command_number(ch, last_bit);
            sn_command_text(ch, "0");
        }
        if (s + 1 == g->shards || sn_channel_pending(ch) >= AT_ONCE ||
            sn_channel_pending(ch) * bytes >= (uint64_t)sn_channel_nodes(ch) * ZEROED_AT_ONCE)
            status = sn_channel_run(ch, take_made, NULL, error);
    }
    return status;
}

static void write_unlink(sn_channel *ch, const sn_redis_key *key)
{
    sn_command_begin(ch, 0, key->slot, 2);
    sn_command_text(ch, "UNLINK");
    sn_command_arg(ch, key->text, key->len);
}

seen_status sn_redis_drop_shards(sn_channel *ch, const sn_redis_view *view, uint32_t layer,
                                 seen_error *error)
{
    const sn_geometry *g = &view->image.layer[layer].geometry;
    seen_status status = SEEN_OK;
    for (int closed = 0; closed < 2; closed++) {
        sn_redis_namer namer;
        sn_redis_namer_begin(&namer, sn_channel_address(ch), view, layer, closed);
        for (uint64_t s = 0; s < g->shards && status == SEEN_OK; s++) {
            write_unlink(ch, sn_redis_namer_shard(&namer, s));
            if (s + 1 == g->shards || sn_channel_pending(ch) >= AT_ONCE)
                status = sn_channel_run(ch, sn_reply_take_any, NULL, error);
        }
        if (namer.plain)
            break;
    }
    return status;
}

seen_status sn_redis_drop_old_shards(sn_channel *ch, const sn_redis_view *view, uint32_t layer,
                                     seen_error *error)
{
    const sn_geometry *g = &view->image.layer[layer].geometry;
    seen_status status = SEEN_OK;
    sn_redis_namer open, closed;
    sn_redis_namer_begin(&open, sn_channel_address(ch), view, layer, false);
    sn_redis_namer_begin(&closed, sn_channel_address(ch), view, layer, true);
    for (uint64_t s = 0; s < g->shards && status == SEEN_OK; s++) {
        write_unlink(ch, sn_redis_namer_shard(&closed, s));
        sn_redis_write_expire(ch, sn_redis_namer_shard(&open, s), FORGOTTEN_SECONDS);
        if (s + 1 == g->shards || sn_channel_pending(ch) >= AT_ONCE)
            status = sn_channel_run(ch, sn_reply_take_any, NULL, error);
    }
    return status;
}

static bool take_sum(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    int64_t here = 0;
    bool good = sn_reply_take_integer(&here, tag, reply, again);
    *(int64_t *)context += here;
    return good;
}

/* Removes the fences of expired generations. They expire in the order in which they were set: going
 * back, after a round of the ring without any there are no more. */
static seen_status drop_fences(sn_channel *ch, const sn_redis_view *view, seen_error *error)
{
    sn_redis_view past = *view;
    sn_image *image = &past.image;
    uint64_t generation = image->layer[image->current].generation;
    int64_t there = 1;
    seen_status status = SEEN_OK;
    for (uint64_t back = image->layers; back < generation && there && status == SEEN_OK;) {
        there = 0;
        for (uint32_t i = 0; i < image->layers && back < generation; i++, back++) {
            uint32_t layer =
                (uint32_t)((image->current + image->layers - back % image->layers) % image->layers);
            sn_redis_namer namer;
            image->layer[layer].generation = generation - back;
            sn_redis_namer_begin(&namer, sn_channel_address(ch), &past, layer, false);
            uint64_t shards = image->layer[layer].geometry.shards;
            for (uint64_t s = 0; s < shards && status == SEEN_OK; s++) {
                write_unlink(ch, sn_redis_namer_shard(&namer, s));
                if (sn_channel_pending(ch) >= AT_ONCE)
                    status = sn_channel_run(ch, take_sum, &there, error);
            }
        }
        if (status == SEEN_OK)
            status = sn_channel_run(ch, take_sum, &there, error);
    }
    return status;
}

seen_status sn_redis_drop_counts(sn_channel *ch, const sn_redis_view *view, seen_error *error)
{
    sn_redis_key key;
    sn_redis_key_added(sn_channel_address(ch), view, &key);
    write_unlink(ch, &key);
    return sn_channel_run(ch, sn_reply_take_any, NULL, error);
}

seen_status sn_redis_drop_all(sn_channel *ch, const sn_redis_view *view, seen_error *error)
{
    seen_status status = SEEN_OK;
    for (uint32_t i = 0; i < view->image.layers && status == SEEN_OK; i++)
        if (view->image.layer[i].generation)
            status = sn_redis_drop_shards(ch, view, i, error);
    if (status == SEEN_OK && view->image.growth == SEEN_WINDOW)
        status = drop_fences(ch, view, error);
    return status == SEEN_OK ? sn_redis_drop_counts(ch, view, error) : status;
}

void sn_redis_sweep(sn_channel *ch, const sn_redis_view *view)
{
    /* The key of a plain bitmap has no unique name: it may belong to what replaced it. */
    if (view->layout == SEEN_LAYOUT_SHARDS)
        sn_redis_drop_all(ch, view, NULL);
    else
        sn_redis_drop_counts(ch, view, NULL);
}

static seen_status close_shards(sn_channel *ch, const sn_redis_view *view, seen_error *error)
{
    const sn_image *image = &view->image;
    const sn_geometry *g = &image->layer[image->current].geometry;
    uint64_t expire = image->growth == SEEN_WINDOW && image->window_seconds
                          ? image->window_seconds + EXPIRY_SLACK
                          : 0;
    sn_redis_namer open, closed;
    sn_redis_namer_begin(&open, sn_channel_address(ch), view, image->current, false);
    sn_redis_namer_begin(&closed, sn_channel_address(ch), view, image->current, true);
    seen_status status = SEEN_OK;
    for (uint64_t s = 0; s < g->shards && status == SEEN_OK; s++) {
        const sn_redis_key *from = sn_redis_namer_shard(&open, s);
        const sn_redis_key *to = sn_redis_namer_shard(&closed, s);
        sn_command_begin(ch, 0, from->slot, 7);
        sn_command_text(ch, "EVAL");
        sn_command_text(ch, CLOSE);
        sn_command_text(ch, "2");
        sn_command_arg(ch, from->text, from->len);
        sn_command_arg(ch, to->text, to->len);
        sn_command_number(ch, expire);
        sn_command_number(ch, TOMBSTONE_SECONDS);
        if (s + 1 == g->shards || sn_channel_pending(ch) >= AT_ONCE)
            status = sn_channel_run(ch, sn_reply_take_any, NULL, error);
    }
    return status;
}

/* The state of the filter after the next step. */
static seen_status plan_next(const sn_redis_set *set, const sn_redis_view *view,
                             sn_redis_view *next, seen_error *error)
{
    seen_error why;
    *next = *view;
    sn_image *image = &next->image;
    if (image->growth == SEEN_GROWING) {
        sn_layer *layer = &image->layer[image->layers];
        seen_status status = sn_layers_next(image, layer, &why);
        if (status != SEEN_OK)
            return sn_error_set(error, status, "%s: %s", set->base.where, why.message);
        layer->born = sn_clock_now();
        image->current = image->layers++;
    } else {
        uint32_t slot = (image->current + 1) % image->layers;
        image->layer[slot].generation = image->layer[image->current].generation + 1;
        image->layer[slot].born = sn_clock_now();
        image->layer[slot].added = 0;
        image->current = slot;
    }
    image->sequence++;
    return SEEN_OK;
}

seen_status sn_redis_advance(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                             bool *mine, seen_error *error)
{
    sn_redis_view next = sn_redis_get_view(set), now;
    sn_meta_outcome step = SN_META_LATE;
    *mine = false;
    /* Another thread has done it. */
    if (next.image.sequence != view->image.sequence)
        return SEEN_OK;
    seen_status status = plan_next(set, view, &next, error);
    if (status == SEEN_OK)
        status = sn_redis_make_shards(ch, &next, next.image.current, false, view->ttl, error);
    if (status == SEEN_OK)
        status = close_shards(ch, view, error);
    if (status == SEEN_OK)
        status = sn_meta_step(ch, view, &next, &step, error);
    uint32_t at = next.image.current;
    uint64_t before = view->image.layer[at].generation;
    if (status == SEEN_OK && step == SN_META_PERHAPS) {
        /* The step may have been executed. If so it counts as ours: rotating once too often would
         * drop keys. */
        status = sn_redis_reload(set, ch, &now, error);
        if (status == SEEN_OK && now.image.layer[at].generation != before)
            step = SN_META_DONE;
    }
    *mine = step == SN_META_DONE;
    if (status == SEEN_OK && *mine && view->image.growth == SEEN_WINDOW && before) {
        sn_redis_write_drop_count(ch, view, at);
        status = sn_redis_drop_old_shards(ch, view, at, error);
    }
    if (status == SEEN_OK)
        status = sn_redis_reload(set, ch, &now, error);
    if (status == SEEN_ERR_NOT_FOUND || status == SEEN_ERR_CHANGED)
        sn_redis_sweep(ch, &next);
    return status;
}

seen_status sn_redis_catch_up(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                              seen_error *error)
{
    enum { PATIENCE = 20 };
    sn_redis_view now;
    /* A read-only client does not wait for writers: until the hash names another layer all keys are
     * under the closed shard's name. */
    if (set->base.read_only)
        return sn_redis_reload(set, ch, &now, error);
    for (int i = 0; i < PATIENCE; i++) {
        seen_status status = sn_redis_reload(set, ch, &now, error);
        if (status != SEEN_OK || now.image.sequence != view->image.sequence)
            return status;
        struct timespec t = {.tv_nsec = 5000000};
        nanosleep(&t, NULL);
    }
    /* The client that closed it is slow or dead. */
    bool mine;
    return sn_redis_advance(set, ch, view, &mine, error);
}

/* The current shard may have been closed since: its fence has its own expiry, which must not be
 * shortened. */
static void write_renew_open(sn_channel *ch, const sn_redis_key *key, uint64_t seconds)
{
    sn_command_begin(ch, 0, key->slot, 5);
    sn_command_text(ch, "EVAL");
    sn_command_text(ch, "if redis.call('TYPE',KEYS[1]).ok~='string' then return 0 end "
                        "return redis.call('EXPIRE',KEYS[1],ARGV[1])");
    sn_command_text(ch, "1");
    sn_command_arg(ch, key->text, key->len);
    sn_command_number(ch, seconds);
}

/* The hash, and a plain bitmap, have the names of whichever filter exists now: they are renewed if
 * it is still this one. (In a cluster a script reaches one slot only, and the bitmap may be in
 * another: it follows at once.) */
static seen_status renew_named(sn_channel *ch, const sn_redis_view *view, bool *same,
                               seen_error *error)
{
    static const char SCRIPT[] = "if redis.call('HGET',KEYS[1],'id')~=ARGV[1] then return 0 end "
                                 "for _,k in ipairs(KEYS) do redis.call('EXPIRE',k,ARGV[2]) end "
                                 "return 1";
    bool plain = view->layout == SEEN_LAYOUT_BITMAP;
    int64_t done = 0;
    sn_redis_key key;
    sn_redis_namer namer;
    sn_redis_key_meta(sn_channel_address(ch), &key);
    sn_redis_namer_begin(&namer, sn_channel_address(ch), view, 0, false);
    bool apart = sn_channel_address(ch)->cluster && plain && namer.key.slot != key.slot;
    bool both = plain && !apart;
    sn_command_begin(ch, 0, key.slot, both ? 7 : 6);
    sn_command_text(ch, "EVAL");
    sn_command_text(ch, SCRIPT);
    sn_command_text(ch, both ? "2" : "1");
    sn_command_arg(ch, key.text, key.len);
    if (both)
        sn_command_arg(ch, namer.key.text, namer.key.len);
    sn_command_text(ch, view->id);
    sn_command_number(ch, view->ttl);
    seen_status status = sn_channel_run(ch, sn_reply_take_integer, &done, error);
    *same = status == SEEN_OK && done == 1;
    if (*same && apart) {
        sn_redis_write_expire(ch, &namer.key, view->ttl);
        status = sn_channel_run(ch, sn_reply_take_any, NULL, error);
    }
    return status;
}

/* Sets the time to live of every key. The past generations of a window by time have their own
 * expiry. */
static seen_status renew(sn_channel *ch, const sn_redis_view *view, seen_error *error)
{
    const sn_image *image = &view->image;
    sn_redis_key key;
    bool same;
    if (!view->ttl)
        return SEEN_OK;
    seen_status status = renew_named(ch, view, &same, error);
    if (!same)
        return status;
    sn_redis_key_added(sn_channel_address(ch), view, &key);
    sn_redis_write_expire(ch, &key, view->ttl);
    for (uint32_t i = 0; i < image->layers && status == SEEN_OK; i++) {
        bool closed = sn_redis_layer_closed(image, i);
        if (!image->layer[i].generation || (closed && image->window_seconds) ||
            view->layout == SEEN_LAYOUT_BITMAP)
            continue;
        sn_redis_namer namer;
        sn_redis_namer_begin(&namer, sn_channel_address(ch), view, i, closed);
        for (uint64_t s = 0; s < image->layer[i].geometry.shards && status == SEEN_OK; s++) {
            const sn_redis_key *shard = sn_redis_namer_shard(&namer, s);
            if (closed)
                sn_redis_write_expire(ch, shard, view->ttl);
            else
                write_renew_open(ch, shard, view->ttl);
            if (sn_channel_pending(ch) >= AT_ONCE)
                status = sn_channel_run(ch, sn_reply_take_any, NULL, error);
        }
    }
    return status == SEEN_OK ? sn_channel_run(ch, sn_reply_take_any, NULL, error) : status;
}

seen_status sn_redis_touch(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                           seen_error *error)
{
    if (!view->ttl)
        return SEEN_OK;
    uint64_t now = sn_clock_ms();
    pthread_mutex_lock(&set->lock);
    bool due = !set->touched || now - set->touched > view->ttl * 250;
    if (due)
        set->touched = now;
    pthread_mutex_unlock(&set->lock);
    return due ? renew(ch, view, error) : SEEN_OK;
}
