/* How many keys each layer holds, shared between clients: a hash of counters beside the shards. In
 * a layer that is bounded clients claim room first (claims.c); in others the keys are counted
 * afterwards, now and then. */
#include "redis/set.h"
#include "set/layers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* KEYS: the counters. ARGV: the field and that of pending keys, each with what to add to it.
 * Counters of a filter or generation that is gone are not recreated. */
static const char FINISH[] = "local k=KEYS[1] "
                             "if redis.call('HEXISTS',k,ARGV[3])==0 then return 0 end "
                             "redis.call('HINCRBY',k,ARGV[3],ARGV[4]) "
                             "return redis.call('HINCRBY',k,ARGV[1],ARGV[2])";

void sn_redis_field_pending(const sn_redis_view *view, uint32_t layer, char field[SN_REDIS_FIELD])
{
    snprintf(field, SN_REDIS_FIELD, "%u.%" PRIu64 ":under-way", layer,
             view->image.layer[layer].generation);
}

static void write_count(sn_channel *ch, const sn_redis_view *view, uint32_t layer, int64_t by)
{
    sn_redis_key key;
    char field[SN_REDIS_FIELD];
    sn_redis_key_added(sn_channel_address(ch), view, &key);
    sn_redis_field_added(view, layer, field);
    sn_command_begin(ch, layer, key.slot, 4);
    sn_command_text(ch, "HINCRBY");
    sn_command_arg(ch, key.text, key.len);
    sn_command_text(ch, field);
    sn_command_signed(ch, by);
}

void sn_redis_write_script(sn_channel *ch, uint32_t tag, const sn_redis_view *view, uint32_t layer,
                           const char *script, unsigned more)
{
    sn_redis_key key;
    char field[SN_REDIS_FIELD];
    sn_redis_key_added(sn_channel_address(ch), view, &key);
    sn_redis_field_added(view, layer, field);
    sn_command_begin(ch, tag, key.slot, 5 + more);
    sn_command_text(ch, "EVAL");
    sn_command_text(ch, script);
    sn_command_text(ch, "1");
    sn_command_arg(ch, key.text, key.len);
    sn_command_text(ch, field);
}

/* The same if the counters exist: those of a dropped filter are not recreated. */
static void write_count_if_there(sn_channel *ch, const sn_redis_view *view, uint32_t layer,
                                 int64_t by)
{
    static const char SCRIPT[] = "if redis.call('EXISTS',KEYS[1])==0 then return 0 end "
                                 "return redis.call('HINCRBY',KEYS[1],ARGV[1],ARGV[2])";
    sn_redis_write_script(ch, 0, view, layer, SCRIPT, 1);
    sn_command_signed(ch, by);
}

/* Decrements at most once: repeated after a lost connection it might create room that does not
 * exist. Keys that stay counted are not an error. */
static seen_status run_once(sn_channel *ch, seen_error *error)
{
    int64_t total = 0;
    sn_command_once(ch);
    seen_status status = sn_channel_run(ch, sn_reply_take_integer, &total, error);
    return status == SEEN_ERR_NETWORK ? SEEN_OK : status;
}

static seen_status count_down(sn_channel *ch, const sn_redis_view *view, uint32_t layer,
                              uint64_t keys, seen_error *error)
{
    write_count_if_there(ch, view, layer, -(int64_t)keys);
    return run_once(ch, error);
}

/* Of `got` pending keys `left` were not used. */
static seen_status finish_pending(sn_channel *ch, const sn_redis_view *view, uint64_t got,
                                  uint64_t left, seen_error *error)
{
    uint32_t layer = view->image.current;
    char going[SN_REDIS_FIELD];
    sn_redis_field_pending(view, layer, going);
    sn_redis_write_script(ch, 0, view, layer, FINISH, 3);
    sn_command_signed(ch, -(int64_t)left);
    sn_command_text(ch, going);
    sn_command_signed(ch, -(int64_t)got);
    return run_once(ch, error);
}

seen_status sn_redis_claim_finish(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                                  const sn_redis_claim_room *room, uint64_t used, seen_error *error)
{
    uint64_t left = room->keys > used ? room->keys - used : 0;
    if (room->pending)
        return room->keys ? finish_pending(ch, view, room->keys, left, error) : SEEN_OK;
    pthread_mutex_lock(&set->lock);
    if (!sn_layers_bounded(&view->image))
        set->uncounted += used;
    else if (set->claim_sequence == view->image.sequence) {
        set->claim_left += left;
        set->claim_out -= room->keys;
    }
    pthread_mutex_unlock(&set->lock);
    return SEEN_OK;
}

