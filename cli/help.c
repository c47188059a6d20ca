/* Help: the overview, a command's page, and `seen help` itself. */
#include "cli/cli.h"

#include <string.h>

enum { WIDTH = 79, OPTION_COLUMN = 28 };

/* Prints text wrapped at WIDTH, the first line starting at column `at`, the others indented. A line
 * that begins with a space is printed unchanged. */
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

/* An option and its help, which begins at OPTION_COLUMN: in the next line if it does not fit. */
static void print_option(FILE *out, const sn_option *option)
{
    char left[100], help[400];
    const char *argument = sn_option_argument(option);
    bool maybe = option->type == SN_MAYBE;
    int at =
        snprintf(left, sizeof left, "  %c%c%c --%s%s%s%s", option->letter ? '-' : ' ',
                 option->letter ? option->letter : ' ', option->letter ? ',' : ' ', option->name,
                 maybe      ? "[="
                 : argument ? " "
                            : "",
                 argument ? argument : "", maybe ? "]" : "");
    int len = snprintf(help, sizeof help, "%s", option->help);
    if (option->preset)
        len += snprintf(help + len, sizeof help - (size_t)len, " (default %s)", option->preset);
    fputs(left, out);
    if (at < OPTION_COLUMN)
        at += fprintf(out, "%*s", OPTION_COLUMN - at, "");
    else if (at + 2 + len <= WIDTH)
        at += fprintf(out, "  ");
    else
        at = fprintf(out, "\n%*s", OPTION_COLUMN, "") - 1;
    wrap(out, help, (size_t)at, at > OPTION_COLUMN ? (size_t)at : OPTION_COLUMN);
}

static void print_heading(FILE *out, const char *title)
{
    char on[16], off[16];
    fprintf(out, "\n%s%s:%s\n", sn_message_color(out, "1", on), title,
            sn_message_color(out, "", off));
}

/* The options from number `first` on that have the same heading; returns the number after them. */
static size_t section_end(const sn_cli_command *command, size_t first, size_t *usual)
{
    const sn_option *option;
    const sn_group *group;
    const char *title = NULL;
    size_t i = first;
    for (*usual = 0; (option = sn_option_at(command, i, &group)); i++) {
        if (title && strcmp(group->title, title) != 0)
            break;
        title = group->title;
        *usual += !option->rare;
    }
    return i;
}

/* "  also --a, --b": the rare options of a section by name only. */
static void print_rare(FILE *out, const sn_cli_command *command, size_t first, size_t end)
{
    char names[600] = "also";
    size_t len = strlen(names);
    for (size_t i = first; i < end && len < sizeof names; i++) {
        const sn_option *option = sn_option_at(command, i, NULL);
        if (option->rare)
            len += (size_t)snprintf(names + len, sizeof names - len, "%s --%s", len > 4 ? "," : "",
                                    option->name);
    }
    if (len == 4)
        return;
    fputs("  ", out);
    wrap(out, names, 2, 2);
}

/* Section by section. The usual page names the rare options only, and a section that has no others
 * only by its title, in the last line. */
static void print_options(FILE *out, const sn_cli_command *command, bool all)
{
    const sn_group *group;
    for (size_t i = 0, end, usual; sn_option_at(command, i, &group); i = end) {
        end = section_end(command, i, &usual);
        if (!usual && !all)
            continue;
        print_heading(out, group->title);
        for (size_t j = i; j < end; j++) {
            const sn_option *option = sn_option_at(command, j, NULL);
            if (all || !option->rare)
                print_option(out, option);
        }
        if (!all)
            print_rare(out, command, i, end);
    }
}

static void print_examples_of(FILE *out, const sn_cli_command *command, bool all)
{
    print_heading(out, "Examples");
    for (size_t i = 0; i < SN_MAX_EXAMPLES && command->examples[i].command; i++) {
        const sn_example *example = &command->examples[i];
        if (!all && i == 2)
            break;
        if (strlen(example->command) + strlen(example->text) + 6 <= WIDTH)
            fprintf(out, "  %s  # %s\n", example->command, example->text);
        else
            fprintf(out, "  # %s\n  %s\n", example->text, example->command);
    }
}

/* Where the rest is: "More (Redis and TLS): ...". */
static void print_more(FILE *out, const sn_cli_command *command, bool all)
{
    const sn_group *group;
    const char *hidden = NULL;
    for (size_t i = 0, usual; sn_option_at(command, i, &group) && !all;) {
        i = section_end(command, i, &usual);
        if (!usual)
            hidden = group->title;
    }
    fprintf(out, "\n%s%s: ", hidden ? hidden : "More", hidden ? ", and more" : "");
    if (!all)
        fprintf(out, "seen %s --help=all, ", command->name);
    /* A part is explained on the page of its command. */
    fprintf(out, "man seen-%.*s\n", (int)strcspn(command->name, " "), command->name);
}

/* A page of help: the first paragraph of the description, the usual options, two examples. With
 * SN_HELP_ALL every option and example. The manual has the rest. */
