/* The manual pages of the commands, seen(1) and seen-NAME(1), in man(7), from the same tables as
 * --help. `seen help --man [COMMAND]` prints one; the build installs them. */
#include "cli/cli.h"

#include <ctype.h>
#include <string.h>

#define MAN_DATE "2026-11-15"

/* Escapes text for roff. `start`: a line begins here. */
static void put(FILE *out, const char *text, size_t len, bool start)
{
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (start && (c == '.' || c == '\''))
            fputs("\\&", out);
        start = c == '\n';
        switch (c) {
        case '\\':
            fputs("\\e", out);
            break;
        case '-':
            fputs("\\-", out);
            break;
        case '\'':
            fputs("\\(aq", out);
            break;
        case '`':
            fputs("\\(ga", out);
            break;
        case '~':
            fputs("\\(ti", out);
            break;
        case '^':
            fputs("\\(ha", out);
            break;
        default:
            putc(c, out);
        }
    }
}

static void put_text(FILE *out, const char *text)
{
    put(out, text, strlen(text), true);
}

/* Each sentence on a separate line, as usual in roff. */
static void put_sentences(FILE *out, const char *text)
{
    while (*text) {
        const char *end = text;
        while (*end && !(end[0] == '.' && end[1] == ' ' && isupper((unsigned char)end[2])))
            end++;
        size_t len = (size_t)(end - text) + (*end == '.');
        put(out, text, len, true);
        putc('\n', out);
        text += len;
        while (*text == ' ')
            text++;
    }
}

static void put_paragraphs(FILE *out, const char *text)
{
    for (bool first = true; *text; first = false) {
        const char *end = strstr(text, "\n\n");
        size_t len = end ? (size_t)(end - text) : strlen(text);
        char paragraph[4000];
        if (len >= sizeof paragraph)
            len = sizeof paragraph - 1;
        memcpy(paragraph, text, len);
        paragraph[len] = 0;
        if (!first)
            fputs(".PP\n", out);
        put_sentences(out, paragraph);
        text += len;
        while (*text == '\n')
            text++;
    }
}

static void put_head(FILE *out, const char *page)
{
    fputs(".TH ", out);
    for (; *page; page++)
        fputs(*page == '-' ? "\\-" : (char[]){(char)toupper((unsigned char)*page), 0}, out);
    fprintf(out, " 1 \"%s\" \"seen %s\" \"User Commands\"\n", MAN_DATE, seen_version());
}

static void put_option(FILE *out, const sn_option *option)
{
    fputs(".TP\n", out);
    if (option->letter)
        fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", out);
    put(out, option->name, strlen(option->name), false);
    fputs("\\fR", out);
    const char *argument = sn_option_argument(option);
    if (argument) {
        bool maybe = option->type == SN_MAYBE;
        fputs(maybe ? "[=\\fI" : " \\fI", out);
        put(out, argument, strlen(argument), false);
        fputs(maybe ? "\\fR]" : "\\fR", out);
    }
    putc('\n', out);
    char first[400];
    snprintf(first, sizeof first, option->preset ? "%c%s (default %s)." : "%c%s.",
             toupper((unsigned char)option->help[0]), option->help + 1, option->preset);
    put_sentences(out, first);
    if (option->more)
        put_sentences(out, option->more);
}

static void put_options(FILE *out, const sn_cli_command *command)
{
    const sn_option *option;
    const sn_group *group;
    const char *title = "";
    fputs(".SH OPTIONS\n", out);
    for (size_t i = 0; (option = sn_option_at(command, i, &group)); i++) {
        if (strcmp(group->title, title) != 0)
            fprintf(out, ".SS %s\n", group->title);
        title = group->title;
        put_option(out, option);
    }
}

static void put_examples(FILE *out, const sn_cli_command *command)
{
    for (size_t i = 0; i < SN_MAX_EXAMPLES && command->examples[i].command; i++) {
        fputs(i ? ".PP\n" : ".SH EXAMPLES\n", out);
        put_text(out, command->examples[i].text);
        bool question = strchr(command->examples[i].text, '?') != NULL;
        fputs(question ? "\n.PP\n.EX\n" : ":\n.PP\n.EX\n", out);
        fputs("    ", out);
        for (const char *c = command->examples[i].command; *c; c++) {
            put(out, c, 1, false);
            if (*c == '\n')
                fputs("    ", out);
        }
        fputs("\n.EE\n", out);
    }
}

/* The parts of a command, each with the options that the command does not have. */
static void put_parts(FILE *out, const sn_cli_command *command)
{
    const sn_option *option, *other;
    if (command->parts)
        fputs(".SH SUBCOMMANDS\n", out);
    for (size_t p = 0; command->parts && command->parts[p]; p++) {
        const sn_cli_command *part = command->parts[p];
        fprintf(out, ".SS seen %s ", part->name);
        put_text(out, part->synopsis);
        putc('\n', out);
        put_paragraphs(out, part->about);
        for (size_t i = 0; (option = sn_option_at(part, i, NULL)); i++) {
            size_t k = 0;
            while (
                (other = sn_option_at(command, k, NULL)) &&
                (strcmp(other->name, option->name) != 0 || strcmp(other->help, option->help) != 0))
                k++;
            if (!other)
                put_option(out, option);
        }
    }
}

