/* `seen remove`: removes lines from a counting filter. */
#include "cli/change.h"

static int run_remove(sn_args *args)
{
    return sn_change_run(args, SN_APPLY_REMOVE);
}

const sn_cli_command sn_cli_command_remove = {
    .name = "remove",
    .summary = "remove lines from a counting filter",
    .synopsis = "[OPTION]... FILTER [FILE]...",
    .about = "Undoes one addition of each line. Only a counting filter can do that ('seen create "
             "--kind counting'). Remove only what was added: removing a false positive damages "
             "other keys.",
    .operands = "FILTER",
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .groups = {&sn_group_records, &sn_group_remember, &sn_group_url, &sn_group_timeout,
               &sn_group_json, &sn_group_threads, &sn_group_messages},
    .examples =
        {{"Forget some lines", "seen remove urls.seen gone.txt",
          "seen create -q urls.seen -n 1k --kind counting && printf 'a\\nb\\n' > gone.txt && "
          "seen add -q urls.seen gone.txt"}},
    .run = run_remove,
};
