/* Any command line is parsed into values within their bounds, or refused with one line that is safe
 * to print. The input is words separated by NUL; the first is the command. */
#include "cli/cli.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x))                                                                                  \
            abort();                                                                               \
    } while (0)

enum { WORDS_MAX = 40, OUTPUT_MAX = 10000 };

static FILE *output_file;
static char output_text[OUTPUT_MAX];

/* From here on stderr is a memory file; a crash report still goes to the terminal. */
static void catch_stderr(void)
{
    output_file = fmemopen(output_text, sizeof output_text, "w");
    CHECK(output_file);
    stderr = output_file;
}

/* The message is one line, without terminal control characters. */
static void check_output(int status)
{
    CHECK(fflush(output_file) == 0);
    long end = ftell(output_file);
    CHECK((end == 0) == (status == SN_EXIT_OK));
    CHECK(end >= 0 && end < OUTPUT_MAX - 1);
    for (long i = 0; i < end; i++)
        CHECK(((unsigned char)output_text[i] >= 0x20 && output_text[i] != 0x7f) ||
              (output_text[i] == '\n' && i == end - 1));
    rewind(output_file);
}

static void check_value(const sn_option *option, const char *base)
{
    const void *at = base + option->offset;
    switch (option->type) {
    case SN_COUNT:
    case SN_SIZE:
    case SN_DURATION: {
        uint64_t value = *(const uint64_t *)at;
        CHECK(value >= option->min && (!option->max || value <= option->max));
        break;
    }
    case SN_RATE:
        CHECK(*(const double *)at > 0 && *(const double *)at < 1);
        break;
    case SN_SHARE:
        CHECK(*(const double *)at >= 0 && *(const double *)at <= 1);
        break;
    case SN_NUMBER:
        CHECK(*(const double *)at >= 0 && *(const double *)at <= DBL_MAX);
        break;
    case SN_CHAR:
        CHECK(*(const int *)at >= 0 && *(const int *)at < 256);
        break;
    case SN_CHOICE:
    case SN_MAYBE: {
        int choices = option->type == SN_MAYBE ? 2 : 0;
        for (const char *c = option->choices; c; c = strchr(c + 1, '|'))
            choices++;
        CHECK(*(const int *)at >= 0 && *(const int *)at < choices);
        break;
    }
    case SN_STRING:
        CHECK(*(const char *const *)at);
        break;
    case SN_LIST:
        CHECK(((const sn_args_list *)at)->count > 0);
        break;
    case SN_FLAG:
    case SN_SEED:
        break;
    }
}

static void check_args(const sn_args *args, int argc, bool help)
{
    const sn_option *option;
    const sn_group *group;
    CHECK(args->operand_count < (size_t)argc);
    CHECK(help || (args->operand_count >= args->command->min_operands &&
                   args->operand_count <= args->command->max_operands));
    for (size_t i = 0; (option = sn_option_at(args->command, i, &group)); i++)
        if (sn_args_given(args, option->name))
            check_value(option, group->own ? args->own : (const char *)args);
}

/* A formatted number parses to the same value. */
static void check_numbers(const char *word)
{
    char text[SN_TEXT];
    sn_number_error why;
    uint64_t value, again;
    double rate, rate_again;
    if (sn_number_parse_count(word, &value, &why)) {
        CHECK(sn_number_parse_count(sn_show_short(text, value), &again, &why) && again == value);
        /* A count without a suffix is the same number of bytes. */
        CHECK(strpbrk(word, "kKmMgGtTbB") ||
              (sn_number_parse_size(word, &again, &why) && again == value));
    }
    if (sn_number_parse_size(word, &value, &why))
        CHECK(sn_number_parse_size(sn_show_short_size(text, value), &again, &why) &&
              again == value);
    if (sn_number_parse_rate(word, &rate, &why)) {
        CHECK(sn_number_parse_rate(sn_show_short_rate(text, rate), &rate_again, &why));
        CHECK(rate_again / rate > 0.999999 && rate_again / rate < 1.000001);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *argv[WORDS_MAX + 1], *text;
    int argc = 0;
    if (!output_file)
        catch_stderr();
    if (size > 4096 || !(text = malloc(size + 1)))
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    for (size_t at = 0; at < size && argc < WORDS_MAX; at += strlen(text + at) + 1)
        argv[argc++] = text + at;
    argv[argc] = NULL;
    for (int i = 0; i < argc; i++)
        check_numbers(argv[i]);
    if (argc > 0) {
        const sn_cli_command *command = sn_commands_find(argv[0]);
        sn_args args;
        sn_help help = SN_HELP_NONE;
        int status = command ? sn_args_parse(command, argc, argv, &args, &help)
                             : sn_help_unknown_command(argv[0]);
        CHECK(status == SN_EXIT_OK || status == SN_EXIT_ERROR);
        if (command && status == SN_EXIT_OK)
            check_args(&args, argc, help);
        if (command)
            sn_args_free(&args);
        check_output(status);
    }
    free(text);
    return 0;
}
