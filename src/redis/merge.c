/* Merging another set into one in Redis. */
#include "base/error.h"
#include "local/lookup.h"
#include "redis/shards.h"
#include "set/layers.h"

#include <string.h>

enum {
    TRIES = 100,
    STEPS_MAX = 1024, /* counters incremented by one command */
};

/* KEYS: the shard; a name in its slot. ARGV: offset of the piece, its bytes, the shard's time to
 * live or 0, its length. A client that dies leaves nothing behind: the piece is deleted before any
 * other client can see it. 0: the shard does not exist, or is too short, and is not created. Errors
 * are passed on. */
static const char MERGE[] =
    "local k,piece=KEYS[1],KEYS[2] "
    "local n=redis.pcall('STRLEN',k) "
    "if type(n)~='number' then return n end "
    "if n<tonumber(ARGV[4]) then return 0 end "
    "local r=redis.pcall('SETRANGE',piece,ARGV[1],ARGV[2]) "
    "if type(r)=='number' then "
    " r=redis.pcall('BITOP','OR',k,k,piece) "
    " redis.call('UNLINK',piece) "
    "end "
    "if type(r)=='number' and ARGV[3]~='0' then redis.call('EXPIRE',k,ARGV[3]) end "
    "return r";

typedef struct merged {
    bool fenced;
    bool missing;    /* the shard, or a part of it */
    uint64_t length; /* of a shard */
} merged;

static bool take_merged(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    merged *u = context;
    (void)tag;
    (void)again;
    if (sn_reply_error_is(reply, "WRONGTYPE")) {
        u->fenced = true;
        return true;
    }
    /* Reply of STRLEN; 0 from the script. */
    u->missing |= reply->items == 1 && reply->item[0].type == REDIS_REPLY_INTEGER &&
                  (uint64_t)reply->item[0].number < u->length;
    return !sn_reply_is_error(reply);
}

bool sn_redis_all_zero(const char *p, uint64_t len)
{
    return p[0] == 0 && memcmp(p, p + 1, len - 1) == 0;
}

/* Bits: the piece is written to a key in the same slot, and the server combines the two,
 * atomically. */
static void write_or(sn_channel *ch, const sn_redis_key *key, const sn_shards_piece *p,
                     const char *bytes, uint64_t expire, uint64_t length)
{
    sn_redis_key piece;
    sn_redis_key_piece(key, &piece);
    sn_command_begin(ch, 0, key->slot, 9);
    sn_command_text(ch, "EVAL");
    sn_command_text(ch, MERGE);
    sn_command_text(ch, "2");
    sn_command_arg(ch, key->text, key->len);
    sn_command_arg(ch, piece.text, piece.len);
    sn_command_number(ch, p->at);
    sn_command_arg(ch, bytes, p->bytes);
    sn_command_number(ch, expire);
    sn_command_number(ch, length);
}

/* Counters: each non-zero one is added, saturating. */
static void write_sum(sn_channel *ch, const sn_redis_key *key, const sn_shards_piece *p,
                      const char *bytes)
{
    for (uint64_t at = 0; at < p->bytes;) {
        unsigned steps = 0;
        uint64_t end = at;
        for (; end < p->bytes && steps + 2 <= STEPS_MAX; end++)
            steps += (bytes[end] & 0x0f ? 1u : 0u) + (bytes[end] & 0xf0 ? 1u : 0u);
        if (steps) {
            sn_command_begin(ch, 0, key->slot, 4 + 4 * steps);
            sn_command_text(ch, "BITFIELD");
            sn_command_arg(ch, key->text, key->len);
            sn_command_text(ch, "OVERFLOW");
            sn_command_text(ch, "SAT");
        }
        for (; at < end; at++)
            for (unsigned high = 0; high < 2; high++) {
                unsigned value = (unsigned char)bytes[at] >> (high ? 4 : 0) & 15;
                if (!value)
                    continue;
                sn_command_text(ch, "INCRBY");
                sn_command_text(ch, "u4");
                sn_command_number(ch, (p->at + at) * 8 + (high ? 0 : 4));
                sn_command_number(ch, value);
            }
    }
}

