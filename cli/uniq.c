/* `seen uniq`: prints the first occurrence of each line. */
#include "cli/uniq.h"
#include "base/memory.h"
#include "cli/watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const sn_option own_options[] = {
    {.letter = 'c',
     .name = "count",
     .type = SN_FLAG,
     .offset = offsetof(sn_cli_uniq_own, count),
     .help = "each line once, with its count before it",
     .more = "In the format of GNU uniq; with --csv and --tsv as a first column named count. 'seen "
             "count' writes COUNT, tab, LINE and can print the most frequent lines."},
    {.letter = 'd',
     .name = "repeated",
     .type = SN_FLAG,
     .offset = offsetof(sn_cli_uniq_own, repeated),
     .help = "one of each line that occurs more than once"},
    {.letter = 'D',
     .name = "all-repeated",
     .type = SN_FLAG,
     .offset = offsetof(sn_cli_uniq_own, all_repeated),
     .help = "all occurrences of such lines"},
    {.letter = 'u',
     .name = "unique",
     .type = SN_FLAG,
     .offset = offsetof(sn_cli_uniq_own, unique),
     .help = "only lines that occur once",
     .more = "-c, -d, -D, -u and --keep last read the input twice; a pipe is copied to a temporary "
             "file for that (-T)."},
    {.name = "duplicates",
     .type = SN_FLAG,
     .offset = offsetof(sn_cli_uniq_own, duplicates),
     .help = "every occurrence except the first"},
    {.name = "keep",
     .type = SN_CHOICE,
     .offset = offsetof(sn_cli_uniq_own, keep),
     .choices = "first|last",
     .help = "which occurrence to print",
     .preset = "first",
     .more = "With last, a line is printed at the position of its last occurrence."},
    {.name = "source",
     .type = SN_FLAG,
     .offset = offsetof(sn_cli_uniq_own, source),
     .help = "FILE:LINE: before each line, like grep -n",
     .rare = true,
     .more =
         "The file and the line number of the occurrence that is printed: the first, or with "
         "--keep last the last. With --csv and --tsv they are two columns in front, named file and "
         "line, and records are numbered without the header."},
    {.name = "count-only",
     .type = SN_FLAG,
     .offset = offsetof(sn_cli_uniq_own, count_only),
     .help = "only the number of lines"},
    {.name = "dropped",
     .argument = "FILE",
     .type = SN_STRING,
     .offset = offsetof(sn_cli_uniq_own, dropped),
     .choices = "FILE",
     .help = "also write the lines that are not printed to FILE",
     .rare = true},
};
static const sn_group own_group = {.title = "What to print",
                                   .options = own_options,
                                   .count = sizeof own_options / sizeof *own_options,
                                   .own = true};

static const sn_option how_options[] = {
    {.letter = 'f',
     .name = "filter",
     .argument = "FILTER",
     .type = SN_STRING,
     .offset = offsetof(sn_cli_uniq_own, filter),
     .choices = "FILE",
     .help = "remember lines in FILTER across runs",
     .more =
         "Lines that FILTER contains are not printed, and lines that are printed are added to it. "
         "With a file, a line is written before it is added: a run that is killed and started "
         "again may print some lines twice and loses none; two runs at the same time may both "
         "print a line. With -o, the lines are added when the output has appeared. In Redis, where "
         "several clients may share a filter and exactly one must print a line, it is added first: "
         "if a run is killed or loses its server, lines in flight may be remembered and not "
         "printed; with -o, a run that fails leaves what it has written in FILE.partial and prints "
         "its name, and one that is killed leaves nothing. A filter that is created grows as "
         "needed, "
         "unless -m gives its size; -n and -p give its initial capacity and its error rate. Lines "
         "in flight take some memory; with -o, all new lines do until the output appears, about "
         "four bytes each (up to sixteen for a pipe of unknown length)."},
    {.name = "approx",
     .type = SN_FLAG,
     .offset = offsetof(sn_cli_uniq_own, approx),
     .help = "Bloom filter: less memory, may lose unique lines",
     .more =
         "At the error rate -p (default 1e-6), which also implies --approx. The summary reports "
         "how many unique lines are expected to be lost."},
    {.name = "exact",
     .type = SN_FLAG,
     .offset = offsetof(sn_cli_uniq_own, exact),
     .help = "never lose a unique line (this is the default)",
     .rare = true,
     .more = "Lines are compared by 96 bits or more of a seeded hash. The memory is bounded by -m "
             "(default: half of the free memory); beyond it, temporary files are used (-T)."},
    {.name = "explain",
     .type = SN_FLAG,
     .offset = offsetof(sn_cli_uniq_own, explain),
     .help = "print time, memory and disk needed, and exit"},
};
static const sn_group how_group = {.title = "How to remember",
                                   .options = how_options,
                                   .count = sizeof how_options / sizeof *how_options,
                                   .own = true};

