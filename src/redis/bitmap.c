/* The textbook filter: one plain bitmap key, with k positions over all of it (docs/redis.md).
 *
 * It is the classic geometry, one cell per line, with a single shard as large as the filter: the
 * same code, with another key name. A Redis string holds 2^32 bits. */
#include "base/error.h"
#include "filter/plan.h"
#include "redis/set.h"
#include "redis/verify.h"

#include <math.h>

enum { LINE_BITS = 512 };
#define BITS_MAX (UINT64_C(1) << 32)

seen_status sn_redis_bitmap_plan(const seen_options *o, sn_image *image, seen_error *error)
{
    if (o->kind != SEEN_BLOOM || o->growth != SEEN_FIXED)
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "a plain bitmap must be of kind bloom and fixed size");
    double keys = (double)image->capacity, rate = sn_image_rate_from64(image->rate64);
    sn_geometry g = {.kind = SEEN_BLOOM, .probes = 1, .shards = 1};
    double bits = o->bits ? (double)o->bits : seen_classic_bits(keys, rate);
    double hashes = o->hashes ? o->hashes : round(seen_classic_hashes(bits, keys));
    g.spread = hashes < 1 ? 1 : hashes > SN_SPREAD_MAX ? SN_SPREAD_MAX : (uint32_t)hashes;
    g.shard_lines = (uint64_t)ceil(bits / LINE_BITS);
    if (o->bits)
        g.shard_lines = o->bits / LINE_BITS ? o->bits / LINE_BITS : 1;
    /* Slightly more than the textbook formula, because k is rounded. */
    while (!o->bits && sn_plan_rate(&g, keys) > rate * (1 + 1e-9) && g.shard_lines < BITS_MAX)
        g.shard_lines += 1 + g.shard_lines / 1000;
    if (g.shard_lines > BITS_MAX / LINE_BITS)
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "a bitmap of Redis holds at most 2^32 bits (512 MiB); use the layout "
                            "of shards");
    image->layer[0].geometry = g;
    sn_image_lay_out(image);
    return SEEN_OK;
}

seen_status sn_redis_bitmap_length(sn_channel *ch, const sn_redis_view *view, int64_t *length,
                                   seen_error *error)
{
    sn_redis_namer namer;
    sn_redis_namer_begin(&namer, sn_channel_address(ch), view, 0, false);
    const sn_redis_key *key = sn_redis_namer_shard(&namer, 0);
    *length = 0;
    sn_command_begin(ch, 0, key->slot, 2);
    sn_command_text(ch, "STRLEN");
    sn_command_arg(ch, key->text, key->len);
    return sn_channel_run(ch, sn_reply_take_integer, length, error);
}

seen_status sn_redis_bitmap_adopt(sn_channel *ch, const sn_redis_view *view, bool copy,
                                  seen_error *error)
{
    int64_t length;
    uint64_t bytes = sn_verify_length(view, 0);
    seen_status status = sn_redis_bitmap_length(ch, view, &length, error);
    if (status == SEEN_OK && copy && length > 0)
        return sn_error_set(error, SEEN_ERR_EXISTS,
                            "%s: a key of this name exists and is not a filter; replace it, or "
                            "choose another name",
                            sn_channel_address(ch)->shown);
    if (status == SEEN_OK && (uint64_t)length > bytes)
        return sn_error_set(error, SEEN_ERR_MISMATCH,
                            "%s: the key holds %lld bytes, more than the %llu of this filter; give "
                            "its size with bits and hashes",
                            sn_channel_address(ch)->shown, (long long)length,
                            (unsigned long long)bytes);
    return status;
}
