/* A batch of keys on the shards.
 *
 * The bytes of a shard are those of a file: cell c of word w of a line is bit c of a little-endian
 * word. Redis numbers bits from the high end of each byte:
 *
 *     byte of a bit      8 w + c / 8          offset in Redis   8 byte + 7 - c mod 8
 *     byte of a nibble   8 w + c / 2          offset in Redis   8 byte + 4 (c even), 8 byte (c odd)
 *
 * A lookup is one GETRANGE for each line of a key: four arguments instead of three for each cell.
 * Only if a line has just one or two cells of the key is one BITFIELD_RO cheaper. An addition is
 * one BITFIELD that sets the cells and returns their previous values. Cells known to be set are
 * omitted (a bit is never cleared), which does not change the answer. */
#include "redis/batch.h"

#include <assert.h>
#include <string.h>

enum {
    LINE_SHIFT = 12,
    LAYER_SHIFT = 18,
    COUNTER_MAX = 15,
    FLUSH_KEYS = 32,
    VERIFIED_LOOKUPS = 512, /* keys of a batch whose shards are verified along with a lookup */
};
#define META_TAG UINT32_MAX

/* ---- states of a key ---- */

#define TO(state) (1u << SN_KEY_##state)

/* From each state: where a key may go, what it is answered, and what is known of its cells.
 *
 *     OPEN      --cache--> CACHED   --lookup--> FOUND, ABSENT, FENCED   --command written--> SENT
 *     SENT      --reply to an addition--> ADDED, REPEATED, PRESENT, FENCED
 *               --reply to a removal--> REMOVED, GONE, OPEN (it may be in another layer)
 *     FENCED    --lookup under the closed name (read-only sets)--> FOUND, ABSENT
 *     ADDED, REPEATED --an older generation has it--> RENEWED
 *     REPEATED  --an equal key before it in the batch--> PRESENT
 *     undecided --added by an earlier attempt, and the server is lost--> FOUND
 *     any       --the server lost data, the set was closed, replaced or full--> OPEN
 *
 * FOUND: the answer is "new" if an earlier attempt of this call has added it. */
enum { FOUND = 0x80 };
static const struct {
    uint16_t next; /* besides OPEN, to which every state may return */
    uint8_t answer;
    bool stored;  /* the reply says that its target layer has it now */
    bool present; /* it is in the set, according to any source */
} STATE[SN_KEY_STATES] = {
    [SN_KEY_OPEN] = {TO(CACHED) | TO(FENCED) | TO(FOUND) | TO(ABSENT) | TO(SENT), SEEN_UNKNOWN,
                     false, false},
    [SN_KEY_CACHED] = {0, FOUND, false, true},
    [SN_KEY_FENCED] = {TO(FENCED) | TO(FOUND) | TO(ABSENT), SEEN_UNKNOWN, false, false},
    [SN_KEY_FOUND] = {0, FOUND, false, true},
    [SN_KEY_ABSENT] = {0, SEEN_NEW, false, false},
    [SN_KEY_SENT] = {TO(FENCED) | TO(FOUND) | TO(ADDED) | TO(REPEATED) | TO(PRESENT) | TO(REMOVED) |
                         TO(GONE),
                     SEEN_UNKNOWN, false, false},
    [SN_KEY_ADDED] = {TO(RENEWED), SEEN_NEW, true, true},
    [SN_KEY_REPEATED] = {TO(RENEWED) | TO(PRESENT), SEEN_NEW, true, true},
    [SN_KEY_RENEWED] = {0, SEEN_BEFORE, true, true},
    [SN_KEY_PRESENT] = {0, FOUND, true, true},
    [SN_KEY_REMOVED] = {0, SEEN_BEFORE, false, false},
    [SN_KEY_GONE] = {0, SEEN_BEFORE, false, false},
};

void sn_batch_move(sn_batch_key *k, sn_batch_key_state state)
{
    assert(state == SN_KEY_OPEN || STATE[k->state].next >> state & 1);
    k->state = state;
}

seen_answer sn_batch_answer(const sn_batch_key *k)
{
    unsigned answer = STATE[k->state].answer;
    if (answer != FOUND)
        return (seen_answer)answer;
    return k->history == SN_HISTORY_NONE ? SEEN_BEFORE : SEEN_NEW;
}

bool sn_batch_stored(const sn_batch_key *k)
{
    return STATE[k->state].stored;
}

bool sn_batch_present(const sn_batch_key *k)
{
    return STATE[k->state].present;
}

void sn_batch_reopen(sn_batch_key *k)
{
    if (k->state == SN_KEY_ADDED || k->state == SN_KEY_REPEATED)
        k->history = SN_HISTORY_ADDED;
    sn_batch_move(k, SN_KEY_OPEN);
}

/* ---- cells ---- */

