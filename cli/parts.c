/* Commands below a command: `seen crawl status` is the part "status" of `seen crawl`. */
#include "cli/cli.h"

#include <string.h>

const char *sn_cli_part_word(const sn_cli_command *part)
{
    return strchr(part->name, ' ') + 1;
}

const sn_cli_command *sn_cli_part_find(const sn_cli_command *command, const char *word)
{
    for (size_t i = 0; command->parts && command->parts[i]; i++)
        if (!strcmp(sn_cli_part_word(command->parts[i]), word))
            return command->parts[i];
    return NULL;
}

const sn_cli_command *sn_cli_part_suggest(const sn_cli_command *command, const char *word)
{
    const char *words[32], *near;
    size_t count = 0;
    for (; command->parts && command->parts[count] && count < 31; count++)
        words[count] = sn_cli_part_word(command->parts[count]);
    words[count] = NULL;
    near = sn_suggest_word(word, words);
    return near ? sn_cli_part_find(command, near) : NULL;
}
