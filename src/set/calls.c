/* The public functions: validate arguments, hash keys, call the store. */
#include "set/set.h"

#include "base/error.h"
#include "filter/plan.h"
#include "hash/hash.h"
#include "set/forks.h"
#include "set/layers.h"

#include <string.h>

enum { CHUNK = 1024 }; /* keys hashed at a time: the hashes stay in the L1 cache */

/* ---- open, create, close ---- */

seen_status sn_set_take_options(const seen_options **options, seen_error *error)
{
    static const seen_options DEFAULTS = {.size = sizeof DEFAULTS};
    if (!*options)
        *options = &DEFAULTS;
    if ((*options)->size != sizeof DEFAULTS)
        return sn_error_set(error, SEEN_ERR_ARGUMENT, "options->size is not sizeof(seen_options)");
    if ((unsigned)(*options)->layout > SEEN_LAYOUT_BITMAP)
        return sn_error_set(error, SEEN_ERR_ARGUMENT, "an option has an invalid value");
    return SEEN_OK;
}

/* An unknown scheme would become a file with an odd name; a flag of a later version would be
 * ignored. */
static seen_status check_place(const char *call, const char *where, unsigned flags, unsigned known,
                               seen_error *error)
{
    if (where && !*where)
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "%s: the name is empty; give a path or a redis:// address", call);
    if (flags & ~known)
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "%s: flags 0x%x are unknown, or not valid for this call", call,
                            flags & ~known);
    return SEEN_OK;
}

seen_status seen_open(const char *where, const seen_options *options, unsigned flags,
                      seen_set **set, seen_error *error)
{
    if (!where || !set)
        return sn_error_set(error, SEEN_ERR_ARGUMENT, "seen_open: `where` or `set` is NULL");
    seen_status status = check_place("seen_open", where, flags, SEEN_READ_ONLY | SEEN_ALONE, error);
    if (status == SEEN_OK)
        status = sn_set_take_options(&options, error);
    if (status != SEEN_OK)
        return status;
    const sn_store *store;
    status = sn_store_find(where, &store, error);
    if (status == SEEN_OK)
        status = store->open(where, options, flags, set, error);
    if (status == SEEN_OK)
        sn_forks_list(*set);
    return status;
}

static bool same_layer(const sn_layer *a, const sn_layer *b)
{
    return a->geometry.kind == b->geometry.kind && a->geometry.spread == b->geometry.spread &&
           a->geometry.probes == b->geometry.probes && a->geometry.shards == b->geometry.shards &&
           a->geometry.shard_lines == b->geometry.shard_lines;
}

/* A rate derived from other parameters can differ in its last bits between machines, because exp()
 * and log() do. */
static bool same_rate(uint64_t a, uint64_t b)
{
    return (a > b ? a - b : b - a) <= 1 + (a >> 40);
}

/* Whether an existing image matches the options. */
static seen_status agrees(const sn_image *have, const sn_image *want, bool seed_given,
                          const char *where, seen_error *error)
{
    const char *differs = NULL;
    if (have->kind != want->kind)
        differs = "kind";
    else if (have->growth != want->growth)
        differs = "growth";
    else if (have->hash != want->hash)
        differs = "hash";
    else if (seed_given && (have->seed[0] != want->seed[0] || have->seed[1] != want->seed[1]))
        differs = "seed";
    else if (!same_rate(have->rate64, want->rate64))
        differs = "error rate";
    else if (have->growth == SEEN_GROWING && sn_image_has_tags(have) != sn_image_has_tags(want))
        return SEEN_OK; /* of an earlier version: layers, which have other sizes */
    else if (have->capacity != want->capacity)
        differs = "capacity";
    else if (have->generations != want->generations || have->window_seconds != want->window_seconds)
        differs = "window";
    else if (have->renew != want->renew)
        differs = "renew option";
    else if (have->growth == SEEN_FIXED && have->when_full != want->when_full)
        differs = "when-full option";
    else if (!sn_image_has_tags(have) && !same_layer(&have->layer[0], &want->layer[0]))
        differs = "memory or number of hashes";
    if (!differs)
        return SEEN_OK;
    return sn_error_set(error, SEEN_ERR_MISMATCH,
                        "%s: exists with a different %s; open it as it is, or use another name",
                        where, differs);
}

