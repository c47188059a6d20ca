/* A batch of keys against the shards.
 *
 * The bytes of a shard are those of a file: cell c of word w of a line is bit c of a little-endian
 * word. Redis numbers bits from the high end of each byte:
 *
 *     byte of a bit      8 w + c / 8          offset in Redis   8 byte + 7 - c mod 8
 *     byte of a nibble   8 w + c / 2          offset in Redis   8 byte + 4 (c even), 8 byte (c odd)
 *
 * Looking takes one GETRANGE for each line of a key: four arguments instead of three for each cell.
 * Only where a line has but one or two cells of the key is one BITFIELD_RO cheaper. Adding is one
 * BITFIELD that sets the cells and returns what they were. Cells that were seen set need not be set
 * again (a bit never goes back), which leaves the answer as it is. */
#include "redis/batch.h"

#include <string.h>

enum {
    LINE_SHIFT = 12,
    LAYER_SHIFT = 18,
    COUNTER_MAX = 15,
    NUDGE_KEYS = 32,
    VERIFIED_LOOKS = 512, /* keys of a batch whose shards are verified along with a lookup */
};
#define GLANCE_TAG UINT32_MAX

/* ---- cells ---- */

typedef struct cell {
    uint32_t byte;  /* in its line */
    uint8_t shift;  /* from the byte's low end */
    uint8_t offset; /* from its high end, as Redis counts */
} cell;

static cell find_cell(seen_kind kind, uint64_t cells, unsigned i)
{
    unsigned word = sn_place_word(cells, i);
    if (kind == SEEN_COUNTING) {
        unsigned c = sn_place_nibble(cells, word);
        return (cell){.byte = word * 8 + c / 2,
                      .shift = (uint8_t)(c % 2 * 4),
                      .offset = (uint8_t)(c % 2 ? 0 : 4)};
    }
    unsigned c = sn_place_bit(cells, word);
    return (cell){
        .byte = word * 8 + c / 8, .shift = (uint8_t)(c % 8), .offset = (uint8_t)(7 - c % 8)};
}

/* The bytes of a line between a key's first and last cell. */
static void span_of(const sn_geometry *g, uint64_t cells, uint32_t *first, uint32_t *last)
{
    *first = SN_LINE_BYTES;
    *last = 0;
    for (unsigned i = 0; i < g->probes; i++) {
        uint32_t byte = find_cell(g->kind, cells, i).byte;
        *first = byte < *first ? byte : *first;
        *last = byte > *last ? byte : *last;
    }
}

static bool by_range(const sn_geometry *g)
{
    return g->probes > 2 || g->spread == 1;
}

/* ---- looking ---- */

void sn_batch_begin(sn_batch *b, sn_redis_set *set, sn_channel *ch)
{
    b->set = set;
    b->ch = ch;
    b->epoch = sn_client_epoch(set->redis);
    b->view = sn_redis_see(set);
    b->fenced = b->ended = false;
    b->loss = (sn_loss){0};
    b->glance = SN_SAME;
    for (uint32_t i = 0; i < b->view.image.layers; i++)
        sn_redis_namer_begin(&b->namer[i], sn_channel_address(ch), &b->view, i,
                             sn_redis_layer_closed(&b->view.image, i));
    if (set->base.read_only)
        sn_redis_namer_begin(&b->shut, sn_channel_address(ch), &b->view, b->view.image.current,
                             true);
}

size_t sn_batch_limit(const sn_redis_view *view, uint64_t layers)
{
    size_t commands = 1;
    for (uint32_t i = 0; i < view->image.layers; i++) {
        const sn_geometry *g = &view->image.layer[i].geometry;
        if (layers >> i & 1)
            commands += by_range(g) ? g->spread : 1;
    }
    size_t keys = SN_BATCH_COMMANDS / commands;
    return keys < SN_BATCH_KEYS ? keys : SN_BATCH_KEYS;
}

/* Is the filter the same, and are its shards and counters there? The shards take turns: up to 1024
 * each time, 5120 a second. Those that a batch uses are verified with it. */