/* All resources of a run, freed in one place. */
typedef struct uniq_run {
    sn_args *args;
    const sn_cli_uniq_own *own;
    bool exact;
    char columns[16]; /* of the header, before those of the input: "count," */
    sn_watch watch;
    sn_input *input;
    sn_output *output, *dropped;
    bool deferred;         /* the output is renamed into place at the end, */
    bool dropped_deferred; /* and so are the dropped lines */
    sn_uniq_options options;
    sn_uniq_plan plan;
    sn_uniq_result result;
} uniq_run;

/* ---- Arguments ------------------------------------------------------------------------------ */

static sn_uniq_what what_of(const sn_cli_uniq_own *own)
{
    return own->count          ? SN_UNIQ_COUNTED
           : own->repeated     ? SN_UNIQ_REPEATED
           : own->all_repeated ? SN_UNIQ_ALL_REPEATED
           : own->unique       ? SN_UNIQ_ONCE
           : own->duplicates   ? SN_UNIQ_DUPLICATES
           : own->keep         ? SN_UNIQ_LAST
                               : SN_UNIQ_FIRST;
}

/* -d used to be the delimiter: a single character that is not a file was meant as one. */
static const char *find_delimiter(const sn_args *args)
{
    struct stat at;
    for (size_t i = 0; i < args->operand_count; i++) {
        const char *text = args->operands[i];
        bool one = (strlen(text) == 1 && *text != '-') || !strcmp(text, "\\t");
        if (one && stat(text, &at) != 0)
            return text;
    }
    return NULL;
}

static int check_what(const sn_args *args, const sn_cli_uniq_own *own)
{
    int modes = own->count + own->repeated + own->all_repeated + own->unique + own->duplicates +
                (own->keep != 0);
    const char *delimiter = own->repeated ? find_delimiter(args) : NULL;
    if (delimiter)
        return sn_message_error("-d prints one of each repeated line, and there is no file %s; the "
                                "delimiter of fields is -t",
                                delimiter);
    if (modes > 1)
        return sn_message_error(
            "-c, -d, -D, -u, --duplicates and --keep last exclude each other: choose "
            "one");
    if (own->source && (own->count || own->dropped))
        return sn_message_error("--source does not go with -c or --dropped: leave one of them out");
    if (own->count_only && args->output)
        return sn_message_error("--count-only prints a number to stdout; -o is for lines");
    if (own->count_only && own->dropped)
        return sn_message_error("--count-only writes no lines: leave --dropped out");
    if (own->count && own->dropped)
        return sn_message_error("-c prints every line with its count: leave --dropped out");
    return SN_EXIT_OK;
}

static int check_how(const sn_args *args, const sn_cli_uniq_own *own)
{
    bool filter = own->filter || own->approx || args->error_rate > 0;
    if (own->exact && own->filter)
        return sn_message_error("a filter (-f) is not exact: leave out --exact, or -f");
    if (own->exact && filter)
        return sn_message_error("--exact has no error rate: leave out --approx and -p");
    if (filter && what_of(own) >= SN_UNIQ_ONCE)
        return sn_message_error(
            "a filter does not know how often a line occurs: -c, -d, -D, -u and "
            "--keep last are exact; leave out -f, -p and --approx");
    if (args->hashes && !own->filter)
        return sn_message_error(
            "--hashes is for a filter that -f creates: leave it out, or name one");
    return SN_EXIT_OK;
}

