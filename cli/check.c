/* `seen check`: prints the lines that a filter knows. */
#include "cli/cli.h"
#include "cli/watch.h"
#include "stream/apply.h"

#include <string.h>

typedef struct check_own {
    bool invert;
    bool count;
} check_own;

static const sn_option own_options[] = {
    {.letter = 'v',
     .name = "invert",
     .type = SN_FLAG,
     .offset = offsetof(check_own, invert),
     .help = "print the lines that were not seen",
     .more = "Of these the filter is certain."},
    {.letter = 'c',
     .name = "count",
     .type = SN_FLAG,
     .offset = offsetof(check_own, count),
     .help = "print only how many lines would be printed"},
};
static const sn_group own_group = {
    .title = "What to print", .options = own_options, .count = 2, .own = true};

typedef struct check_run {
    sn_apply_options options;
    sn_input *input;
    sn_output *output;
    sn_apply_result result;
} check_run;

static seen_status do_run(void *context, seen_error *error)
{
    check_run *run = context;
    sn_output *output = run->output;
    run->output = NULL; /* the engine ends it */
    return sn_apply_run(&run->options, run->input, output, &run->result, error);
}

static void tell(const sn_args *args, const sn_apply_result *r, uint64_t printed)
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

static seen_status prepare(check_run *run, sn_args *args, sn_watch *watch, seen_error *error)
{
    const check_own *own = args->own;
    seen_options options = sn_args_options(args);
    seen_set *set = NULL;
    seen_status status = sn_input_open((const char *const *)args->operands + 1,
                                       args->operand_count - 1, &watch->stop, &run->input, error);
    if (status == SEEN_OK)
        status = seen_open(args->operands[0], &options, SEEN_READ_ONLY, &set, error);
    run->options = (sn_apply_options){.keys = sn_args_keys(args),
                                      .pipeline = sn_args_pipeline(args, args->operands[0], watch),
                                      .what = SN_APPLY_CHECK,
                                      .set = set,
                                      .print = own->invert ? SEEN_NEW : SEEN_BEFORE};
    if (status == SEEN_OK && !own->count)
        status = sn_output_open(args->output, run->options.pipeline.terminator, &watch->stop,
                                &run->output, error);
    if (status == SEEN_OK && run->output) {
        sn_output_header(run->output, run->input);
        status = sn_output_apart(run->output, run->input, error);
    }
    return status;
}

static int run_check(sn_args *args)
{
    const check_own *own = args->own;
    seen_error error = {0};
    check_run run = {.input = NULL};
    sn_watch watch;
    if (own->count && args->output)
        return sn_trouble("-c prints a number to stdout; -o is for lines");
    if (!own->count && sn_same_place(args->operands[0], args->output ? args->output : "-"))
        return sn_trouble("%s is the filter: write the lines to another file", args->operands[0]);
    if (!sn_watch_begin(&watch, "check"))
        return SN_EXIT_TROUBLE;
    args->prints = !own->count && (!args->output || !strcmp(args->output, "-"));
    seen_status status = prepare(&run, args, &watch, &error);
    if (status == SEEN_OK) {
        watch.input = run.input;
        watch.total = sn_input_size(run.input);
        status = sn_watch_run(&watch, args, do_run, &run, &error);
    }
    int code;
    if (status != SEEN_OK)
        code = sn_trouble_error(&error);
    else if (run.result.stopped && sn_stop_get(&watch.stop) == SN_STOP_ASKED)
        code = sn_trouble("stopped after %llu lines", (unsigned long long)run.result.lines);
    else {
        uint64_t printed = own->invert ? run.result.fresh : run.result.before;
        tell(args, &run.result, printed);
        code = printed ? SN_EXIT_OK : SN_EXIT_NO;
    }
    sn_output_abandon(run.output);
    seen_close(run.options.set);
    sn_input_close(run.input);
    sn_watch_end(&watch);
    return sn_finish_stdout(code);
}

const sn_command sn_command_check = {
    .name = "check",
    .summary = "print the lines that were seen",
    .synopsis = "[OPTION]... FILTER [FILE]...",
    .about = "Prints the lines of the files, or of the standard input, that were added to the "
             "filter, and now and then one that was not: at the filter's error rate, which 'seen "
             "info' shows. With -v it prints the lines that were certainly not added. The filter "
             "is not changed.",
    .operands = "FILTER",
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .own_size = sizeof(check_own),
    .groups = {&own_group, &sn_group_records, &sn_group_url, &sn_group_print, &sn_group_output,
               &sn_group_json, &sn_group_threads, &sn_group_talk, &sn_group_timeout},
    .examples = {{"Which of these were seen?", "seen check urls.seen some.txt",
                  "seen create -q urls.seen -n 1k && printf 'a\\nb\\n' > some.txt && "
                  "seen add -q urls.seen some.txt"},
                 {"Which are new?", "seen check -v urls.seen some.txt",
                  "seen create -q urls.seen -n 1k && printf 'a\\nb\\n' > some.txt"}},
    .exit_text = "0 if a line was printed, 1 if none was, 2 if there was trouble, as grep does.",
    .run = run_check,
};