void sn_batch_say_glance(sn_batch *b)
{
    enum { AT_ONCE = 1024 };
    const sn_image *image = &b->view.image;
    uint64_t left = 0;
    sn_meta_say_glance(b->ch, GLANCE_TAG);
    sn_verify_say_counts(b->ch, &b->view);
    for (uint32_t i = 0; i < image->layers; i++)
        left += image->layer[i].generation ? image->layer[i].geometry.shards : 0;
    left = left < AT_ONCE ? left : AT_ONCE;
    pthread_mutex_lock(&b->set->lock);
    uint32_t layer = b->set->verified_layer;
    uint64_t shard = b->set->verified_shard;
    while (left) {
        if (layer >= image->layers)
            layer = 0;
        if (!image->layer[layer].generation || shard >= image->layer[layer].geometry.shards) {
            layer++;
            shard = 0;
            continue;
        }
        sn_verify_use(&b->used, layer, shard++);
        left--;
    }
    b->set->verified_layer = layer;
    b->set->verified_shard = shard;
    pthread_mutex_unlock(&b->set->lock);
}

static void say_look(sn_batch *b, size_t i, uint32_t layer)
{
    static const char RANGE[] = "$8\r\nGETRANGE\r\n", FIELD[] = "$11\r\nBITFIELD_RO\r\n";
    static const char GET[] = "$3\r\nGET\r\n$2\r\nu1\r\n", GET4[] = "$3\r\nGET\r\n$2\r\nu4\r\n";
    const sn_geometry *g = &b->view.image.layer[layer].geometry;
    seen_hash h = b->key[i].hash;
    uint64_t f, shard = sn_place_shard(g, h, &f);
    bool shut = b->key[i].fenced && layer == b->view.image.current && b->set->base.read_only;
    const sn_redis_key *key = sn_redis_namer_shard(shut ? &b->shut : &b->namer[layer], shard);
    if (!shut && (i < VERIFIED_LOOKS || b->view.image.growth == SEEN_WINDOW))
        sn_verify_use(&b->used, layer, shard);
    uint32_t tag = (uint32_t)i | layer << LAYER_SHIFT;
    if (!by_range(g)) {
        sn_command_begin(b->ch, tag, key->slot, 2 + 3 * g->spread * g->probes);
        sn_command_raw(b->ch, FIELD, sizeof FIELD - 1);
        sn_command_arg(b->ch, key->text, key->len);
    }
    for (unsigned j = 0; j < g->spread; j++) {
        uint64_t cells = sn_place_cells(h.lo, j);
        uint64_t at = sn_place_line(g, f, j) * SN_LINE_BYTES;
        if (by_range(g)) {
            uint32_t first, last;
            span_of(g, cells, &first, &last);
            sn_command_begin(b->ch, tag | j << LINE_SHIFT, key->slot, 4);
            sn_command_raw(b->ch, RANGE, sizeof RANGE - 1);
            sn_command_arg(b->ch, key->text, key->len);
            sn_command_number(b->ch, at + first);
            sn_command_number(b->ch, at + last);
            continue;
        }
        for (unsigned p = 0; p < g->probes; p++) {
            cell c = find_cell(g->kind, cells, p);
            sn_command_raw(b->ch, g->kind == SEEN_COUNTING ? GET4 : GET, sizeof GET - 1);
            sn_command_number(b->ch, (at + c.byte) * 8 + c.offset);
        }
    }
}

static void note_cell(sn_batch *b, sn_batch_key *k, uint32_t layer, unsigned number, bool set)
{
    if (!set)
        k->miss |= UINT64_C(1) << layer;
    else if (layer == b->view.image.current && number < SN_BATCH_CELLS)
        k->cells |= UINT64_C(1) << number;
}

