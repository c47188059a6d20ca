/* Adding, checking and removing keys of a set in Redis. */
#include "base/clock.h"
#include "base/error.h"
#include "redis/cache.h"
#include "redis/call.h"
#include "set/layers.h"

enum {
    LOOKUP_FIRST_SHARE =
        256, /* of 1024 keys already present: from here on looking up first pays off */
    LOOKUP_FIRST_KEYS = 16, /* fewer keys: a second round trip costs more */
    ATTEMPTS = 1000,
};

/* Answers keys from the cache. */
static void answer_from_cache(sn_call *c, const sn_redis_view *view)
{
    sn_batch *b = &c->batch;
    sn_channel_poll_hangup(c->ch);
    b->cache_epoch = sn_client_epoch(c->set->redis);
    sn_cache_lookup(c->set, view, b);
}

/* A server may have lost keys that were answered from the cache, which is detected only when a
 * command is sent: they are reopened. True if there are any. */
static bool reopen_cached(sn_call *c)
{
    sn_batch *b = &c->batch;
    bool any = false;
    unsigned epoch = sn_client_epoch(c->set->redis);
    for (size_t i = 0; b->cache_epoch != epoch && i < b->keys; i++) {
        sn_batch_key *k = &b->key[i];
        if (k->state != SN_KEY_CACHED)
            continue;
        k->cells = 0;
        sn_batch_move(k, SN_KEY_OPEN);
        any = true;
    }
    b->cache_epoch = epoch;
    return any;
}

static void return_answers(const sn_call *c, size_t at)
{
    for (size_t i = 0; i < c->batch.keys; i++)
        c->answer[at + i] = sn_batch_answer(&c->batch.key[i]);
}

static seen_status changing_too_fast(const sn_call *c, const char *what)
{
    return sn_error_set(c->error, SEEN_ERR_SERVER, "%s: the layers change faster than we can %s",
                        c->set->base.where, what);
}

/* ---- check ---- */

/* A past generation was missing: it expired, or the window has rotated during the check. A key that
 * was added again before may then be in a generation that was read too early: *over. */
static seen_status check_rotation(sn_call *c, bool *over)
{
    sn_redis_view now;
    seen_status status = sn_redis_reload(c->set, c->ch, &now, c->error);
    *over = status == SEEN_OK && now.image.sequence != c->batch.view.image.sequence;
    return status;
}

/* Fences belong to one view: with another one, fenced keys are reopened. */
static void drop_fences(sn_batch *b)
{
    for (size_t i = 0; i < b->keys; i++)
        if (b->key[i].state == SN_KEY_FENCED)
            sn_batch_move(&b->key[i], SN_KEY_OPEN);
}

/* The current generation is read even if it has expired: its fence shows that the window has
 * rotated, and that keys may be in a newer one. */
static seen_status check_batch(sn_call *c)
{
    sn_batch *b = &c->batch;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint64_t before = b->view.image.sequence;
        sn_batch_begin(b, c->set, c->ch);
        if (attempt == 0 || before != b->view.image.sequence)
            drop_fences(b);
        if (sn_call_begin_check(c))
            sn_batch_write_check(b);
        uint64_t layers = sn_call_live_layers(&b->view.image);
        seen_status status =
            sn_batch_lookup(b, b->keys, layers | UINT64_C(1) << b->view.image.current, c->error);
        bool over = false;
        if (status == SEEN_OK)
            status = sn_call_take_changes(c, &over);
        if (status == SEEN_OK && !over && b->ended)
            status = check_rotation(c, &over);
        over |= reopen_cached(c);
        if (status != SEEN_OK)
            return status;
        if (over)
            continue;
        for (size_t i = 0; i < b->keys; i++)
            if (sn_batch_undecided(&b->key[i]))
                sn_batch_move(&b->key[i], layers & ~b->key[i].miss ? SN_KEY_FOUND : SN_KEY_ABSENT);
        sn_cache_store(c->set, b);
        return SEEN_OK;
    }
    return changing_too_fast(c, "read");
}

