/* How many keys each layer holds, shared between clients.
 *
 * Where a layer is bounded a client claims room before it adds, some at a time, and gives back what
 * it did not need: the counter is never below what was added, and above it by at most 1/1024 of the
 * capacity, or one batch, for each client that is at work (or died, or lost its connection at
 * work). Where nothing is bounded the keys are counted after the fact, now and then. */
#include "base/error.h"
#include "store/redis_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CLAIM_PARTS = 1024, CLAIM_MAX = 65536, UNCOUNTED_MAX = 65536 };

bool sn_redis_bounded(const sn_image *image)
{
    if (image->growth == SEEN_WINDOW)
        return image->window_seconds == 0;
    return image->growth == SEEN_GROWING || image->when_full == SEEN_FULL_REFUSE;
}

bool sn_redis_take_count(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    (void)tag;
    (void)again;
    if (reply->items != 1 || reply->item[0].type != REDIS_REPLY_INTEGER)
        return false;
    *(int64_t *)context = reply->item[0].number;
    return true;
}

static void field_of(const sn_redis_view *view, uint32_t layer, char field[32])
{
    snprintf(field, 32, "%u.%" PRIu64, layer, view->image.layer[layer].generation);
}

static void say_count(sn_channel *ch, const sn_redis_view *view, uint32_t layer, int64_t by)
{
    sn_redis_key key;
    char field[32];
    sn_redis_key_added(&ch->redis->address, view, &key);
    field_of(view, layer, field);
    sn_say(ch, layer, key.slot, 4);
    sn_say_text(ch, "HINCRBY");
    sn_say_arg(ch, key.text, key.len);
    sn_say_text(ch, field);
    sn_say_signed(ch, by);
}

/* The same where the counters are there: those of a filter that was dropped do not come back. */
static void say_count_there(sn_channel *ch, const sn_redis_view *view, uint32_t layer, int64_t by)
{
    static const char SCRIPT[] = "if redis.call('EXISTS',KEYS[1])==0 then return 0 end "
                                 "return redis.call('HINCRBY',KEYS[1],ARGV[1],ARGV[2])";
    sn_redis_key key;
    char field[32];
    sn_redis_key_added(&ch->redis->address, view, &key);
    field_of(view, layer, field);
    sn_say(ch, layer, key.slot, 6);
    sn_say_text(ch, "EVAL");
    sn_say_text(ch, SCRIPT);
    sn_say_text(ch, "1");
    sn_say_arg(ch, key.text, key.len);
    sn_say_text(ch, field);
    sn_say_signed(ch, by);
}

static seen_status count_by(sn_channel *ch, const sn_redis_view *view, uint32_t layer, int64_t by,
                            int64_t *total, seen_error *error)
{
    say_count(ch, view, layer, by);
    return sn_channel_run(ch, sn_redis_take_count, total, error);
}

/* Counts down, once at most: sent again after a lost connection it might make room that is not
 * there. Keys that stay counted are no failure. */
static seen_status count_down(sn_channel *ch, const sn_redis_view *view, uint32_t layer,
                              uint64_t keys, seen_error *error)
{
    int64_t total = 0;
    say_count_there(ch, view, layer, -(int64_t)keys);
    sn_say_once(ch);
    seen_status status = sn_channel_run(ch, sn_redis_take_count, &total, error);
    return status == SEEN_ERR_NETWORK ? SEEN_OK : status;
}

/* Takes `want` from what was claimed before, or with `less` what there is; `more` is put there
 * first. */
static uint64_t draw(sn_redis_set *set, const sn_redis_view *view, uint64_t want, uint64_t more,
                     bool less)
{
    pthread_mutex_lock(&set->lock);
    if (set->claim_sequence != view->image.sequence) {
        set->claim_sequence = view->image.sequence;
        set->claim_left = 0;
    }
    set->claim_left += more;
    uint64_t got = want < set->claim_left ? want : set->claim_left;
    if (got < want && !less)
        got = 0;
    set->claim_left -= got;
    pthread_mutex_unlock(&set->lock);
    return got;
}

