/* The filter that a command adds to: opened, or created if it does not exist and deleted again if
 * the command fails before it has added a key. */
#include "base/error.h"
#include "cli/watch.h"

/* Minimum initial capacity of a growing filter. */
#define KEYS_MIN UINT64_C(1000000)
#define RATE 1e-6

seen_status sn_filter_open(sn_args *args, const char *where, sn_input *input, seen_set **set,
                           seen_error *error)
{
    seen_options options = sn_args_options(args);
    char note[SEEN_NOTE_MAX + 1];
    seen_status status = seen_open(where, &options, 0, set, error);
    if (status == SEEN_OK)
        return sn_filter_keys(args, *set, where, error);
    if (status != SEEN_ERR_NOT_FOUND)
        return status;
    if (!sn_args_describe(args, note))
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "the options that make keys are too long to be stored with %s", where);
    options.note = note;
    if (!(options.error_rate > 0))
        options.error_rate = RATE;
    if (!args->memory) {
        uint64_t lines, bytes;
        status = sn_input_estimate(input, args->null ? '\0' : '\n', &lines, &bytes, error);
        if (status != SEEN_OK)
            return status;
        uint64_t room = sn_input_room(input, lines, bytes, true);
        options.growth = SEEN_GROWING;
        if (!options.capacity)
            options.capacity = room < KEYS_MIN ? KEYS_MIN : room;
    }
    status = seen_create(where, &options, 0, set, error);
    args->created = status == SEEN_OK;
    if (status != SEEN_ERR_EXISTS)
        return status;
    status =
        seen_open(where, &options, 0, set, error); /* another process created it concurrently */
    return status == SEEN_OK ? sn_filter_keys(args, *set, where, error) : status;
}

void sn_filter_close(const sn_args *args, const char *where, seen_set *set, bool failed)
{
    seen_options options = sn_args_options(args);
    seen_info info = {.size = sizeof info};
    bool empty = failed && args->created && seen_get_info(set, &info, NULL) == SEEN_OK &&
                 !info.sampled && !(info.fill > 0);
    seen_close(set);
    if (empty)
        (void)seen_drop(where, &options, NULL);
}
