/* The table of commands.
 *
 * To add one: write cli/NAME.c with `const sn_cli_command sn_cli_command_NAME = {...}` (merge.c is
 * a short one), declare it and add it to the table below, in the order of the overview. Help, the
 * man page seen-NAME(1) and completion are generated from it; a test runs its examples. Add
 * tests/cmd/NAME.sh. */
#include "cli/cli.h"

#include <string.h>

extern const sn_cli_command sn_cli_command_uniq;
extern const sn_cli_command sn_cli_command_count;
extern const sn_cli_command sn_cli_command_common;
extern const sn_cli_command sn_cli_command_except;
extern const sn_cli_command sn_cli_command_split;
extern const sn_cli_command sn_cli_command_plan;
extern const sn_cli_command sn_cli_command_create;
extern const sn_cli_command sn_cli_command_add;
extern const sn_cli_command sn_cli_command_check;
extern const sn_cli_command sn_cli_command_remove;
extern const sn_cli_command sn_cli_command_info;
extern const sn_cli_command sn_cli_command_merge;
extern const sn_cli_command sn_cli_command_copy;
extern const sn_cli_command sn_cli_command_rotate;
extern const sn_cli_command sn_cli_command_drop;
extern const sn_cli_command sn_cli_command_help;
#ifdef SEEN_WITH_CRAWL
extern const sn_cli_command sn_cli_command_crawl;
#endif

const sn_cli_command *const sn_commands[] = {
    &sn_cli_command_uniq,  &sn_cli_command_count,  &sn_cli_command_common, &sn_cli_command_except,
    &sn_cli_command_split, &sn_cli_command_plan,   &sn_cli_command_create, &sn_cli_command_add,
    &sn_cli_command_check, &sn_cli_command_remove, &sn_cli_command_info,   &sn_cli_command_merge,
    &sn_cli_command_copy,  &sn_cli_command_rotate, &sn_cli_command_drop,
#ifdef SEEN_WITH_CRAWL
    &sn_cli_command_crawl,
#endif
    &sn_cli_command_help,
};

/* NOLINTNEXTLINE(bugprone-sizeof-expression): a table of pointers */
const size_t sn_commands_total = sizeof sn_commands / sizeof *sn_commands;

const sn_cli_command *sn_commands_find(const char *name)
{
    for (size_t i = 0; i < sn_commands_total; i++)
        if (!strcmp(sn_commands[i]->name, name))
            return sn_commands[i];
    return NULL;
}
