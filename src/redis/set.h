/* A set in Redis: its internal interface. */
#ifndef SN_REDIS_SET_H
#define SN_REDIS_SET_H

#include "redis/client/connection.h"
#include "redis/meta.h"
#include "redis/verify.h"
#include "set/store.h"

#include <pthread.h>
#include <stdatomic.h>

/* The cache of a client (cache.c). */
enum { SN_CACHE_KEYS = 16384 };
typedef struct sn_cache {
    pthread_mutex_t lock;
    unsigned epoch;                  /* of the client: valid since then */
    seen_hash key[SN_CACHE_KEYS];    /* keys that are present */
    uint64_t *bits[SN_IMAGE_LAYERS]; /* bits that are set; NULL: none known */
    uint64_t size[SN_IMAGE_LAYERS];  /* bytes */
    uint64_t bytes;                  /* of all layers together */
} sn_cache;

typedef struct sn_redis_set {
    seen_set base;
    sn_client *redis;
    pthread_mutex_t lock; /* protects everything below */
    sn_redis_view view;
    uint64_t checked_at; /* when the view was last verified, in sn_clock_ms(); 0: it is known to be
                          * outdated */
    uint32_t verified_layer; /* the next shard to verify */
    uint64_t verified_shard;
    uint64_t touched; /* when the time to live was last renewed */
    uint64_t limit;   /* fixed: number of new keys at which it is full; constant */
    /* Room in the current layer that this client has claimed and not used. */
    uint64_t claim_sequence, claim_left;
    uint64_t claim_out;     /* the part of it that running calls have taken */
    uint64_t claimed;       /* counting: everything the server counts as pending, used or not */
    uint64_t removed;       /* counting: removed keys (sn_redis_recount) */
    uint64_t uncounted;     /* keys added to an unbounded layer, not yet reported to the server */
    atomic_uint seen_share; /* of 1024 recent keys, how many were present */
    sn_cache cache;
} sn_redis_set;

/* A copy of the view, so that no call holds the lock during requests. */
sn_redis_view sn_redis_get_view(sn_redis_set *set);
/* Reads the filter's hash again. SEEN_ERR_NOT_FOUND, SEEN_ERR_CHANGED. */
seen_status sn_redis_reload(sn_redis_set *set, sn_channel *ch, sn_redis_view *view,
                            seen_error *error);
seen_status sn_redis_fail_gone(sn_redis_set *set, seen_error *error);
/* Something is missing: the filter is gone or replaced, it has changed (then SEEN_OK: start over),
 * or the server has lost a part of it. */
seen_status sn_redis_check_loss(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                                const sn_verify_loss *loss, seen_error *error);
seen_status sn_redis_fail_replaced(sn_redis_set *set, seen_error *error);

/* ---- layers (layers.c) ---- */

/* Creates the shards of one layer, all zero; existing ones are left unchanged. */
seen_status sn_redis_make_shards(sn_channel *ch, const sn_redis_view *view, uint32_t layer,
                                 bool closed, uint64_t expire, seen_error *error);
/* Removes them, in every form. */
seen_status sn_redis_drop_shards(sn_channel *ch, const sn_redis_view *view, uint32_t layer,
                                 seen_error *error);
/* Removes those of a past generation, but not its fence. */
seen_status sn_redis_drop_old_shards(sn_channel *ch, const sn_redis_view *view, uint32_t layer,
                                     seen_error *error);
seen_status sn_redis_drop_all(sn_channel *ch, const sn_redis_view *view, seen_error *error);
/* Removes only its counters, whose name is unique. */
seen_status sn_redis_drop_counts(sn_channel *ch, const sn_redis_view *view, seen_error *error);
/* The filter is gone: removes keys that were written since. */
void sn_redis_sweep(sn_channel *ch, const sn_redis_view *view);
/* Opens the next layer or generation after `view`. *mine: this call did it, not another client. */
seen_status sn_redis_advance(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                             bool *mine, seen_error *error);
/* A shard was found closed: waits for the client that closes the layer, or completes it. A
 * read-only set does neither: it reads the closed name, if the view is still the same. */
seen_status sn_redis_catch_up(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                              seen_error *error);
void sn_redis_write_expire(sn_channel *ch, const sn_redis_key *key, uint64_t seconds);
/* Renews the time to live of all keys if that is due. */
seen_status sn_redis_touch(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                           seen_error *error);

/* ---- counters (counts.c, claims.c) ---- */

/* The counter of pending keys. */
void sn_redis_field_pending(const sn_redis_view *view, uint32_t layer, char field[SN_REDIS_FIELD]);
/* Writes a script about the counters up to its first argument, the layer's field; `more` follow. */
void sn_redis_write_script(sn_channel *ch, uint32_t tag, const sn_redis_view *view, uint32_t layer,
                           const char *script, unsigned more);