/* Writes the sum if the shard exists: incrementing counters would create a missing shard, without
 * its earlier contents. */
static seen_status sum_piece(sn_channel *ch, const sn_redis_key *key, const sn_shards_piece *p,
                             const char *bytes, merged *u, seen_error *error)
{
    sn_command_begin(ch, 0, key->slot, 2);
    sn_command_text(ch, "STRLEN");
    sn_command_arg(ch, key->text, key->len);
    seen_status status = sn_channel_run(ch, take_merged, u, error);
    if (status == SEEN_OK && !u->fenced && !u->missing)
        write_sum(ch, key, p, bytes);
    return status;
}

static seen_status merge_piece(sn_redis_set *set, sn_channel *ch, uint32_t layer,
                               const sn_shards_piece *p, const char *bytes, seen_error *error)
{
    for (int i = 0; i < TRIES; i++) {
        sn_redis_view view = sn_redis_get_view(set);
        bool closed = sn_redis_layer_closed(&view.image, layer);
        merged u = {.length = sn_verify_length(&view, layer)};
        sn_redis_namer namer;
        sn_redis_namer_begin(&namer, sn_channel_address(ch), &view, layer, closed);
        const sn_redis_key *key = sn_redis_namer_shard(&namer, p->shard);
        seen_status status = SEEN_OK;
        if (set->base.kind == SEEN_COUNTING)
            status = sum_piece(ch, key, p, bytes, &u, error);
        else
            write_or(ch, key, p, bytes, sn_redis_expiry(&view, layer),
                     sn_verify_length(&view, layer));
        if (status == SEEN_OK)
            status = sn_channel_run(ch, take_merged, &u, error);
        if (status == SEEN_OK && u.fenced)
            status = sn_redis_catch_up(set, ch, &view, error);
        else if (status == SEEN_OK && u.missing)
            status = sn_redis_check_loss(
                set, ch, &view,
                &(sn_verify_loss){.shard = true, .layer = layer, .number = p->shard}, error);
        if (status != SEEN_OK || !(u.fenced || u.missing))
            return status;
    }
    return sn_error_set(error, SEEN_ERR_SERVER, "%s: the layers change faster than we can merge",
                        set->base.where);
}

seen_status sn_redis_merge_lines(seen_set *base, uint32_t layer, uint64_t line, uint64_t lines,
                                 const void *from, seen_error *error)
{
    sn_redis_set *set = (sn_redis_set *)base;
    sn_channel *ch;
    seen_status status = sn_client_take(set->redis, &ch, error);
    if (status != SEEN_OK)
        return status;
    sn_redis_view view = sn_redis_get_view(set);
    const sn_geometry *g = &view.image.layer[layer].geometry;
    for (sn_shards_piece p = {0};
         status == SEEN_OK && sn_shards_next_piece(g, line, lines, lines, &p);)
        if (!sn_redis_all_zero((const char *)from + p.from, p.bytes))
            status = merge_piece(set, ch, layer, &p, (const char *)from + p.from, error);
    sn_client_return(set->redis, ch);
    return status;
}

static seen_status rotating(const sn_redis_set *set, seen_error *error)
{
    return sn_error_set(error, SEEN_ERR_SERVER,
                        "%s: the window rotates faster than it can be merged", set->base.where);
}

/* Takes the unused generations of a window into use, with the age of the current one. Expired ones
 * are cleared, so that their keys do not reappear with the newer ones merged into them. */