static int check_places(const sn_args *args, const sn_cli_uniq_own *own)
{
    const char *output = args->output ? args->output : "-";
    if (own->dropped && sn_where_same(output, own->dropped))
        return sn_message_error(
            "the output and the dropped lines both go to %s: name another file with "
            "--dropped",
            strcmp(own->dropped, "-") ? own->dropped : "the standard output");
    if (own->filter && (sn_where_same(own->filter, output) ||
                        (own->dropped && sn_where_same(own->filter, own->dropped))))
        return sn_message_error(
            "%s is the filter (-f) and cannot hold lines: write them to another file", own->filter);
    return SN_EXIT_OK;
}

/* Only -o may name an input, which is then replaced at the end. */
static int check_inputs(const uniq_run *run)
{
    const sn_cli_uniq_own *own = run->own;
    if (own->dropped && sn_input_same_path(run->input, own->dropped))
        return sn_message_error("%s is an input: name another file with --dropped", own->dropped);
    if (own->filter && !sn_where_is_redis(own->filter) &&
        sn_input_same_path(run->input, own->filter))
        return sn_message_error(
            "%s is an input and cannot be the filter: name another file with -f", own->filter);
    return SN_EXIT_OK;
}

/* ---- The filter ----------------------------------------------------------------------------- */

/* ---- Messages ------------------------------------------------------------------------------- */

/* Warns if the machine does not have the memory that a filter would take. */
static void warn_memory(const uniq_run *run)
{
    char planned[SN_TEXT], free[SN_TEXT];
    uint64_t there = sn_memory_free();
    if (run->exact || run->own->filter || run->plan.memory <= there)
        return;
    sn_message_warn(
        "the filter would take %s of memory and %s are free: without -p and --approx the memory "
        "is bounded by -m; a larger -p needs less; -n gives the number of distinct lines",
        sn_show_size(planned, (double)run->plan.memory), sn_show_size(free, (double)there));
}

static void json_summary(const uniq_run *run, FILE *out)
{
    sn_json json;
    const sn_uniq_result *r = &run->result;
    sn_json_open(&json, out, true);
    sn_json_object(&json, NULL);
    sn_json_u64(&json, "lines", r->lines);
    sn_json_u64(&json, "written", r->written);
    sn_json_u64(&json, "dropped", r->lines - r->written);
    sn_json_u64(&json, "distinct", r->distinct);
    sn_json_number(&json, "expected_wrong", r->wrong);
    sn_json_number(&json, "error_rate", r->error_rate);
    sn_json_bool(&json, "exact", run->exact);
    sn_json_u64(&json, "memory", r->memory);
    sn_json_u64(&json, "layers", r->layers);
    sn_json_u64(&json, "temporary", r->temporary);
    sn_json_u64(&json, "readings", r->readings);
    sn_json_bool(&json, "stopped", r->stopped);
    if (r->lost)
        sn_json_u64(&json, "lost", r->lost);
    if (r->partial)
        sn_json_string(&json, "partial", r->partial);
    sn_json_end(&json);
}

/* "3.9 MiB", or for a filter "error rate 1e-6: fewer than 0.01 unique lines expected to be lost".
 */
static void show_cost(const uniq_run *run, char *text, size_t size)
{
    char a[SN_TEXT], b[SN_TEXT];
    const sn_uniq_result *r = &run->result;
    if (!run->exact)
        snprintf(text, size, "error rate %s: %s unique lines expected to be lost",
                 sn_show_rate(a, r->error_rate), sn_show_expected(b, r->wrong));
    else if (r->temporary)
        snprintf(text, size, "%s, %s of temporary files", sn_show_size(a, (double)r->memory),
                 sn_show_size(b, (double)r->temporary));
    else
        snprintf(text, size, "%s", sn_show_size(a, (double)r->memory));
}

