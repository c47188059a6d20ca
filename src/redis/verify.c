/* Verifies that the server still has everything that belongs to a filter. */
#include "redis/verify.h"

#include "base/error.h"

#include <string.h>

enum { AT_ONCE = 4096, LAYER_SHIFT = 25, COUNTS_LAYER = SN_IMAGE_LAYERS };

/* A Redis string holds 512 MiB: one of the maximum size has no room for a mark. */
#define STRING_MAX (UINT64_C(512) << 20)

uint64_t sn_verify_length(const sn_redis_view *view, uint32_t layer)
{
    uint64_t bytes = view->image.layer[layer].geometry.shard_lines * SN_LINE_BYTES;
    return bytes + (view->format > 1 && bytes < STRING_MAX);
}

const char *sn_verify_field(const sn_redis_view *view)
{
    return view->format > 1 ? "created" : "";
}

/* A window of format 1 may have none: each field is deleted with its generation. */
static bool has_counts(const sn_redis_view *view)
{
    return view->format > 1 || view->image.growth != SEEN_WINDOW;
}

static void write_shard(sn_channel *ch, sn_redis_namer *namer, uint32_t layer, uint64_t shard)
{
    const sn_redis_key *key = sn_redis_namer_shard(namer, shard);
    uint32_t low = (uint32_t)shard & ((UINT32_C(1) << LAYER_SHIFT) - 1);
    sn_command_begin(ch, SN_VERIFY_TAG | layer << LAYER_SHIFT | low, key->slot, 2);
    sn_command_text(ch, "STRLEN");
    sn_command_arg(ch, key->text, key->len);
}

/* Format 1: everything that creation and clients wrote. */
void sn_verify_write_counts(sn_channel *ch, const sn_redis_view *view)
{
    sn_redis_key key;
    uint32_t layers = view->format > 1 ? 0 : view->image.layers;
    if (!has_counts(view))
        return;
    sn_redis_key_added(sn_channel_address(ch), view, &key);
    sn_command_begin(ch, SN_VERIFY_TAG | (uint32_t)COUNTS_LAYER << LAYER_SHIFT, key.slot,
                     3 + layers);
    sn_command_text(ch, "HMGET");
    sn_command_arg(ch, key.text, key.len);
    sn_command_text(ch, sn_verify_field(view));
    for (uint32_t i = 0; i < layers; i++) {
        char field[SN_REDIS_FIELD];
        sn_redis_field_added(view, i, field);
        sn_command_text(ch, field);
    }
}

static bool take_counts(const sn_reply *reply, sn_verify_loss *loss)
{
    bool any = false;
    for (size_t i = 1; i < reply->items; i++)
        any |= reply->item[i].type == REDIS_REPLY_STRING;
    loss->counts |= !any;
    return reply->items > 1 && sn_reply_is_row(reply, reply->items - 1);
}

bool sn_verify_take(const sn_redis_view *view, uint32_t tag, const sn_reply *reply,
                    sn_verify_loss *loss)
{
    uint32_t layer = (tag & ~SN_VERIFY_TAG) >> LAYER_SHIFT;
    /* A fence: the layer was just closed, and keys for it meet the fence too. */
    if (layer >= COUNTS_LAYER)
        return take_counts(reply, loss);
    if (sn_reply_error_is(reply, "WRONGTYPE"))
        return true;
    if (reply->items != 1 || reply->item[0].type != REDIS_REPLY_INTEGER)
        return false;
    uint64_t found = (uint64_t)reply->item[0].number;
    if (found >= sn_verify_length(view, layer) ||
        (found == 0 && sn_redis_layer_expired(&view->image, layer)))
        return true;
    loss->shard = true;
    loss->layer = layer;
    loss->number = tag & ((UINT32_C(1) << LAYER_SHIFT) - 1);
    return true;
}

/* ---- the shards of a batch ---- */

static unsigned slot_of(uint64_t shard)
{
    return (unsigned)(shard * UINT64_C(0x9e3779b97f4a7c15) >> 51);
}

void sn_verify_use(sn_verify_used *used, uint32_t layer, uint64_t shard)
{
    _Static_assert(2 * SN_VERIFY_USED == 1 << 13, "slot_of returns 13 bits");
    uint64_t key = (uint64_t)layer << 58 | shard;
    unsigned at = slot_of(key);
    for (; used->slot[at]; at = (at + 1) % (2 * SN_VERIFY_USED))
        if (used->shard[used->slot[at] - 1] == key)
            return;
    if (used->count == SN_VERIFY_USED)
        return;
    used->shard[used->count] = key;
    used->slot[at] = (uint16_t)++used->count;
}

void sn_verify_write_used(sn_channel *ch, sn_redis_namer *namers, sn_verify_used *used)
{
    for (unsigned i = 0; i < used->count; i++) {
        uint32_t layer = (uint32_t)(used->shard[i] >> 58);
        write_shard(ch, &namers[layer], layer, used->shard[i] & ((UINT64_C(1) << 58) - 1));
    }
    if (used->count)
        memset(used->slot, 0, sizeof used->slot);
    used->count = 0;
}

/* ---- the whole filter ---- */

typedef struct verify_all {
    const sn_redis_view *view;
    sn_verify_loss *loss;
} verify_all;

static bool take(void *context, uint32_t tag, const sn_reply *reply, bool again)
{
    const verify_all *l = context;
    (void)again;
    return sn_verify_take(l->view, tag, reply, l->loss);
}

seen_status sn_verify_all(sn_channel *ch, const sn_redis_view *view, sn_verify_loss *loss,
                          seen_error *error)
{
    const sn_image *image = &view->image;
    seen_status status = SEEN_OK;
    verify_all l = {.view = view, .loss = loss};
    *loss = (sn_verify_loss){0};
    sn_verify_write_counts(ch, view);
    for (uint32_t i = 0; i < image->layers && status == SEEN_OK; i++) {
        sn_redis_namer namer;
        sn_redis_namer_begin(&namer, sn_channel_address(ch), view, i,
                             sn_redis_layer_closed(image, i));
        uint64_t shards = image->layer[i].generation ? image->layer[i].geometry.shards : 0;
        for (uint64_t s = 0; s < shards && status == SEEN_OK; s++) {
            write_shard(ch, &namer, i, s);
            if (sn_channel_pending(ch) >= AT_ONCE)
                status = sn_channel_run(ch, take, &l, error);
        }
    }
    return status == SEEN_OK ? sn_channel_run(ch, take, &l, error) : status;
}

#define ADVICE                                                                                     \
    "restore it from a backup, or drop and recreate it, and set maxmemory-policy to noeviction"

seen_status sn_verify_report(const sn_channel *ch, const sn_redis_view *view,
                             const sn_verify_loss *loss, seen_error *error)
{
    const sn_redis_address *address = sn_channel_address(ch);
    sn_redis_key key;
    if (loss->shard)
        return sn_error_set(error, SEEN_ERR_FORMAT,
                            "%s: shard %llu of layer %u is missing or incomplete (evicted or "
                            "deleted), and its keys are lost; " ADVICE,
                            address->shown, (unsigned long long)loss->number, loss->layer);
    sn_redis_key_added(address, view, &key);
    return sn_error_set(error, SEEN_ERR_FORMAT,
                        "%s: the counters of the filter (%.*s) are missing (evicted or deleted), "
                        "and its error rate cannot be kept; " ADVICE,
                        address->shown, (int)key.len, key.text);
}
