/* Adding, checking and removing keys of a set in Redis. */
#include "base/clock.h"
#include "base/error.h"
#include "redis/cache.h"
#include "redis/call.h"
#include "set/layers.h"

enum {
    LOOK_FIRST_SHARE = 256, /* of 1024 keys seen before: from here on looking first pays */
    LOOK_FIRST_KEYS = 16,   /* fewer keys: a second round trip costs more */
    ATTEMPTS = 1000,
};

/* Answers what can be answered without asking. */
static void recall(sn_call *c, const sn_redis_view *view)
{
    sn_batch *b = &c->batch;
    sn_channel_poll_hangup(c->ch);
    b->recall_epoch = sn_client_epoch(c->set->redis);
    sn_cache_recall(c->set, view, b);
}

/* A server may have lost keys since they were answered without asking, which shows only when
 * something is sent to it: they are open again. True where there are any. */
static bool mistrust(sn_call *c)
{
    sn_batch *b = &c->batch;
    bool any = false;
    unsigned epoch = sn_client_epoch(c->set->redis);
    for (size_t i = 0; b->recall_epoch != epoch && i < b->keys; i++) {
        sn_batch_key *k = &b->key[i];
        if (!k->recalled)
            continue;
        k->recalled = false;
        k->cells = 0;
        k->answer = SEEN_UNKNOWN;
        any = true;
    }
    b->recall_epoch = epoch;
    return any;
}

static void hand_out(const sn_call *c, size_t at)
{
    for (size_t i = 0; i < c->batch.keys; i++)
        c->answer[at + i] = c->batch.key[i].answer;
}

static seen_status too_restless(const sn_call *c, const char *what)
{
    return sn_error_set(c->error, SEEN_ERR_SERVER, "%s: the layers change faster than we can %s",
                        c->set->base.where, what);
}

/* ---- check ---- */

/* A past generation was not there: it came to its end, or the window has turned under the check. A
 * key that was added again before may then be where it was asked for too early: *over. */
static seen_status look_for_turn(sn_call *c, bool *over)
{
    sn_redis_view now;
    seen_status status = sn_redis_reload(c->set, c->ch, &now, c->error);
    *over = status == SEEN_OK && now.image.sequence != c->batch.view.image.sequence;
    return status;
}

/* The generation that takes keys is asked also when its time is over: its fence tells that the
 * window has turned, and that keys may be in a younger one. */
static seen_status check_batch(sn_call *c)
{
    sn_batch *b = &c->batch;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint64_t before = b->view.image.sequence;
        sn_batch_begin(b, c->set, c->ch);
        /* Fences are those of one view. */
        for (size_t i = 0; i < b->keys; i++)
            b->key[i].fenced &= attempt && before == b->view.image.sequence;
        if (sn_call_glance_due(c))
            sn_batch_say_glance(b);
        uint64_t layers = sn_call_living(&b->view.image);
        seen_status status =
            sn_batch_look(b, layers | UINT64_C(1) << b->view.image.current, c->error);
        bool over = false;
        if (status == SEEN_OK)
            status = sn_call_reconsider(c, &over);
        if (status == SEEN_OK && !over && b->ended)
            status = look_for_turn(c, &over);
        over |= mistrust(c);
        if (status != SEEN_OK)
            return status;
        if (over)
            continue;
        for (size_t i = 0; i < b->keys; i++)
            if (b->key[i].answer == SEEN_UNKNOWN)
                b->key[i].answer = layers & ~b->key[i].miss ? SEEN_BEFORE : SEEN_NEW;
        sn_cache_learn(c->set, b, layers, false);
        return SEEN_OK;
    }
    return too_restless(c, "read");
}

static seen_status check_chunk(sn_call *c, const sn_redis_view *view, size_t at, size_t n)
{
    sn_call_load(c, at, n);
    recall(c, view);
    seen_status status = check_batch(c);
    hand_out(c, at);
    return status;
}

seen_status sn_redis_check(seen_set *set, const seen_hash *hashes, size_t count,
                           seen_answer *answers, seen_error *error)
{
    return sn_call_run(check_chunk, set, hashes, count, answers, error);
}

/* ---- add ---- */

static bool rotation_due(const sn_image *image)
{
    return image->growth == SEEN_WINDOW && image->window_seconds &&
           sn_clock_now() >= image->layer[image->current].born + sn_layers_span(image);
}