/* Writes a command about both counters of a layer: all keys, and the pending ones. */
static void write_both(sn_channel *ch, const char *command, const sn_redis_view *view,
                       uint32_t layer)
{
    sn_redis_key key;
    char field[SN_REDIS_FIELD], going[SN_REDIS_FIELD];
    sn_redis_key_added(sn_channel_address(ch), view, &key);
    sn_redis_field_added(view, layer, field);
    sn_redis_field_pending(view, layer, going);
    sn_command_begin(ch, 0, key.slot, 4);
    sn_command_text(ch, command);
    sn_command_arg(ch, key.text, key.len);
    sn_command_text(ch, field);
    sn_command_text(ch, going);
}

void sn_redis_write_drop_count(sn_channel *ch, const sn_redis_view *view, uint32_t layer)
{
    write_both(ch, "HDEL", view, layer);
}

seen_status sn_redis_uncount(sn_channel *ch, const sn_redis_view *view, uint32_t layer,
                             uint64_t keys, seen_error *error)
{
    return count_down(ch, view, layer, keys, error);
}

seen_status sn_redis_flush_counts(sn_redis_set *set, sn_channel *ch, seen_error *error)
{
    pthread_mutex_lock(&set->lock);
    sn_redis_view view = set->view;
    int64_t by = (int64_t)set->uncounted;
    bool ours = set->claim_sequence == view.image.sequence;
    uint64_t left = ours ? set->claim_left : 0;
    uint64_t claimed = ours && set->claimed ? set->claimed - set->claim_out : 0;
    by -= (int64_t)left;
    set->uncounted = 0;
    set->claim_left = 0;
    set->claimed -= claimed;
    pthread_mutex_unlock(&set->lock);
    int64_t total;
    if (claimed)
        return finish_pending(ch, &view, claimed, left, error);
    if (by < 0)
        return count_down(ch, &view, view.image.current, (uint64_t)-by, error);
    if (by == 0)
        return SEEN_OK;
    write_count_if_there(ch, &view, view.image.current, by);
    return sn_channel_run(ch, sn_reply_take_integer, &total, error);
}

seen_status sn_redis_adjust_count(sn_channel *ch, const sn_redis_view *view, uint32_t layer,
                                  int64_t by, seen_error *error)
{
    write_count_if_there(ch, view, layer, by);
    return run_once(ch, error);
}

static bool take_bounds(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    uint64_t *number = context;
    (void)tag;
    (void)again;
    if (!sn_reply_is_row(reply, 2))
        return false;
    for (unsigned i = 0; i < 2; i++)
        if (reply->item[i + 1].type == REDIS_REPLY_STRING)
            sn_meta_number(sn_reply_text(reply, i + 1), reply->item[i + 1].len, &number[i]);
    return true;
}

seen_status sn_redis_read_bounds(sn_channel *ch, const sn_redis_view *view, uint32_t layer,
                                 uint64_t *low, uint64_t *high, seen_error *error)
{
    uint64_t number[2] = {0};
    write_both(ch, "HMGET", view, layer);
    seen_status status = sn_channel_run(ch, take_bounds, number, error);
    *high = number[0];
    *low = number[0] > number[1] ? number[0] - number[1] : 0;
    return status;
}

seen_status sn_redis_add_counts(sn_channel *ch, const sn_redis_view *view, const sn_image *from,
                                seen_error *error)
{
    for (uint32_t i = 0; i < from->layers && i < view->image.layers; i++)
        if (from->layer[i].added || i == view->image.current)
            write_count(ch, view, i, (int64_t)from->layer[i].added);
    int64_t total;
    return sn_channel_run(ch, sn_reply_take_integer, &total, error);
}

seen_status sn_redis_begin_counts(sn_channel *ch, const sn_redis_view *view, seen_error *error)
{
    sn_redis_key key;
    sn_redis_key_added(sn_channel_address(ch), view, &key);
    if (view->format > 1) {
        sn_command_begin(ch, 0, key.slot, 4);
        sn_command_text(ch, "HINCRBY");
        sn_command_arg(ch, key.text, key.len);
        sn_command_text(ch, sn_verify_field(view));
        sn_command_text(ch, "1");
    }
    return sn_redis_add_counts(ch, view, &view->image, error);
}