/* One line of a key. A shard of a past generation may have expired: nothing is in it. */
static bool take_range(sn_batch *b, sn_batch_key *k, uint32_t layer, unsigned j,
                       const sn_reply *reply)
{
    const sn_geometry *g = &b->view.image.layer[layer].geometry;
    uint64_t cells = sn_place_cells(k->hash.lo, j);
    uint32_t first, last;
    span_of(g, cells, &first, &last);
    if (reply->items != 1 || reply->item[0].type != REDIS_REPLY_STRING)
        return false;
    if (reply->item[0].len != last - first + 1) {
        bool ended = reply->item[0].len == 0 && sn_redis_layer_expired(&b->view.image, layer);
        uint64_t f, shard = sn_place_shard(g, k->hash, &f);
        k->miss |= UINT64_C(1) << layer;
        b->ended |= ended;
        if (!ended)
            b->loss = (sn_loss){.shard = true, .layer = layer, .number = shard};
        return reply->item[0].len < last - first + 1;
    }
    const unsigned char *line = (const unsigned char *)sn_reply_text(reply, 0);
    for (unsigned i = 0; i < g->probes; i++) {
        cell c = find_cell(g->kind, cells, i);
        unsigned value = (unsigned)line[c.byte - first] >> c.shift;
        note_cell(b, k, layer, j * g->probes + i,
                  value & (g->kind == SEEN_COUNTING ? COUNTER_MAX : 1));
    }
    return true;
}

static bool take_fields(sn_batch *b, sn_batch_key *k, uint32_t layer, const sn_reply *reply)
{
    const sn_geometry *g = &b->view.image.layer[layer].geometry;
    unsigned count = g->spread * g->probes;
    if (!sn_reply_is_row(reply, count))
        return false;
    for (unsigned i = 0; i < count; i++) {
        const sn_reply_item *item = &reply->item[i + 1];
        if (item->type != REDIS_REPLY_INTEGER || item->number < 0 || item->number > COUNTER_MAX)
            return false;
        note_cell(b, k, layer, i, item->number != 0);
    }
    return true;
}

/* A closed shard of the layer that we thought the current one; or an answer to a glance. */
static bool take_common(sn_batch *b, uint32_t tag, uint32_t layer, const sn_reply *reply,
                        bool *taken)
{
    *taken = true;
    if (tag == GLANCE_TAG) {
        b->glance = sn_meta_glance(&b->view, reply);
        return b->glance != SN_ODD;
    }
    if (tag == SN_BATCH_CLAIM)
        return sn_reply_take_integer(&b->claim, tag, reply, false);
    if (tag & SN_VERIFY_TAG)
        return sn_verify_take(&b->view, tag, reply, &b->loss);
    if (sn_reply_error_is(reply, "WRONGTYPE") && b->view.image.growth != SEEN_FIXED &&
        layer == b->view.image.current) {
        b->key[tag % SN_BATCH_KEYS].fenced = true;
        b->fenced = true;
        return true;
    }
    *taken = false;
    return false;
}

static bool take_look(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    sn_batch *b = context;
    bool taken;
    (void)again;
    uint32_t layer = tag >> LAYER_SHIFT & 63;
    bool good = take_common(b, tag, layer, reply, &taken);
    if (taken)
        return good;
    sn_batch_key *k = &b->key[tag % SN_BATCH_KEYS];
    if (by_range(&b->view.image.layer[layer].geometry))
        return take_range(b, k, layer, tag >> LINE_SHIFT & 63, reply);
    return take_fields(b, k, layer, reply);
}

seen_status sn_batch_look(sn_batch *b, uint64_t layers, seen_error *error)
{
    for (size_t i = 0; i < b->keys; i++) {
        sn_batch_key *k = &b->key[i];
        if (k->answer != SEEN_UNKNOWN)
            continue;
        k->miss = k->cells = 0;
        for (uint32_t layer = 0; layer < b->view.image.layers; layer++)
            if (layers >> layer & 1)
                say_look(b, i, layer);
        if (i % NUDGE_KEYS == 0)
            sn_channel_flush_early(b->ch);
    }
    sn_verify_say_used(b->ch, b->namer, &b->used);
    return sn_channel_run(b->ch, take_look, b, error);
}

