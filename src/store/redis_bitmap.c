/* The textbook's filter: one plain bitmap key, k positions over the whole of it (docs/redis.md).
 *
 * It is the classic geometry, one cell per line, with a single shard as large as the filter: the same
 * code, another name for the key. A string of Redis holds 2^32 bits. */
#include "base/error.h"
#include "filter/plan.h"
#include "store/redis_set.h"

#include <math.h>

enum { LINE_BITS = 512 };
#define BITS_MAX (UINT64_C(1) << 32)

seen_status sn_redis_bitmap_plan(const seen_options *o, sn_image *image, seen_error *error)
{
    if (o->kind != SEEN_BLOOM || o->growth != SEEN_FIXED)
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "a plain bitmap is of kind bloom and of fixed growth");
    double keys = (double)image->capacity, rate = sn_rate_from64(image->rate64);
    sn_geometry g = {.kind = SEEN_BLOOM, .probes = 1, .shards = 1};
    double bits = o->bits ? (double)o->bits : seen_classic_bits(keys, rate);
    double hashes = o->hashes ? o->hashes : round(seen_classic_hashes(bits, keys));
    g.spread = hashes < 1 ? 1 : hashes > SN_SPREAD_MAX ? SN_SPREAD_MAX : (uint32_t)hashes;
    g.shard_lines = (uint64_t)ceil(bits / LINE_BITS);
    if (o->bits)
        g.shard_lines = o->bits / LINE_BITS ? o->bits / LINE_BITS : 1;
    /* A little more than the textbook says, where that rounds its k. */
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