static void print_summary(const uniq_run *run)
{
    char lines[SN_TEXT], some[SN_TEXT], others[SN_TEXT], cost[4 * SN_TEXT];
    const sn_uniq_result *r = &run->result;
    sn_uniq_what what = run->options.what;
    sn_show_number_of(lines, r->lines, "line");
    show_cost(run, cost, sizeof cost);
    if (what == SN_UNIQ_FIRST)
        sn_message_summary(run->args, "%s, %s %s, %s removed (%s)", lines,
                           sn_show_count(some, (double)r->written),
                           run->own->filter ? "new" : "unique",
                           sn_show_number_of(others, r->lines - r->written, "duplicate"), cost);
    else if (what == SN_UNIQ_DUPLICATES)
        sn_message_summary(run->args, "%s, %s %s, %s (%s)", lines,
                           sn_show_count(some, (double)(r->lines - r->written)),
                           run->own->filter ? "new" : "unique",
                           sn_show_number_of(others, r->written, "duplicate"), cost);
    else
        sn_message_summary(run->args, "%s, %s distinct, %s printed (%s)", lines,
                           sn_show_count(some, (double)r->distinct),
                           sn_show_count(others, (double)r->written), cost);
}

/* A set that does not grow and got more lines than its capacity. */
static void warn_full(const uniq_run *run)
{
    char rate[SN_TEXT], where[SN_WHERE];
    const sn_uniq_result *r = &run->result;
    double requested = run->args->error_rate > 0 ? run->args->error_rate : 0.005;
    if (run->own->filter)
        requested = run->plan.error_rate; /* its guaranteed rate */
    if (run->exact || r->error_rate < 0.01 || r->error_rate < 2 * requested)
        return;
    sn_show_rate(rate, r->error_rate);
    if (run->own->filter)
        sn_message_warn(
            "%s is too full: %s of new lines are reported as duplicates; see 'seen info', and "
            "create a larger filter or one that grows",
            sn_where_show(where, run->own->filter), rate);
    else
        sn_message_warn(
            "-m is too small for these lines: %s of new lines are treated as duplicates; give "
            "more memory, or leave out -p and --approx: exact runs stay within any -m",
            rate);
}

/* The state after a signal. */
static int report_stopped(const uniq_run *run)
{
    const sn_cli_uniq_own *own = run->own;
    bool duplicates = own->duplicates;
    /* If no new line is written, or keys are added to a server first, all lines read are in the
     * filter. */
    bool all = run->options.remember_first || own->count_only || (duplicates && !own->dropped);
    bool later = duplicates ? run->dropped_deferred : run->deferred;
    const char *printed = own->count_only && run->args->json ? "the numbers are of these"
                          : own->count_only                  ? "no number is printed"
                          : run->deferred                    ? "the output file is unchanged"
                                          : "what was printed is complete up to that line";
    const char *kept = !own->filter             ? ""
                       : all                    ? ", and the filter has these lines"
                       : later && run->deferred ? ", and so is the filter"
                       : later                  ? ", and the filter is unchanged"
                       : duplicates             ? ", and the filter has what was written"
                                                : ", and the filter has what was printed";
    char lines[SN_TEXT];
    return sn_message_error("stopped after %s; %s%s",
                            sn_show_number_of(lines, run->result.lines, "line"), printed, kept);
}

/* These lines are in the filter: they would never be printed again. */
static void warn_partial(const uniq_run *run)
{
    const sn_uniq_result *r = &run->result;
    if (r->partial)
        (void)sn_message_error(
            "the %llu new lines found so far are in %s, and in the filter; run the "
            "command again to get the others",
            (unsigned long long)r->distinct, r->partial);
    if (r->lost)
        (void)sn_message_error(
            "%llu new lines are in the filter but could not be written: they will not be "
            "printed by later runs",
            (unsigned long long)r->lost);
}

static int report_end(const uniq_run *run)
{
    const sn_uniq_result *r = &run->result;
    /* A signal that arrived after everything was read has stopped nothing. */
    bool requested = r->stopped && sn_stop_get((sn_stop *)&run->watch.stop) == SN_STOP_REQUESTED;
    if (run->args->json)
        json_summary(run, run->own->count_only ? stdout : stderr);
    else if (run->own->count_only && !requested)
        printf("%llu\n", (unsigned long long)r->written);
    if (!run->args->json && !requested)
        print_summary(run);
    warn_full(run);
    if (requested)
        return sn_message_finish_stdout(report_stopped(run));
    if (r->stopped && run->deferred)
        return sn_message_finish_stdout(sn_message_error(
            "the pipe of --dropped (%s) was closed by its reader; %s is not written",
            run->own->dropped, run->args->output));
    if (r->stopped && run->dropped_deferred)
        sn_message_note(run->args, "stdout was closed by its reader; %s is not written",
                        run->own->dropped);
    return sn_message_finish_stdout(SN_EXIT_OK);
}

