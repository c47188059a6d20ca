/* Help: the overview, a command's page, and `seen help` itself. */
#include "cli/cli.h"

#include <string.h>

enum { WIDTH = 79, OPTION_COLUMN = 28 };

/* Prints words wrapped at WIDTH, the first line starting at column `at`, the others indented. A
 * line that begins with a space is kept as it is. */
static void wrap(FILE *out, const char *text, size_t at, size_t indent)
{
    while (*text) {
        size_t word = strcspn(text, " \n");
        if (at > indent && at + 1 + word > WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (at > indent && word) {
            putc(' ', out);
            at++;
        }
        fwrite(text, 1, word, out);
        at += word;
        text += word;
        if (*text == '\n') {
            fputs(text[1] == '\n' ? "\n\n" : "\n", out);
            text += text[1] == '\n' ? 2 : 1;
            fprintf(out, "%*s", (int)indent, "");
            at = indent;
        } else if (*text == ' ') {
            text++;
        }
    }
    putc('\n', out);
}

static void print_option(FILE *out, const sn_option *option)
{
    char left[100];
    const char *equals = option->type == SN_MAYBE ? "[=" : option->argument ? " " : "";
    int at = snprintf(left, sizeof left, "  %c%c%c --%s%s%s%s", option->letter ? '-' : ' ',
                      option->letter ? option->letter : ' ', option->letter ? ',' : ' ',
                      option->name, equals, option->argument ? option->argument : "",
                      option->type == SN_MAYBE ? "]" : "");
    fputs(left, out);
    if (at >= OPTION_COLUMN) {
        fprintf(out, "\n%*s", OPTION_COLUMN, "");
        at = OPTION_COLUMN;
    } else {
        fprintf(out, "%*s", OPTION_COLUMN - at, "");
        at = OPTION_COLUMN;
    }
    wrap(out, option->help, (size_t)at, OPTION_COLUMN);
}

static void print_heading(FILE *out, const char *title)
{
    char on[16], off[16];
    fprintf(out, "\n%s%s:%s\n", sn_color(out, "1", on), title, sn_color(out, "", off));
}

/* The last options of a group by name only, in one or two lines. */
static void print_brief(FILE *out, const sn_command *command, const sn_group *group)
{
    char names[400], *at = names;
    char *end = names + sizeof names;
    for (size_t i = group->count - group->brief; i < group->count && at < end; i++)
        at += snprintf(at, (size_t)(end - at), "--%s, ", group->options[i].name);
    if (at < end)
        snprintf(at, (size_t)(end - at), "see man seen-%s", command->name);
    fputs("  ", out);
    wrap(out, names, 2, 2);
}

static void print_options(FILE *out, const sn_command *command)
{
    const sn_option *option;
    const sn_group *group, *last = NULL;
    const char *title = "";
    for (size_t i = 0; (option = sn_command_option(command, i, &group)); i++) {
        if (strcmp(group->title, title) != 0)
            print_heading(out, group->title);
        title = group->title;
        if (option < group->options + (group->count - group->brief))
            print_option(out, option);
        else if (group != last) {
            print_brief(out, command, group);
            last = group;
        }
    }
}

/* A page of help: the first paragraph of the description, the options, the examples. The manual has
 * the rest. */
int sn_help_command(FILE *out, const sn_command *command)
{
    char about[2000];
    const char *end = strstr(command->about, "\n\n");
    size_t length = end ? (size_t)(end - command->about) : strlen(command->about);
    snprintf(about, sizeof about, "%.*s", (int)length, command->about);
    fprintf(out, "Usage: seen %s %s\n\n", command->name, command->synopsis);
    wrap(out, about, 0, 0);
    print_options(out, command);
    print_heading(out, "Examples");
    for (size_t i = 0; i < SN_MAX_EXAMPLES && command->examples[i].command; i++)
        fprintf(out, "  # %s\n  %s\n", command->examples[i].text, command->examples[i].command);
    fprintf(out, "\nMore: man seen-%s\n", command->name);
    return SN_EXIT_OK;
}

int sn_help_overview(FILE *out)
{
    fputs("Usage: seen COMMAND [OPTION]... [OPERAND]...\n\n"
          "Removes duplicates, compares huge files, keeps sets of keys in files and Redis,\n"
          "and crawls web sites.\n",
          out);
    print_heading(out, "Commands");
    for (size_t i = 0; i < sn_commands_total; i++)
        if (!sn_commands[i]->hidden)
            fprintf(out, "  %-9s %s\n", sn_commands[i]->name, sn_commands[i]->summary);
    fputs("\nFILTER is a file, or redis://[user:password@]host[:port][/db]/NAME.\n"
          "Numbers may be written 5e9, 100M, 1%, 4GiB.\n",
          out);
    print_heading(out, "Start here");
    fputs("  seen uniq big.txt > unique.txt   # remove duplicates, keep the order\n"
          "  seen common a.txt b.txt          # lines that are in both files\n"
          "  seen help uniq                   # everything about one command\n",
          out);
    return SN_EXIT_OK;
}

/* ---- The command `help` ---------------------------------------------------------------------- */

typedef struct help_own {
    bool man;
    bool examples;
    int completion;
} help_own;

static const sn_option own_options[] = {
    {.name = "man",
     .type = SN_FLAG,
     .offset = offsetof(help_own, man),
     .help = "print the manual page itself (roff)"},
    {.name = "completion",
     .argument = "SHELL",
     .type = SN_CHOICE,
     .offset = offsetof(help_own, completion),
     .choices = "bash|zsh|fish",
     .help = "print a completion script for bash, zsh or fish"},
    {.name = "examples",
     .type = SN_FLAG,
     .offset = offsetof(help_own, examples),
     .help = "print all examples, for tests",
     .more = "Three lines each: the command, its setup, and the example. A setup of - marks an "
             "example that needs a server."},
};
static const sn_group own_group = {
    .title = "For packagers", .options = own_options, .count = 3, .own = true};

int sn_unknown_command(const char *name)
{
    const char *names[64], *near;
    size_t count = 0;
    for (size_t i = 0; i < sn_commands_total && count < 63; i++)
        names[count++] = sn_commands[i]->name;
    names[count] = NULL;
#ifndef SEEN_WITH_CRAWL
    if (!strcmp(name, "crawl"))
        return sn_trouble("this build has no crawler; rebuild with -DSEEN_WITH_CRAWL=ON");
#endif
    near = sn_suggest(name, names);
    if (near)
        return sn_trouble("unknown command '%s'; did you mean '%s'?", name, near);
    return sn_trouble("unknown command '%s'; 'seen help' lists the commands", name);
}

static void print_examples(FILE *out)
{
    for (size_t i = 0; i < sn_commands_total; i++) {
        const sn_command *command = sn_commands[i];
        for (size_t e = 0; e < SN_MAX_EXAMPLES && command->examples[e].command; e++)
            fprintf(out, "%s\n%s\n%s\n", command->name,
                    command->examples[e].setup ? command->examples[e].setup : "",
                    command->examples[e].command);
    }
}

static int run(sn_args *args)
{
    static const char *const shells[] = {"bash", "zsh", "fish"};
    const help_own *own = args->own;
    const sn_command *command = NULL;
    if (args->operand_count) {
        command = sn_command_find(args->operands[0]);
        if (!command)
            return sn_unknown_command(args->operands[0]);
    }
    if (sn_args_given(args, "completion"))
        sn_completion(stdout, shells[own->completion]);
    else if (own->examples)
        print_examples(stdout);
    else if (own->man)
        sn_man_command(stdout, command);
    else if (command)
        sn_help_command(stdout, command);
    else
        sn_help_overview(stdout);
    return sn_finish_stdout(SN_EXIT_OK);
}

const sn_command sn_command_help = {
    .name = "help",
    .summary = "explain a command",
    .synopsis = "[COMMAND]",
    .about = "Explains COMMAND: what it does, its options, a few examples. Without one, lists the "
             "commands. 'seen COMMAND --help' is the same.",
    .operands = "COMMAND",
    .max_operands = 1,
    .own_size = sizeof(help_own),
    .groups = {&own_group},
    .examples = {{"All about seen uniq", "seen help uniq", NULL},
                 {"Let the shell complete commands and options (bash)",
                  "seen help --completion bash > seen.bash && . ./seen.bash", NULL}},
    .run = run,
};
