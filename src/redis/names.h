/* The names of a filter's keys (docs/redis.md).
 *
 *   seen:NAME                              a hash: what the filter is
 *   seen:{NAME:ID}:added                   a hash: keys added, a field for each layer
 *   seen:{NAME:ID:LAYER.GENERATION:SHARD}  a string: a shard that takes new keys; then a list: the
 *                                          fence that keeps clients with an old view out
 *   ...:closed                             the shard once its layer takes none any more
 *   ...:merge                              a piece of another filter, for the time of one command
 *
 * ID is drawn anew whenever a filter is made, so that what is left of an older one of the same name
 * is never taken for it. The braces make a cluster keep the forms of one shard together and spread
 * the shards. In NAME the bytes { } and % are written %7B %7D %25. */
#ifndef SN_STORE_REDIS_NAMES_H
#define SN_STORE_REDIS_NAMES_H

#include "redis/client/address.h"
#include "set/image.h"

enum { SN_REDIS_ID = 16, SN_REDIS_KEY = 3 * SN_REDIS_NAME + 128 };

typedef struct sn_redis_view sn_redis_view;

typedef struct sn_redis_key {
    char text[SN_REDIS_KEY];
    size_t len;
    uint16_t slot;
} sn_redis_key;

/* Everything about a filter but its bits. */
struct sn_redis_view {
    sn_image image;
    unsigned format; /* of what is stored: 1, or 2 with marks (verify.h) */
    char id[SN_REDIS_ID + 1];
    seen_layout layout;
    uint64_t ttl;
};

void sn_redis_key_meta(const sn_redis_address *address, sn_redis_key *key);
void sn_redis_key_added(const sn_redis_address *address, const sn_redis_view *view,
                        sn_redis_key *key);

/* The field of a layer's counter there. */
enum { SN_REDIS_FIELD = 40 };
void sn_redis_field_added(const sn_redis_view *view, uint32_t layer, char field[SN_REDIS_FIELD]);

/* Shards of one layer: the part of the name that they share is written once. */
typedef struct sn_redis_namer {
    sn_redis_key key; /* of the shard asked for last */
    size_t head;      /* bytes before the number of the shard */
    uint16_t crc;     /* of the tag so far */
    const char *tail; /* after it */
    size_t tail_len;
    bool plain; /* a bitmap: one key of a name of its own */
} sn_redis_namer;

/* `closed`: under the name of a layer that takes no new keys. */
void sn_redis_namer_begin(sn_redis_namer *namer, const sn_redis_address *address,
                          const sn_redis_view *view, uint32_t layer, bool closed);
const sn_redis_key *sn_redis_namer_shard(sn_redis_namer *namer, uint64_t shard);

/* A name in the slot of a shard, for a piece of another filter. */
void sn_redis_key_piece(const sn_redis_key *shard, sn_redis_key *piece);

/* Whether a layer takes no new keys any more. */
bool sn_redis_layer_closed(const sn_image *image, uint32_t layer);

/* Whether the server may have expired its shards: a generation of a window by time whose keys are
 * forgotten. */
bool sn_redis_layer_expired(const sn_image *image, uint32_t layer);

#endif
