/* Ranges of lines, split at shard boundaries: for copies, merging and measurements. */
#ifndef SN_REDIS_SHARDS_H
#define SN_REDIS_SHARDS_H

#include "local/local.h"
#include "redis/set.h"

/* A part of a range of lines that is in one shard. Initialized to zero. */
typedef struct sn_shards_piece {
    uint64_t shard, at, bytes; /* at: in the shard, in bytes */
    uint64_t from;             /* in the range, in bytes */
} sn_shards_piece;

/* The next piece, of at most `most` lines; false after the last. */
bool sn_shards_next_piece(const sn_geometry *g, uint64_t line, uint64_t lines, uint64_t most,
                          sn_shards_piece *piece);

/* Reads lines, also while other clients open layers. */
seen_status sn_redis_fetch(sn_redis_set *set, sn_channel *ch, uint32_t layer, uint64_t line,
                           uint64_t lines, void *out, seen_error *error);

/* The number of keys of a layer, estimated from a sample of its lines. */
seen_status sn_redis_estimate(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                              uint32_t layer, sn_sample *sample, seen_error *error);

/* The time to live of a newly written shard, in seconds; 0: unlimited. */
uint64_t sn_redis_expiry(const sn_redis_view *view, uint32_t layer);

#endif
