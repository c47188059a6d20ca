/* The table of stores: the only place that names all of them. */
#include "set/store.h"

#include "base/error.h"
#include "set/layers.h"

#include <string.h>

static seen_status heap_create(const char *where, const sn_image *image,
                               const seen_options *options, unsigned flags, seen_set **set,
                               seen_error *error)
{
    (void)where, (void)options, (void)flags;
    return sn_heap_create(image, set, error);
}

static seen_status file_create(const char *where, const sn_image *image,
                               const seen_options *options, unsigned flags, seen_set **set,
                               seen_error *error)
{
    (void)options;
    return sn_file_create(where, image, flags, set, error);
}

static seen_status file_open(const char *where, const seen_options *options, unsigned flags,
                             seen_set **set, seen_error *error)
{
    (void)options;
    return sn_file_open(where, flags, set, error);
}

static seen_status file_copy(const char *where, unsigned flags, const seen_options *options,
                             seen_set *from, seen_error *error)
{
    (void)options;
    return sn_file_copy(where, flags, from, error);
}

static seen_status file_drop(const char *where, const seen_options *options, seen_error *error)
{
    (void)options;
    return sn_file_drop(where, error);
}

#ifdef SEEN_WITH_REDIS
static seen_status redis_plan(const seen_options *options, sn_image *image, seen_error *error)
{
    seen_status status = sn_layers_begin(options, image, error);
    if (status == SEEN_OK && options->layout == SEEN_LAYOUT_BITMAP)
        status = sn_redis_bitmap_plan(options, image, error);
    return status;
}
#endif

static const sn_store HEAP = {.plan = sn_layers_begin_tags, .create = heap_create};

static const sn_store FILE_STORE = {
    .plan = sn_layers_begin_tags,
    .create = file_create,
    .open = file_open,
    .copy = file_copy,
    .drop = file_drop,
};

/* Addresses: a scheme and its store. A store that is not included in this build has no
 * functions. */
static const sn_store REDIS = {
    .layered = true,
#ifdef SEEN_WITH_REDIS
    .plan = redis_plan,
    .create = sn_redis_create,
    .open = sn_redis_open,
    .copy = sn_redis_copy,
    .drop = sn_redis_drop,
#endif
};

static const struct {
    const char *scheme;
    const sn_store *store;
} SCHEMES[] = {
    {"redis://", &REDIS},          {"rediss://", &REDIS},     {"redis-cluster://", &REDIS},
    {"rediss-cluster://", &REDIS}, {"redis+unix://", &REDIS},
};

seen_status sn_store_find(const char *where, const sn_store **store, seen_error *error)
{
    *store = where ? &FILE_STORE : &HEAP;
    for (size_t i = 0; where && i < sizeof SCHEMES / sizeof *SCHEMES; i++)
        if (strncmp(where, SCHEMES[i].scheme, strlen(SCHEMES[i].scheme)) == 0)
            *store = SCHEMES[i].store;
    if (!(*store)->create)
        return sn_error_set(error, SEEN_ERR_UNSUPPORTED,
                            "this build has no Redis; build with SEEN_WITH_REDIS=ON");
    return SEEN_OK;
}