static seen_status use_generations(sn_redis_set *set, sn_channel *ch, seen_error *error)
{
    for (int i = 0; i < TRIES; i++) {
        sn_redis_view view, next;
        seen_status status = sn_redis_reload(set, ch, &view, error);
        next = view;
        for (uint32_t l = 0; l < next.image.layers && status == SEEN_OK; l++) {
            sn_layer *layer = &next.image.layer[l];
            if (l == next.image.current)
                continue;
            if (layer->generation && !sn_layers_live(&view.image, l))
                status = sn_redis_drop_old_shards(ch, &view, l, error);
            if (!layer->generation) {
                layer->generation = 1;
                layer->born = next.image.layer[next.image.current].born;
            }
            if (status == SEEN_OK)
                status = sn_redis_make_shards(ch, &next, l, true, sn_redis_expiry(&next, l), error);
        }
        next.image.sequence++;
        sn_meta_outcome step = SN_META_LATE;
        if (status == SEEN_OK)
            status = sn_meta_step(ch, &view, &next, &step, error);
        if (status == SEEN_OK)
            status = sn_redis_reload(set, ch, &view, error);
        if (status != SEEN_OK || step == SN_META_DONE)
            return status;
    }
    return rotating(set, error);
}

seen_status sn_redis_ensure_layers(seen_set *base, uint32_t layers, seen_error *error)
{
    sn_redis_set *set = (sn_redis_set *)base;
    sn_channel *ch;
    seen_status status = sn_client_take(set->redis, &ch, error);
    if (status != SEEN_OK)
        return status;
    if (base->growth == SEEN_WINDOW)
        status = use_generations(set, ch, error);
    bool mine;
    for (sn_redis_view view; status == SEEN_OK;) {
        view = sn_redis_get_view(set);
        if (view.image.layers >= layers)
            break;
        status = sn_redis_advance(set, ch, &view, &mine, error);
    }
    sn_client_return(set->redis, ch);
    return status;
}

/* A merged generation gets the later of the two birth times. */
static seen_status merge_ages(sn_redis_set *set, sn_channel *ch, const sn_image *from,
                              seen_error *error)
{
    for (int i = 0; i < TRIES; i++) {
        sn_redis_view view = sn_redis_get_view(set), next = view;
        for (uint32_t l = 0; l < from->layers; l++) {
            sn_layer *layer = &next.image.layer[l];
            if (from->layer[l].generation && from->layer[l].born > layer->born)
                layer->born = from->layer[l].born;
        }
        next.image.sequence++;
        sn_meta_outcome step;
        seen_status status = sn_meta_step(ch, &view, &next, &step, error);
        if (status == SEEN_OK)
            status = sn_redis_reload(set, ch, &view, error);
        if (status != SEEN_OK || step == SN_META_DONE)
            return status;
    }
    return rotating(set, error);
}

/* Other clients count concurrently: counters are incremented, never set. */
static seen_status merge_counters(sn_redis_set *set, sn_channel *ch, const sn_image *from,
                                  seen_error *error)
{
    seen_status status = sn_redis_flush_counts(set, ch, error);
    sn_redis_view view = sn_redis_get_view(set);
    if (status == SEEN_OK)
        status = sn_redis_read_counts(set, ch, &view, error);
    sn_image more = *from;
    for (uint32_t i = 0; i < from->layers && status == SEEN_OK; i++) {
        sn_sample sample = {0};
        uint64_t mine = view.image.layer[i].added, theirs = from->layer[i].added;
        if (!theirs)
            continue;
        status = sn_redis_estimate(set, ch, &view, i, &sample, error);
        uint64_t both = sn_sample_merge_counters(set->base.growth, &sample, mine, theirs);
        more.layer[i].added = both > mine ? both - mine : 0;
    }
    return status == SEEN_OK ? sn_redis_add_counts(ch, &view, &more, error) : status;
}

seen_status sn_redis_finish_merge(seen_set *base, const sn_image *from, seen_error *error)
{
    sn_redis_set *set = (sn_redis_set *)base;
    sn_channel *ch;
    seen_status status = sn_client_take(set->redis, &ch, error);
    if (status != SEEN_OK)
        return status;
    status = merge_counters(set, ch, from, error);
    if (status == SEEN_OK && base->growth == SEEN_WINDOW)
        status = merge_ages(set, ch, from, error);
    sn_redis_view view = sn_redis_get_view(set);
    if (status == SEEN_OK)
        status = sn_redis_touch(set, ch, &view, error);
    sn_client_return(set->redis, ch);
    return status;
}
