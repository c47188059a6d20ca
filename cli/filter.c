/* The filter that a command adds to: opened, or created if it does not exist. */
#include "cli/watch.h"

/* A filter that grows begins with room for so many keys at least. */
#define KEYS_MIN UINT64_C(1000000)
#define RATE 1e-6

seen_status sn_filter_open(const sn_args *args, const char *where, sn_input *input, seen_set **set,
                           seen_error *error)
{
    seen_options options = sn_args_options(args);
    seen_status status = seen_open(where, &options, 0, set, error);
    if (status != SEEN_ERR_NOT_FOUND)
        return status;
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
    return status == SEEN_ERR_EXISTS ? seen_open(where, &options, 0, set, error) : status;
}