static seen_status claim_from_server(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                                     uint64_t want, uint64_t *got, seen_error *error)
{
    uint32_t layer = view->image.current;
    int64_t capacity = (int64_t)view->image.layer[layer].capacity;
    int64_t block = capacity / CLAIM_PARTS, total = 0;
    block = block > CLAIM_MAX ? CLAIM_MAX : block;
    block = block < (int64_t)want ? (int64_t)want : block;
    seen_status status = count_by(ch, view, layer, block, &total, error);
    if (status != SEEN_OK)
        return status;
    int64_t over = total - capacity;
    if (over > 0) {
        over = over < block ? over : block;
        status = count_down(ch, view, layer, (uint64_t)over, error);
        block -= over;
    }
    if (status == SEEN_OK)
        *got = draw(set, view, want, (uint64_t)block, true);
    return status;
}

seen_status sn_redis_claim(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                           uint64_t want, uint64_t *got, seen_error *error)
{
    enum { TRIES = 4 };
    *got = want;
    if (!sn_redis_bounded(&view->image))
        return SEEN_OK;
    *got = draw(set, view, want, 0, false);
    seen_status status = SEEN_OK;
    /* Another client may be about to give back what it claimed in vain. */
    for (int i = 0; i < TRIES && *got == 0 && status == SEEN_OK; i++) {
        if (i > 0) {
            struct timespec t = {.tv_nsec = 1000000};
            nanosleep(&t, NULL);
        }
        status = claim_from_server(set, ch, view, want, got, error);
        if (view->image.growth != SEEN_FIXED)
            break;
    }
    return status;
}

void sn_redis_settle(sn_redis_set *set, const sn_redis_view *view, uint64_t got, uint64_t used)
{
    pthread_mutex_lock(&set->lock);
    if (!sn_redis_bounded(&view->image))
        set->uncounted += used;
    else if (set->claim_sequence == view->image.sequence && got > used)
        set->claim_left += got - used;
    pthread_mutex_unlock(&set->lock);
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
    if (set->claim_sequence == view.image.sequence)
        by -= (int64_t)set->claim_left;
    set->uncounted = 0;
    set->claim_left = 0;
    pthread_mutex_unlock(&set->lock);
    int64_t total;
    if (by < 0)
        return count_down(ch, &view, view.image.current, (uint64_t)-by, error);
    if (by == 0)
        return SEEN_OK;
    say_count_there(ch, &view, view.image.current, by);
    return sn_channel_run(ch, sn_redis_take_count, &total, error);
}

static bool take_fields(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    sn_redis_view *view = context;
    (void)tag;
    (void)again;
    if (!sn_reply_is_row(reply, view->image.layers))
        return false;
    for (uint32_t i = 0; i < view->image.layers; i++) {
        uint64_t added = 0;
        /* A counter that clients brought below zero counts as none. */
        if (reply->item[i + 1].type == REDIS_REPLY_STRING)
            sn_meta_number(sn_reply_text(reply, i + 1), reply->item[i + 1].len, &added);
        view->image.layer[i].added = added;
    }
    return true;
}

seen_status sn_redis_read_counts(sn_channel *ch, sn_redis_view *view, seen_error *error)
{
    sn_redis_key key;
    sn_redis_key_added(&ch->redis->address, view, &key);
    sn_say(ch, 0, key.slot, 2 + view->image.layers);
    sn_say_text(ch, "HMGET");
    sn_say_arg(ch, key.text, key.len);
    for (uint32_t i = 0; i < view->image.layers; i++) {
        char field[32];
        field_of(view, i, field);
        sn_say_text(ch, field);
    }
    return sn_channel_run(ch, take_fields, view, error);
}

seen_status sn_redis_add_counts(sn_channel *ch, const sn_redis_view *view, const sn_image *from,
                                seen_error *error)
{
    for (uint32_t i = 0; i < from->layers && i < view->image.layers; i++)
        if (from->layer[i].added || i == view->image.current)
            say_count(ch, view, i, (int64_t)from->layer[i].added);
    int64_t total;
    return sn_channel_run(ch, sn_redis_take_count, &total, error);
}
