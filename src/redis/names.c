/* The names of a filter's keys, and their slots in a cluster. */
#include "redis/names.h"

#include "local/lookup.h"
#include "redis/client/slot.h"
#include "set/layers.h"

#include <stdio.h>
#include <string.h>

static void put(sn_redis_key *key, const char *text, size_t len)
{
    memcpy(key->text + key->len, text, len);
    key->len += len;
}

static void put_text(sn_redis_key *key, const char *text)
{
    put(key, text, strlen(text));
}

static void put_name(sn_redis_key *key, const sn_redis_address *a)
{
    for (size_t i = 0; i < a->name_len; i++) {
        char c = a->name[i];
        if (c == '{' || c == '}' || c == '%')
            key->len += (size_t)sprintf(key->text + key->len, "%%%02X", (unsigned)c);
        else
            key->text[key->len++] = c;
    }
}

void sn_redis_key_meta(const sn_redis_address *a, sn_redis_key *key)
{
    key->len = 0;
    put_text(key, "seen:");
    put_name(key, a);
    key->slot = sn_slot_of(key->text, key->len);
}

static void begin_tag(sn_redis_key *key, const sn_redis_address *a, const sn_redis_view *view)
{
    key->len = 0;
    put_text(key, "seen:{");
    put_name(key, a);
    put_text(key, ":");
    put_text(key, view->id);
}

void sn_redis_key_added(const sn_redis_address *a, const sn_redis_view *view, sn_redis_key *key)
{
    begin_tag(key, a, view);
    put_text(key, "}:added");
    key->slot = sn_slot_of(key->text, key->len);
}

void sn_redis_field_added(const sn_redis_view *view, uint32_t layer, char field[SN_REDIS_FIELD])
{
    snprintf(field, SN_REDIS_FIELD, "%u.%llu", layer,
             (unsigned long long)view->image.layer[layer].generation);
}

/* Our names have a hash tag, that of a plain bitmap usually does not: then all of it becomes the
 * tag. */
void sn_redis_key_piece(const sn_redis_key *shard, sn_redis_key *piece)
{
    static const char *const FORM[][2] = {
        {"", ":merge"}, {"seen:{", "}:merge"}, {"seen:", ":merge"}};
    size_t i = shard->len > 5 && memcmp(shard->text, "seen:", 5) == 0 ? 0 : 1;
    do {
        piece->len = 0;
        put_text(piece, FORM[i][0]);
        put(piece, shard->text, shard->len);
        put_text(piece, FORM[i][1]);
        piece->slot = sn_slot_of(piece->text, piece->len);
    } while (piece->slot != shard->slot && ++i < sizeof FORM / sizeof *FORM);
}

bool sn_redis_layer_closed(const sn_image *image, uint32_t layer)
{
    return layer != image->current;
}

bool sn_redis_layer_expired(const sn_image *image, uint32_t layer)
{
    return sn_redis_layer_closed(image, layer) && image->window_seconds &&
           !sn_layers_live(image, layer);
}

void sn_redis_namer_begin(sn_redis_namer *n, const sn_redis_address *a, const sn_redis_view *view,
                          uint32_t layer, bool closed)
{
    n->plain = view->layout == SEEN_LAYOUT_BITMAP;
    n->key.len = 0;
    if (n->plain) {
        put(&n->key, a->name, a->name_len);
        n->key.slot = sn_slot_of(n->key.text, n->key.len);
        return;
    }
    begin_tag(&n->key, a, view);
    n->key.len += (size_t)sprintf(n->key.text + n->key.len, ":%u.%llu:", layer,
                                  (unsigned long long)view->image.layer[layer].generation);
    n->head = n->key.len;
    n->crc = sn_slot_crc(0, n->key.text + 6, n->head - 6);
    n->tail = closed ? "}:closed" : "}";
    n->tail_len = strlen(n->tail);
}

const sn_redis_key *sn_redis_namer_shard(sn_redis_namer *n, uint64_t shard)
{
    if (n->plain)
        return &n->key;
    char digits[24], *end = digits + sizeof digits, *from = end;
    do
        *--from = (char)('0' + shard % 10);
    while (shard /= 10);
    n->key.len = n->head;
    put(&n->key, from, (size_t)(end - from));
    n->key.slot = sn_slot_crc(n->crc, from, (size_t)(end - from)) & 16383;
    put(&n->key, n->tail, n->tail_len);
    return &n->key;
}
