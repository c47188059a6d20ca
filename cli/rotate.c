/* `seen rotate`: starts the next generation of a window. */
#include "cli/cli.h"

static int run(sn_args *args)
{
    seen_error error = {0};
    seen_set *set;
    seen_options options = sn_args_options(args);
    if (seen_open(args->operands[0], &options, 0, &set, &error) != SEEN_OK)
        return sn_message_report(&error);
    if (seen_rotate(set, &error) != SEEN_OK) {
        seen_close(set);
        return sn_message_report(&error);
    }
    if (seen_close_checked(set, &error) != SEEN_OK)
        return sn_message_report(&error);
    return SN_EXIT_OK;
}

const sn_cli_command sn_cli_command_rotate = {
    .name = "rotate",
    .summary = "start the next generation of a window",
    .synopsis = "[OPTION]... FILTER",
    .about = "Starts the next generation of a filter made with --growth window, and forgets the "
             "oldest one. Windows by time or by count rotate automatically; use this for windows "
             "that follow something else, such as a nightly run, or to correct a window by time "
             "that was used while the clock was ahead.",
    .operands = "FILTER",
    .min_operands = 1,
    .max_operands = 1,
    .groups = {&sn_group_timeout},
    .examples = {{"Forget what is older than the last seven runs", "seen rotate runs.seen",
                  "seen create -q runs.seen --growth window --generations 8 -n 1M"}},
    .run = run,
};