static void put_see_also(FILE *out, const sn_cli_command *but)
{
    fputs(".SH SEE ALSO\n", out);
    if (but)
        fputs(".BR seen (1),\n", out);
    for (size_t i = 0; i < sn_commands_total; i++)
        if (sn_commands[i] != but && !sn_commands[i]->hidden)
            fprintf(out, ".BR seen\\-%s (1),\n", sn_commands[i]->name);
    fputs(".BR libseen (3),\n.BR seen\\-format (5)\n", out);
}

static void man_page(FILE *out, const sn_cli_command *command)
{
    char page[64];
    snprintf(page, sizeof page, "seen-%s", command->name);
    put_head(out, page);
    fprintf(out, ".SH NAME\nseen\\-%s \\- ", command->name);
    put_text(out, command->summary);
    fprintf(out, "\n.SH SYNOPSIS\n.B seen %s\n", command->name);
    for (const char *line = command->synopsis; *line;) {
        size_t len = strcspn(line, "\n");
        put(out, line, len, true);
        line += len;
        if (*line == '\n') {
            fputs("\n.br\n.B seen\n", out);
            line++;
        }
    }
    fputs("\n.SH DESCRIPTION\n", out);
    put_paragraphs(out, command->about);
    put_options(out, command);
    put_examples(out, command);
    put_parts(out, command);
    fputs(".SH EXIT STATUS\n", out);
    put_paragraphs(out, command->exit_text
                            ? command->exit_text
                            : "0 on success, 2 on errors, with a message on standard error. A "
                              "reader that closes the pipe early is not an error.");
    put_see_also(out, command);
}

static const char about_seen[] =
    "seen removes duplicates from huge files, compares them, and crawls web sites, fetching each "
    "URL once. uniq, count, common and except are exact by default and work in bounded memory. A "
    "FILTER (a Bloom filter in a file or in Redis) remembers keys in a few bits each: a key "
    "reported as new is certainly new; a key reported as seen may be a false positive, at an error "
    "rate that you choose.";

static const char about_filters[] =
    "FILTER is the path of a file, or the address of a filter in Redis: "
    "redis://[user:password@]host[:port][/db]/NAME, redis-cluster:// for a cluster, redis+unix:// "
    "for a socket; rediss:// and rediss-cluster:// with TLS. A file "
    "may be used by several processes at once.";

static const char about_numbers[] =
    "Counts may be written 5e9, 100M or 20k: k, M, G and T are powers of 1000. Sizes may be "
    "written 120MB (powers of 1000), 4GiB (powers of 1024) or 64K (bare letters are powers of "
    "1024, as in sort -S). Rates may be written 0.01, 1% or 1e-6; times 500ms, 2s, 5m, 12h, 30d or "
    "2w; a bare number is seconds.\n\n"
    "A negative number, infinity, or an unknown unit is refused.";

static const char about_output[] =
    "Results go to standard output, messages to standard error. Control characters in names are "
    "escaped in messages. Ctrl-C ends a command cleanly: filters stay usable, output files are "
    "complete or unchanged, and a message says how far it got; a second Ctrl-C ends it at once. "
    "SIGTERM and, unless nohup(1) started the command, SIGHUP do the same.";

static void man_overview(FILE *out)
{
    put_head(out, "seen");
    fputs(".SH NAME\nseen \\- have I seen this before?\n.SH SYNOPSIS\n.B seen\n"
          ".I COMMAND\n[\\fIOPTION\\fR]... [\\fIOPERAND\\fR]...\n.br\n"
          ".B seen help\n[\\fICOMMAND\\fR]\n.br\n.B seen \\-\\-version\n.SH DESCRIPTION\n",
          out);
    put_paragraphs(out, about_seen);
    fputs(".SH COMMANDS\n", out);
    for (size_t i = 0; i < sn_commands_total; i++) {
        const sn_cli_command *command = sn_commands[i];
        if (command->hidden)
            continue;
        fprintf(out, ".TP\n.BR seen\\-%s (1)\n", command->name);
        put_text(out, command->summary);
        putc('\n', out);
    }
    fputs(".SH FILTERS\n", out);
    put_paragraphs(out, about_filters);
    fputs(".SH NUMBERS\n", out);
    put_paragraphs(out, about_numbers);
    fputs(".SH OUTPUT\n", out);
    put_paragraphs(out, about_output);
    fputs(".SH EXIT STATUS\n.TP\n.B 0\nDone; for\n.BR seen\\-check (1):\nsomething was seen (with "
          "\\fB\\-v\\fR: something was not).\n"
          ".TP\n.B 1\n.BR seen\\-check (1)\nhas nothing to print.\n.TP\n.B 2\n"
          "An error, with a message that names the file or server and says what to do.\n.PP\n"
          "A command that is stopped by Ctrl-C or another signal prints a message and ends by that "
          "signal:\na shell shows 130 for Ctrl-C.\n.BR seen\\-crawl (1)\nfinishes the transfers in "
          "progress and ends with 0.\n"
          ".SH ENVIRONMENT\n.TP\n.B TMPDIR\n"
          "The folder for temporary files, unless \\fB\\-T\\fR names one.\n"
          ".TP\n.B REDISCLI_AUTH\n"
          "The Redis password, if the address has none.\n"
          ".TP\n.BR NO_COLOR \", \" TERM\n"
          "If NO_COLOR is set or TERM is dumb, there is no colour.\n",
          out);
    put_see_also(out, NULL);
}

int sn_man_command(FILE *out, const sn_cli_command *command)
{
    if (command)
        man_page(out, command);
    else
        man_overview(out);
    return SN_EXIT_OK;
}
