/* `seen check`: prints the lines that are in a filter. */
#include "base/error.h"
#include "base/io.h"
#include "cli/cli.h"
#include "cli/watch.h"
#include "stream/apply.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct check_own {
    bool invert;
    bool count;
    sn_args_list keys;
} check_own;

static const sn_option own_options[] = {
    {.letter = 'v',
     .name = "invert",
     .type = SN_FLAG,
     .offset = offsetof(check_own, invert),
     .help = "print the lines that were not seen",
     .more = "These were certainly never added."},
    {.letter = 'c',
     .name = "count",
     .type = SN_FLAG,
     .offset = offsetof(check_own, count),
     .help = "print only how many lines would be printed"},
    {.letter = 'e',
     .name = "expression",
     .argument = "KEY",
     .type = SN_LIST,
     .offset = offsetof(check_own, keys),
     .help = "look up KEY; may be given several times",
     .more = "Keys on the command line instead of lines of files. KEY is the whole key, not a "
             "record: -k and the formats do not apply to it, -i and --url do."},
};
static const sn_group own_group = {
    .title = "What to print", .options = own_options, .count = 3, .own = true};

typedef struct check_run {
    sn_apply_options options;
    sn_input *input;
    sn_output *output;
    sn_apply_result result;
    int keys; /* descriptor of the keys of -e, or -1 */
} check_run;

static seen_status do_run(void *context, seen_error *error)
{
    check_run *run = context;
    sn_output *output = run->output;
    run->output = NULL; /* the engine finishes it */
    return sn_apply_run(&run->options, run->input, output, &run->result, error);
}

static void print_summary(const sn_args *args, const sn_apply_result *r, uint64_t printed)
{
    const check_own *own = args->own;
    if (args->json) {
        sn_json json;
        sn_json_open(&json, own->count ? stdout : stderr, true);
        sn_json_object(&json, NULL);
        sn_json_u64(&json, "lines", r->lines);
        sn_json_u64(&json, "seen", r->before);
        sn_json_u64(&json, "not_seen", r->fresh);
        sn_json_bool(&json, "stopped", r->stopped);
        sn_json_end(&json);
    } else if (own->count)
        printf("%llu\n", (unsigned long long)printed);
}

/* The keys of -e as lines of a file in memory. */
static seen_status open_keys(check_run *run, const sn_args *args, sn_stop *stop, seen_error *error)
{
    const check_own *own = args->own;
    char end = args->null ? '\0' : '\n';
    run->keys = memfd_create("keys", MFD_CLOEXEC);
    bool written = run->keys >= 0;
    uint64_t at = 0;
    for (size_t i = 0; i < own->keys.count && written; i++) {
        const char *key = own->keys.items[i];
        size_t len = strlen(key);
        written = sn_io_write(run->keys, key, len, at) && sn_io_write(run->keys, &end, 1, at + len);
        at += len + 1;
    }
    if (!written)
        return sn_error_cannot(error, errno, "store", "the keys of -e");
    return sn_input_open_fd(run->keys, "the keys of -e", stop, &run->input, error);
}

static seen_status prepare(check_run *run, sn_args *args, sn_watch *watch, seen_error *error)
{
    const check_own *own = args->own;
    seen_options options = sn_args_options(args);
    seen_set *set = NULL;
    seen_status status =
        own->keys.count ? open_keys(run, args, &watch->stop, error)
                        : sn_input_open((const char *const *)args->operands + 1,
                                        args->operand_count - 1, &watch->stop, &run->input, error);
    if (status == SEEN_OK)
        status = seen_open(args->operands[0], &options, SEEN_READ_ONLY, &set, error);
    if (status == SEEN_OK)
        status = sn_filter_keys(args, set, args->operands[0], error);
    run->options = (sn_apply_options){.keys = sn_args_keys(args),
                                      .pipeline = sn_args_pipeline(args, args->operands[0], watch),
                                      .what = SN_APPLY_CHECK,
                                      .set = set,
                                      .print = own->invert ? SEEN_NEW : SEEN_BEFORE};
    if (own->keys.count) {
        run->options.keys.record = NULL;
        run->options.pipeline.record = NULL;
    }
    if (status == SEEN_OK && !own->count)
        status = sn_output_open(args->output, run->options.pipeline.terminator, &watch->stop,
                                &run->output, error);
    if (status == SEEN_OK && run->output) {
        sn_output_header(run->output, run->input, "");
        status = sn_output_apart(run->output, run->input, error);
    }
    return status;
}