static seen_status open_existing(const char *where, const sn_image *image,
                                 const seen_options *options, unsigned flags, seen_set **set,
                                 seen_error *error)
{
    sn_image have;
    seen_set *found;
    seen_status status = seen_open(where, options, flags & SEEN_ALONE, &found, error);
    if (status != SEEN_OK)
        return status;
    status = found->ops->image(found, &have, error);
    if (status == SEEN_OK)
        status = agrees(&have, image, options->seed_given, found->where, error);
    if (status == SEEN_OK)
        *set = found;
    else
        seen_close(found);
    return status;
}

/* Creates the set described by the image, or opens it if it exists and may. */
static seen_status make_or_open(const char *where, const sn_image *image,
                                const seen_options *options, unsigned flags, seen_set **set,
                                seen_error *error)
{
    bool share = where && (flags & SEEN_IF_ABSENT);
    if (share) {
        seen_error quiet;
        seen_status status = open_existing(where, image, options, flags, set, &quiet);
        if (status != SEEN_ERR_NOT_FOUND) {
            if (status != SEEN_OK && error)
                *error = quiet;
            return status;
        }
    }
    const sn_store *store;
    seen_status status = sn_store_find(where, &store, error);
    if (status == SEEN_OK)
        status = store->create(where, image, options, flags, set, error);
    /* Another process created it concurrently: open it. */
    if (share && status == SEEN_ERR_EXISTS)
        status = open_existing(where, image, options, flags, set, error);
    if (status == SEEN_OK)
        sn_forks_list(*set);
    return status;
}

enum { CREATE_FLAGS = SEEN_REPLACE | SEEN_IF_ABSENT | SEEN_ALONE };

seen_status seen_create(const char *where, const seen_options *options, unsigned flags,
                        seen_set **set, seen_error *error)
{
    if (!set)
        return sn_error_set(error, SEEN_ERR_ARGUMENT, "seen_create: `set` is NULL");
    seen_status status = check_place("seen_create", where, flags, CREATE_FLAGS, error);
    if (status == SEEN_OK)
        status = sn_set_take_options(&options, error);
    if (status != SEEN_OK)
        return status;
    /* Without a size a set grows. */
    seen_options mine = *options;
    if (mine.growth == SEEN_FIXED && !mine.capacity && !mine.bits && !mine.hashes)
        mine.growth = SEEN_GROWING;
    options = &mine;
    sn_image image;
    const sn_store *store;
    status = sn_store_find(where, &store, error);
    if (status == SEEN_OK)
        status = store->plan(options, &image, error);
    if (status != SEEN_OK)
        return status;
    if (!sn_hash_supported(options->hash))
        return sn_error_set(error, SEEN_ERR_UNSUPPORTED,
                            "this build has no SipHash; build with SEEN_WITH_SIPHASH=ON");
    if (options->seed_given)
        memcpy(image.seed, options->seed, sizeof image.seed);
    else if ((status = sn_hash_seed(image.seed, error)) != SEEN_OK)
        return status;
    return make_or_open(where, &image, options, flags, set, error);
}

/* The image of an empty set of tag lines with the parameters of a set that has grown to this
 * image. */
static seen_status start_tags(const char *where, const seen_set *like, sn_image *image,
                              seen_error *error)
{
    const sn_store *store;
    if (sn_store_find(where, &store, NULL) == SEEN_OK && store->layered)
        return sn_error_set(error, SEEN_ERR_KIND,
                            "%s: no set like a growing set in memory or in a file exists in Redis; "
                            "create a growing set there and add the keys to it",
                            like->where);
    seen_options options = {.size = sizeof options,
                            .kind = image->kind,
                            .growth = image->growth,
                            .hash = image->hash,
                            .when_full = image->when_full,
                            .capacity = image->capacity,
                            .error_rate = sn_image_rate_from64(image->rate64)};
    sn_image fresh;
    seen_status status = sn_layers_begin_tags(&options, &fresh, error);
    memcpy(fresh.seed, image->seed, sizeof fresh.seed);
    fresh.rate64 = image->rate64;
    *image = fresh;
    return status;
}

