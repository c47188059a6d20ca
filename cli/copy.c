/* `seen copy`: copies a filter to another place, bit for bit. */
#include "cli/cli.h"

typedef struct copy_own {
    bool replace;
} copy_own;

static const sn_option own_options[] = {
    {.name = "replace",
     .type = SN_FLAG,
     .offset = offsetof(copy_own, replace),
     .help = "replace TO if it exists, when the copy is complete"},
};
static const sn_group own_group = {
    .title = "Creating", .options = own_options, .count = 1, .own = true};

static int run(sn_args *args)
{
    const copy_own *own = args->own;
    seen_error error = {0};
    seen_set *from;
    seen_options options = sn_args_options(args);
    if (sn_where_check_ttl(args, args->operands[1]) != SN_EXIT_OK)
        return SN_EXIT_ERROR;
    if (seen_open(args->operands[0], &options, SEEN_READ_ONLY, &from, &error) != SEEN_OK)
        return sn_message_report(&error);
    seen_status status =
        seen_copy(from, args->operands[1], own->replace ? SEEN_REPLACE : 0, &options, &error);
    seen_close(from);
    return status == SEEN_OK ? SN_EXIT_OK : sn_message_report(&error);
}

const sn_cli_command sn_cli_command_copy = {
    .name = "copy",
    .summary = "copy a filter between files and Redis",
    .synopsis = "[OPTION]... FROM TO",
    .about = "Copies a filter, bit for bit, from a file or Redis to another: the copy gives the "
             "same answers, and copied back it is the same bytes. TO appears complete or not at "
             "all; an existing one is unchanged unless --replace is given.",
    .operands = "FILTER",
    .min_operands = 2,
    .max_operands = 2,
    .own_size = sizeof(copy_own),
    .groups = {&own_group, &sn_group_redis, &sn_group_quiet},
    .examples = {{"A backup while other processes add keys", "seen copy urls.seen backup.seen",
                  "seen create -q urls.seen -n 1M"},
                 {"Share a file through Redis",
                  "seen copy urls.seen redis://localhost/urls --ttl 30d", "-"}},
    .run = run,
    .unmeasured = true,
    .at_once = true,
};
