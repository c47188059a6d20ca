/* The hash that describes a filter. */
#include "redis/meta.h"

#include "base/error.h"
#include "filter/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_FIELDS = 18 };

static const char *const KINDS[] = {"bloom", "counting"};
static const char *const GROWTHS[] = {"fixed", "growing", "window"};
static const char *const HASHES[] = {"xxh3", "siphash"};
static const char *const FULLS[] = {"refuse", "go-on"};
static const char *const STEPS[] = {"short", "long"};
static const char *const RENEW[] = {"no", "yes"};
static const char *const LAYOUTS[] = {"shards", "bitmap"};

/* KEYS: the hash. ARGV: the ID, its time to live in seconds (0: unlimited), ID and sequence of the
 * only one that may be replaced ("": none), then fields and values. A retry of a successful call
 * finds its own ID. */
static const char PUBLISH[] = "local k=KEYS[1] "
                              "if redis.call('EXISTS',k)==1 then "
                              " if redis.call('HEXISTS',k,'format')==0 then "
                              "  return redis.error_reply('WRONGTYPE not a filter') end "
                              " local now=redis.call('HMGET',k,'id','sequence') "
                              " if now[1]==ARGV[1] then return 1 end "
                              " if now[1]~=ARGV[3] or now[2]~=ARGV[4] then return 0 end "
                              " redis.call('DEL',k) "
                              "end "
                              "redis.call('HSET',k,unpack(ARGV,5)) "
                              "if ARGV[2]~='0' then redis.call('EXPIRE',k,ARGV[2]) end "
                              "return 1";

/* KEYS: the hash. ARGV: ID, sequence. */
static const char UNNAME[] = "local k=KEYS[1] "
                             "if redis.call('EXISTS',k)==0 then return 1 end "
                             "local now=redis.call('HMGET',k,'id','sequence') "
                             "if now[1]~=ARGV[1] or now[2]~=ARGV[2] then return 0 end "
                             "return redis.call('UNLINK',k)";

/* KEYS: the hash. ARGV: ID, sequence, then fields and values. */
static const char STEP[] = "local k=KEYS[1] "
                           "local now=redis.call('HMGET',k,'id','sequence') "
                           "if now[1]~=ARGV[1] then return -1 end "
                           "if now[2]~=ARGV[2] then return 0 end "
                           "redis.call('HSET',k,unpack(ARGV,3)) "
                           "return 1";

/* ---- writing ---- */

static void write_pair(sn_channel *ch, const char *field, const char *value)
{
    sn_command_text(ch, field);
    sn_command_text(ch, value);
}

static void write_count(sn_channel *ch, const char *field, uint64_t value)
{
    sn_command_text(ch, field);
    sn_command_number(ch, value);
}

static unsigned field_args(const sn_redis_view *view)
{
    return 2 * (HEAD_FIELDS + view->image.layers + (view->image.note[0] != 0));
}

static void write_fields(sn_channel *ch, const sn_redis_view *view)
{
    const sn_image *image = &view->image;
    char text[256];
    write_count(ch, "format", view->format);
    write_pair(ch, "id", view->id);
    write_pair(ch, "layout", LAYOUTS[view->layout]);
    write_pair(ch, "kind", KINDS[image->kind]);
    write_pair(ch, "growth", GROWTHS[image->growth]);
    write_pair(ch, "hash", HASHES[image->hash]);
    write_pair(ch, "when-full", FULLS[image->when_full]);
    snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, image->seed[0], image->seed[1]);
    write_pair(ch, "seed", text);
    write_count(ch, "capacity", image->capacity);
    write_count(ch, "rate64", image->rate64);
    write_count(ch, "generations", image->generations);
    write_count(ch, "window-seconds", image->window_seconds);
    write_pair(ch, "renew", RENEW[image->renew]);
    write_pair(ch, "steps", STEPS[image->wide]);
    write_count(ch, "sequence", image->sequence);
    write_count(ch, "current", image->current);
    write_count(ch, "layers", image->layers);
    write_count(ch, "ttl", view->ttl);
    if (image->note[0])
        write_pair(ch, "note", image->note);
    for (uint32_t i = 0; i < image->layers; i++) {
        const sn_layer *l = &image->layer[i];
        char field[24];
        snprintf(field, sizeof field, "layer:%u", i);
        snprintf(text, sizeof text,
                 "%" PRIu64 " %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
                 l->generation, l->geometry.spread, l->geometry.probes, l->geometry.shards,
                 l->geometry.shard_lines, l->capacity, l->rate64, l->born);
        write_pair(ch, field, text);
    }
}

