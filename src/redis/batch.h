/* A batch of keys against the shards: look at them, set them, take them out. */
#ifndef SN_STORE_REDIS_BATCH_H
#define SN_STORE_REDIS_BATCH_H

#include "redis/set.h"

enum {
    SN_BATCH_KEYS = 4096, /* at most; a key's number, its layer and line fit a command's tag */
    SN_BATCH_COMMANDS = 65536,
    SN_BATCH_CELLS = 64, /* of a key that are kept track of; very small error rates need more */
};

/* The tag of a question for room that goes along with a lookup. */
#define SN_BATCH_CLAIM (UINT32_MAX - 1)

/* What is known about one key of the batch. */
typedef struct sn_batch_key {
    seen_hash hash;
    uint64_t miss;      /* layers, of those looked at, that do not have it */
    uint64_t cells;     /* of its first 64 in the current layer, those that are known to be set */
    uint32_t place;     /* its number in the call */
    uint8_t target;     /* the layer that is to take it */
    seen_answer answer; /* SEEN_UNKNOWN until decided */
    bool fresh;         /* the target layer took it as new */
    bool unsure;        /* it was sent twice, and may have been new the first time */
    bool fenced;        /* its shard is closed: start over */
    bool gone;          /* a removal took the last one */
    bool recalled;      /* answered without asking */
    bool put;           /* the target layer has all of its cells */
    bool told;          /* an earlier attempt took it as new */
    bool adrift; /* an earlier attempt may have: its answer was lost, then its shard closed */
} sn_batch_key;

typedef struct sn_batch {
    sn_redis_set *set;
    sn_channel *ch;
    sn_redis_view view;
    sn_redis_namer namer[SN_IMAGE_LAYERS];
    sn_redis_namer shut; /* the current layer's shards that are closed already; for readers */
    sn_batch_key *key;
    size_t keys;
    unsigned recall_epoch; /* since when answers without asking hold */
    unsigned known_epoch;  /* when, and of which view, the keys' known cells were filled in */
    uint64_t known_sequence;
    unsigned epoch;      /* of the server when it began (cache.c) */
    bool fenced;         /* some key is */
    int64_t claim;       /* what the question for room returned (SN_BATCH_CLAIM) */
    sn_loss loss;        /* what is missing */
    bool ended;          /* a shard is missing that may have expired, or was rotated away */
    sn_used_shards used; /* by the commands that were written */
    sn_glance glance;    /* what the hash beside the shards said */
} sn_batch;

/* Takes the set's view; the keys are filled in by the caller. */
void sn_batch_begin(sn_batch *b, sn_redis_set *set, sn_channel *ch);

/* How many keys may be looked at in so many layers at once. */
size_t sn_batch_limit(const sn_redis_view *view, uint64_t layers);

/* Looks for every undecided key in the layers of the bit set; fills miss (and cells). */
seen_status sn_batch_look(sn_batch *b, uint64_t layers, seen_error *error);

/* Adds key i to its target layer, together with all others that were said; then sends. */
void sn_batch_say_put(sn_batch *b, size_t i);
seen_status sn_batch_put(sn_batch *b, seen_error *error);

/* Takes key i out of its target layer. */
void sn_batch_say_cut(sn_batch *b, size_t i);
seen_status sn_batch_cut(sn_batch *b, seen_error *error);

/* Whether it was this call that put it there, or may have been. */
static inline bool sn_batch_ours(const sn_batch_key *k)
{
    return k->told || k->adrift;
}

/* What a key is that was found: seen, unless it is ours. */
static inline seen_answer sn_batch_found(const sn_batch_key *k)
{
    return sn_batch_ours(k) ? SEEN_NEW : SEEN_BEFORE;
}

/* Asks along with the next commands whether the filter still is what we think. */
void sn_batch_say_glance(sn_batch *b);

#endif
