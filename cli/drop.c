/* `seen drop`: deletes a filter. */
#include "base/text.h"
#include "cli/cli.h"

#include <string.h>
#include <unistd.h>

typedef struct drop_own {
    bool force;
} drop_own;

static const sn_option own_options[] = {
    {.letter = 'f',
     .name = "force",
     .type = SN_FLAG,
     .offset = offsetof(drop_own, force),
     .help = "do not ask",
     .more = "Required if standard input is not a terminal."},
};
static const sn_group own_group = {
    .title = "Removing", .options = own_options, .count = 1, .own = true};

/* Asks on the terminal; anything except y or yes means no. */
static bool confirm(const char *where)
{
    char answer[16] = "", shown[SN_WHERE], safe[4 * SN_WHERE];
    sn_where_show(shown, where);
    safe[sn_text_escape(safe, sizeof safe - 1, shown, strlen(shown))] = 0;
    /* In one write, so that typed characters do not appear in the middle. */
    fprintf(stderr, "seen: delete %s permanently? [y/N] ", safe);
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static int run(sn_args *args)
{
    const drop_own *own = args->own;
    char shown[SN_WHERE];
    seen_options options = sn_args_options(args);
    if (!own->force && !isatty(STDIN_FILENO))
        return sn_message_error("%s not removed: stdin is not a terminal; use --force",
                                sn_where_show(shown, args->operands[0]));
    for (size_t i = 0; i < args->operand_count; i++) {
        const char *where = args->operands[i];
        seen_error error = {0};
        if (!own->force && !confirm(where))
            return sn_message_error("%s not removed", sn_where_show(shown, where));
        if (seen_drop(where, &options, &error) != SEEN_OK)
            return sn_message_report(&error);
    }
    return SN_EXIT_OK;
}

const sn_cli_command sn_cli_command_drop = {
    .name = "drop",
    .summary = "delete a filter",
    .synopsis = "[OPTION]... FILTER...",
    .about = "Deletes filters: files, or all keys of a filter in Redis. Asks first; if standard "
             "input is not a terminal, it refuses without --force. What is not a filter is never "
             "deleted.",
    .operands = "FILTER",
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .own_size = sizeof(drop_own),
    .groups = {&own_group, &sn_group_timeout},
    .examples = {{"Delete without asking", "seen drop --force old.seen",
                  "seen create -q old.seen -n 1k"}},
    .run = run,
};