/* Chooses the layer that takes each key, and answers those that need none. */
static void choose_targets(sn_batch *b, uint64_t older, bool looked)
{
    const sn_image *image = &b->view.image;
    for (size_t i = 0; i < b->keys; i++) {
        sn_batch_key *k = &b->key[i];
        if (k->answer != SEEN_UNKNOWN || k->fenced)
            continue;
        uint64_t has = (older | (looked ? UINT64_C(1) << image->current : 0)) & ~k->miss;
        bool in_current = looked && has >> image->current & 1;
        k->target = (uint8_t)image->current;
        if (image->kind == SEEN_COUNTING) {
            if (has)
                k->target = (uint8_t)__builtin_ctzll(has);
        } else if (image->growth == SEEN_WINDOW && image->renew ? in_current : has != 0) {
            k->answer = sn_batch_found(k);
        }
    }
}

/* Of equal keys whose first sending is unsure only the first can have been new; also where their
 * shard was closed before they were sent again. */
static void settle_unsure(sn_batch *b)
{
    for (size_t i = 0; i < b->keys; i++) {
        sn_batch_key *k = &b->key[i];
        if (!k->unsure && !k->adrift)
            continue;
        for (size_t j = 0; j < i; j++)
            if (b->key[j].hash.lo == k->hash.lo && b->key[j].hash.hi == k->hash.hi) {
                if (k->unsure)
                    k->answer = SEEN_BEFORE;
                k->fresh = k->adrift = false;
                break;
            }
    }
}

/* One attempt at all undecided keys of a batch that has begun; those that are fenced stay
 * undecided. */
static seen_status add_once(sn_call *c, bool look_first)
{
    sn_batch *b = &c->batch;
    const sn_image *image = &b->view.image;
    uint64_t current = UINT64_C(1) << image->current;
    uint64_t older = sn_call_living(image) & ~current;
    bool looked = look_first && image->kind == SEEN_BLOOM;
    bool outdated = b->known_epoch != b->epoch || b->known_sequence != image->sequence;
    for (size_t i = 0; i < b->keys; i++) {
        b->key[i].fenced = b->key[i].put = false;
        if (outdated)
            b->key[i].cells = 0;
    }
    if (outdated)
        sn_cache_recall_cells(c->set, &b->view, b);
    if (sn_call_glance_due(c))
        sn_batch_say_glance(b);
    seen_status status = SEEN_OK;
    c->looked = older | (looked ? current : 0);
    c->sent = false;
    sn_redis_room *ask = c->looked ? c->ask : NULL;
    if (ask)
        sn_redis_claim_say(c->set, c->ch, &b->view, b->keys, SN_BATCH_CLAIM);
    if (c->looked)
        status = sn_batch_look(b, c->looked, c->error);
    if (ask && status == SEEN_OK)
        status = sn_redis_claim_take(c->set, c->ch, &b->view, b->keys, b->claim, ask, c->error);
    if (ask)
        b->keys = (size_t)ask->keys;
    if (status != SEEN_OK || b->loss.shard || b->loss.counts || b->glance != SN_SAME)
        return status;
    choose_targets(b, older, looked);
    for (size_t i = 0; i < b->keys; i++)
        if (b->key[i].answer == SEEN_UNKNOWN && !b->key[i].fenced)
            sn_batch_say_put(b, i);
    c->sent = true;
    status = sn_batch_put(b, c->error);
    settle_unsure(b);
    /* A window's key is refreshed in the current generation, and was seen all the same. */
    if (image->growth == SEEN_WINDOW)
        for (size_t i = 0; i < b->keys; i++)
            if (b->key[i].answer == SEEN_NEW && older & ~b->key[i].miss &&
                !sn_batch_ours(&b->key[i]))
                b->key[i].answer = SEEN_BEFORE;
    return status;
}

static void learn_share(sn_redis_set *set, const sn_batch *b)
{
    unsigned before = 0, decided = 0;
    for (size_t i = 0; i < b->keys; i++) {
        before += !b->key[i].recalled && b->key[i].answer == SEEN_BEFORE;
        decided += !b->key[i].recalled && b->key[i].answer != SEEN_UNKNOWN;
    }
    if (decided < LOOK_FIRST_KEYS)
        return;
    unsigned old = atomic_load_explicit(&set->seen_share, memory_order_relaxed);
    atomic_store_explicit(&set->seen_share, (3 * old + before * 1024 / decided) / 4,
                          memory_order_relaxed);
}

/* Cells that were left out because they were known to be set may have been lost with the server
 * that had them: such keys are put again, whole. */
static void doubt(const sn_call *c, sn_batch *b)
{
    bool lost = sn_client_epoch(c->set->redis) != b->epoch;
    for (size_t i = 0; lost && i < b->keys; i++) {
        sn_batch_key *k = &b->key[i];
        if (!k->put || !k->cells)
            continue;
        /* A window's key that an older generation has was taken as new by this one only. */
        k->told |= k->fresh && k->answer == SEEN_NEW;
        k->fresh = false;
        k->answer = SEEN_UNKNOWN;
    }
}

