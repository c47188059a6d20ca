/* Completion scripts for bash, zsh and fish, from the tables. */
#include "cli/cli.h"

#include <string.h>

/* Calls `put` for every command that is shown. */
static void each_command(FILE *out, void (*put)(FILE *out, const sn_cli_command *command))
{
    for (size_t i = 0; i < sn_commands_total; i++)
        if (!sn_commands[i]->hidden)
            put(out, sn_commands[i]);
}

/* The same, and for their parts. */
static void each_part(FILE *out, void (*put)(FILE *out, const sn_cli_command *command))
{
    for (size_t i = 0; i < sn_commands_total; i++) {
        if (sn_commands[i]->hidden)
            continue;
        put(out, sn_commands[i]);
        for (size_t p = 0; sn_commands[i]->parts && sn_commands[i]->parts[p]; p++)
            put(out, sn_commands[i]->parts[p]);
    }
}

static void put_name(FILE *out, const sn_cli_command *command)
{
    fprintf(out, "%s ", command->name);
}

/* In a script: crawl, crawl-status. */
static void put_key(FILE *out, const sn_cli_command *command)
{
    for (const char *c = command->name; *c; c++)
        putc(*c == ' ' ? '-' : *c, out);
}

/* "crawl-status|crawl-pause": what the first two words may be. */
static void put_keys(FILE *out, const sn_cli_command *command)
{
    if (!strchr(command->name, ' '))
        return;
    put_key(out, command);
    putc('|', out);
}

/* The second words of the parts of a command. */
static void put_parts(FILE *out, const sn_cli_command *command)
{
    for (size_t p = 0; command->parts && command->parts[p]; p++)
        fprintf(out, "%s%s", p ? " " : "", sn_cli_part_word(command->parts[p]));
}

typedef enum offer { NOTHING, FILES, FOLDERS, WORDS } offer;

/* What follows an option. */
static offer offer_of(const sn_option *option)
{
    if (option->type == SN_CHOICE || option->type == SN_MAYBE)
        return WORDS;
    if (option->choices && !strcmp(option->choices, "DIR"))
        return FOLDERS;
    if (option->choices && !strcmp(option->choices, "FILE"))
        return FILES;
    return NOTHING;
}

static bool takes_word(const sn_option *option)
{
    return option->type != SN_FLAG && option->type != SN_MAYBE;
}

/* Prints "a|b" as "a b". */
static void put_choices(FILE *out, const char *choices)
{
    for (; *choices; choices++)
        putc(*choices == '|' ? ' ' : *choices, out);
}

/* Text inside '…' of a shell; special characters of zsh in descriptions are omitted. */
static void put_quoted(FILE *out, const char *text, bool zsh)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else if (zsh && strchr("[]:", *text))
            fprintf(out, "\\%c", *text);
        else
            putc(*text, out);
    }
}

/* ---- bash ------------------------------------------------------------------------------------ */

static void bash_values(FILE *out, const sn_cli_command *command)
{
    const sn_option *option;
    fputs("            case $prev in\n", out);
    for (size_t i = 0; (option = sn_option_at(command, i, NULL)); i++) {
        if (option->type == SN_FLAG)
            continue;
        fputs("            ", out);
        if (option->letter && takes_word(option))
            fprintf(out, "-%c|", option->letter);
        fprintf(out, "--%s) ", option->name);
        if (!takes_word(option)) /* only after "=", which bash splits into a separate word */
            fputs("[ \"$equals\" ] || prev= ; ", out);
        if (offer_of(option) == WORDS) {
            fputs("words='", out);
            put_choices(out, option->choices);
            fputs("'", out);
        } else {
            fprintf(out, "words=%s",
                    offer_of(option) == FILES     ? "FILE"
                    : offer_of(option) == FOLDERS ? "DIR"
                                                  : "NOTHING");
        }
        fputs(" ;;\n", out);
    }
    fputs("            *) prev= ;;\n            esac ;;\n", out);
}

static void bash_command(FILE *out, const sn_cli_command *command)
{
    const sn_option *option;
    fputs("        ", out);
    put_key(out, command);
    fputs(")\n            options='", out);
    for (size_t i = 0; (option = sn_option_at(command, i, NULL)); i++) {
        if (option->letter)
            fprintf(out, "-%c ", option->letter);
        fprintf(out, "--%s ", option->name);
    }
    fprintf(out, "' operands='%s' parts='", command->operands);
    put_parts(out, command);
    fputs("'\n", out);
    bash_values(out, command);
}

