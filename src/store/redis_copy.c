/* Lines of shards out and in: for copies, unions and measurements. */
#include "base/error.h"
#include "filter/kernel.h"
#include "filter/plan.h"
#include "hash/hash.h"
#include "set/span.h"
#include "store/redis_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    EXPIRY_SLACK = 60,
    STEPS_MAX = 1024,       /* counters raised by one command */
    WHOLE_BYTES = 16 << 20, /* up to here a filter is measured whole */
    SAMPLE_SHARDS = 32,
    SAMPLE_LINES = 1024,
    TRIES = 100,
};

/* A piece of a range of lines that lies in one shard. */
typedef struct piece {
    uint64_t shard, at, bytes; /* at: in the shard, in bytes */
    uint64_t from;             /* in the range, in bytes */
} piece;

static bool next_piece(const sn_geometry *g, uint64_t line, uint64_t lines, piece *p)
{
    uint64_t done = (p->from + p->bytes) / SN_LINE_BYTES;
    if (done >= lines)
        return false;
    uint64_t first = line + done, in_shard = first % g->shard_lines;
    uint64_t n = g->shard_lines - in_shard;
    n = n < lines - done ? n : lines - done;
    *p = (piece){.shard = first / g->shard_lines,
                 .at = in_shard * SN_LINE_BYTES,
                 .bytes = n * SN_LINE_BYTES,
                 .from = done * SN_LINE_BYTES};
    return true;
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
    for (piece p = {0}; next_piece(g, line, lines, &p);) {
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

static seen_status read_steadily(sn_redis_set *set, sn_channel *ch, uint32_t layer, uint64_t line,
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
    status = read_steadily(set, ch, layer, line, lines, out, error);
    sn_redis_give(set->redis, ch);
    return status;
}

/* ---- in ---- */

static void say_store(sn_channel *ch, const sn_redis_key *key, uint64_t at, const char *bytes,
                      uint64_t len)
{
    sn_say(ch, 0, key->slot, 4);
    sn_say_text(ch, "SETRANGE");
    sn_say_arg(ch, key->text, key->len);
    sn_say_number(ch, at);
    sn_say_arg(ch, bytes, len);
}

seen_status sn_redis_write(sn_channel *ch, const sn_redis_view *view, uint32_t layer,
                           uint64_t line, uint64_t lines, const void *from, seen_error *error)
{
    sn_redis_namer namer;
    sn_redis_namer_begin(&namer, &ch->redis->address, view, layer,
                         sn_redis_layer_closed(&view->image, layer));
    for (piece p = {0}; next_piece(&view->image.layer[layer].geometry, line, lines, &p);)
        say_store(ch, sn_redis_namer_shard(&namer, p.shard), p.at, (const char *)from + p.from,
                  p.bytes);
    return sn_channel_run(ch, sn_redis_take_any, NULL, error);
}

/* ---- unions ---- */

static bool take_united(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    bool *fenced = context;
    (void)tag;
    (void)again;
    if (!sn_reply_error_is(reply, "WRONGTYPE"))
        return !sn_reply_is_error(reply);
    *fenced = true;
    return true;
}

static bool all_zero(const char *p, uint64_t len)
{
    return p[0] == 0 && memcmp(p, p + 1, len - 1) == 0;
}

/* Bits: the piece goes into a key of its own in the same slot, and the server unites the two, which
 * is atomic. */
static void say_or(sn_channel *ch, const sn_redis_key *key, const piece *p, const char *bytes,
                   uint64_t expire)
{
    uint64_t token[2] = {0};
    sn_redis_key other = *key;
    sn_hash_seed(token, NULL);
    other.len += (size_t)sprintf(other.text + other.len, ":merge:%016" PRIx64, token[0]);
    say_store(ch, &other, p->at, bytes, p->bytes);
    sn_say(ch, 0, key->slot, 5);
    sn_say_text(ch, "BITOP");
    sn_say_text(ch, "OR");
    sn_say_arg(ch, key->text, key->len);
    sn_say_arg(ch, key->text, key->len);
    sn_say_arg(ch, other.text, other.len);
    sn_say(ch, 0, key->slot, 2);
    sn_say_text(ch, "UNLINK");
    sn_say_arg(ch, other.text, other.len);
    if (expire) {
        sn_say(ch, 0, key->slot, 3);
        sn_say_text(ch, "EXPIRE");
        sn_say_arg(ch, key->text, key->len);
        sn_say_number(ch, expire);
    }
}

/* Counters: each that is not zero is added, up to the most it can hold. */
static void say_sum(sn_channel *ch, const sn_redis_key *key, const piece *p, const char *bytes)
{
    for (uint64_t at = 0; at < p->bytes;) {
        unsigned steps = 0;
        uint64_t end = at;
        for (; end < p->bytes && steps + 2 <= STEPS_MAX; end++)
            steps += (bytes[end] & 0x0f ? 1u : 0u) + (bytes[end] & 0xf0 ? 1u : 0u);
        if (steps) {
            sn_say(ch, 0, key->slot, 4 + 4 * steps);
            sn_say_text(ch, "BITFIELD");
            sn_say_arg(ch, key->text, key->len);
            sn_say_text(ch, "OVERFLOW");
            sn_say_text(ch, "SAT");
        }
        for (; at < end; at++)
            for (unsigned high = 0; high < 2; high++) {
                unsigned value = (unsigned char)bytes[at] >> (high ? 4 : 0) & 15;
                if (!value)
                    continue;
                sn_say_text(ch, "INCRBY");
                sn_say_text(ch, "u4");
                sn_say_number(ch, (p->at + at) * 8 + (high ? 0 : 4));
                sn_say_number(ch, value);
            }
    }
}

static seen_status unite_piece(sn_redis_set *set, sn_channel *ch, uint32_t layer, const piece *p,
                               const char *bytes, seen_error *error)
{
    for (int i = 0; i < TRIES; i++) {
        sn_redis_view view = sn_redis_see(set);
        bool closed = sn_redis_layer_closed(&view.image, layer), fenced = false;
        uint64_t expire = closed && view.image.window_seconds
                              ? view.image.window_seconds + EXPIRY_SLACK
                              : view.ttl;
        sn_redis_namer namer;
        sn_redis_namer_begin(&namer, &ch->redis->address, &view, layer, closed);
        const sn_redis_key *key = sn_redis_namer_shard(&namer, p->shard);
        if (set->base.kind == SEEN_COUNTING)
            say_sum(ch, key, p, bytes);
        else
            say_or(ch, key, p, bytes, expire);
        seen_status status = sn_channel_run(ch, take_united, &fenced, error);
        if (status != SEEN_OK || !fenced)
            return status;
        status = sn_redis_catch_up(set, ch, &view, error);
        if (status != SEEN_OK)
            return status;
    }
    return sn_error_set(error, SEEN_ERR_SERVER, "%s: the layers change faster than we can merge",
                        set->base.where);
}

seen_status sn_redis_combine(seen_set *base, uint32_t layer, uint64_t line, uint64_t lines,
                             const void *from, seen_error *error)
{
    sn_redis_set *set = (sn_redis_set *)base;
    sn_channel *ch;
    seen_status status = sn_redis_take(set->redis, &ch, error);
    if (status != SEEN_OK)
        return status;
    sn_redis_view view = sn_redis_see(set);
    const sn_geometry *g = &view.image.layer[layer].geometry;
    for (piece p = {0}; status == SEEN_OK && next_piece(g, line, lines, &p);)
        if (!all_zero((const char *)from + p.from, p.bytes))
            status = unite_piece(set, ch, layer, &p, (const char *)from + p.from, error);
    sn_redis_give(set->redis, ch);
    return status;
}

/* A window's spare generations come into use, as old as the current one. */
static seen_status use_generations(sn_redis_set *set, sn_channel *ch, seen_error *error)
{
    for (int i = 0; i < TRIES; i++) {
        sn_redis_view view, next;
        seen_status status = sn_redis_reload(set, ch, &view, error);
        next = view;
        for (uint32_t l = 0; l < next.image.layers && status == SEEN_OK; l++) {
            sn_layer *layer = &next.image.layer[l];
            if (!layer->generation) {
                layer->generation = 1;
                layer->born = next.image.layer[next.image.current].born;
            }
            if (l != next.image.current)
                status = sn_redis_make_shards(
                    ch, &next, l, true,
                    view.image.window_seconds ? view.image.window_seconds + EXPIRY_SLACK : view.ttl,
                    error);
        }
        next.image.sequence++;
        bool done = false;
        if (status == SEEN_OK)
            status = sn_meta_step(ch, &view, &next, &done, error);
        if (status == SEEN_OK)
            status = sn_redis_reload(set, ch, &view, error);
        if (status != SEEN_OK || done)
            return status;
    }
    return sn_error_set(error, SEEN_ERR_SERVER, "%s: the window turns faster than we can merge",
                        set->base.where);
}

seen_status sn_redis_widen(seen_set *base, uint32_t layers, seen_error *error)
{
    sn_redis_set *set = (sn_redis_set *)base;
    sn_channel *ch;
    seen_status status = sn_redis_take(set->redis, &ch, error);
    if (status != SEEN_OK)
        return status;
    if (base->growth == SEEN_WINDOW)
        status = use_generations(set, ch, error);
    bool mine;
    for (sn_redis_view view; status == SEEN_OK;) {
        view = sn_redis_see(set);
        if (view.image.layers >= layers)
            break;
        status = sn_redis_advance(set, ch, &view, &mine, error);
    }
    sn_redis_give(set->redis, ch);
    return status;
}

seen_status sn_redis_combined(seen_set *base, const sn_image *from, seen_error *error)
{
    sn_redis_set *set = (sn_redis_set *)base;
    sn_channel *ch;
    seen_status status = sn_redis_take(set->redis, &ch, error);
    if (status != SEEN_OK)
        return status;
    sn_redis_view view = sn_redis_see(set);
    status = sn_redis_add_counts(ch, &view, from, error);
    sn_redis_give(set->redis, ch);
    return status;
}

/* ---- measuring ---- */

typedef struct measure {
    double rate, set, cells; /* of the layer */
    bool sampled;
} measure;

/* Tallies the shards of a layer: all lines of all shards, or some lines of some. */
static seen_status measure_layer(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                                 uint32_t layer, bool whole, char *lines, measure *m,
                                 seen_error *error)
{
    const sn_geometry *g = &view->image.layer[layer].geometry;
    uint64_t shards = whole || g->shards < SAMPLE_SHARDS ? g->shards : SAMPLE_SHARDS;
    uint64_t parts = g->probes == 1 ? 1 : g->spread, part = g->shard_lines / parts;
    double cells = 0, counted = 0;
    for (uint64_t s = 0; s < shards; s++) {
        uint64_t shard = s * g->shards / shards;
        sn_tally tally = {0};
        for (uint64_t p = 0; p < parts; p++) {
            uint64_t n = whole || part < SAMPLE_LINES ? part : SAMPLE_LINES;
            uint64_t from = shard * g->shard_lines + p * part + (n < part ? (part - n) / 2 : 0);
            for (uint64_t at = 0; at < n; at += SN_COPY_LINES) {
                uint64_t now = n - at < SN_COPY_LINES ? n - at : SN_COPY_LINES;
                seen_status status =
                    read_steadily(set, ch, layer, from + at, now, lines, error);
                if (status != SEEN_OK)
                    return status;
                sn_tally_lines(g, lines, now, &tally);
            }
            m->sampled |= n < part;
        }
        m->rate += sn_tally_rate(g, &tally) / (double)shards;
        counted += (double)tally.set;
        cells += (double)tally.lines * sn_geometry_cells(g);
    }
    m->sampled |= shards < g->shards;
    m->cells = (double)sn_geometry_lines(g) * sn_geometry_cells(g);
    m->set = counted / cells * m->cells;
    return SEEN_OK;
}

seen_status sn_redis_measure(seen_set *base, seen_info *info, seen_error *error)
{
    sn_redis_set *set = (sn_redis_set *)base;
    sn_channel *ch;
    char *lines = aligned_alloc(SN_LINE_BYTES, (size_t)SN_COPY_LINES * SN_LINE_BYTES);
    if (!lines)
        return sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", base->where);
    seen_status status = sn_redis_take(set->redis, &ch, error);
    if (status != SEEN_OK) {
        free(lines);
        return status;
    }
    sn_redis_view view = sn_redis_see(set);
    double right = 1, keys = 0, set_cells = 0, cells = 0;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < view.image.layers; i++)
        bytes += sn_geometry_bytes(&view.image.layer[i].geometry);
    bool sampled = false;
    for (uint32_t i = 0; i < view.image.layers && status == SEEN_OK; i++) {
        measure m = {0};
        if (!sn_span_alive(&view.image, i))
            continue;
        status = measure_layer(set, ch, &view, i, bytes <= WHOLE_BYTES, lines, &m, error);
        if (status != SEEN_OK)
            break;
        right *= 1 - m.rate;
        keys += sn_plan_keys(&view.image.layer[i].geometry, m.set / m.cells);
        set_cells += m.set;
        cells += m.cells;
        sampled |= m.sampled;
    }
    sn_redis_give(set->redis, ch);
    free(lines);
    if (status != SEEN_OK)
        return status;
    info->fill = cells > 0 ? set_cells / cells : 0;
    info->keys_estimated = keys;
    info->error_rate_now = 1 - right;
    info->sampled = sampled;
    return SEEN_OK;
}