/* The server is lost before such keys could be put again. It took them as new: who is not told so
 * would never be, while others may find them there. */
static void let_stand(sn_batch *b)
{
    for (size_t i = 0; i < b->keys; i++)
        if (b->key[i].answer == SEEN_UNKNOWN && b->key[i].told)
            b->key[i].answer = SEEN_NEW;
}

/* Adds the keys of the batch; room for all of them has been claimed in the view. */
static seen_status add_batch(sn_call *c, const sn_redis_view *view, const sn_redis_room *room)
{
    sn_batch *b = &c->batch;
    sn_batch_begin(b, c->set, c->ch);
    /* Another thread has moved the set on since the claim: there they have no room yet. */
    if (b->view.image.sequence != view->image.sequence)
        return sn_redis_settle(c->set, c->ch, view, room, 0, c->error);
    bool look_first =
        b->keys >= LOOK_FIRST_KEYS &&
        atomic_load_explicit(&c->set->seen_share, memory_order_relaxed) >= LOOK_FIRST_SHARE;
    seen_status status = add_once(c, look_first);
    uint64_t used = 0;
    /* Of keys whose answers never came nobody knows: they may be in. */
    bool lost = c->sent && status == SEEN_ERR_NETWORK;
    for (size_t i = 0; i < b->keys; i++) {
        const sn_batch_key *k = &b->key[i];
        bool may_be = lost && k->answer == SEEN_UNKNOWN && !k->fenced && !k->told;
        used += (k->fresh || may_be) && k->target == b->view.image.current;
    }
    learn_share(c->set, b);
    doubt(c, b);
    /* Who could not reach the server does not try it once more for the sake of a count. */
    if (status == SEEN_ERR_NETWORK && room->under_way)
        return status;
    seen_status settled =
        sn_redis_settle(c->set, c->ch, view, room, used, status == SEEN_OK ? c->error : NULL);
    return status == SEEN_OK ? settled : status;
}

/* A full set: tells the keys that are there, and refuses where one is not. Counters count every
 * addition, also of a key that is there, up to the first that is refused. */
static seen_status refuse_new(sn_call *c)
{
    sn_batch *b = &c->batch;
    size_t known = 0, open = b->keys;
    seen_status status = check_batch(c);
    if (status != SEEN_OK)
        return status;
    while (known < open && b->key[known].answer == SEEN_BEFORE)
        known++;
    bool counting = b->view.image.kind == SEEN_COUNTING;
    for (size_t i = 0; i < open; i++) {
        bool there = b->key[i].answer == SEEN_BEFORE && !counting;
        b->key[i].answer = there ? sn_batch_found(&b->key[i]) : SEEN_UNKNOWN;
    }
    if (counting && known) {
        b->keys = known;
        sn_batch_begin(b, c->set, c->ch);
        status = add_once(c, false);
        b->keys = open;
    }
    if (status != SEEN_OK || known == open)
        return status;
    return sn_error_set(c->error, SEEN_ERR_FULL,
                        "%s: the set is full (%llu keys); make a larger one, or one that goes on "
                        "or grows",
                        c->set->base.where,
                        (unsigned long long)b->view.image.layer[b->view.image.current].capacity);
}

/* Hands out what is decided; the keys that are still open move to the front. */
static void keep_open(sn_call *c, size_t at)
{
    sn_batch *b = &c->batch;
    size_t open = 0;
    for (size_t i = 0; i < b->keys; i++) {
        c->answer[at + b->key[i].place] = b->key[i].answer;
        if (b->key[i].answer == SEEN_UNKNOWN)
            b->key[open++] = b->key[i];
    }
    b->keys = open;
}

/* The layer is full or its time over. A set that neither grows nor forgets refuses. */
static seen_status go_on(sn_call *c, const sn_redis_view *view)
{
    bool mine;
    if (view->image.growth == SEEN_FIXED)
        return refuse_new(c);
    return sn_redis_advance(c->set, c->ch, view, &mine, c->error);
}

