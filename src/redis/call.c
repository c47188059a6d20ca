/* The common part of adding, checking and removing: a call processes its keys in batches, verifies
 * the filter periodically, and starts over if it has changed. */
#include "redis/call.h"

#include "base/clock.h"
#include "base/error.h"
#include "local/lookup.h"
#include "set/layers.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHECK_MS = 200,    /* how long a view is used without verifying it */
    IDLE_MS = 3600000, /* after this time it is verified before anything is added */
};

static seen_status begin_call(sn_call *c, seen_set *set, const seen_hash *hash, size_t count,
                              seen_answer *answers, seen_error *error)
{
    *c = (sn_call){.set = (sn_redis_set *)set, .hash = hash, .answer = answers, .error = error};
    memset(answers, SEEN_UNKNOWN, count);
    size_t room = count < SN_BATCH_KEYS ? count : SN_BATCH_KEYS;
    c->batch.key = malloc((room ? room : 1) * sizeof *c->batch.key);
    if (!c->batch.key)
        return sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", set->where);
    return sn_client_take(c->set->redis, &c->ch, error);
}

static void end_call(sn_call *c)
{
    if (c->ch)
        sn_client_return(c->set->redis, c->ch);
    free(c->batch.key);
}

/* Layers that may hold keys that have not expired. */
uint64_t sn_call_live_layers(const sn_image *image)
{
    uint64_t layers = 0;
    for (uint32_t i = 0; i < image->layers; i++)
        if (sn_layers_live(image, i))
            layers |= UINT64_C(1) << i;
    return layers;
}

/* Fills the batch with `n` keys, starting at `at`. */
void sn_call_load(sn_call *c, size_t at, size_t n)
{
    sn_batch *b = &c->batch;
    b->keys = n;
    for (size_t i = 0; i < n; i++)
        b->key[i] = (sn_batch_key){.hash = c->hash[at + i], .place = (uint32_t)i};
}

/* Periodically verifies the filter along with other commands. */
bool sn_call_begin_check(sn_call *c)
{
    uint64_t now = sn_clock_ms();
    pthread_mutex_lock(&c->set->lock);
    bool due = now - c->set->checked_at > CHECK_MS;
    if (due)
        c->set->checked_at = now;
    pthread_mutex_unlock(&c->set->lock);
    return due;
}

bool sn_call_check_due(sn_call *c)
{
    pthread_mutex_lock(&c->set->lock);
    bool wanted = sn_clock_ms() - c->set->checked_at > CHECK_MS;
    pthread_mutex_unlock(&c->set->lock);
    return wanted;
}

/* Verifies the filter first, after a long time or after an error. Its shards are then verified
 * along with the keys as well. */
static seen_status check_after_idle(sn_call *c)
{
    pthread_mutex_lock(&c->set->lock);
    uint64_t checked_at = c->set->checked_at;
    pthread_mutex_unlock(&c->set->lock);
    if (checked_at && sn_clock_ms() - checked_at <= IDLE_MS)
        return SEEN_OK;
    sn_redis_view view;
    seen_status status = sn_redis_reload(c->set, c->ch, &view, c->error);
    if (status == SEEN_OK && !checked_at) {
        pthread_mutex_lock(&c->set->lock);
        c->set->checked_at = 0;
        pthread_mutex_unlock(&c->set->lock);
    }
    return status;
}

/* Processes the keys of one call in batches. */
seen_status sn_call_run(sn_call_step step, seen_set *set, const seen_hash *hashes, size_t count,
                        seen_answer *answers, seen_error *error)
{
    sn_call c;
    seen_status status = begin_call(&c, set, hashes, count, answers, error);
    if (status == SEEN_OK)
        status = check_after_idle(&c);
    for (size_t at = 0, n; at < count && status == SEEN_OK; at += n) {
        sn_redis_view view = sn_redis_get_view(c.set);
        size_t limit = sn_batch_limit(&view, sn_call_live_layers(&view.image));
        /* Equal parts: a small rest would need a round trip like a full batch. */
        size_t left = count - at, parts = (left + limit - 1) / limit;
        n = (left + parts - 1) / parts;
        status = step(&c, &view, at, n);
    }
    if (status == SEEN_OK && !set->read_only) {
        sn_redis_view view = sn_redis_get_view(c.set);
        status = sn_redis_touch(c.set, c.ch, &view, error);
    }
    end_call(&c);
    return status;
}

/* The layer was closed concurrently. Keys that were added to it later, because its fence is gone
 * (evicted, or expired), are not found by any client: all are added again to the current layer, and
 * those that were in time are found. Not for counters, which would count twice. */
static void add_again(sn_batch *b)
{
    for (size_t i = 0; i < b->keys && b->view.image.kind == SEEN_BLOOM; i++) {
        sn_batch_key *k = &b->key[i];
        if (!sn_batch_stored(k))
            continue;
        sn_batch_reopen(k);
        k->cells = 0;
    }
}

/* After replies: checks whether the filter has changed. *over: start again. */
seen_status sn_call_take_changes(sn_call *c, bool *over)
{
    sn_batch *b = &c->batch;
    sn_redis_view view;
    *over = false;
    /* Keys added to a filter that is gone are undecided. */
    for (size_t i = 0; i < b->keys && b->change >= SN_META_REPLACED; i++)
        sn_batch_move(&b->key[i], SN_KEY_OPEN);
    switch (b->change) {
    case SN_META_GONE:
        sn_redis_sweep(c->ch, &b->view);
        return sn_redis_fail_gone(c->set, c->error);
    case SN_META_REPLACED:
        sn_redis_sweep(c->ch, &b->view);
        return sn_redis_fail_replaced(c->set, c->error);
    case SN_META_ADVANCED:
        add_again(b);
        *over = true;
        return sn_redis_reload(c->set, c->ch, &view, c->error);
    default:
        break;
    }
    if (b->fenced) {
        *over = true;
        return sn_redis_catch_up(c->set, c->ch, &b->view, c->error);
    }
    if (b->loss.shard || b->loss.counts) {
        *over = true;
        return sn_redis_check_loss(c->set, c->ch, &b->view, &b->loss, c->error);
    }
    return SEEN_OK;
}
