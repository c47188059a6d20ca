/* Parsing command lines, with a command defined for the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct own {
    bool flag;
    sn_args_list names;
    double speed;
    uint64_t wait_ms;
} own;

static const sn_option own_options[] = {
    {.letter = 'f', .name = "flag", .type = SN_FLAG, .offset = offsetof(own, flag), .help = "x"},
    {.letter = 'N',
     .name = "name",
     .argument = "X",
     .type = SN_LIST,
     .offset = offsetof(own, names),
     .help = "x"},
    {.name = "speed",
     .argument = "X",
     .type = SN_NUMBER,
     .offset = offsetof(own, speed),
     .help = "x"},
    {.name = "wait",
     .argument = "X",
     .type = SN_DURATION,
     .offset = offsetof(own, wait_ms),
     .min = 1000,
     .max = 60000,
     .help = "x"},
};
static const sn_group own_group = {.title = "Own", .options = own_options, .count = 4, .own = true};

static const sn_cli_command command = {
    .name = "trial",
    .summary = "",
    .synopsis = "[OPTION]... [FILE...]",
    .about = "",
    .operands = "FILE",
    .max_operands = 3,
    .own_size = sizeof(own),
    .groups = {&own_group, &sn_group_sizing, &sn_group_kind, &sn_group_seed, &sn_group_records,
               &sn_group_output, &sn_group_temp, &sn_group_threads, &sn_group_messages,
               &sn_group_json, &sn_group_redis},
};

/* Parses words separated by spaces; stderr goes to a file that `said` returns. */
static char output_text[2000];
static char words_copy[2000];

static int parse(const char *words, sn_args *args, sn_help *help)
{
    char *argv[64];
    char name[] = "trial";
    int argc = 1;
    argv[0] = name;
    snprintf(words_copy, sizeof words_copy, "%s", words);
    for (char *w = strtok(words_copy, " "); w; w = strtok(NULL, " "))
        argv[argc++] = w;
    argv[argc] = NULL;
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stderr);
    int keep = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    sn_help wanted = SN_HELP_NONE;
    int status = sn_args_parse(&command, argc, argv, args, &wanted);
    fflush(stderr);
    dup2(keep, STDERR_FILENO);
    close(keep);
    rewind(file);
    size_t got = fread(output_text, 1, sizeof output_text - 1, file);
    output_text[got] = 0;
    fclose(file);
    if (help)
        *help = wanted;
    return status;
}

static void spellings(void **state)
{
    (void)state;
    static const char *const same[] = {"-n 5e9",         "-n5e9",   "--capacity 5e9",
                                       "--capacity=5e9", "-zin5e9", "-n 1 -n 5e9"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        sn_args args;
        assert_int_equal(parse(same[i], &args, NULL), 0);
        assert_int_equal(args.capacity, 5000000000);
        assert_true(sn_args_given(&args, "capacity"));
        assert_false(sn_args_given(&args, "memory"));
        assert_string_equal(output_text, "");
        sn_args_free(&args);
    }
}

static void values(void **state)
{
    (void)state;
    sn_args args;
    assert_int_equal(
        parse("a -p 1% --kind counting -t \\t -k 3 --progress=json -m 4GiB b --hashes 7 -j 2 "
              "--growth=window --seed 42 --hash sip -o out -T /x --name q --ttl 2h "
              "-N r --speed 2.5 --wait 2s --when-full refuse -f -- -c",
              &args, NULL),
        0);
    const own *o = args.own;
    assert_true(args.error_rate == 0.01);
    assert_int_equal(args.kind, SEEN_COUNTING);
    assert_int_equal(args.growth, SEEN_WINDOW);
    assert_int_equal(args.delimiter, '\t');
    assert_int_equal(args.record.part[0].columns.first, 3);
    assert_int_equal(args.progress, 2);
    assert_int_equal(args.memory, UINT64_C(4) << 30);
    assert_int_equal(args.hashes, 7);
    assert_int_equal(args.threads, 2);
    assert_int_equal(args.hash, SEEN_SIPHASH);
    assert_int_equal(args.when_full, SEEN_FULL_REFUSE);
    assert_true(args.seed.given);
    assert_string_equal(args.output, "out");
    assert_string_equal(args.temp, "/x");
    assert_int_equal(args.ttl_ms, 7200000);
    assert_int_equal(o->names.count, 2);
    assert_string_equal(o->names.items[1], "r");
    assert_true(o->speed == 2.5);
    assert_true(o->flag);
    assert_int_equal(o->wait_ms, 2000);
    assert_int_equal(args.operand_count, 3);
    assert_string_equal(args.operands[0], "a");
    assert_string_equal(args.operands[1], "b");
    assert_string_equal(args.operands[2], "-c");
    assert_null(args.operands[3]);
    seen_options options = sn_args_options(&args);
    assert_int_equal(options.bits, UINT64_C(32) << 30);
    assert_int_equal(options.ttl_seconds, 7200);
    assert_int_equal(options.when_full, SEEN_FULL_REFUSE);
    sn_args_free(&args);
}