typedef struct sn_redis_claim_room {
    uint64_t keys;
    bool pending; /* others wait for it: finish without delay */
} sn_redis_claim_room;
/* Claims room for up to `want` new keys in the current layer; none: it is full. */
seen_status sn_redis_claim(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                           uint64_t want, sn_redis_claim_room *room, seen_error *error);
/* The same in two steps, to send the claim along with other commands: from earlier claims (false:
 * send the command); the command, whose reply is an integer; and its result. */
bool sn_redis_claim_local(sn_redis_set *set, const sn_redis_view *view, uint64_t want,
                          sn_redis_claim_room *room);
void sn_redis_claim_write(const sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                          uint64_t want, uint32_t tag);
seen_status sn_redis_claim_take(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                                uint64_t want, int64_t got, sn_redis_claim_room *room,
                                seen_error *error);
/* Of the claimed keys `used` were new. */
seen_status sn_redis_claim_finish(sn_redis_set *set, sn_channel *ch, const sn_redis_view *view,
                                  const sn_redis_claim_room *room, uint64_t used,
                                  seen_error *error);
/* Writes the command that removes a generation's counters. */
void sn_redis_write_drop_count(sn_channel *ch, const sn_redis_view *view, uint32_t layer);
/* Subtracts keys that were removed from a layer. */
seen_status sn_redis_uncount(sn_channel *ch, const sn_redis_view *view, uint32_t layer,
                             uint64_t keys, seen_error *error);
/* Counting sets: after `removed` more keys were removed; see sn_sample_recount. */
void sn_redis_recount(sn_redis_set *set, sn_channel *ch, uint64_t removed);
/* Adds to the counter of a layer, at most once. *low, *high: bounds for the number of keys
 * according to the counters. */
seen_status sn_redis_adjust_count(sn_channel *ch, const sn_redis_view *view, uint32_t layer,
                                  int64_t by, seen_error *error);
seen_status sn_redis_read_bounds(sn_channel *ch, const sn_redis_view *view, uint32_t layer,
                                 uint64_t *low, uint64_t *high, seen_error *error);
/* Sends counts that were held back to the server. */
seen_status sn_redis_flush_counts(sn_redis_set *set, sn_channel *ch, seen_error *error);
/* Reads and writes the counters of all layers. */
seen_status sn_redis_read_counts(sn_redis_set *set, sn_channel *ch, sn_redis_view *view,
                                 seen_error *error);
/* Writes those of a new filter. */
seen_status sn_redis_begin_counts(sn_channel *ch, const sn_redis_view *view, seen_error *error);
seen_status sn_redis_add_counts(sn_channel *ch, const sn_redis_view *view, const sn_image *from,
                                seen_error *error);

/* The length of a plain bitmap; 0: it does not exist. An error if it is not a string. */
seen_status sn_redis_bitmap_length(sn_channel *ch, const sn_redis_view *view, int64_t *length,
                                   seen_error *error);
/* An existing plain bitmap is adopted, unless it is larger than ours would be. A copy would
 * overwrite it, and is refused. */
seen_status sn_redis_bitmap_adopt(sn_channel *ch, const sn_redis_view *view, bool copy,
                                  seen_error *error);

/* ---- operations ---- */

seen_status sn_redis_add(seen_set *set, const seen_hash *hashes, size_t count, seen_answer *answers,
                         seen_error *error);
seen_status sn_redis_check(seen_set *set, const seen_hash *hashes, size_t count,
                           seen_answer *answers, seen_error *error);
seen_status sn_redis_remove(seen_set *set, const seen_hash *hashes, size_t count,
                            seen_answer *answers, seen_error *error);
seen_status sn_redis_measure(seen_set *set, seen_info *info, seen_error *error);
seen_status sn_redis_read_lines(seen_set *set, uint32_t layer, uint64_t line, uint64_t lines,
                                void *out, seen_error *error);
seen_status sn_redis_merge_lines(seen_set *set, uint32_t layer, uint64_t line, uint64_t lines,
                                 const void *from, seen_error *error);
seen_status sn_redis_ensure_layers(seen_set *set, uint32_t layers, seen_error *error);
seen_status sn_redis_finish_merge(seen_set *set, const sn_image *from, seen_error *error);

/* Whether all of these bytes, at least one, are zero. */
bool sn_redis_all_zero(const char *bytes, uint64_t len);
/* Writes lines of a layer that no other client uses yet. */
seen_status sn_redis_write_lines(sn_channel *ch, const sn_redis_view *view, uint32_t layer,
                                 uint64_t line, uint64_t lines, const void *from,
                                 seen_error *error);

/* Connects to the server of an address and takes a channel. */
seen_status sn_redis_connect(const char *where, const seen_options *options, sn_client **redis,
                             sn_channel **ch, seen_error *error);

/* Creates the handle of a filter; takes ownership of the connection. */
seen_status sn_redis_make_handle(sn_client *redis, const sn_redis_view *view, unsigned flags,
                                 seen_set **out, seen_error *error);

#endif
