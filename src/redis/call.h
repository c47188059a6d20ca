/* One call of add, check or remove: see redis_call.c. */
#ifndef SN_STORE_REDIS_CALL_H
#define SN_STORE_REDIS_CALL_H

#include "redis/batch.h"

typedef struct sn_call {
    sn_redis_set *set;
    sn_channel *ch;
    sn_batch batch;
    const seen_hash *hash;
    seen_answer *answer;
    seen_error *error;
} sn_call;

/* What is done with n keys from `at` on. */
typedef seen_status (*sn_call_step)(sn_call *c, const sn_redis_view *view, size_t at, size_t n);

/* The keys of one call, as many at a time as a batch takes. */
seen_status sn_call_run(sn_call_step step, seen_set *set, const seen_hash *hashes, size_t count,
                        seen_answer *answers, seen_error *error);

/* Layers that may hold keys which are not to be forgotten yet. */
uint64_t sn_call_living(const sn_image *image);

/* Fills the batch with `n` keys from `at` on. */
void sn_call_load(sn_call *c, size_t at, size_t n);

/* Whether to ask along what the filter is now; due: whoever asks is about to. */
bool sn_call_glance_due(sn_call *c);
bool sn_call_glance_wanted(sn_call *c);

/* After commands were answered: is the filter what we took it for? *over: start again. */
seen_status sn_call_reconsider(sn_call *c, bool *over);

#endif
