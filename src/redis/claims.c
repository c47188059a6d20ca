/* Claims: room for new keys in a layer that is bounded.
 *
 * A client claims room before it adds keys, for several calls at once, and returns what it did not
 * use. So the counter is never below the number of keys added. It exceeds it by at most 1/1024 of
 * the capacity, or one batch, for each client that is adding (or died, or lost its connection while
 * adding).
 *
 * A window by count must not rotate before its generation is full: it would drop recent keys. So a
 * claim of more than that 1/1024 is also counted as pending until the keys are added, the excess is
 * returned at once, and a client that finds no room waits for the pending claims.
 *
 * The counter of a counting set drifts, and is corrected by a sample of the cells (sample.c). The
 * correction must not take away room that other clients have claimed: everything that a client
 * claims is pending until it flushes, so the number of keys is at most the counter, and at least
 * the counter minus the pending keys. */
#include "base/error.h"
#include "redis/set.h"
#include "set/layers.h"

#include <time.h>

enum {
    CLAIM_PARTS = 1024,
    CLAIM_MAX = 65536,
    PATIENCE_MS = 3000, /* wait for pending claims: their client may be slow, or dead */
    COUNTS_LOST = -2,
};

/* KEYS: the counters. ARGV: field, keys wanted, limit, field of pending keys or "", field that
 * only creation writes or "". Claims as much as there is room for, in one step: claiming more and
 * returning it would look full to others. -1: there is no room, but keys are pending. -2: the
 * counters are lost, and are not recreated: the set would accept its capacity a second time. */
static const char CLAIM[] =
    "local k,f,u=KEYS[1],ARGV[1],ARGV[4] "
    "if ARGV[5]~='' and redis.call('HEXISTS',k,ARGV[5])==0 or redis.call('EXISTS',k)==0 then "
    " return -2 "
    "end "
    "local have=tonumber(redis.call('HGET',k,f) or 0) "
    "local got=math.min(tonumber(ARGV[2]),tonumber(ARGV[3])-have) "
    "if got<=0 then "
    " if u~='' and tonumber(redis.call('HGET',k,u) or 0)>0 then return -1 end "
    " return 0 "
    "end "
    "redis.call('HINCRBY',k,f,got) "
    "if u~='' then redis.call('HINCRBY',k,u,got) end "
    "return got";

/* Takes `want` from earlier claims, or with `less` as much as there is; `more` is added first. */
static uint64_t draw(sn_redis_set *set, const sn_redis_view *view, uint64_t want, uint64_t more,
                     bool less)
{
    pthread_mutex_lock(&set->lock);
    if (set->claim_sequence != view->image.sequence) {
        set->claim_sequence = view->image.sequence;
        set->claim_left = set->claim_out = set->claimed = 0;
    }
    set->claim_left += more;
    set->claimed += set->base.kind == SEEN_COUNTING ? more : 0;
    uint64_t got = want < set->claim_left ? want : set->claim_left;
    if (got < want && !less)
        got = 0;
    set->claim_left -= got;
    set->claim_out += got;
    pthread_mutex_unlock(&set->lock);
    return got;
}

/* What an idle client may keep. */
static uint64_t small_claim(const sn_redis_view *view)
{
    uint64_t part = view->image.layer[view->image.current].capacity / CLAIM_PARTS;
    return part < CLAIM_MAX ? part : CLAIM_MAX;
}

/* The number of new keys the current layer accepts. */
static uint64_t limit_of(const sn_redis_set *set, const sn_image *image)
{
    return image->growth == SEEN_FIXED ? set->limit : image->layer[image->current].capacity;
}

static void write_claim(const sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                        uint64_t want, bool pending, uint32_t tag)
{
    uint32_t layer = view->image.current;
    char going[SN_REDIS_FIELD] = "";
    if (pending)
        sn_redis_field_pending(view, layer, going);
    sn_redis_write_script(ch, tag, view, layer, CLAIM, 4);
    sn_command_number(ch, want);
    sn_command_number(ch, limit_of(set, &view->image));
    sn_command_text(ch, going);
    sn_command_text(ch, sn_verify_field(view));
}

static seen_status claim_from_server(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                                     uint64_t want, bool pending, int64_t *got, seen_error *error)
{
    write_claim(set, ch, view, want, pending, 0);
    seen_status status = sn_channel_run(ch, sn_reply_take_integer, got, error);
    if (status != SEEN_OK || *got != COUNTS_LOST)
        return status;
    *got = 0;
    return sn_redis_check_loss(set, ch, view, &(sn_verify_loss){.counts = true}, error);
}

