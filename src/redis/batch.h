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

/* How far a key has come. Lookups, replies and the cache move it on; batch.c has the table of the
 * moves that are allowed, and the answer that each state stands for. */
typedef enum sn_key_state {
    SN_KEY_OPEN = 0, /* nothing is known in this attempt */
    SN_KEY_CACHED,   /* present: the cache says so, the server was not asked */
    SN_KEY_FENCED,   /* its shard is closed: the next attempt uses another view */
    SN_KEY_FOUND,    /* present: a lookup, or an earlier attempt, says so */
    SN_KEY_ABSENT,   /* not present: a lookup says so */
    SN_KEY_SENT,     /* a command that adds or removes it was written; no reply yet */
    SN_KEY_ADDED,    /* the target layer took it as new */
    SN_KEY_REPEATED, /* sent again after a lost reply, and found: perhaps its own first sending */
    SN_KEY_RENEWED,  /* the current generation took it as new, an older one has it */
    SN_KEY_PRESENT,  /* the target layer already had all of its cells */
    SN_KEY_REMOVED,  /* one addition was undone, others are left */
    SN_KEY_GONE,     /* the last addition was undone */
    SN_KEY_STATES
} sn_key_state;

/* What earlier attempts of the same call did with a key. If one of them added it, or may have, this
 * call must report it as new, because no other client will. */
typedef enum sn_key_history {
    SN_HISTORY_NONE = 0,
    SN_HISTORY_MAYBE, /* the reply was lost, and then its shard was closed */
    SN_HISTORY_ADDED
} sn_key_history;

/* One key of the batch. */
typedef struct sn_batch_key {
    seen_hash hash;
    uint64_t miss;      /* layers, of those looked at, that do not have it */
    uint64_t cells;     /* of its first 64 in the current layer, those known to be set */
    uint32_t place;     /* its number in the call */
    uint8_t target;     /* the layer that it is added to, or removed from */
    sn_key_state state; /* changed by sn_batch_move alone */
    sn_key_history history;
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
    uint64_t looked;     /* layers that the last lookup asked */
    bool fenced;         /* a shard was found closed */
    int64_t claim;       /* what the question for room returned (SN_BATCH_CLAIM) */
    sn_loss loss;        /* what is missing */
    bool ended;          /* a shard is missing that may have expired, or was rotated away */
    sn_used_shards used; /* by the commands that were written */
    sn_glance glance;    /* what the hash beside the shards said */
} sn_batch;

/* Moves a key to a state; the table in batch.c says which moves there are. */
void sn_batch_move(sn_batch_key *k, sn_key_state state);
/* SEEN_UNKNOWN while it is undecided. */
seen_answer sn_batch_answer(const sn_batch_key *k);
/* Whether it is in the target layer, by a reply to a command of this attempt. */
bool sn_batch_stored(const sn_batch_key *k);
/* Whether it is in the set, by whatever source. */
bool sn_batch_present(const sn_batch_key *k);
/* What was stored in this attempt does not count: opens the key again and notes its history. */
void sn_batch_reopen(sn_batch_key *k);

static inline bool sn_batch_undecided(const sn_batch_key *k)
{
    return sn_batch_answer(k) == SEEN_UNKNOWN;
}

/* Begins an attempt: takes the set's view. The keys are filled in by the caller. */
void sn_batch_begin(sn_batch *b, sn_redis_set *set, sn_channel *ch);

/* How many keys may be looked at in so many layers at once. */
size_t sn_batch_limit(const sn_redis_view *view, uint64_t layers);

/* Looks up the undecided among the first n keys in the layers of the bit set; fills miss (and
 * cells). */
seen_status sn_batch_look(sn_batch *b, size_t n, uint64_t layers, seen_error *error);

/* Writes the command that adds key i to its target layer; sn_batch_put sends them all. */
void sn_batch_say_put(sn_batch *b, size_t i);
seen_status sn_batch_put(sn_batch *b, seen_error *error);

/* The same for removing key i from its target layer. */
void sn_batch_say_cut(sn_batch *b, size_t i);
seen_status sn_batch_cut(sn_batch *b, seen_error *error);

/* Asks along with the next commands whether the filter still is what we think. */
void sn_batch_say_glance(sn_batch *b);

#endif