int sn_help_command(FILE *out, const sn_cli_command *command, sn_help which)
{
    char about[2000];
    bool all = which == SN_HELP_ALL;
    const char *end = strstr(command->about, "\n\n");
    size_t length = end ? (size_t)(end - command->about) : strlen(command->about);
    snprintf(about, sizeof about, "%.*s", (int)length, command->about);
    fprintf(out, "Usage: seen %s ", command->name);
    for (const char *c = command->synopsis; *c; c++)
        fputs(*c == '\n' ? "\n       seen " : (char[]){*c, 0}, out);
    fputs("\n\n", out);
    wrap(out, about, 0, 0);
    print_options(out, command, all);
    print_examples_of(out, command, all);
    print_more(out, command, all);
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
    bool all;
    bool examples;
    int completion;
} help_own;

static const sn_option own_options[] = {
    {.name = "all",
     .type = SN_FLAG,
     .offset = offsetof(help_own, all),
     .help = "explain every option of COMMAND"},
    {.name = "man",
     .type = SN_FLAG,
     .offset = offsetof(help_own, man),
     .help = "print the manual page itself (roff)"},
    {.name = "completion",
     .type = SN_CHOICE,
     .offset = offsetof(help_own, completion),
     .choices = "bash|zsh|fish",
     .help = "print a completion script"},
    {.name = "examples",
     .type = SN_FLAG,
     .offset = offsetof(help_own, examples),
     .help = "print all examples, for tests",
     .more = "Three lines each: the command, its setup, and the example. A setup of - marks an "
             "example that needs a server."},
};
static const sn_group own_group = {.title = "What to print",
                                   .options = own_options,
                                   .count = sizeof own_options / sizeof *own_options,
                                   .own = true};

/* What other tools call these jobs. */
static const char *other_name(const char *name)
{
    static const char *const same[][2] = {
        {"dedup", "uniq"},      {"dedupe", "uniq"},       {"distinct", "uniq"},
        {"unique", "uniq"},     {"top", "count"},         {"freq", "count"},
        {"frequency", "count"}, {"intersect", "common"},  {"intersection", "common"},
        {"semijoin", "common"}, {"join", "common"},       {"comm", "common"},
        {"diff", "except"},     {"difference", "except"}, {"minus", "except"},
        {"subtract", "except"}, {"antijoin", "except"},   {"exclude", "except"},
        {"partition", "split"}, {"shard", "split"},       {"size", "plan"},
        {"new", "create"},      {"init", "create"},       {"insert", "add"},
        {"contains", "check"},  {"has", "check"},         {"test", "check"},
        {"exists", "check"},    {"lookup", "check"},      {"stats", "info"},
        {"show", "info"},       {"union", "merge"},       {"delete", "remove' or 'drop"},
        {"rm", "drop"},         {"spider", "crawl"},      {"version", "--version"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (!strcmp(name, same[i][0]))
            return same[i][1];
    return NULL;
}

int sn_help_unknown_command(const char *name)
{
    const char *names[64], *near;
    size_t count = 0;
    for (size_t i = 0; i < sn_commands_total && count < 63; i++)
        names[count++] = sn_commands[i]->name;
    names[count] = NULL;
#ifndef SEEN_WITH_CRAWL
    if (!strcmp(name, "crawl"))
        return sn_message_error("this build has no crawler; rebuild with -DSEEN_WITH_CRAWL=ON");
#endif
    near = other_name(name);
    if (!near)
        near = sn_suggest_word(name, names);
    if (near)
        return sn_message_error("unknown command '%s'; did you mean '%s'?", name, near);
    return sn_message_error("unknown command '%s'; 'seen help' lists the commands", name);
}

static int unknown_part(const sn_cli_command *command, const char *word)
{
    const sn_cli_command *near = sn_cli_part_suggest(command, word);
    if (near)
        return sn_message_error("unknown command '%s %s'; did you mean '%s'?", command->name, word,
                                near->name);
    return sn_message_error("unknown command '%s %s'; 'seen help %s' explains %s", command->name,
                            word, command->name, command->name);
}

static void print_examples(FILE *out)
{
    for (size_t i = 0; i < sn_commands_total; i++) {
        const sn_cli_command *command = sn_commands[i];
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
    const sn_cli_command *command = NULL;
    if (args->operand_count) {
        command = sn_commands_find(args->operands[0]);
        if (!command)
            return sn_help_unknown_command(args->operands[0]);
    }
    if (args->operand_count > 1) {
        const sn_cli_command *part = sn_cli_part_find(command, args->operands[1]);
        if (!part)
            return unknown_part(command, args->operands[1]);
        command = part;
    }
    if (sn_args_given(args, "completion"))
        sn_completion_print(stdout, shells[own->completion]);
    else if (own->examples)
        print_examples(stdout);
    else if (own->man)
        sn_man_command(stdout, command);
    else if (command)
        sn_help_command(stdout, command, own->all ? SN_HELP_ALL : SN_HELP_PAGE);
    else
        sn_help_overview(stdout);
    return sn_message_finish_stdout(SN_EXIT_OK);
}

const sn_cli_command sn_cli_command_help = {
    .name = "help",
    .summary = "explain a command",
    .synopsis = "[COMMAND]",
    .about = "Explains COMMAND: what it does, its options, a few examples. Without one, lists the "
             "commands. 'seen COMMAND --help' is the same.",
    .operands = "COMMAND",
    .max_operands = 2,
    .own_size = sizeof(help_own),
    .groups = {&own_group},
    .examples = {{"All about seen uniq", "seen help uniq", NULL},
                 {"Let the shell complete commands and options (bash)",
                  "seen help --completion bash > seen.bash && . ./seen.bash", NULL}},
    .run = run,
};
