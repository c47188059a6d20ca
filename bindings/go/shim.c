/* See shim.h. */
#include "shim.h"

#include <string.h>

enum { BATCH = 1024 };

static seen_error *keep(seen_status status, const seen_error *error)
{
    static seen_error no_memory = {.status = SEEN_ERR_MEMORY, .message = "out of memory"};
    if (status == SEEN_OK)
        return NULL;
    seen_error *kept = malloc(sizeof *kept);
    if (!kept)
        abort(); /* as Go does */
    *kept = error->status ? *error : no_memory;
    return kept;
}

seen_error *shim_start(const char *where, const seen_options *options, unsigned flags, bool create,
                       seen_set **set)
{
    seen_error error = {0};
    return keep(create ? seen_create(where, options, flags, set, &error)
                       : seen_open(where, options, flags, set, &error),
                &error);
}

shim_answer shim_one(seen_set *set, int what, const void *key, size_t len)
{
    seen_error error;
    seen_answer answer = SEEN_UNKNOWN;
    seen_status status = what == SHIM_ADD     ? seen_add(set, key, len, &answer, &error)
                         : what == SHIM_CHECK ? seen_check(set, key, len, &answer, &error)
                                              : seen_remove(set, key, len, &answer, &error);
    seen_answer yes = what == SHIM_ADD ? SEEN_NEW : SEEN_BEFORE;
    return (shim_answer){.yes = answer == yes, .error = keep(status, &error)};
}

seen_error *shim_many(seen_set *set, int what, const char *arena, const uint64_t *ends,
                      size_t count, seen_answer *answers)
{
    seen_key keys[BATCH];
    seen_error error = {0};
    uint64_t from = 0;
    for (size_t at = 0; at < count; at += BATCH) {
        size_t n = count - at < BATCH ? count - at : BATCH;
        for (size_t i = 0; i < n; i++) {
            keys[i] = (seen_key){.data = arena + from, .len = (size_t)(ends[at + i] - from)};
            from = ends[at + i];
        }
        seen_status status = what == SHIM_ADD ? seen_add_many(set, keys, n, answers + at, &error)
                                              : seen_check_many(set, keys, n, answers + at, &error);
        if (status != SEEN_OK) {
            memset(answers + at + n, SEEN_UNKNOWN, count - at - n);
            return keep(status, &error);
        }
    }
    return NULL;
}

seen_error *shim_merge(seen_set *into, seen_set *from)
{
    seen_error error = {0};
    return keep(seen_merge(into, from, &error), &error);
}

seen_error *shim_like(seen_set *like, seen_set **set)
{
    seen_error error = {0};
    return keep(seen_create_like(NULL, like, NULL, 0, set, &error), &error);
}

seen_error *shim_sync(seen_set *set)
{
    seen_error error = {0};
    return keep(seen_sync(set, &error), &error);
}

seen_error *shim_rotate(seen_set *set)
{
    seen_error error = {0};
    return keep(seen_rotate(set, &error), &error);
}

seen_error *shim_info(seen_set *set, seen_info *info)
{
    seen_error error = {0};
    info->size = sizeof *info;
    return keep(seen_get_info(set, info, &error), &error);
}

typedef struct buffer {
    char *data;
    size_t len, room;
} buffer;

static seen_status append(void *context, const void *data, size_t len)
{
    buffer *b = context;
    if (b->len + len > b->room) {
        size_t room = b->room + b->room / 2 + len;
        char *grown = realloc(b->data, room);
        if (!grown)
            return SEEN_ERR_MEMORY;
        b->data = grown;
        b->room = room;
    }
    memcpy(b->data + b->len, data, len);
    b->len += len;
    return SEEN_OK;
}

seen_error *shim_save(seen_set *set, void **data, size_t *len)
{
    seen_error error = {0};
    buffer out = {0};
    seen_status status = seen_save(set, append, &out, &error);
    if (status != SEEN_OK) {
        free(out.data);
        return keep(status, &error);
    }
    *data = out.data;
    *len = out.len;
    return NULL;
}

typedef struct input {
    const char *data;
    size_t left;
} input;

static seen_status take(void *context, void *data, size_t len, size_t *got)
{
    input *in = context;
    *got = in->left < len ? in->left : len;
    memcpy(data, in->data, *got);
    in->data += *got;
    in->left -= *got;
    return SEEN_OK;
}

seen_error *shim_load(const void *data, size_t len, seen_set **set)
{
    seen_error error = {0};
    input in = {.data = data, .left = len};
    return keep(seen_load(take, &in, set, &error), &error);
}

seen_error *shim_drop(const char *where)
{
    seen_error error = {0};
    return keep(seen_drop(where, NULL, &error), &error);
}