/* Begins a script on the hash; its arguments follow. */
static void write_script(sn_channel *ch, const char *script, unsigned args)
{
    sn_redis_key key;
    sn_redis_key_meta(sn_channel_address(ch), &key);
    sn_command_begin(ch, 0, key.slot, 4 + args);
    sn_command_text(ch, "EVAL");
    sn_command_text(ch, script);
    sn_command_text(ch, "1");
    sn_command_arg(ch, key.text, key.len);
}

seen_status sn_meta_publish(sn_channel *ch, const sn_redis_view *view, const sn_redis_view *old,
                            bool *done, seen_error *error)
{
    int64_t number = 0;
    write_script(ch, PUBLISH, 4 + field_args(view));
    sn_command_text(ch, view->id);
    sn_command_number(ch, view->ttl);
    sn_command_text(ch, old ? old->id : "");
    sn_command_number(ch, old ? old->image.sequence : 0);
    write_fields(ch, view);
    seen_status status = sn_channel_run(ch, sn_reply_take_integer, &number, error);
    *done = number == 1;
    return status;
}

seen_status sn_meta_unname(sn_channel *ch, const sn_redis_view *view, bool *done, seen_error *error)
{
    int64_t number = 0;
    write_script(ch, UNNAME, 2);
    sn_command_text(ch, view->id);
    sn_command_number(ch, view->image.sequence);
    seen_status status = sn_channel_run(ch, sn_reply_take_integer, &number, error);
    *done = number == 1;
    return status;
}

static bool take_step(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    int64_t answer;
    if (!sn_reply_take_integer(&answer, tag, reply, again))
        return false;
    if (answer == 1)
        *(sn_meta_outcome *)context = SN_META_DONE;
    else if (answer == 0 && again)
        *(sn_meta_outcome *)context = SN_META_PERHAPS;
    return true;
}

seen_status sn_meta_step(sn_channel *ch, const sn_redis_view *now, const sn_redis_view *next,
                         sn_meta_outcome *step, seen_error *error)
{
    write_script(ch, STEP, 2 + field_args(next));
    sn_command_text(ch, now->id);
    sn_command_number(ch, now->image.sequence);
    write_fields(ch, next);
    *step = SN_META_LATE;
    return sn_channel_run(ch, take_step, step, error);
}

/* ---- reading ---- */

