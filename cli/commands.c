/* The table of commands.
 *
 * How to add one: write cli/NAME.c with `const sn_command sn_command_NAME = {...}` (merge.c is a
 * short one), declare it and add it to the table below, in the order of the overview. Help, the man
 * page seen-NAME(1) and completion follow from it; a test runs its examples. Add
 * tests/cmd/NAME.sh. */
#include "cli/cli.h"

#include <string.h>

extern const sn_command sn_command_uniq __attribute__((weak));
extern const sn_command sn_command_common __attribute__((weak));
extern const sn_command sn_command_except __attribute__((weak));
extern const sn_command sn_command_plan __attribute__((weak));
extern const sn_command sn_command_create __attribute__((weak));
extern const sn_command sn_command_add __attribute__((weak));
extern const sn_command sn_command_check __attribute__((weak));
extern const sn_command sn_command_remove __attribute__((weak));
extern const sn_command sn_command_info __attribute__((weak));
extern const sn_command sn_command_merge __attribute__((weak));
extern const sn_command sn_command_copy __attribute__((weak));
extern const sn_command sn_command_rotate __attribute__((weak));
extern const sn_command sn_command_drop __attribute__((weak));
extern const sn_command sn_command_help __attribute__((weak));
#ifdef SEEN_WITH_CRAWL
extern const sn_command sn_command_crawl __attribute__((weak));
#endif

const sn_command *const sn_commands[] = {
    &sn_command_uniq,  &sn_command_common, &sn_command_except, &sn_command_plan, &sn_command_create,
    &sn_command_add,   &sn_command_check,  &sn_command_remove, &sn_command_info, &sn_command_merge,
    &sn_command_copy,  &sn_command_rotate, &sn_command_drop,
#ifdef SEEN_WITH_CRAWL
    &sn_command_crawl,
#endif
    &sn_command_help,
};

const size_t sn_command_count = sizeof sn_commands / sizeof *sn_commands;

const sn_command *sn_command_find(const char *name)
{
    for (size_t i = 0; i < sn_command_count; i++)
        if (sn_commands[i] && !strcmp(sn_commands[i]->name, name))
            return sn_commands[i];
    return NULL;
}