seen_status seen_create_like(const char *where, const seen_set *like, const seen_options *options,
                             unsigned flags, seen_set **set, seen_error *error)
{
    sn_image image;
    if (!like || !set)
        return sn_error_set(error, SEEN_ERR_ARGUMENT, "seen_create_like: `like` or `set` is NULL");
    seen_status status = check_place("seen_create_like", where, flags, CREATE_FLAGS, error);
    if (status == SEEN_OK)
        status = sn_forks_check(like, error);
    if (status == SEEN_OK)
        status = sn_set_take_options(&options, error);
    if (status != SEEN_OK)
        return status;
    seen_options mine = *options;
    mine.seed_given = true;                         /* another seed would make the filters
                                                     * incompatible */
    seen_set *source = (seen_set *)(uintptr_t)like; /* reading the image may refresh the view */
    status = source->ops->image(source, &image, error);
    if (status != SEEN_OK)
        return status;
    if (sn_image_has_tags(&image))
        status = start_tags(where, like, &image, error);
    else if (image.growth == SEEN_GROWING)
        image.layers = 1;
    if (status != SEEN_OK)
        return status;
    image.current = 0;
    image.sequence = 1;
    for (uint32_t i = 0; i < image.layers; i++) {
        image.layer[i].added = 0;
        image.layer[i].generation = i == 0;
    }
    sn_image_lay_out(&image);
    return make_or_open(where, &image, &mine, flags, set, error);
}

seen_status seen_sync(seen_set *set, seen_error *error)
{
    seen_status status = sn_forks_check(set, error);
    return status == SEEN_OK ? set->ops->sync(set, error) : status;
}

seen_status seen_close_checked(seen_set *set, seen_error *error)
{
    if (!set)
        return SEEN_OK;
    seen_status status = seen_sync(set, error);
    seen_close(set);
    return status;
}

/* A connection inherited by a child is not shut down: that would send on the parent's
 * connection. */
void seen_close(seen_set *set)
{
    if (!set)
        return;
    sn_forks_unlist(set);
    if (!set->forked || !set->connected)
        set->ops->close(set);
}

const char *seen_where(const seen_set *set)
{
    return strcmp(set->ops->store, "memory") == 0 ? NULL : set->where;
}

/* ---- keys and hashes ---- */

typedef enum action { ADD, CHECK, REMOVE } action;

static seen_status check_call(const seen_set *set, action what, seen_error *error)
{
    if (set->forked)
        return sn_forks_check(set, error);
    if (what != CHECK && set->read_only)
        return sn_error_set(error, SEEN_ERR_PERMISSION, "%s: opened for reading only", set->where);
    if (what == REMOVE && set->kind != SEEN_COUNTING)
        return sn_error_set(
            error, SEEN_ERR_KIND,
            "%s: keys cannot be removed from a bloom filter; create one of kind counting",
            set->where);
    return SEEN_OK;
}

static seen_status hand_over(seen_set *set, action what, const seen_hash *hashes, size_t count,
                             seen_answer *answers, seen_error *error)
{
    switch (what) {
    case ADD:
        return set->ops->add(set, hashes, count, answers, error);
    case CHECK:
        return set->ops->check(set, hashes, count, answers, error);
    default:
        return set->ops->remove(set, hashes, count, answers, error);
    }
}

static seen_status do_hashes(seen_set *set, action what, const seen_hash *hashes, size_t count,
                             seen_answer *answers, seen_error *error)
{
    seen_status status = check_call(set, what, error);
    if (status != SEEN_OK) {
        if (answers)
            memset(answers, SEEN_UNKNOWN, count);
        return status;
    }
    if (answers)
        return hand_over(set, what, hashes, count, answers, error);
    for (size_t at = 0; at < count && status == SEEN_OK; at += CHUNK) {
        seen_answer unused[CHUNK];
        size_t n = count - at < CHUNK ? count - at : CHUNK;
        status = hand_over(set, what, hashes + at, n, unused, error);
    }
    return status;
}