bool sn_meta_number(const char *text, size_t len, uint64_t *number)
{
    uint64_t value = 0;
    if (len == 0 || len > 20)
        return false;
    for (size_t i = 0; i < len; i++) {
        unsigned digit = (unsigned)(text[i] - '0');
        if (digit > 9 || value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *number = value;
    return true;
}

typedef struct table {
    sn_redis_view *view;
    bool absent;
    bool good;
} table;

static const char *find(const sn_reply *r, const char *field, size_t *len)
{
    size_t n = strlen(field);
    for (size_t i = 1; i + 1 < r->items; i += 2)
        if (r->item[i].len == n && memcmp(sn_reply_text(r, i), field, n) == 0) {
            *len = r->item[i + 1].len;
            return sn_reply_text(r, i + 1);
        }
    return NULL;
}

static bool find_number(const sn_reply *r, const char *field, uint64_t max, uint64_t *out)
{
    size_t len;
    const char *text = find(r, field, &len);
    return text && sn_meta_number(text, len, out) && *out <= max;
}

static bool find_word(const sn_reply *r, const char *field, const char *const *words, size_t count,
                      unsigned *out)
{
    size_t len;
    const char *text = find(r, field, &len);
    for (unsigned i = 0; text && i < count; i++)
        if (strlen(words[i]) == len && memcmp(words[i], text, len) == 0) {
            *out = i;
            return true;
        }
    return false;
}

#define FIND_WORD(r, field, words, out)                                                            \
    find_word(r, field, words, sizeof words / sizeof *words, out)

static bool find_seed(const sn_reply *r, uint64_t seed[2])
{
    size_t len;
    const char *text = find(r, "seed", &len);
    if (!text || len != 32 || strspn(text, "0123456789abcdef") != 32)
        return false;
    char half[17] = "";
    memcpy(half, text, 16);
    seed[0] = strtoull(half, NULL, 16);
    seed[1] = strtoull(text + 16, NULL, 16);
    return true;
}

static bool find_layer(const sn_reply *r, uint32_t i, sn_image *image)
{
    char field[24];
    snprintf(field, sizeof field, "layer:%u", i);
    size_t len;
    const char *text = find(r, field, &len);
    uint64_t n[8];
    for (unsigned k = 0; text && k < 8; k++) {
        size_t digits = strspn(text, "0123456789");
        if (!sn_meta_number(text, digits, &n[k]) || text[digits] != (k < 7 ? ' ' : '\0'))
            return false;
        text += digits + 1;
    }
    if (!text || n[1] > SN_SPREAD_MAX || n[2] > SN_LINE_WORDS)
        return false;
    image->layer[i] = (sn_layer){.generation = n[0],
                                 .geometry = {.kind = image->kind,
                                              .spread = (uint32_t)n[1],
                                              .probes = (uint32_t)n[2],
                                              .shards = n[3],
                                              .shard_lines = n[4]},
                                 .capacity = n[5],
                                 .rate64 = n[6],
                                 .born = n[7]};
    /* A Redis string holds 512 MiB. */
    return sn_geometry_valid(&image->layer[i].geometry) && n[4] <= (1u << 29) / SN_LINE_BYTES;
}

static bool read_table(const sn_reply *r, sn_redis_view *view)
{
    sn_image *image = &view->image;
    uint64_t format, generations, current, layers;
    unsigned layout, kind, growth, hash, full, renew = 1, steps = 0;
    size_t id_len;
    const char *id = find(r, "id", &id_len);
    if (!find_number(r, "format", SN_META_FORMAT, &format) || format == 0 || !id ||
        id_len != SN_REDIS_ID || strspn(id, "0123456789abcdef") != SN_REDIS_ID ||
        !FIND_WORD(r, "layout", LAYOUTS, &layout) || !FIND_WORD(r, "kind", KINDS, &kind) ||
        !FIND_WORD(r, "growth", GROWTHS, &growth) || !FIND_WORD(r, "hash", HASHES, &hash) ||
        !FIND_WORD(r, "when-full", FULLS, &full) || !find_seed(r, image->seed) ||
        !find_number(r, "capacity", UINT64_MAX, &image->capacity) ||
        !find_number(r, "rate64", UINT64_MAX, &image->rate64) ||
        !find_number(r, "generations", SN_GENERATIONS_MAX, &generations) ||
        !find_number(r, "window-seconds", UINT64_MAX, &image->window_seconds) ||
        !find_number(r, "sequence", UINT64_MAX, &image->sequence) ||
        !find_number(r, "current", SN_IMAGE_LAYERS - 1, &current) ||
        !find_number(r, "layers", SN_IMAGE_LAYERS, &layers) ||
        !find_number(r, "ttl", UINT32_MAX, &view->ttl))
        return false;
    memcpy(view->id, id, SN_REDIS_ID + 1);
    view->format = (unsigned)format;
    view->layout = (seen_layout)layout;
    image->kind = (seen_kind)kind;
    image->growth = (seen_growth)growth;
    image->hash = (seen_hash_kind)hash;
    image->when_full = (seen_when_full)full;
    /* A filter of format 1 does not have these fields, behaved like renew, and grew in small
     * steps. */
    if (format > 1 &&
        (!FIND_WORD(r, "renew", RENEW, &renew) || !FIND_WORD(r, "steps", STEPS, &steps)))
        return false;
    image->renew = renew && image->growth == SEEN_WINDOW;
    size_t note_len;
    const char *note = find(r, "note", &note_len);
    if (note && note_len <= SEEN_NOTE_MAX)
        memcpy(image->note, note, note_len);
    image->generations = (uint32_t)generations;
    image->current = (uint32_t)current;
    image->layers = (uint32_t)layers;
    for (uint32_t i = 0; i < image->layers; i++)
        if (!find_layer(r, i, image))
            return false;
    if (view->layout == SEEN_LAYOUT_BITMAP &&
        (image->layers != 1 || image->layer[0].geometry.shards != 1 || image->kind != SEEN_BLOOM))
        return false;
    /* Validated by the same rules as the page of a file. */
    unsigned char page[SN_IMAGE_BYTES];
    const char *why;
    sn_image_lay_out(image);
    sn_image_encode(image, page);
    bool good = sn_image_decode(page, 0, image, &why);
    image->wide = steps;
    return good;
}

static bool take_table(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    table *t = context;
    (void)tag;
    (void)again;
    if (reply->items < 1 || reply->item[0].type != REDIS_REPLY_ARRAY)
        return false;
    t->absent = reply->item[0].number == 0;
    if (t->absent)
        return true;
    bool strings = reply->items % 2 == 1 && sn_reply_is_row(reply, reply->items - 1);
    for (size_t i = 1; strings && i < reply->items; i++)
        strings = reply->item[i].type == REDIS_REPLY_STRING;
    t->good = strings && read_table(reply, t->view);
    return true;
}

seen_status sn_meta_load(sn_channel *ch, sn_redis_view *view, seen_error *error)
{
    sn_redis_key key;
    sn_redis_view found = {.ttl = 0};
    table t = {.view = &found};
    sn_redis_key_meta(sn_channel_address(ch), &key);
    sn_command_begin(ch, 0, key.slot, 2);
    sn_command_text(ch, "HGETALL");
    sn_command_arg(ch, key.text, key.len);
    seen_status status = sn_channel_run(ch, take_table, &t, error);
    if (status != SEEN_OK)
        return status;
    if (t.absent)
        return sn_error_set(error, SEEN_ERR_NOT_FOUND,
                            "%s: there is no filter of this name; create it first, or check the "
                            "name and the database",
                            sn_channel_address(ch)->shown);
    if (!t.good)
        return sn_error_set(error, SEEN_ERR_FORMAT,
                            "%s: the hash %.*s is damaged, or was written by another version or "
                            "another program",
                            sn_channel_address(ch)->shown, (int)key.len, key.text);
    *view = found;
    return SEEN_OK;
}

void sn_meta_write_check(sn_channel *ch, uint32_t tag)
{
    sn_redis_key key;
    sn_redis_key_meta(sn_channel_address(ch), &key);
    sn_command_begin(ch, tag, key.slot, 4);
    sn_command_text(ch, "HMGET");
    sn_command_arg(ch, key.text, key.len);
    sn_command_text(ch, "id");
    sn_command_text(ch, "sequence");
}

sn_meta_change sn_meta_compare(const sn_redis_view *view, const sn_reply *reply)
{
    if (!sn_reply_is_row(reply, 2))
        return SN_META_INVALID;
    if (reply->item[1].type == REDIS_REPLY_NIL)
        return SN_META_GONE;
    uint64_t sequence;
    if (reply->item[1].type != REDIS_REPLY_STRING || reply->item[2].type != REDIS_REPLY_STRING ||
        !sn_meta_number(sn_reply_text(reply, 2), reply->item[2].len, &sequence))
        return SN_META_INVALID;
    if (strcmp(sn_reply_text(reply, 1), view->id) != 0)
        return SN_META_REPLACED;
    return sequence == view->image.sequence ? SN_META_SAME : SN_META_ADVANCED;
}