static seen_status check_chunk(sn_call *c, const sn_redis_view *view, size_t at, size_t n)
{
    sn_call_load(c, at, n);
    answer_from_cache(c, view);
    seen_status status = check_batch(c);
    return_answers(c, at);
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

/* One attempt at adding the open keys. */
typedef struct add_attempt {
    sn_redis_view view; /* room is claimed in its current layer */
    sn_redis_claim_room room;
    bool claim_along; /* the claim is sent along with the lookup */
    size_t keys;      /* the first so many keys of the batch take part */
} add_attempt;

/* Chooses the layer for each key; some need none, because a layer has them. */
static void choose_targets(sn_batch *b, const add_attempt *a, uint64_t older)
{
    const sn_image *image = &b->view.image;
    for (size_t i = 0; i < a->keys; i++) {
        sn_batch_key *k = &b->key[i];
        if (k->state != SN_KEY_OPEN)
            continue;
        uint64_t has = (older | b->lookup_layers) & ~k->miss;
        k->target = (uint8_t)image->current;
        if (image->kind == SEEN_COUNTING) {
            if (has)
                k->target = (uint8_t)__builtin_ctzll(has);
        } else if (image->growth == SEEN_WINDOW && image->renew ? has >> image->current & 1
                                                                : has != 0) {
            sn_batch_move(k, SN_KEY_FOUND);
        }
    }
}

static bool equal_before(const sn_batch *b, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (b->key[j].hash.lo == b->key[i].hash.lo && b->key[j].hash.hi == b->key[i].hash.hi)
            return true;
    return false;
}

/* Of equal keys that were sent twice only the first can have been new, even if their shard was
 * closed before they were sent again. */
static void resolve_repeated(sn_batch *b)
{
    for (size_t i = 0; i < b->keys; i++) {
        sn_batch_key *k = &b->key[i];
        if ((k->state != SN_KEY_REPEATED && k->history != SN_HISTORY_MAYBE) || !equal_before(b, i))
            continue;
        if (k->history == SN_HISTORY_MAYBE)
            k->history = SN_HISTORY_NONE;
        if (k->state == SN_KEY_REPEATED)
            sn_batch_move(k, SN_KEY_PRESENT);
    }
}

/* A key in an older generation was seen before; adding it to the current one renews it. */
static void resolve_renewed(sn_batch *b, uint64_t older)
{
    for (size_t i = 0; i < b->keys && b->view.image.growth == SEEN_WINDOW; i++) {
        sn_batch_key *k = &b->key[i];
        if ((k->state == SN_KEY_ADDED || k->state == SN_KEY_REPEATED) && older & ~k->miss &&
            k->history == SN_HISTORY_NONE)
            sn_batch_move(k, SN_KEY_RENEWED);
    }
}

/* Looking up first pays off if many keys are present: two round trips, but fewer commands. */
static bool lookup_first(const sn_call *c, const add_attempt *a)
{
    return a->keys >= LOOKUP_FIRST_KEYS && c->batch.view.image.kind == SEEN_BLOOM &&
           atomic_load_explicit(&c->set->seen_share, memory_order_relaxed) >= LOOKUP_FIRST_SHARE;
}

/* Looks up the keys in these layers, and claims room for them if needed. */
static seen_status lookup_and_claim(sn_call *c, add_attempt *a, uint64_t layers)
{
    sn_batch *b = &c->batch;
    if (!layers)
        return SEEN_OK;
    if (a->claim_along)
        sn_redis_claim_write(c->set, c->ch, &b->view, a->keys, SN_BATCH_CLAIM);
    seen_status status = sn_batch_lookup(b, a->keys, layers, c->error);
    if (a->claim_along && status == SEEN_OK)
        status =
            sn_redis_claim_take(c->set, c->ch, &b->view, a->keys, b->claim, &a->room, c->error);
    if (a->claim_along)
        a->keys = (size_t)a->room.keys;
    return status;
}

/* Adds the open keys that take part; those whose shards are closed stay undecided. */
static seen_status add_keys(sn_call *c, add_attempt *a, bool lookup)
{
    sn_batch *b = &c->batch;
    const sn_image *image = &b->view.image;
    uint64_t current = UINT64_C(1) << image->current;
    uint64_t older = sn_call_live_layers(image) & ~current;
    drop_fences(b);
    if (b->cells_epoch != b->epoch || b->cells_sequence != image->sequence) {
        for (size_t i = 0; i < b->keys; i++)
            b->key[i].cells = 0;
        sn_cache_lookup_cells(c->set, &b->view, b);
    }
    if (sn_call_begin_check(c))
        sn_batch_write_check(b);
    seen_status status = lookup_and_claim(c, a, older | (lookup ? current : 0));
    if (status != SEEN_OK || b->loss.shard || b->loss.counts || b->change != SN_META_SAME)
        return status;
    choose_targets(b, a, older);
    for (size_t i = 0; i < a->keys; i++)
        if (b->key[i].state == SN_KEY_OPEN)
            sn_batch_write_add(b, i);
    status = sn_batch_add(b, c->error);
    resolve_repeated(b);
    resolve_renewed(b, older);
    return status;
}

static void update_share(sn_redis_set *set, const sn_batch *b)
{
    unsigned before = 0, decided = 0;
    for (size_t i = 0; i < b->keys; i++) {
        if (b->key[i].state == SN_KEY_CACHED)
            continue;
        before += sn_batch_answer(&b->key[i]) == SEEN_BEFORE;
        decided += !sn_batch_undecided(&b->key[i]);
    }
    if (decided < LOOKUP_FIRST_KEYS)
        return;
    unsigned old = atomic_load_explicit(&set->seen_share, memory_order_relaxed);
    atomic_store_explicit(&set->seen_share, (3 * old + before * 1024 / decided) / 4,
                          memory_order_relaxed);
}

/* Cells that were omitted because they were known to be set may have been lost with the server:
 * such keys are added again, with all cells. */
static void reopen_incomplete(const sn_call *c, sn_batch *b)
{
    bool lost = sn_client_epoch(c->set->redis) != b->epoch;
    for (size_t i = 0; lost && i < b->keys; i++)
        if (sn_batch_stored(&b->key[i]) && b->key[i].cells)
            sn_batch_reopen(&b->key[i]);
}

/* The server is lost before such keys could be added again. It accepted them as new: if this call
 * does not report that, none will, while other clients may find them. */
static void report_added(sn_batch *b)
{
    for (size_t i = 0; i < b->keys; i++)
        if (sn_batch_undecided(&b->key[i]) && b->key[i].history == SN_HISTORY_ADDED)
            sn_batch_move(&b->key[i], SN_KEY_FOUND);
}

/* How many keys were new to the current layer. Keys whose replies were lost may be in it. */
static uint64_t count_used(const sn_batch *b, bool lost)
{
    uint64_t used = 0;
    for (size_t i = 0; i < b->keys; i++) {
        const sn_batch_key *k = &b->key[i];
        bool added =
            k->state == SN_KEY_ADDED || k->state == SN_KEY_REPEATED || k->state == SN_KEY_RENEWED;
        bool maybe = lost && k->state == SN_KEY_SENT && k->history != SN_HISTORY_ADDED;
        used += (added || maybe) && k->target == b->view.image.current;
    }
    return used;
}

/* Adds the keys for which room has been claimed, or is claimed with the lookup. */
static seen_status add_batch(sn_call *c, add_attempt *a)
{
    sn_batch *b = &c->batch;
    sn_batch_begin(b, c->set, c->ch);
    /* Another thread has changed the layers since the claim: nothing is claimed in the new one
     * yet. */
    if (b->view.image.sequence != a->view.image.sequence)
        return sn_redis_claim_finish(c->set, c->ch, &a->view, &a->room, 0, c->error);
    seen_status status = add_keys(c, a, lookup_first(c, a));
    uint64_t used = count_used(b, status == SEEN_ERR_NETWORK);
    update_share(c->set, b);
    reopen_incomplete(c, b);
    /* The server cannot be reached: no retry just for a counter. */
    if (status == SEEN_ERR_NETWORK && a->room.pending)
        return status;
    seen_status finished = sn_redis_claim_finish(c->set, c->ch, &a->view, &a->room, used,
                                                 status == SEEN_OK ? c->error : NULL);
    return status == SEEN_OK ? finished : status;
}

/* A full set: reports the keys that are present, and fails if one is not. Counters count every
 * addition, also of a present key, up to the first absent one. */
static seen_status refuse_new(sn_call *c)
{
    sn_batch *b = &c->batch;
    add_attempt a = {.keys = 0};
    seen_status status = check_batch(c);
    if (status != SEEN_OK)
        return status;
    while (a.keys < b->keys && b->key[a.keys].state != SN_KEY_ABSENT)
        a.keys++;
    bool all = a.keys == b->keys, counting = b->view.image.kind == SEEN_COUNTING;
    for (size_t i = 0; i < b->keys; i++)
        if (counting || b->key[i].state == SN_KEY_ABSENT)
            sn_batch_move(&b->key[i], SN_KEY_OPEN);
    if (counting && a.keys) {
        sn_batch_begin(b, c->set, c->ch);
        status = add_keys(c, &a, false);
    }
    if (status != SEEN_OK || all)
        return status;
    return sn_error_set(c->error, SEEN_ERR_FULL,
                        "%s: the set is full (%llu keys); create a larger one, or one that grows",
                        c->set->base.where,
                        (unsigned long long)b->view.image.layer[b->view.image.current].capacity);
}

/* Returns the decided answers; undecided keys move to the front. */
static void keep_undecided(sn_call *c, size_t at)
{
    sn_batch *b = &c->batch;
    size_t open = 0;
    for (size_t i = 0; i < b->keys; i++) {
        c->answer[at + b->key[i].place] = sn_batch_answer(&b->key[i]);
        if (sn_batch_undecided(&b->key[i]))
            b->key[open++] = b->key[i];
    }
    b->keys = open;
}

/* The layer is full or expired. A set that neither grows nor rotates refuses. */
static seen_status advance_or_refuse(sn_call *c, const sn_redis_view *view)
{
    bool mine;
    if (view->image.growth == SEEN_FIXED)
        return refuse_new(c);
    return sn_redis_advance(c->set, c->ch, view, &mine, c->error);
}

/* Claims room for the open keys. With older layers, which are looked up anyway, the claim is sent
 * along with that lookup, unless earlier claims suffice. */
static seen_status claim_room(sn_call *c, add_attempt *a)
{
    const sn_image *image = &a->view.image;
    seen_status status = SEEN_OK;
    size_t open = c->batch.keys;
    if (image->growth == SEEN_GROWING && image->current > 0)
        a->claim_along = !sn_redis_claim_local(c->set, &a->view, open, &a->room);
    else
        status = sn_redis_claim(c->set, c->ch, &a->view, open, &a->room, c->error);
    a->keys = a->claim_along ? open : (size_t)a->room.keys;
    return status;
}

/* Adds as many of the open keys as there is room for. */
static seen_status add_some(sn_call *c)
{
    add_attempt a = {.view = sn_redis_get_view(c->set)};
    bool over = false;
    if (rotation_due(&a.view.image))
        return advance_or_refuse(c, &a.view);
    seen_status status = claim_room(c, &a);
    if (status == SEEN_OK && a.keys) {
        status = add_batch(c, &a);
        if (status == SEEN_OK)
            status = sn_call_take_changes(c, &over);
    }
    return status == SEEN_OK && !over && a.room.keys == 0 ? advance_or_refuse(c, &a.view) : status;
}

/* Adds n keys, starting at `at`, however often the layers change, as long as there is progress. */
static seen_status add_chunk(sn_call *c, const sn_redis_view *view, size_t at, size_t n)
{
    int idle = 0; /* consecutive attempts without progress */
    sn_call_load(c, at, n);
    answer_from_cache(c, view);
    if (!sn_call_check_due(c))
        keep_undecided(c, at);
    while (c->batch.keys && idle < ATTEMPTS) {
        size_t open = c->batch.keys;
        seen_status status = add_some(c);
        reopen_cached(c);
        if (status == SEEN_OK)
            sn_cache_store(c->set, &c->batch);
        else if (c->batch.change < SN_META_REPLACED)
            report_added(&c->batch);
        keep_undecided(c, at);
        if (status != SEEN_OK)
            return status;
        idle = c->batch.keys < open ? 0 : idle + 1;
    }
    return c->batch.keys ? changing_too_fast(c, "write") : SEEN_OK;
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
    uint64_t layers = sn_call_live_layers(image);
    drop_fences(b);
    if (sn_call_begin_check(c))
        sn_batch_write_check(b);
    seen_status status = sn_batch_lookup(b, b->keys, layers, c->error);
    if (status != SEEN_OK || b->loss.shard || b->loss.counts || b->change != SN_META_SAME)
        return status;
    for (size_t i = 0; i < b->keys; i++) {
        sn_batch_key *k = &b->key[i];
        uint64_t has = layers & ~k->miss;
        if (k->state != SN_KEY_OPEN)
            continue;
        if (!has) {
            sn_batch_move(k, SN_KEY_ABSENT);
            continue;
        }
        k->target = (uint8_t)__builtin_ctzll(has);
        sn_batch_write_remove(b, i);
    }
    status = sn_batch_remove(b, c->error);
    for (size_t i = 0; i < b->keys; i++)
        gone[b->key[i].target] += b->key[i].state == SN_KEY_GONE;
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
            status = sn_call_take_changes(c, &over);
        keep_undecided(c, at);
        if (status != SEEN_OK)
            return status;
    }
    if (!b->keys)
        sn_redis_recount(c->set, c->ch, n);
    return b->keys ? changing_too_fast(c, "write") : SEEN_OK;
}

seen_status sn_redis_remove(seen_set *set, const seen_hash *hashes, size_t count,
                            seen_answer *answers, seen_error *error)
{
    return sn_call_run(remove_chunk, set, hashes, count, answers, error);
}