/* Adds as many of the open keys as there is room for. */
static seen_status add_some(sn_call *c)
{
    sn_batch *b = &c->batch;
    sn_redis_view view = sn_redis_see(c->set);
    sn_redis_room room;
    if (rotation_due(&view.image))
        return go_on(c, &view);
    size_t open = b->keys;
    seen_status status = SEEN_OK;
    bool over = false;
    /* With older layers, which are looked at anyway, the question for room goes along. */
    bool along = view.image.growth == SEEN_GROWING && view.image.current > 0 &&
                 !sn_redis_claim_here(c->set, &view, open, &room);
    c->ask = along ? &room : NULL;
    if (view.image.growth != SEEN_GROWING || view.image.current == 0)
        status = sn_redis_claim(c->set, c->ch, &view, open, &room, c->error);
    if (status == SEEN_OK && (along || room.keys)) {
        b->keys = along ? open : (size_t)room.keys;
        status = add_batch(c, &view, &room);
        if (status == SEEN_OK)
            status = sn_call_reconsider(c, &over);
        b->keys = open;
    }
    c->ask = NULL;
    return status == SEEN_OK && !over && room.keys == 0 ? go_on(c, &view) : status;
}

/* Adds n keys from `at` on, however often the layers change meanwhile, as long as some get in. */
static seen_status add_chunk(sn_call *c, const sn_redis_view *view, size_t at, size_t n)
{
    sn_call_load(c, at, n);
    recall(c, view);
    if (!sn_call_glance_wanted(c))
        keep_open(c, at);
    for (int attempt = 0; attempt < ATTEMPTS && c->batch.keys; attempt++) {
        size_t open = c->batch.keys;
        seen_status status = add_some(c);
        mistrust(c);
        if (status == SEEN_OK)
            sn_cache_learn(c->set, &c->batch, c->looked, true);
        if (status != SEEN_OK && c->batch.glance < SN_REPLACED)
            let_stand(&c->batch);
        keep_open(c, at);
        if (c->batch.keys < open)
            attempt = -1;
        if (status != SEEN_OK || c->batch.keys == 0)
            return status;
    }
    if (c->batch.keys == 0)
        return SEEN_OK;
    return too_restless(c, "write");
}

seen_status sn_redis_add(seen_set *set, const seen_hash *hashes, size_t count, seen_answer *answers,
                         seen_error *error)
{
    return sn_call_run(add_chunk, set, hashes, count, answers, error);
}

/* ---- remove ---- */

static seen_status remove_once(sn_call *c, uint64_t gone[SN_IMAGE_LAYERS])
{
    sn_batch *b = &c->batch;
    sn_batch_begin(b, c->set, c->ch);
    const sn_image *image = &b->view.image;
    uint64_t layers = sn_call_living(image);
    for (size_t i = 0; i < b->keys; i++)
        b->key[i].fenced = b->key[i].gone = false;
    if (sn_call_glance_due(c))
        sn_batch_say_glance(b);
    seen_status status = sn_batch_look(b, layers, c->error);
    if (status != SEEN_OK || b->loss.shard || b->loss.counts || b->glance != SN_SAME)
        return status;
    for (size_t i = 0; i < b->keys; i++) {
        sn_batch_key *k = &b->key[i];
        uint64_t has = layers & ~k->miss;
        if (k->answer != SEEN_UNKNOWN || k->fenced)
            continue;
        if (!has) {
            k->answer = SEEN_NEW;
            continue;
        }
        k->target = (uint8_t)__builtin_ctzll(has);
        sn_batch_say_cut(b, i);
    }
    status = sn_batch_cut(b, c->error);
    for (size_t i = 0; i < b->keys; i++)
        gone[b->key[i].target] += b->key[i].gone;
    return status;
}

static seen_status remove_chunk(sn_call *c, const sn_redis_view *view, size_t at, size_t n)
{
    (void)view;
    sn_batch *b = &c->batch;
    sn_call_load(c, at, n);
    for (int attempt = 0; attempt < ATTEMPTS && b->keys; attempt++) {
        uint64_t gone[SN_IMAGE_LAYERS] = {0};
        bool over;
        seen_status status = remove_once(c, gone), counted = SEEN_OK;
        for (uint32_t i = 0; i < b->view.image.layers && counted == SEEN_OK; i++)
            if (gone[i])
                counted = sn_redis_uncount(c->ch, &b->view, i, gone[i], c->error);
        if (status == SEEN_OK)
            status = counted;
        if (status == SEEN_OK)
            status = sn_call_reconsider(c, &over);
        keep_open(c, at);
        if (status != SEEN_OK)
            return status;
    }
    if (!b->keys)
        sn_redis_recount(c->set, c->ch, n);
    return b->keys ? too_restless(c, "write") : SEEN_OK;
}

seen_status sn_redis_remove(seen_set *set, const seen_hash *hashes, size_t count,
                            seen_answer *answers, seen_error *error)
{
    return sn_call_run(remove_chunk, set, hashes, count, answers, error);
}
