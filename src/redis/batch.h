/* A batch of keys on the shards: look up, add, remove. */
#ifndef SN_REDIS_BATCH_H
#define SN_REDIS_BATCH_H

#include "redis/set.h"

enum {
    SN_BATCH_KEYS = 4096, /* maximum; a key's index, its layer and line fit into a command's tag */
    SN_BATCH_COMMANDS = 65536,
    SN_BATCH_CELLS = 64, /* cells of a key that are tracked; very small error rates have more */
};

/* The tag of a claim that is sent along with a lookup. */
#define SN_BATCH_CLAIM (UINT32_MAX - 1)

/* The progress of a key. Lookups, replies and the cache change it; batch.c has the table of allowed
 * transitions, and the answer for each state. */
typedef enum sn_batch_key_state {
    SN_KEY_OPEN = 0, /* nothing is known in this attempt */
    SN_KEY_CACHED,   /* present according to the cache, without a request */
    SN_KEY_FENCED,   /* its shard is closed: the next attempt uses another view */
    SN_KEY_FOUND,    /* present according to a lookup or an earlier attempt */
    SN_KEY_ABSENT,   /* absent according to a lookup */
    SN_KEY_SENT,     /* a command that adds or removes it was written; no reply yet */
    SN_KEY_ADDED,    /* new to the target layer */
    SN_KEY_REPEATED, /* sent again after a lost reply, and found: possibly its own first execution
                      */
    SN_KEY_RENEWED,  /* new to the current generation, but in an older one */
    SN_KEY_PRESENT,  /* the target layer already had all of its cells */
    SN_KEY_REMOVED,  /* one addition was undone, others are left */
    SN_KEY_GONE,     /* the last addition was undone */
    SN_KEY_STATES
} sn_batch_key_state;

/* What earlier attempts of the same call did with a key. If one of them added it, or may have, this
 * call must report it as new, because no other client will. */
typedef enum sn_batch_key_history {
    SN_HISTORY_NONE = 0,
    SN_HISTORY_MAYBE, /* the reply was lost, and then its shard was closed */
    SN_HISTORY_ADDED
} sn_batch_key_history;

/* One key of the batch. */
typedef struct sn_batch_key {
    seen_hash hash;
    uint64_t miss;            /* layers that were looked up and do not have it */
    uint64_t cells;           /* of its first 64 in the current layer, those known to be set */
    uint32_t place;           /* its index in the call */
    uint8_t target;           /* the layer it is added to, or removed from */
    sn_batch_key_state state; /* changed only by sn_batch_move */
    sn_batch_key_history history;
} sn_batch_key;

typedef struct sn_batch {
    sn_redis_set *set;
    sn_channel *ch;
    sn_redis_view view;
    sn_redis_namer namer[SN_IMAGE_LAYERS];
    sn_redis_namer closed_name; /* the shards of the current layer that are already closed; for
                                 * read-only sets */
    sn_batch_key *key;
    size_t keys;
    unsigned cache_epoch; /* since when answers from the cache are valid */
    unsigned cells_epoch; /* when, and for which view, the known cells were filled in */
    uint64_t cells_sequence;
    unsigned epoch;         /* of the client when it began (cache.c) */
    uint64_t lookup_layers; /* layers of the last lookup */
    bool fenced;            /* a shard was found closed */
    int64_t claim;          /* the reply to the claim (SN_BATCH_CLAIM) */
    sn_verify_loss loss;    /* what is missing */
    bool ended;             /* a missing shard may have expired, or was rotated away */
    sn_verify_used used;    /* by the commands written */
    sn_meta_change change;  /* the state of the filter's hash */
} sn_batch;

/* Changes the state of a key; the table in batch.c has the allowed transitions. */
void sn_batch_move(sn_batch_key *k, sn_batch_key_state state);
/* SEEN_UNKNOWN while it is undecided. */
seen_answer sn_batch_answer(const sn_batch_key *k);
/* Whether it is in the target layer, according to a reply of this attempt. */
bool sn_batch_stored(const sn_batch_key *k);
/* Whether it is in the set, according to any source. */
bool sn_batch_present(const sn_batch_key *k);
/* Discards what was stored in this attempt: reopens the key and records its history. */
void sn_batch_reopen(sn_batch_key *k);

static inline bool sn_batch_undecided(const sn_batch_key *k)
{
    return sn_batch_answer(k) == SEEN_UNKNOWN;
}

/* Begins an attempt with the set's current view. The caller fills in the keys. */
void sn_batch_begin(sn_batch *b, sn_redis_set *set, sn_channel *ch);

/* The maximum number of keys for a lookup in this many layers. */
size_t sn_batch_limit(const sn_redis_view *view, uint64_t layers);

/* Looks up the undecided among the first n keys in the layers of the bit set; fills miss (and
 * cells). */
seen_status sn_batch_lookup(sn_batch *b, size_t n, uint64_t layers, seen_error *error);

/* Writes the command that adds key i to its target layer; sn_batch_add sends them all. */
void sn_batch_write_add(sn_batch *b, size_t i);
seen_status sn_batch_add(sn_batch *b, seen_error *error);

/* The same for removing key i from its target layer. */
void sn_batch_write_remove(sn_batch *b, size_t i);
seen_status sn_batch_remove(sn_batch *b, seen_error *error);

/* Also checks, with the next commands, whether the filter has changed. */
void sn_batch_write_check(sn_batch *b);

#endif