static seen_status do_many(seen_set *set, action what, const seen_key *keys, size_t count,
                           seen_answer *answers, seen_error *error)
{
    seen_hash hashes[CHUNK];
    for (size_t at = 0; at < count; at += CHUNK) {
        size_t n = count - at < CHUNK ? count - at : CHUNK;
        seen_hash_many(&set->hasher, keys + at, n, hashes);
        seen_status status = do_hashes(set, what, hashes, n, answers ? answers + at : NULL, error);
        if (status != SEEN_OK) {
            if (answers)
                memset(answers + at + n, SEEN_UNKNOWN, count - at - n);
            return status;
        }
    }
    return SEEN_OK;
}

static seen_status do_one(seen_set *set, action what, const void *key, size_t len,
                          seen_answer *answer, seen_error *error)
{
    seen_status status = check_call(set, what, error);
    if (status != SEEN_OK)
        return status;
    seen_hash hash = seen_hash_key(&set->hasher, key, len);
    seen_answer got;
    status = hand_over(set, what, &hash, 1, &got, error);
    if (status == SEEN_OK && answer)
        *answer = got;
    return status;
}

/* A separate function: a local variable whose address is taken would make every call that has an
 * `answer` pay for a stack guard. */
__attribute__((noinline)) static seen_status
do_unanswered(seen_set *set, action what, const void *key, size_t len, seen_error *error)
{
    seen_answer unused;
    return what == ADD ? seen_add(set, key, len, &unused, error)
                       : seen_check(set, key, len, &unused, error);
}

seen_status seen_add(seen_set *set, const void *key, size_t len, seen_answer *answer,
                     seen_error *error)
{
    if (!answer)
        return do_unanswered(set, ADD, key, len, error);
    if (!set->ops->add_one || set->read_only || set->forked)
        return do_one(set, ADD, key, len, answer, error);
    return set->ops->add_one(set, seen_hash_key(&set->hasher, key, len), answer, error);
}

seen_status seen_check(seen_set *set, const void *key, size_t len, seen_answer *answer,
                       seen_error *error)
{
    if (!answer)
        return do_unanswered(set, CHECK, key, len, error);
    if (!set->ops->check_one || set->forked)
        return do_one(set, CHECK, key, len, answer, error);
    return set->ops->check_one(set, seen_hash_key(&set->hasher, key, len), answer, error);
}

seen_status seen_remove(seen_set *set, const void *key, size_t len, seen_answer *answer,
                        seen_error *error)
{
    return do_one(set, REMOVE, key, len, answer, error);
}

seen_status seen_add_many(seen_set *set, const seen_key *keys, size_t count, seen_answer *answers,
                          seen_error *error)
{
    return do_many(set, ADD, keys, count, answers, error);
}

seen_status seen_check_many(seen_set *set, const seen_key *keys, size_t count, seen_answer *answers,
                            seen_error *error)
{
    return do_many(set, CHECK, keys, count, answers, error);
}

seen_status seen_remove_many(seen_set *set, const seen_key *keys, size_t count,
                             seen_answer *answers, seen_error *error)
{
    return do_many(set, REMOVE, keys, count, answers, error);
}

seen_hasher seen_hasher_of(const seen_set *set)
{
    return set->hasher;
}

seen_status seen_add_hashes(seen_set *set, const seen_hash *hashes, size_t count,
                            seen_answer *answers, seen_error *error)
{
    return do_hashes(set, ADD, hashes, count, answers, error);
}

seen_status seen_check_hashes(seen_set *set, const seen_hash *hashes, size_t count,
                              seen_answer *answers, seen_error *error)
{
    return do_hashes(set, CHECK, hashes, count, answers, error);
}

seen_status seen_remove_hashes(seen_set *set, const seen_hash *hashes, size_t count,
                               seen_answer *answers, seen_error *error)
{
    return do_hashes(set, REMOVE, hashes, count, answers, error);
}
