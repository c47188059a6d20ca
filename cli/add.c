/* `seen add`: adds lines to a filter. */
#include "cli/change.h"
#include "cli/watch.h"

#define LOOK_MAX (UINT64_C(256) << 20)

typedef struct add_own {
    bool print_new;
} add_own;

static const sn_option own_options[] = {
    {.name = "print-new",
     .type = SN_FLAG,
     .offset = offsetof(add_own, print_new),
     .help = "print the lines that are new",
     .more =
         "A line is added before it is printed: of several processes that share FILTER, exactly "
         "one prints it. If a run is killed, lines in flight may be added and not printed; 'seen "
         "uniq -f' prints first."},
};
static const sn_group own_group = {
    .title = "What to print", .options = own_options, .count = 1, .own = true};

typedef struct change_run {
    sn_apply_options options;
    sn_input *input;
    sn_output *output; /* NULL: nothing is printed */
    sn_apply_result result;
} change_run;

static seen_status do_run(void *context, seen_error *error)
{
    change_run *run = context;
    sn_output *output = run->output;
    run->output = NULL; /* the engine finishes it */
    return sn_apply_run(&run->options, run->input, output, &run->result, error);
}

static bool prints(const sn_args *args, sn_apply_what what)
{
    return what == SN_APPLY_ADD && ((const add_own *)args->own)->print_new;
}

/* Opens the output of --print-new. */
static seen_status open_output(change_run *run, sn_watch *watch, seen_error *error)
{
    run->options.print = SEEN_NEW;
    seen_status status =
        sn_output_open(NULL, run->options.pipeline.terminator, &watch->stop, &run->output, error);
    if (status != SEEN_OK)
        return status;
    sn_output_header(run->output, run->input, "");
    return sn_output_apart(run->output, run->input, error);
}

static void print_summary(const sn_args *args, const sn_apply_result *r, sn_apply_what what)
{
    if (args->json) {
        sn_json json;
        sn_json_open(&json, prints(args, what) ? stderr : stdout, true);
        sn_json_object(&json, NULL);
        sn_json_u64(&json, "lines", r->lines);
        if (what == SN_APPLY_ADD) {
            sn_json_u64(&json, "new", r->fresh);
            sn_json_u64(&json, "before", r->before);
        } else {
            sn_json_u64(&json, "removed", r->before);
            sn_json_u64(&json, "missing", r->fresh);
        }
        sn_json_bool(&json, "stopped", r->stopped);
        sn_json_end(&json);
        return;
    }
    char lines[SN_TEXT], first[SN_TEXT], second[SN_TEXT];
    sn_show_number_of(lines, r->lines, "line");
    sn_show_count(first, (double)r->fresh);
    sn_show_count(second, (double)r->before);
    if (what == SN_APPLY_ADD)
        sn_message_summary(args, "%s read, %s new, %s already present", lines, first, second);
    else
        sn_message_summary(args, "%s read, %s removed, %s not found", lines, second, first);
}

/* A fixed filter over its capacity has more and more false positives. Detecting that reads every
 * bit, so for a very large filter, or one on a server, it is left to 'seen info'. */
static void warn_full(const sn_args *args, seen_set *set, const sn_apply_result *r)
{
    seen_info info = {.size = sizeof info};
    const char *where = args->operands[0];
    if (args->quiet || !r->fresh || sn_where_is_redis(where) ||
        seen_get_shape(set, &info, NULL) != SEEN_OK || info.bytes > LOOK_MAX ||
        seen_get_info(set, &info, NULL) != SEEN_OK)
        return;
    sn_info_warn_over(where, &info);
}

int sn_change_run(sn_args *args, sn_apply_what what)
{
    seen_error error = {0};
    change_run run = {.input = NULL};
    sn_watch watch;
    char lines[SN_TEXT];
    seen_options options = sn_args_options(args);
    const char *where = args->operands[0];
    seen_set *set = NULL;
    args->prints = prints(args, what);
    if (!sn_watch_begin(&watch, what == SN_APPLY_ADD ? "add" : "remove"))
        return SN_EXIT_ERROR;
    seen_status status = sn_input_open((const char *const *)args->operands + 1,
                                       args->operand_count - 1, &watch.stop, &run.input, &error);
    if (status == SEEN_OK)
        status = what == SN_APPLY_ADD ? sn_filter_open(args, where, run.input, &set, &error)
                                      : seen_open(where, &options, 0, &set, &error);
    if (status == SEEN_OK && what == SN_APPLY_REMOVE)
        status = sn_filter_keys(args, set, where, &error);
    if (status == SEEN_OK) {
        run.options = (sn_apply_options){.keys = sn_args_keys(args),
                                         .pipeline = sn_args_pipeline(args, where, &watch),
                                         .what = what,
                                         .set = set};
        if (prints(args, what))
            status = open_output(&run, &watch, &error);
    }
    if (status == SEEN_OK) {
        watch.input = run.input;
        watch.total = sn_input_size(run.input);
        status = sn_watch_run(&watch, args, do_run, &run, &error);
    }
    int code = SN_EXIT_OK;
    if (set && (status == SEEN_OK || run.result.lines))
        print_summary(args, &run.result, what);
    if (set && what == SN_APPLY_ADD && status == SEEN_OK)
        warn_full(args, set, &run.result);
    if (status != SEEN_OK)
        code = sn_message_report(&error);
    else if (run.result.stopped)
        code = sn_message_error("stopped after %s; the filter is intact and contains them",
                                sn_show_number_of(lines, run.result.lines, "line"));
    sn_args_warn_records(args);
    sn_output_abandon(run.output);
    sn_filter_close(args, where, set, code != SN_EXIT_OK);
    sn_input_close(run.input);
    sn_watch_end(&watch);
    return sn_message_finish_stdout(code);
}

static int run_add(sn_args *args)
{
    return sn_change_run(args, SN_APPLY_ADD);
}

const sn_cli_command sn_cli_command_add = {
    .name = "add",
    .summary = "add lines to a filter",
    .synopsis = "[OPTION]... FILTER [FILE]...",
    .about =
        "Adds the lines of the files, or of the standard input, to a filter, and reports how many "
        "of them were new. A filter that does not exist is created: it grows as needed, with an "
        "error rate of 1e-6, unless -n, -p, -m or 'seen create' say otherwise. When the command "
        "ends, what was added is safe on the disk. Ctrl-C leaves an intact filter with the "
        "lines added so far.",
    .operands = "FILTER",
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .own_size = sizeof(add_own),
    .groups = {&own_group, &sn_group_adding, &sn_group_records, &sn_group_remember, &sn_group_url,
               &sn_group_timeout, &sn_group_json, &sn_group_threads, &sn_group_messages},
    .examples = {{"Add the lines of a file; the filter is created if it does not exist",
                  "seen add urls.seen urls.txt", "printf 'a\\nb\\n' > urls.txt"},
                 {"Add a column of a CSV file", "seen add users.seen --csv -k email users.csv",
                  "printf 'id,email\\n1,a@b\\n' > users.csv"}},
    .run = run_add,
};
