/* Reading and writing lines of shards. */
#include "redis/shards.h"
#include "base/error.h"

#include <assert.h>
#include <string.h>

enum {
    TRIES = 100,
    EXPIRY_SLACK = 60,
    AT_ONCE = 2048, /* lines per command (128 KiB): half a shard, or less of a larger one */
};

bool sn_shards_next_piece(const sn_geometry *g, uint64_t line, uint64_t lines, uint64_t most,
                          sn_shards_piece *p)
{
    uint64_t done = (p->from + p->bytes) / SN_LINE_BYTES;
    if (done >= lines)
        return false;
    uint64_t first = line + done, in_shard = first % g->shard_lines;
    uint64_t n = g->shard_lines - in_shard;
    n = n < lines - done ? n : lines - done;
    n = n < most ? n : most;
    *p = (sn_shards_piece){.shard = first / g->shard_lines,
                           .at = in_shard * SN_LINE_BYTES,
                           .bytes = n * SN_LINE_BYTES,
                           .from = done * SN_LINE_BYTES};
    return true;
}

uint64_t sn_redis_expiry(const sn_redis_view *view, uint32_t layer)
{
    const sn_image *image = &view->image;
    if (sn_redis_layer_closed(image, layer) && image->window_seconds)
        return image->window_seconds + EXPIRY_SLACK;
    return view->ttl;
}

/* ---- out ---- */

typedef struct fetch {
    const sn_geometry *geometry;
    uint64_t line, lines; /* the range */
    char *out;
    bool ended;  /* a shard is missing */
    bool cut;    /* a shard is too short */
    bool fenced; /* the layer was closed in the meantime */
    uint32_t layer;
    sn_verify_loss loss;                     /* which shard is missing */
    unsigned char closed[SN_COPY_LINES / 8]; /* pieces that were closed, by their first line; one
                                              * bit each */
} fetch;

static bool take_bytes(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    fetch *f = context;
    (void)again;
    if (sn_reply_error_is(reply, "WRONGTYPE")) {
        f->fenced = true;
        f->closed[tag / 8] |= (unsigned char)(1u << tag % 8);
        return true;
    }
    sn_shards_piece p = {.from = (uint64_t)tag * SN_LINE_BYTES};
    sn_shards_next_piece(f->geometry, f->line, f->lines, AT_ONCE, &p);
    if (reply->items != 1 || reply->item[0].type != REDIS_REPLY_STRING ||
        reply->item[0].len > p.bytes)
        return false;
    if (reply->item[0].len == p.bytes) {
        memcpy(f->out + p.from, sn_reply_text(reply, 0), p.bytes);
        return true;
    }
    f->cut |= reply->item[0].len > 0;
    f->loss = (sn_verify_loss){.shard = true, .layer = f->layer, .number = p.shard};
    f->ended |= reply->item[0].len == 0;
    memset(f->out + p.from, 0, p.bytes);
    return true;
}

/* The tag is the line of the range at which the piece begins. */
static void write_fetch(sn_channel *ch, const sn_redis_key *key, const sn_shards_piece *p)
{
    sn_command_begin(ch, (uint32_t)(p->from / SN_LINE_BYTES), key->slot, 4);
    sn_command_text(ch, "GETRANGE");
    sn_command_arg(ch, key->text, key->len);
    sn_command_number(ch, p->at);
    sn_command_number(ch, p->at + p->bytes - 1);
}

/* Reads lines according to the view. */
static seen_status read_lines(sn_channel *ch, const sn_redis_view *view, uint32_t layer, fetch *f,
                              seen_error *error)
{
    const sn_geometry *g = &view->image.layer[layer].geometry;
    bool closed = sn_redis_layer_closed(&view->image, layer);
    sn_redis_namer namer, closed_namer;
    sn_redis_namer_begin(&namer, sn_channel_address(ch), view, layer, closed);
    sn_redis_namer_begin(&closed_namer, sn_channel_address(ch), view, layer, true);
    f->geometry = g;
    f->ended = f->cut = f->fenced = false;
    for (sn_shards_piece p = {0}; sn_shards_next_piece(g, f->line, f->lines, AT_ONCE, &p);) {
        uint64_t first = p.from / SN_LINE_BYTES;
        bool moved = f->closed[first / 8] >> first % 8 & 1;
        write_fetch(ch, sn_redis_namer_shard(moved ? &closed_namer : &namer, p.shard), &p);
    }
    return sn_channel_run(ch, take_bytes, f, error);
}

seen_status sn_redis_fetch(sn_redis_set *set, sn_channel *ch, uint32_t layer, uint64_t line,
                           uint64_t lines, void *out, seen_error *error)
{
    fetch f = {.layer = layer, .line = line, .lines = lines, .out = out};
    uint64_t sequence = 0;
    assert(lines <= SN_COPY_LINES);
    for (int i = 0; i < TRIES; i++) {
        sn_redis_view view = sn_redis_get_view(set), now;
        /* Only a read-only set reads closed shards of an open layer, and with this view. */
        if (!set->base.read_only || view.image.sequence != sequence)
            memset(f.closed, 0, sizeof f.closed);
        sequence = view.image.sequence;
        seen_status status = read_lines(ch, &view, layer, &f, error);
        if (status != SEEN_OK || !(f.fenced || f.ended || f.cut))
            return status;
        if (f.fenced) {
            status = sn_redis_catch_up(set, ch, &view, error);
        } else {
            /* Gone with its filter, rotated away, expired, or lost? */
            status = sn_redis_reload(set, ch, &now, error);
            if (status == SEEN_OK && now.image.sequence == view.image.sequence)
                return f.cut || !sn_redis_layer_expired(&view.image, layer)
                           ? sn_redis_check_loss(set, ch, &view, &f.loss, error)
                           : SEEN_OK;
        }
        if (status != SEEN_OK)
            return status;
    }
    return sn_error_set(error, SEEN_ERR_SERVER, "%s: the layers change faster than we can read",
                        set->base.where);
}

seen_status sn_redis_read_lines(seen_set *base, uint32_t layer, uint64_t line, uint64_t lines,
                                void *out, seen_error *error)
{
    sn_redis_set *set = (sn_redis_set *)base;
    sn_channel *ch;
    seen_status status = sn_client_take(set->redis, &ch, error);
    if (status != SEEN_OK)
        return status;
    status = sn_redis_fetch(set, ch, layer, line, lines, out, error);
    sn_client_return(set->redis, ch);
    return status;
}

/* ---- in ---- */

/* SETRANGE. */
static void write_setrange(sn_channel *ch, const sn_redis_key *key, uint64_t at, const char *bytes,
                           uint64_t len)
{
    sn_command_begin(ch, 0, key->slot, 4);
    sn_command_text(ch, "SETRANGE");
    sn_command_arg(ch, key->text, key->len);
    sn_command_number(ch, at);
    sn_command_arg(ch, bytes, len);
}

seen_status sn_redis_write_lines(sn_channel *ch, const sn_redis_view *view, uint32_t layer,
                                 uint64_t line, uint64_t lines, const void *from, seen_error *error)
{
    sn_redis_namer namer;
    sn_redis_namer_begin(&namer, sn_channel_address(ch), view, layer,
                         sn_redis_layer_closed(&view->image, layer));
    const sn_geometry *g = &view->image.layer[layer].geometry;
    for (sn_shards_piece p = {0}; sn_shards_next_piece(g, line, lines, AT_ONCE, &p);)
        write_setrange(ch, sn_redis_namer_shard(&namer, p.shard), p.at, (const char *)from + p.from,
                       p.bytes);
    return sn_channel_run(ch, sn_reply_take_any, NULL, error);
}