static void defaults(void **state)
{
    (void)state;
    sn_args args;
    assert_int_equal(parse("-", &args, NULL), 0);
    assert_int_equal(args.operand_count, 1);
    assert_int_equal(args.delimiter, -1);
    assert_int_equal(args.progress, 0);
    seen_options options = sn_args_options(&args);
    assert_int_equal(options.when_full, SEEN_FULL_REFUSE);
    assert_int_equal(options.growth, SEEN_FIXED);
    assert_false(options.seed_given);
    sn_args_free(&args);
    assert_int_equal(parse("--progress x", &args, NULL), 0);
    assert_int_equal(args.progress, 1);
    assert_int_equal(args.operand_count, 1);
    sn_args_free(&args);
    assert_int_equal(parse("--window 30d", &args, NULL), 0);
    options = sn_args_options(&args);
    assert_int_equal(options.growth, SEEN_WINDOW);
    assert_int_equal(options.window_seconds, 30 * 86400);
    sn_args_free(&args);
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *words, *output_text;
    } bad[] = {
        {"--capcity 5", "seen: trial has no option --capcity; did you mean --capacity?\n"},
        {"--capcity=5", "seen: trial has no option --capcity; did you mean --capacity?\n"},
        {"-t ,", "seen: -t separates fields: name the fields to compare with -k, as in -k 2\n"},
        {"-d ,", "seen: trial has no option -d; use -t (--delimiter) for the field separator\n"},
        {"--field 2", "seen: trial has no option --field; use -k (--key) for the field to "
                      "compare\n"},
        {"--xyzzy", "seen: trial has no option --xyzzy; 'seen help trial' lists them\n"},
        {"-x", "seen: trial has no option -x; 'seen help trial' lists them\n"},
        {"-zx", "seen: trial has no option -x; 'seen help trial' lists them\n"},
        {"-n", "seen: -n needs a value: -n KEYS\n"},
        {"--memory", "seen: --memory needs a value: --memory SIZE\n"},
        {"-n -1", "seen: -n: '-1' is negative\n"},
        {"-n 0", "seen: -n: '0' must be more than 0\n"},
        {"-m 10", "seen: -m: '10' is too small: at least 64 bytes\n"},
        {"--hashes 65", "seen: --hashes: '65' is too large: at most 64\n"},
        {"--wait 61s", "seen: --wait: '61s' is too large: at most 1m00s\n"},
        {"--null=1", "seen: --null takes no value\n"},
        {"--kind x", "seen: --kind: 'x' is none of bloom|counting\n"},
        {"--progress=x", "seen: --progress: 'x' is none of json\n"},
        {"a b c d", "seen: trial does not take 'd': seen trial [OPTION]... [FILE...]\n"},
        {"--\x1b[31m", "seen: trial has no option --\\x1b[31m; 'seen help trial' lists them\n"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sn_args args;
        assert_int_equal(parse(bad[i].words, &args, NULL), SN_EXIT_ERROR);
        assert_string_equal(output_text, bad[i].output_text);
        sn_args_free(&args);
    }
}

static void help_wins(void **state)
{
    (void)state;
    sn_args args;
    sn_help help;
    assert_int_equal(parse("a b c d --help", &args, &help), 0);
    assert_int_equal(help, SN_HELP_PAGE);
    sn_args_free(&args);
    assert_int_equal(parse("-h", &args, &help), 0);
    assert_int_equal(help, SN_HELP_PAGE);
    sn_args_free(&args);
    assert_int_equal(parse("--help all", &args, &help), 0);
    assert_int_equal(help, SN_HELP_ALL);
    assert_int_equal(args.operand_count, 0);
    sn_args_free(&args);
    assert_int_equal(parse("--help=all a", &args, &help), 0);
    assert_int_equal(help, SN_HELP_ALL);
    sn_args_free(&args);
}

/* No command uses a letter or a name twice, every option has help text, and every option with a
 * value names it. */
static void tables_are_sound(void **state)
{
    (void)state;
    for (size_t c = 0; c < sn_commands_total; c++) {
        const sn_cli_command *cmd = sn_commands[c];
        const sn_option *a, *b;
        assert_non_null(cmd->about);
        assert_non_null(cmd->operands);
        assert_non_null(cmd->examples[0].command);
        for (size_t i = 0; (a = sn_option_at(cmd, i, NULL)); i++) {
            assert_true(i < 256);
            assert_non_null(a->help);
            if (strlen(a->help) < 4 ||
                (a->help[strlen(a->help) - 1] == '.' && !strstr(a->help, "...")))
                fail_msg("%s --%s: its help is not a line without a full stop", cmd->name, a->name);
            assert_true((a->type == SN_FLAG) == (sn_option_argument(a) == NULL));
            if (a->type == SN_CHOICE || a->type == SN_MAYBE)
                assert_non_null(a->choices);
            for (size_t j = 0; j < i && (b = sn_option_at(cmd, j, NULL)); j++)
                if (!strcmp(a->name, b->name) || (a->letter && a->letter == b->letter))
                    fail_msg("%s has two options --%s and --%s", cmd->name, b->name, a->name);
        }
    }
}

static void suggestions(void **state)
{
    (void)state;
    static const char *const list[] = {"uniq", "common", "create", "check", "copy", "plan", NULL};
    assert_string_equal(sn_suggest_word("unqi", list), "uniq");
    assert_string_equal(sn_suggest_word("comon", list), "common");
    assert_string_equal(sn_suggest_word("crea", list), "create");
    assert_string_equal(sn_suggest_word("chekc", list), "check");
    assert_null(sn_suggest_word("sort", list));
    assert_null(sn_suggest_word("", list));
    assert_null(sn_suggest_word("x", list));
    char endless[500];
    memset(endless, 'u', sizeof endless - 1);
    endless[sizeof endless - 1] = 0;
    assert_null(sn_suggest_word(endless, list));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spellings),   cmocka_unit_test(values),
        cmocka_unit_test(defaults),    cmocka_unit_test(refusals),
        cmocka_unit_test(help_wins),   cmocka_unit_test(tables_are_sound),
        cmocka_unit_test(suggestions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
