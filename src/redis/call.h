/* One call of add, check or remove: see call.c. */
#ifndef SN_REDIS_CALL_H
#define SN_REDIS_CALL_H

#include "redis/batch.h"

typedef struct sn_call {
    sn_redis_set *set;
    sn_channel *ch;
    sn_batch batch;
    const seen_hash *hash;
    seen_answer *answer;
    seen_error *error;
} sn_call;

/* Processes n keys, starting at `at`. */
typedef seen_status (*sn_call_step)(sn_call *c, const sn_redis_view *view, size_t at, size_t n);

/* Processes the keys of one call in batches. */
seen_status sn_call_run(sn_call_step step, seen_set *set, const seen_hash *hashes, size_t count,
                        seen_answer *answers, seen_error *error);

/* Layers that may hold keys that have not expired. */
uint64_t sn_call_live_layers(const sn_image *image);

/* Fills the batch with `n` keys, starting at `at`. */
void sn_call_load(sn_call *c, size_t at, size_t n);

/* Whether to verify the filter along with the next commands; if true, the caller must do so. */
bool sn_call_begin_check(sn_call *c);
bool sn_call_check_due(sn_call *c);

/* After replies: checks whether the filter has changed. *over: start again. */
seen_status sn_call_take_changes(sn_call *c, bool *over);

#endif