static seen_status do_run(void *context, seen_error *error)
{
    uniq_run *run = context;
    sn_output *output = run->output, *dropped = run->dropped;
    run->output = run->dropped = NULL; /* the engine finishes them */
    return sn_uniq_run(&run->options, &run->plan, run->input, output, dropped, &run->result, error);
}

/* With CSV, counts and sources are separate columns. */
static void set_columns(uniq_run *run)
{
    const sn_record_spec *record = &run->args->record;
    char column = record->kind == SN_RECORD_CSV ? record->delimiter : 0;
    if (column && run->own->count)
        snprintf(run->columns, sizeof run->columns, "count%c", column);
    else if (column && run->own->source)
        snprintf(run->columns, sizeof run->columns, "file%cline%c", column, column);
    run->options.column = column;
}

static seen_status prepare(uniq_run *run, seen_error *error)
{
    sn_args *args = run->args;
    const sn_cli_uniq_own *own = run->own;
    char terminator = args->null ? '\0' : '\n';
    seen_status status = sn_input_open((const char *const *)args->operands, args->operand_count,
                                       &run->watch.stop, &run->input, error);
    if (status == SEEN_OK && check_inputs(run) != SN_EXIT_OK)
        return SEEN_ERR_ARGUMENT;
    if (status == SEEN_OK && own->filter)
        status = sn_filter_open(args, own->filter, run->input, &run->options.filter, error);
    run->options.keys = sn_args_keys(args); /* those of the filter, if the command line has none */
    run->options.pipeline.record = sn_args_record_spec(args);
    set_columns(run);
    if (status == SEEN_OK)
        status = sn_uniq_plan_make(&run->options, run->input, &run->plan, error);
    if (status != SEEN_OK || own->explain)
        return status;
    if (!own->count_only)
        status = sn_output_open(args->output, terminator, &run->watch.stop, &run->output, error);
    if (status == SEEN_OK && run->output) {
        sn_output_header(run->output, run->input, run->columns);
        run->deferred = sn_output_is_deferred(run->output);
        status = sn_output_apart(run->output, run->input, error);
    }
    /* The run continues when the reader of the dropped lines closes its pipe, unless a filter would
     * remember lines that were never read. */
    sn_stop *stop = own->filter && own->duplicates ? &run->watch.stop : NULL;
    if (status == SEEN_OK && own->dropped)
        status = sn_output_open(own->dropped, terminator, stop, &run->dropped, error);
    if (status == SEEN_OK && run->dropped) {
        sn_output_header(run->dropped, run->input, "");
        run->dropped_deferred = sn_output_is_deferred(run->dropped);
        status = sn_output_apart(run->dropped, run->input, error);
    }
    return status;
}

static void set_options(uniq_run *run)
{
    sn_args *args = run->args;
    const sn_cli_uniq_own *own = run->own;
    run->options = (sn_uniq_options){
        .keys = sn_args_keys(args),
        .pipeline = sn_args_pipeline(args, own->filter, &run->watch),
        .what = what_of(own),
        .count_only = own->count_only,
        .approx = !run->exact && !own->filter,
        .min = own->min,
        .top = own->top,
        .source = own->source,
        .padded = !own->tabs,
        .capacity = args->capacity,
        .error_rate = args->error_rate,
        .memory = args->memory,
        .temp_dir = args->temp,
        .remember_first = own->filter && sn_where_is_redis(own->filter),
    };
    args->prints = !own->count_only && (!args->output || !strcmp(args->output, "-"));
}

static seen_status watch(uniq_run *run, seen_error *error)
{
    warn_memory(run);
    run->watch.input = run->input;
    run->watch.total = sn_input_size(run->input);
    if (run->options.what >= SN_UNIQ_ONCE && run->watch.total != UINT64_MAX)
        run->watch.total *= 2;
    bool fills = !run->exact && !run->own->duplicates;
    run->watch.capacity = fills ? run->plan.capacity : 0;
    return sn_watch_run(&run->watch, run->args, do_run, run, error);
}