static int check_arguments(const sn_args *args)
{
    const check_own *own = args->own;
    if (own->count && args->output)
        return sn_message_error("-c prints a number to stdout; -o is for lines");
    if (!own->count && sn_where_same(args->operands[0], args->output ? args->output : "-"))
        return sn_message_error("%s is the filter: write the lines to another file",
                                args->operands[0]);
    if (own->keys.count && args->operand_count > 1)
        return sn_message_error("-e gives the keys on the command line: leave %s out",
                                args->operands[1]);
    if (own->keys.count && args->record.parts > 1)
        return sn_message_error("-e is a single key; the keys of several fields are in files only");
    for (size_t i = 0; i < own->keys.count && !args->null; i++)
        if (strchr(own->keys.items[i], '\n'))
            return sn_message_error("the key of -e has a newline: use -z");
    return SN_EXIT_OK;
}

static int run_check(sn_args *args)
{
    const check_own *own = args->own;
    seen_error error = {0};
    char lines[SN_TEXT];
    check_run run = {.keys = -1};
    sn_watch watch;
    int code = check_arguments(args);
    if (code)
        return code;
    if (!sn_watch_begin(&watch, "check"))
        return SN_EXIT_ERROR;
    args->prints = !own->count && (!args->output || !strcmp(args->output, "-"));
    seen_status status = prepare(&run, args, &watch, &error);
    if (status == SEEN_OK) {
        watch.input = run.input;
        watch.total = sn_input_size(run.input);
        status = sn_watch_run(&watch, args, do_run, &run, &error);
    }
    if (status != SEEN_OK)
        code = sn_message_report(&error);
    else if (run.result.stopped && sn_stop_get(&watch.stop) == SN_STOP_REQUESTED)
        code = sn_message_error("stopped after %s",
                                sn_show_number_of(lines, run.result.lines, "line"));
    else {
        uint64_t printed = own->invert ? run.result.fresh : run.result.before;
        print_summary(args, &run.result, printed);
        code = printed ? SN_EXIT_OK : SN_EXIT_NO;
    }
    sn_args_warn_records(args);
    sn_output_abandon(run.output);
    seen_close(run.options.set);
    sn_input_close(run.input);
    if (run.keys >= 0)
        close(run.keys);
    sn_watch_end(&watch);
    return sn_message_finish_stdout(code);
}

const sn_cli_command sn_cli_command_check = {
    .name = "check",
    .summary = "print the lines that were seen",
    .synopsis = "[OPTION]... FILTER [FILE]...",
    .about = "Prints the lines of the files, or of the standard input, that were added to the "
             "filter, and false positives at the filter's error rate, which 'seen info' shows. "
             "With -v it prints the lines that were never added; these are certain. The filter "
             "is not changed.",
    .operands = "FILTER",
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .own_size = sizeof(check_own),
    .groups = {&own_group, &sn_group_records, &sn_group_remember, &sn_group_url, &sn_group_print,
               &sn_group_timeout, &sn_group_output, &sn_group_json, &sn_group_threads,
               &sn_group_messages},
    .examples = {{"Which of these were seen?", "seen check urls.seen some.txt",
                  "seen create -q urls.seen -n 1k && printf 'a\\nb\\n' > some.txt && "
                  "seen add -q urls.seen some.txt"},
                 {"Was this one seen?", "seen check urls.seen -e http://example.org/",
                  "printf 'http://example.org/\\n' | seen add -q urls.seen"},
                 {"Which are new?", "seen check -v urls.seen some.txt",
                  "seen create -q urls.seen -n 1k && printf 'a\\nb\\n' > some.txt"}},
    .exit_text =
        "0 if a line was printed (with -c: counted), 1 if none was, 2 on an error, as grep does.",
    .run = run_check,
};
