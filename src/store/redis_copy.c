/* Lines of shards out and in. */
#include "base/error.h"
#include "store/redis_lines.h"

#include <string.h>

enum { TRIES = 100, EXPIRY_SLACK = 60 };

bool sn_piece_next(const sn_geometry *g, uint64_t line, uint64_t lines, sn_piece *p)
{
    uint64_t done = (p->from + p->bytes) / SN_LINE_BYTES;
    if (done >= lines)
        return false;
    uint64_t first = line + done, in_shard = first % g->shard_lines;
    uint64_t n = g->shard_lines - in_shard;
    n = n < lines - done ? n : lines - done;
    *p = (sn_piece){.shard = first / g->shard_lines,
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
    char *out;
    uint64_t bytes;
    bool zeros;  /* a missing shard holds nothing */
    bool hollow; /* a shard is missing or too short */
    bool fenced;
} fetch;

static bool take_bytes(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    fetch *f = context;
    (void)tag;
    (void)again;
    if (sn_reply_error_is(reply, "WRONGTYPE")) {
        f->fenced = true;
        return true;
    }
    if (reply->items != 1 || reply->item[0].type != REDIS_REPLY_STRING ||
        reply->item[0].len > f->bytes)
        return false;
    if (reply->item[0].len == f->bytes) {
        memcpy(f->out, sn_reply_text(reply, 0), f->bytes);
        return true;
    }
    f->hollow = reply->item[0].len > 0 || !f->zeros;
    memset(f->out, 0, f->bytes);
    return true;
}

static void say_fetch(sn_channel *ch, const sn_redis_key *key, uint64_t at, uint64_t bytes)
{
    sn_say(ch, 0, key->slot, 4);
    sn_say_text(ch, "GETRANGE");
    sn_say_arg(ch, key->text, key->len);
    sn_say_number(ch, at);
    sn_say_number(ch, at + bytes - 1);
}

static seen_status missing(const sn_channel *ch, seen_error *error)
{
    return sn_error_set(error, SEEN_ERR_FORMAT,
                        "%s: a part of the filter is missing (evicted, deleted or cut); restore it "
                        "from a backup or make it anew",
                        ch->redis->address.shown);
}

/* Reads lines as the view has them. *fenced: the layer was closed under way. */
static seen_status read_lines(sn_channel *ch, const sn_redis_view *view, uint32_t layer,
                              uint64_t line, uint64_t lines, char *out, bool *fenced,
                              seen_error *error)
{
    const sn_geometry *g = &view->image.layer[layer].geometry;
    bool closed = sn_redis_layer_closed(&view->image, layer);
    sn_redis_namer namer;
    sn_redis_namer_begin(&namer, &ch->redis->address, view, layer, closed);
    fetch f = {.zeros = closed && view->image.growth == SEEN_WINDOW};
    *fenced = false;
    if (!view->image.layer[layer].generation) {
        memset(out, 0, lines * SN_LINE_BYTES);
        return SEEN_OK;
    }
    for (sn_piece p = {0}; sn_piece_next(g, line, lines, &p);) {
        f.out = out + p.from;
        f.bytes = p.bytes;
        say_fetch(ch, sn_redis_namer_shard(&namer, p.shard), p.at, p.bytes);
        seen_status status = sn_channel_run(ch, take_bytes, &f, error);
        if (status != SEEN_OK)
            return status;
        *fenced = f.fenced;
        if (f.fenced)
            return SEEN_OK;
        if (f.hollow)
            return missing(ch, error);
    }
    return SEEN_OK;
}

seen_status sn_redis_fetch(sn_redis_set *set, sn_channel *ch, uint32_t layer, uint64_t line,
                           uint64_t lines, void *out, seen_error *error)
{
    for (int i = 0; i < TRIES; i++) {
        sn_redis_view view = sn_redis_see(set);
        bool fenced;
        seen_status status = read_lines(ch, &view, layer, line, lines, out, &fenced, error);
        if (status != SEEN_OK || !fenced)
            return status;
        status = sn_redis_catch_up(set, ch, &view, error);
        if (status != SEEN_OK)
            return status;
    }
    return sn_error_set(error, SEEN_ERR_SERVER, "%s: the layers change faster than we can read",
                        set->base.where);
}

seen_status sn_redis_read(seen_set *base, uint32_t layer, uint64_t line, uint64_t lines, void *out,
                          seen_error *error)
{
    sn_redis_set *set = (sn_redis_set *)base;
    sn_channel *ch;
    seen_status status = sn_redis_take(set->redis, &ch, error);
    if (status != SEEN_OK)
        return status;
    status = sn_redis_fetch(set, ch, layer, line, lines, out, error);
    sn_redis_give(set->redis, ch);
    return status;
}

/* ---- in ---- */

void sn_redis_say_store(sn_channel *ch, const sn_redis_key *key, uint64_t at, const char *bytes,
                        uint64_t len)
{
    sn_say(ch, 0, key->slot, 4);
    sn_say_text(ch, "SETRANGE");
    sn_say_arg(ch, key->text, key->len);
    sn_say_number(ch, at);
    sn_say_arg(ch, bytes, len);
}

seen_status sn_redis_write(sn_channel *ch, const sn_redis_view *view, uint32_t layer, uint64_t line,
                           uint64_t lines, const void *from, seen_error *error)
{
    sn_redis_namer namer;
    sn_redis_namer_begin(&namer, &ch->redis->address, view, layer,
                         sn_redis_layer_closed(&view->image, layer));
    for (sn_piece p = {0}; sn_piece_next(&view->image.layer[layer].geometry, line, lines, &p);)
        sn_redis_say_store(ch, sn_redis_namer_shard(&namer, p.shard), p.at,
                           (const char *)from + p.from, p.bytes);
    return sn_channel_run(ch, sn_redis_take_any, NULL, error);
}