int sn_cli_uniq_run(sn_args *args, const sn_cli_uniq_own *own)
{
    if (check_what(args, own) || check_how(args, own) || check_places(args, own))
        return SN_EXIT_ERROR;
    uniq_run run = {.args = args, .own = own};
    if (!sn_watch_begin(&run.watch, args->command->name))
        return SN_EXIT_ERROR;
    run.exact = !own->filter && !own->approx && !(args->error_rate > 0);
    set_options(&run);
    seen_error error = {0};
    int code = SN_EXIT_ERROR;
    seen_status status = prepare(&run, &error);
    if (status == SEEN_OK && own->explain) {
        sn_cli_uniq_explain(args, &run.options, &run.plan, !sn_input_can_reread(run.input));
        code = sn_message_finish_stdout(SN_EXIT_OK);
    } else {
        if (status == SEEN_OK)
            status = watch(&run, &error);
        if (status == SEEN_OK)
            code = report_end(&run);
        else if (error.message[0])
            code = sn_message_report(&error);
        sn_args_warn_records(args);
        warn_partial(&run);
    }
    free(run.result.partial);
    sn_output_abandon(run.output);
    sn_output_abandon(run.dropped);
    sn_filter_close(args, own->filter, run.options.filter, code != SN_EXIT_OK || own->explain);
    sn_input_close(run.input);
    sn_watch_end(&run.watch);
    return code;
}

static int run_uniq(sn_args *args)
{
    return sn_cli_uniq_run(args, args->own);
}

const sn_cli_command sn_cli_command_uniq = {
    .name = "uniq",
    .summary = "print each line the first time it appears",
    .synopsis = "[OPTION]... [FILE]...",
    .about =
        "Prints each line of FILE... or stdin the first time it appears, in input order. Exact "
        "unless you say otherwise (-f, -p, --approx). Files may be compressed.\n\n"
        "Nothing is sorted. Compressed input (gzip, zstd, xz, bzip2, lz4) is recognised by "
        "content. Lines may contain any bytes; there is no locale, and a CR is part of "
        "its line (unless --crlf). A line may be up to 4 GiB long, or 1/16 of -m (less with "
        "options that copy it: -i, -c, --url, --dropped).\n\n"
        "Exact: lines are compared by 96 bits or more of a seeded hash, "
        "at about 16 bytes per distinct line, within -m (default: half of the free memory); beyond "
        "it, temporary files are used. --approx, -p and -f choose a Bloom filter instead; the "
        "summary then reports how many unique lines are expected to be lost.\n\n"
        "Ctrl-C ends a run cleanly: what was printed is complete up to that line, a filter has "
        "what was printed, and the file of -o is unchanged. The summary is printed on a terminal "
        "or with --summary; --json prints it as JSON on stderr, or on stdout with --count-only.",
    .operands = "FILE",
    .max_operands = SIZE_MAX,
    .own_size = sizeof(sn_cli_uniq_own),
    .groups = {&own_group, &how_group, &sn_group_bounds, &sn_group_records, &sn_group_remember,
               &sn_group_url, &sn_group_print, &sn_group_timeout, &sn_group_output, &sn_group_json,
               &sn_group_temp, &sn_group_threads, &sn_group_messages},
    .examples = {{"Remove duplicates from a file, in place", "seen uniq urls.txt -o urls.txt",
                  "printf 'a\\nb\\na\\n' > urls.txt"},
                 {"Print only what is new since yesterday", "seen uniq -f seen.filter today.txt",
                  "printf 'a\\nb\\na\\n' > today.txt"},
                 {"How many distinct visitors are in a compressed log?",
                  "seen uniq --count-only -k 1 -t ' ' access.log.gz",
                  "printf '1.2.3.4 GET /\\n1.2.3.4 GET /a\\n' | gzip > access.log.gz"},
                 {"In 256 MiB, whatever the size of the input",
                  "seen uniq -m 256M huge.txt > unique.txt", "printf 'a\\nb\\na\\n' > huge.txt"}},
    .run = run_uniq,
};