/* A claim that others wait for. */
static seen_status claim_pending(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                                 uint64_t want, uint64_t *got, seen_error *error)
{
    enum { PAUSE_MAX_MS = 16 };
    int64_t take = 0;
    seen_status status = claim_from_server(set, ch, view, want, true, &take, error);
    for (unsigned pause = 1, waited = 0; status == SEEN_OK && take < 0 && waited < PATIENCE_MS;) {
        if (sn_redis_get_view(set).image.sequence != view->image.sequence)
            break; /* another thread has rotated the window */
        struct timespec t = {.tv_nsec = pause * 1000000L};
        nanosleep(&t, NULL);
        waited += pause;
        pause = pause < PAUSE_MAX_MS ? 2 * pause : pause;
        status = claim_from_server(set, ch, view, want, true, &take, error);
    }
    *got = take > 0 ? (uint64_t)take : 0;
    return status;
}

/* The size of a claim, so that the next calls need no request. */
static uint64_t claim_size(const sn_redis_view *view, uint64_t want)
{
    uint64_t small = small_claim(view);
    return want > small ? want : small;
}

bool sn_redis_claim_local(sn_redis_set *set, const sn_redis_view *view, uint64_t want,
                          sn_redis_claim_room *room)
{
    *room = (sn_redis_claim_room){.keys = want};
    if (!sn_layers_bounded(&view->image))
        return true;
    room->keys = draw(set, view, want, 0, false);
    return room->keys > 0;
}

void sn_redis_claim_write(const sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                          uint64_t want, uint32_t tag)
{
    write_claim(set, ch, view, claim_size(view, want), set->base.kind == SEEN_COUNTING, tag);
}

seen_status sn_redis_claim_take(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                                uint64_t want, int64_t got, sn_redis_claim_room *room,
                                seen_error *error)
{
    if (got == COUNTS_LOST)
        return sn_redis_check_loss(set, ch, view, &(sn_verify_loss){.counts = true}, error);
    room->keys = draw(set, view, want, got > 0 ? (uint64_t)got : 0, true);
    return SEEN_OK;
}

seen_status sn_redis_claim(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                           uint64_t want, sn_redis_claim_room *room, seen_error *error)
{
    if (view->image.growth == SEEN_WINDOW && sn_layers_bounded(&view->image) &&
        want > small_claim(view)) {
        *room = (sn_redis_claim_room){.pending = true};
        return claim_pending(set, ch, view, want, &room->keys, error);
    }
    if (sn_redis_claim_local(set, view, want, room))
        return SEEN_OK;
    int64_t take = 0;
    seen_status status = claim_from_server(set, ch, view, claim_size(view, want),
                                           set->base.kind == SEEN_COUNTING, &take, error);
    return status == SEEN_OK ? sn_redis_claim_take(set, ch, view, want, take, room, error) : status;
}

typedef struct counters {
    sn_redis_view *view;
    bool lost;
} counters;

static bool take_fields(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    counters *c = context;
    sn_redis_view *view = c->view;
    (void)tag;
    (void)again;
    if (!sn_reply_is_row(reply, view->image.layers + 1))
        return false;
    c->lost = view->format > 1 && reply->item[view->image.layers + 1].type == REDIS_REPLY_NIL;
    for (uint32_t i = 0; i < view->image.layers; i++) {
        uint64_t added = 0;
        /* A counter that clients decremented below zero counts as 0. */
        if (reply->item[i + 1].type == REDIS_REPLY_STRING)
            sn_meta_number(sn_reply_text(reply, i + 1), reply->item[i + 1].len, &added);
        view->image.layer[i].added = added;
    }
    return true;
}

seen_status sn_redis_read_counts(sn_redis_set *set, sn_channel *ch, sn_redis_view *view,
                                 seen_error *error)
{
    sn_redis_key key;
    sn_redis_key_added(sn_channel_address(ch), view, &key);
    counters c = {.view = view};
    sn_command_begin(ch, 0, key.slot, 3 + view->image.layers);
    sn_command_text(ch, "HMGET");
    sn_command_arg(ch, key.text, key.len);
    for (uint32_t i = 0; i < view->image.layers; i++) {
        char field[SN_REDIS_FIELD];
        sn_redis_field_added(view, i, field);
        sn_command_text(ch, field);
    }
    sn_command_text(ch, sn_verify_field(view));
    seen_status status = sn_channel_run(ch, take_fields, &c, error);
    return status == SEEN_OK && c.lost
               ? sn_redis_check_loss(set, ch, view, &(sn_verify_loss){.counts = true}, error)
               : status;
}