static void complete_bash(FILE *out)
{
    fputs("# bash completion for seen\n"
          "_seen()\n{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local command=${COMP_WORDS[1]} equals= words= options= operands= parts=\n"
          "    if [ \"$cur\" = = ]; then\n        cur= equals=1\n"
          "    elif [ \"$prev\" = = ] && [ \"$COMP_CWORD\" -ge 2 ]; then\n"
          "        prev=${COMP_WORDS[COMP_CWORD-2]} equals=1\n    fi\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          out);
    each_command(out, put_name);
    fputs("--help --version' -- \"$cur\"))\n        return\n    fi\n"
          "    if [ \"$COMP_CWORD\" -gt 2 ]; then\n"
          "        case $command-${COMP_WORDS[2]} in\n        ",
          out);
    each_part(out, put_keys);
    fputs("-) command=$command-${COMP_WORDS[2]} ;;\n        esac\n    fi\n    case $command in\n",
          out);
    each_part(out, bash_command);
    fputs("        *) return ;;\n    esac\n"
          "    if [ \"$prev\" ] && [ \"$words\" ]; then\n"
          "        case $words in\n"
          "        NOTHING) COMPREPLY=() ;;\n"
          "        FILE) mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
          "        DIR) mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
          "        *) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
          "        esac\n"
          "    elif [[ $cur == -* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
          "    elif [ \"$parts\" ] && [ \"$COMP_CWORD\" -eq 2 ]; then\n"
          "        COMPREPLY=($(compgen -W \"$parts\" -- \"$cur\"))\n"
          "    elif [ \"$operands\" = COMMAND ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          out);
    each_command(out, put_name);
    fputs("' -- \"$cur\"))\n"
          "    elif [ \"$operands\" ]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
          "    fi\n}\n"
          "complete -o filenames -F _seen seen\n",
          out);
}

/* ---- zsh ------------------------------------------------------------------------------------- */

static void zsh_option(FILE *out, const sn_option *option)
{
    char names[100];
    if (option->letter)
        snprintf(names, sizeof names, "'(-%c --%s)'{-%c%s,--%s%s}'", option->letter, option->name,
                 option->letter, takes_word(option) ? "+" : "", option->name,
                 takes_word(option) ? "=" : "");
    else
        snprintf(names, sizeof names, "'--%s%s", option->name,
                 takes_word(option)         ? "="
                 : option->type == SN_MAYBE ? "=-"
                                            : "");
    fprintf(out, "            %s[", names);
    put_quoted(out, option->help, true);
    fputs("]", out);
    if (option->type != SN_FLAG) {
        fprintf(out, "%s%s:", option->type == SN_MAYBE ? "::" : ":", sn_option_argument(option));
        switch (offer_of(option)) {
        case WORDS:
            putc('(', out);
            put_choices(out, option->choices);
            putc(')', out);
            break;
        case FILES:
            fputs("_files", out);
            break;
        case FOLDERS:
            fputs("_files -/", out);
            break;
        case NOTHING:
            break;
        }
    }
    fputs("' \\\n", out);
}

static void zsh_summary(FILE *out, const sn_cli_command *command)
{
    fprintf(out, "        '%s:", command->name);
    put_quoted(out, command->summary, true);
    fputs("'\n", out);
}

static void zsh_command(FILE *out, const sn_cli_command *command)
{
    const sn_option *option;
    fputs("        ", out);
    put_key(out, command);
    fputs(") _arguments -s \\\n", out);
    for (size_t i = 0; (option = sn_option_at(command, i, NULL)); i++)
        zsh_option(out, option);
    if (command->parts) {
        fputs("            '1:operand:(", out);
        put_parts(out, command);
        fputs(")' ;;\n", out);
        return;
    }
    fprintf(out, "            %s ;;\n",
            !command->operands[0]                   ? "&& return"
            : !strcmp(command->operands, "COMMAND") ? "'1:command:_seen_commands'"
                                                    : "'*:operand:_files'");
}

static void complete_zsh(FILE *out)
{
    fputs("#compdef seen\n"
          "_seen_commands()\n{\n    local -a commands\n    commands=(\n",
          out);
    each_command(out, zsh_summary);
    fputs(
        "    )\n    _describe command commands\n}\n\n"
        "_seen()\n{\n"
        "    local curcontext=$curcontext state line command\n"
        "    _arguments -C '(- *)--help[list the commands]' '(- *)--version[show the version]' \\\n"
        "        '1:command:_seen_commands' '*::operand:->operands'\n"
        "    [[ $state == operands ]] || return\n"
        "    command=$words[1]\n"
        "    if (( CURRENT > 2 )); then\n"
        "        case $words[1]-$words[2] in\n        ",
        out);
    each_part(out, put_keys);
    fputs("-) command=$words[1]-$words[2]; shift words; (( CURRENT-- )) ;;\n        esac\n    fi\n"
          "    case $command in\n",
          out);
    each_part(out, zsh_command);
    fputs("    esac\n}\n\n_seen \"$@\"\n", out);
}

/* ---- fish ------------------------------------------------------------------------------------ */

/* Whether it is this command, or this part of one. */
static void put_fish_condition(FILE *out, const sn_cli_command *command)
{
    size_t first = strcspn(command->name, " ");
    fprintf(out, "__fish_seen_subcommand_from %.*s", (int)first, command->name);
    if (command->name[first])
        fprintf(out, "; and contains %s (commandline -opc)", sn_cli_part_word(command));
}

static void fish_option(FILE *out, const sn_cli_command *command, const sn_option *option)
{
    fputs("complete -c seen -n '", out);
    put_fish_condition(out, command);
    fputs("'", out);
    if (option->letter)
        fprintf(out, " -s %c", option->letter);
    fprintf(out, " -l %s", option->name);
    switch (offer_of(option)) {
    case WORDS:
        fprintf(out, "%s -a '", option->type == SN_MAYBE ? " -f" : " -x");
        put_choices(out, option->choices);
        putc('\'', out);
        break;
    case FILES:
        fputs(" -r -F", out);
        break;
    case FOLDERS:
        fputs(" -x -a '(__fish_complete_directories)'", out);
        break;
    case NOTHING:
        if (takes_word(option))
            fputs(" -x", out);
        break;
    }
    fputs(" -d '", out);
    put_quoted(out, option->help, false);
    fputs("'\n", out);
}

/* Its second word, and the options that the command itself does not have. */
static void fish_part(FILE *out, const sn_cli_command *command, const sn_cli_command *part)
{
    const sn_option *option, *other;
    fprintf(out, "complete -c seen -n '__fish_seen_subcommand_from %s' -a %s -d '", command->name,
            sn_cli_part_word(part));
    put_quoted(out, part->summary, false);
    fputs("'\n", out);
    for (size_t i = 0; (option = sn_option_at(part, i, NULL)); i++) {
        size_t k = 0;
        while ((other = sn_option_at(command, k, NULL)) && strcmp(other->name, option->name) != 0)
            k++;
        if (!other)
            fish_option(out, part, option);
    }
}

static void fish_command(FILE *out, const sn_cli_command *command)
{
    const sn_option *option;
    fprintf(out, "complete -c seen -n __fish_use_subcommand -a %s -d '", command->name);
    put_quoted(out, command->summary, false);
    fputs("'\n", out);
    if (!command->operands[0] || !strcmp(command->operands, "COMMAND"))
        fprintf(out, "complete -c seen -n '__fish_seen_subcommand_from %s' -f\n", command->name);
    for (size_t i = 0; (option = sn_option_at(command, i, NULL)); i++)
        fish_option(out, command, option);
    for (size_t p = 0; command->parts && command->parts[p]; p++)
        fish_part(out, command, command->parts[p]);
}

static void complete_fish(FILE *out)
{
    fputs("# fish completion for seen\n"
          "complete -c seen -n __fish_use_subcommand -f\n"
          "complete -c seen -n __fish_use_subcommand -l help -d 'list the commands'\n"
          "complete -c seen -n __fish_use_subcommand -l version -d 'show the version'\n",
          out);
    each_command(out, fish_command);
}

int sn_completion_print(FILE *out, const char *shell)
{
    if (!strcmp(shell, "bash"))
        complete_bash(out);
    else if (!strcmp(shell, "zsh"))
        complete_zsh(out);
    else
        complete_fish(out);
    return SN_EXIT_OK;
}