/* ---- adding ---- */

void sn_batch_say_put(sn_batch *b, size_t i)
{
    static const char FIELD[] = "$8\r\nBITFIELD\r\n", ONE[] = "$1\r\n1\r\n";
    static const char SET[] = "$3\r\nSET\r\n$2\r\nu1\r\n";
    static const char SAT[] = "$8\r\nOVERFLOW\r\n$3\r\nSAT\r\n",
                      STEP[] = "$6\r\nINCRBY\r\n$2\r\nu4\r\n";
    sn_batch_key *k = &b->key[i];
    const sn_geometry *g = &b->view.image.layer[k->target].geometry;
    bool counting = g->kind == SEEN_COUNTING;
    unsigned count = g->spread * g->probes;
    if (counting || k->target != b->view.image.current)
        k->cells = 0;
    unsigned left = count - (unsigned)__builtin_popcountll(k->cells);
    if (i % NUDGE_KEYS == 0)
        sn_channel_flush_early(b->ch);
    uint64_t f, shard = sn_place_shard(g, k->hash, &f);
    const sn_redis_key *key = sn_redis_namer_shard(&b->namer[k->target], shard);
    sn_verify_use(&b->used, k->target, shard);
    sn_command_begin(b->ch, (uint32_t)i, key->slot, 2 + (counting ? 2u : 0u) + 4 * left);
    sn_command_raw(b->ch, FIELD, sizeof FIELD - 1);
    sn_command_arg(b->ch, key->text, key->len);
    if (counting)
        sn_command_raw(b->ch, SAT, sizeof SAT - 1);
    for (unsigned n = 0; n < count; n++) {
        unsigned j = n / g->probes;
        if (n < SN_BATCH_CELLS && k->cells >> n & 1)
            continue;
        cell c = find_cell(g->kind, sn_place_cells(k->hash.lo, j), n % g->probes);
        if (counting)
            sn_command_raw(b->ch, STEP, sizeof STEP - 1);
        else
            sn_command_raw(b->ch, SET, sizeof SET - 1);
        sn_command_number(b->ch, (sn_place_line(g, f, j) * SN_LINE_BYTES + c.byte) * 8 + c.offset);
        sn_command_raw(b->ch, ONE, sizeof ONE - 1);
    }
}

/* The cells' old values (bits), or their new ones (counters). The key is new if one was zero.
 *
 * A command that was on its way when a connection broke may have been carried out, and then finds
 * the key that it added itself; or its shard was closed meanwhile, and the next attempt finds it.
 * To say "seen" could lose a key that nobody was told is new; so it is new, though it may have been
 * there. */
static bool take_put(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    sn_batch *b = context;
    bool taken;
    uint32_t layer = tag & SN_VERIFY_TAG ? 0 : b->key[tag % SN_BATCH_KEYS].target;
    bool good = take_common(b, tag, layer, reply, &taken);
    if (taken) {
        if (!(tag & SN_VERIFY_TAG))
            b->key[tag % SN_BATCH_KEYS].adrift |= again;
        return good;
    }
    sn_batch_key *k = &b->key[tag % SN_BATCH_KEYS];
    const sn_geometry *g = &b->view.image.layer[layer].geometry;
    bool counting = g->kind == SEEN_COUNTING;
    unsigned count = g->spread * g->probes - (unsigned)__builtin_popcountll(k->cells);
    long long least = COUNTER_MAX;
    if (!sn_reply_is_row(reply, count))
        return false;
    for (unsigned i = 1; i <= count; i++) {
        const sn_reply_item *item = &reply->item[i];
        if (item->type != REDIS_REPLY_INTEGER || item->number < (counting ? 1 : 0) ||
            item->number > (counting ? COUNTER_MAX : 1))
            return false;
        least = item->number < least ? item->number : least;
    }
    k->fresh = counting ? least == 1 : least == 0;
    if (again && !k->fresh)
        k->fresh = k->unsure = true;
    k->answer = k->fresh ? SEEN_NEW : sn_batch_found(k);
    k->fresh &= !k->told;
    k->put = true;
    return true;
}

