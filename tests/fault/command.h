/* Runs a `seen` command in this process. */
#ifndef TESTS_FAULT_COMMAND_H
#define TESTS_FAULT_COMMAND_H

#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static inline int run_command(const char *words)
{
    enum { WORDS = 20 };
    char line[300], *argv[WORDS + 1] = {0};
    int argc = 0;
    snprintf(line, sizeof line, "%s", words);
    for (char *rest, *word = strtok_r(line, " ", &rest); word && argc < WORDS;
         word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    const sn_cli_command *command = sn_commands_find(argv[0]);
    sn_args args;
    sn_help help = SN_HELP_NONE;
    int status = sn_args_parse(command, argc, argv, &args, &help);
    if (status == 0)
        status = command->run(&args);
    sn_args_free(&args);
    return status;
}

#endif
