/* The names of a filter's keys (docs/redis.md).
 *
 *   seen:NAME                              a hash: describes the filter
 *   seen:{NAME:ID}:added                   a hash: keys added, one field per layer
 *   seen:{NAME:ID:LAYER.GENERATION:SHARD}  a string: a shard of the current layer; later a list:
 *   the
 *                                          fence that stops clients with an old view
 *   ...:closed                             the shard once its layer is closed
 *   ...:merge                              a piece of another filter, during one command
 *
 * The ID is random for each new filter, so that remains of an older one with the same name are
 * never taken for it. The braces keep the keys of one shard in one slot of a cluster and spread the
 * shards. In NAME the bytes { } and % are written %7B %7D %25. */
#ifndef SN_REDIS_NAMES_H
#define SN_REDIS_NAMES_H

#include "redis/client/address.h"
#include "set/image.h"

enum { SN_REDIS_ID = 16, SN_REDIS_KEY = 3 * SN_REDIS_NAME + 128 };

typedef struct sn_redis_view sn_redis_view;

typedef struct sn_redis_key {
    char text[SN_REDIS_KEY];
    size_t len;
    uint16_t slot;
} sn_redis_key;

/* All metadata of a filter. */
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

/* The field of a layer's counter. */
enum { SN_REDIS_FIELD = 40 };
void sn_redis_field_added(const sn_redis_view *view, uint32_t layer, char field[SN_REDIS_FIELD]);

/* Names of the shards of one layer: the common part is written once. */
typedef struct sn_redis_namer {
    sn_redis_key key; /* of the last shard requested */
    size_t head;      /* bytes before the number of the shard */
    uint16_t crc;     /* of the tag so far */
    const char *tail; /* after it */
    size_t tail_len;
    bool plain; /* a bitmap: one key with its own name */
} sn_redis_namer;

/* `closed`: the names of a closed layer. */
void sn_redis_namer_begin(sn_redis_namer *namer, const sn_redis_address *address,
                          const sn_redis_view *view, uint32_t layer, bool closed);
const sn_redis_key *sn_redis_namer_shard(sn_redis_namer *namer, uint64_t shard);

/* A name in the slot of a shard, for a piece of another filter. */
void sn_redis_key_piece(const sn_redis_key *shard, sn_redis_key *piece);

/* Whether a layer is closed. */
bool sn_redis_layer_closed(const sn_image *image, uint32_t layer);

/* Whether the server may have expired its shards: an expired generation of a window by time. */
bool sn_redis_layer_expired(const sn_image *image, uint32_t layer);

#endif