seen_status sn_batch_put(sn_batch *b, seen_error *error)
{
    sn_verify_say_used(b->ch, b->namer, &b->used);
    return sn_channel_run(b->ch, take_put, b, error);
}

/* ---- taking out ---- */

/* KEYS: the shard. ARGV: the offsets of a key's counters. 0: the key is not there, nothing is
 * changed. 1: taken out once and still there. 2: gone. A counter that is full stays: nobody knows
 * how many keys it holds. */
static const char CUT[] =
    "local k,get,dec=KEYS[1],{},{} "
    "for i,o in ipairs(ARGV) do "
    " get[#get+1]='GET' get[#get+1]='u4' get[#get+1]=o "
    "end "
    "local old=redis.call('BITFIELD',k,unpack(get)) "
    "for i,o in ipairs(ARGV) do "
    " if old[i]==0 then return 0 end "
    " if old[i]<15 then "
    "  dec[#dec+1]='INCRBY' dec[#dec+1]='u4' dec[#dec+1]=o dec[#dec+1]=-1 "
    " end "
    "end "
    "if #dec>0 then "
    " for _,v in ipairs(redis.call('BITFIELD',k,'OVERFLOW','SAT',unpack(dec))) do "
    "  if v==0 then return 2 end "
    " end "
    "end "
    "return 1";

void sn_batch_say_cut(sn_batch *b, size_t i)
{
    const sn_batch_key *k = &b->key[i];
    const sn_geometry *g = &b->view.image.layer[k->target].geometry;
    uint64_t f, shard = sn_place_shard(g, k->hash, &f);
    const sn_redis_key *key = sn_redis_namer_shard(&b->namer[k->target], shard);
    sn_verify_use(&b->used, k->target, shard);
    sn_command_begin(b->ch, (uint32_t)i, key->slot, 4 + g->spread * g->probes);
    sn_command_text(b->ch, "EVAL");
    sn_command_arg(b->ch, CUT, sizeof CUT - 1);
    sn_command_text(b->ch, "1");
    sn_command_arg(b->ch, key->text, key->len);
    for (unsigned n = 0; n < g->spread * g->probes; n++) {
        unsigned j = n / g->probes;
        cell c = find_cell(g->kind, sn_place_cells(k->hash.lo, j), n % g->probes);
        sn_command_number(b->ch, (sn_place_line(g, f, j) * SN_LINE_BYTES + c.byte) * 8 + c.offset);
    }
    /* A second removal would take what somebody else added. */
    sn_command_once(b->ch);
}

static bool take_cut(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    sn_batch *b = context;
    bool taken;
    (void)again;
    uint32_t layer = tag & SN_VERIFY_TAG ? 0 : b->key[tag % SN_BATCH_KEYS].target;
    bool good;
    /* A script passes on what its commands say. */
    if (!(tag & SN_VERIFY_TAG) && sn_reply_is_error(reply) &&
        strstr(sn_reply_text(reply, 0), "WRONGTYPE") && layer == b->view.image.current &&
        b->view.image.growth != SEEN_FIXED) {
        b->key[tag % SN_BATCH_KEYS].fenced = b->fenced = true;
        return true;
    }
    good = take_common(b, tag, layer, reply, &taken);
    if (taken)
        return good;
    if (reply->items != 1 || reply->item[0].type != REDIS_REPLY_INTEGER ||
        reply->item[0].number < 0 || reply->item[0].number > 2)
        return false;
    sn_batch_key *k = &b->key[tag % SN_BATCH_KEYS];
    if (reply->item[0].number == 0)
        return true; /* stays undecided: it may be in another layer */
    k->answer = SEEN_BEFORE;
    k->gone = reply->item[0].number == 2;
    return true;
}

seen_status sn_batch_cut(sn_batch *b, seen_error *error)
{
    sn_verify_say_used(b->ch, b->namer, &b->used);
    return sn_channel_run(b->ch, take_cut, b, error);
}