typedef struct cell {
    uint32_t byte;  /* within its line */
    uint8_t shift;  /* from the low end of the byte */
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

/* The range of bytes of a line from a key's first to its last cell. */
static void byte_range(const sn_geometry *g, uint64_t cells, uint32_t *first, uint32_t *last)
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

/* ---- lookup ---- */

void sn_batch_begin(sn_batch *b, sn_redis_set *set, sn_channel *ch)
{
    b->set = set;
    b->ch = ch;
    b->epoch = sn_client_epoch(set->redis);
    b->view = sn_redis_get_view(set);
    b->lookup_layers = 0;
    b->fenced = b->ended = false;
    b->loss = (sn_verify_loss){0};
    b->change = SN_META_SAME;
    for (uint32_t i = 0; i < b->view.image.layers; i++)
        sn_redis_namer_begin(&b->namer[i], sn_channel_address(ch), &b->view, i,
                             sn_redis_layer_closed(&b->view.image, i));
    if (set->base.read_only)
        sn_redis_namer_begin(&b->closed_name, sn_channel_address(ch), &b->view,
                             b->view.image.current, true);
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

/* Whether the filter is the same, and its shards and counters exist. The shards are verified in
 * turn: up to 1024 each time, 5120 per second. Those used by a batch are verified with it. */
void sn_batch_write_check(sn_batch *b)
{
    enum { AT_ONCE = 1024 };
    const sn_image *image = &b->view.image;
    uint64_t left = 0;
    sn_meta_write_check(b->ch, META_TAG);
    sn_verify_write_counts(b->ch, &b->view);
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

static void write_lookup(sn_batch *b, size_t i, uint32_t layer)
{
    static const char RANGE[] = "$8\r\nGETRANGE\r\n", FIELD[] = "$11\r\nBITFIELD_RO\r\n";
    static const char GET[] = "$3\r\nGET\r\n$2\r\nu1\r\n", GET4[] = "$3\r\nGET\r\n$2\r\nu4\r\n";
    const sn_geometry *g = &b->view.image.layer[layer].geometry;
    seen_hash h = b->key[i].hash;
    uint64_t f, shard = sn_place_shard(g, h, &f);
    bool closed_name = b->key[i].state == SN_KEY_FENCED && layer == b->view.image.current &&
                       b->set->base.read_only;
    const sn_redis_key *key =
        sn_redis_namer_shard(closed_name ? &b->closed_name : &b->namer[layer], shard);
    if (!closed_name && (i < VERIFIED_LOOKUPS || b->view.image.growth == SEEN_WINDOW))
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
            byte_range(g, cells, &first, &last);
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

/* One line of a key. A shard of a past generation may have expired: it is empty. */
static bool take_range(sn_batch *b, sn_batch_key *k, uint32_t layer, unsigned j,
                       const sn_reply *reply)
{
    const sn_geometry *g = &b->view.image.layer[layer].geometry;
    uint64_t cells = sn_place_cells(k->hash.lo, j);
    uint32_t first, last;
    byte_range(g, cells, &first, &last);
    if (reply->items != 1 || reply->item[0].type != REDIS_REPLY_STRING)
        return false;
    if (reply->item[0].len != last - first + 1) {
        bool ended = reply->item[0].len == 0 && sn_redis_layer_expired(&b->view.image, layer);
        uint64_t f, shard = sn_place_shard(g, k->hash, &f);
        k->miss |= UINT64_C(1) << layer;
        b->ended |= ended;
        if (!ended)
            b->loss = (sn_verify_loss){.shard = true, .layer = layer, .number = shard};
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

/* Replies of additional commands. */
static bool take_side(sn_batch *b, uint32_t tag, const sn_reply *reply)
{
    if (tag == META_TAG) {
        b->change = sn_meta_compare(&b->view, reply);
        return b->change != SN_META_INVALID;
    }
    if (tag == SN_BATCH_CLAIM)
        return sn_reply_take_integer(&b->claim, tag, reply, false);
    return sn_verify_take(&b->view, tag, reply, &b->loss);
}

/* Whether the shard of a key was closed: its layer, the current one in our view, no longer is. A
 * script passes on the error of its command. */
static bool take_fence(sn_batch *b, sn_batch_key *k, uint32_t layer, const sn_reply *reply)
{
    if (!sn_reply_is_error(reply) || !strstr(sn_reply_text(reply, 0), "WRONGTYPE") ||
        b->view.image.growth == SEEN_FIXED || layer != b->view.image.current)
        return false;
    sn_batch_move(k, SN_KEY_FENCED);
    b->fenced = true;
    return true;
}

static bool take_lookup(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    sn_batch *b = context;
    (void)again;
    if (tag & SN_VERIFY_TAG)
        return take_side(b, tag, reply);
    uint32_t layer = tag >> LAYER_SHIFT & 63;
    sn_batch_key *k = &b->key[tag % SN_BATCH_KEYS];
    if (take_fence(b, k, layer, reply))
        return true;
    if (by_range(&b->view.image.layer[layer].geometry))
        return take_range(b, k, layer, tag >> LINE_SHIFT & 63, reply);
    return take_fields(b, k, layer, reply);
}

seen_status sn_batch_lookup(sn_batch *b, size_t n, uint64_t layers, seen_error *error)
{
    b->lookup_layers = layers;
    for (size_t i = 0; i < n; i++) {
        sn_batch_key *k = &b->key[i];
        if (!sn_batch_undecided(k))
            continue;
        k->miss = k->cells = 0;
        for (uint32_t layer = 0; layer < b->view.image.layers; layer++)
            if (layers >> layer & 1)
                write_lookup(b, i, layer);
        if (i % FLUSH_KEYS == 0)
            sn_channel_flush_early(b->ch);
    }
    sn_verify_write_used(b->ch, b->namer, &b->used);
    return sn_channel_run(b->ch, take_lookup, b, error);
}

/* ---- adding ---- */

void sn_batch_write_add(sn_batch *b, size_t i)
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
    if (i % FLUSH_KEYS == 0)
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
    sn_batch_move(k, SN_KEY_SENT);
}

/* Whether the key was new: one of its cells was zero. The reply has the old values of bits, the new
 * ones of counters. False: an unexpected reply. */
static bool read_added(const sn_batch *b, const sn_batch_key *k, const sn_reply *reply, bool *fresh)
{
    const sn_geometry *g = &b->view.image.layer[k->target].geometry;
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
    *fresh = counting ? least == 1 : least == 0;
    return true;
}

/* A command whose reply was lost with its connection (`again`) may have been executed. Then the key
 * that it finds is its own; or its shard was closed concurrently, and the next attempt finds it.
 * Reporting it as seen could lose a key that was reported as new to no client; so the answer is
 * "new", although the key may have been present. */
static bool take_added(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    sn_batch *b = context;
    bool fresh;
    if (tag & SN_VERIFY_TAG)
        return take_side(b, tag, reply);
    sn_batch_key *k = &b->key[tag % SN_BATCH_KEYS];
    if (take_fence(b, k, k->target, reply)) {
        if (again && k->history == SN_HISTORY_NONE)
            k->history = SN_HISTORY_MAYBE;
        return true;
    }
    if (!read_added(b, k, reply, &fresh))
        return false;
    if (k->history == SN_HISTORY_ADDED || !(fresh || again))
        sn_batch_move(k, SN_KEY_PRESENT);
    else
        sn_batch_move(k, fresh ? SN_KEY_ADDED : SN_KEY_REPEATED);
    return true;
}

seen_status sn_batch_add(sn_batch *b, seen_error *error)
{
    sn_verify_write_used(b->ch, b->namer, &b->used);
    return sn_channel_run(b->ch, take_added, b, error);
}

/* ---- removing ---- */

/* KEYS: the shard. ARGV: the offsets of a key's counters. 0: the key is absent, nothing is changed.
 * 1: one addition removed, still present. 2: removed. A saturated counter stays: the number of its
 * keys is unknown. */
static const char REMOVE[] =
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

void sn_batch_write_remove(sn_batch *b, size_t i)
{
    sn_batch_key *k = &b->key[i];
    const sn_geometry *g = &b->view.image.layer[k->target].geometry;
    uint64_t f, shard = sn_place_shard(g, k->hash, &f);
    const sn_redis_key *key = sn_redis_namer_shard(&b->namer[k->target], shard);
    sn_verify_use(&b->used, k->target, shard);
    sn_command_begin(b->ch, (uint32_t)i, key->slot, 4 + g->spread * g->probes);
    sn_command_text(b->ch, "EVAL");
    sn_command_arg(b->ch, REMOVE, sizeof REMOVE - 1);
    sn_command_text(b->ch, "1");
    sn_command_arg(b->ch, key->text, key->len);
    for (unsigned n = 0; n < g->spread * g->probes; n++) {
        unsigned j = n / g->probes;
        cell c = find_cell(g->kind, sn_place_cells(k->hash.lo, j), n % g->probes);
        sn_command_number(b->ch, (sn_place_line(g, f, j) * SN_LINE_BYTES + c.byte) * 8 + c.offset);
    }
    /* A second removal would undo what another client added. */
    sn_command_once(b->ch);
    sn_batch_move(k, SN_KEY_SENT);
}

static bool take_removed(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    static const sn_batch_key_state RESULT[] = {SN_KEY_OPEN, SN_KEY_REMOVED, SN_KEY_GONE};
    sn_batch *b = context;
    (void)again;
    if (tag & SN_VERIFY_TAG)
        return take_side(b, tag, reply);
    sn_batch_key *k = &b->key[tag % SN_BATCH_KEYS];
    if (take_fence(b, k, k->target, reply))
        return true;
    if (reply->items != 1 || reply->item[0].type != REDIS_REPLY_INTEGER ||
        reply->item[0].number < 0 || reply->item[0].number > 2)
        return false;
    sn_batch_move(k, RESULT[reply->item[0].number]);
    return true;
}

seen_status sn_batch_remove(sn_batch *b, seen_error *error)
{
    sn_verify_write_used(b->ch, b->namer, &b->used);
    return sn_channel_run(b->ch, take_removed, b, error);
}
