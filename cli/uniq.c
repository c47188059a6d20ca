/* `seen uniq`: prints each line the first time it appears. */
#include "stream/uniq/uniq.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/watch.h"

#include <stdlib.h>
#include <string.h>

typedef struct uniq_own {
    bool exact;
    const char *filter;
    bool repeated;
    bool singles;
    bool count_only;
    const char *dropped;
} uniq_own;

static const sn_option own_options[] = {
    {.letter = 'f',
     .name = "filter",
     .argument = "FILTER",
     .type = SN_STRING,
     .offset = offsetof(uniq_own, filter),
     .choices = "FILE",
     .help = "remember lines in FILTER across runs; made where it is missing",
     .more =
         "Lines that FILTER knows are not printed, and those that are printed are added to it. "
         "With a file, a line is written before it is remembered: a run that was killed and is "
         "started again may print some lines twice, and loses none; two runs at the same time may "
         "both print a line. With -o, the lines are "
         "remembered when the output has appeared. In Redis, where several clients may share "
         "one filter and one of them must win, a line is remembered first: of a run that is "
         "killed or loses its server, lines on their way may be remembered and not printed; with "
         "-o, a run that does not come to its end leaves what it has written in FILE.partial, and "
         "says so, and one that is killed leaves nothing. "
         "A filter that is made grows by itself, unless -m gives its "
         "size; -n and -p say how large and how strict it begins. Lines on their way take some "
         "memory besides; with -o all that are new are, until it appears, at some four bytes "
         "each (up to sixteen where a pipe does not tell how many come)."},
    {.name = "exact",
     .type = SN_FLAG,
     .offset = offsetof(uniq_own, exact),
     .help = "never drop a line that is no duplicate",
     .more = "Lines are compared by 96 bits or more of a seeded hash. The memory is bounded by -m "
             "(default: half of what is free); past it, temporary files are used (-T)."},
    {.letter = 'D',
     .name = "repeated",
     .type = SN_FLAG,
     .offset = offsetof(uniq_own, repeated),
     .help = "print the repeats instead: every line but its first time"},
    {.letter = 'U',
     .name = "singles",
     .type = SN_FLAG,
     .offset = offsetof(uniq_own, singles),
     .help = "print only the lines that never repeat",
     .more = "The input is read twice; a pipe is copied to a temporary file for that (-T)."},
    {.letter = 'c',
     .name = "count-only",
     .type = SN_FLAG,
     .offset = offsetof(uniq_own, count_only),
     .help = "print only the number of lines that would be printed",
     .more = "That is the number of distinct lines, or with -D of repeats and with -U of singles."},
    {.name = "dropped",
     .argument = "FILE",
     .type = SN_STRING,
     .offset = offsetof(uniq_own, dropped),
     .choices = "FILE",
     .help = "also write the lines that are not printed to FILE"},
};
static const sn_group own_group = {.title = "What to print",
                                   .options = own_options,
                                   .count = sizeof own_options / sizeof *own_options,
                                   .own = true};

/* Everything that a run holds, so that one place gives it back. */
typedef struct uniq_run {
    sn_args *args;
    const uniq_own *own;
    sn_watch watch;
    sn_input *input;
    sn_output *output, *dropped;
    bool deferred;         /* the output appears at the end, */
    bool dropped_deferred; /* and so does what is dropped */
    sn_uniq_options options;
    sn_uniq_plan plan;
    sn_uniq_result result;
} uniq_run;

static int check_arguments(const sn_args *args, const uniq_own *own)
{
    if (own->repeated && own->singles)
        return sn_trouble("-D prints repeats and -U lines without repeats: choose one");
    if (own->count_only && args->output)
        return sn_trouble("-c prints a number to stdout; -o is for lines");
    if (own->count_only && own->dropped)
        return sn_trouble("-c writes no lines; leave --dropped out");
    if (own->exact && own->filter)
        return sn_trouble("--exact keeps whole fingerprints, which a filter (-f) does not: choose "
                          "one");
    if (own->filter && own->singles)
        return sn_trouble("a filter (-f) does not know how often a line came, so -U cannot use "
                          "it");
    const char *output = args->output ? args->output : "-";
    if (own->dropped && sn_same_place(output, own->dropped))
        return sn_trouble("what is printed and what is dropped both go to %s: name another file "
                          "with --dropped",
                          strcmp(own->dropped, "-") ? own->dropped : "the standard output");
    if (own->filter && (sn_same_place(own->filter, output) ||
                        (own->dropped && sn_same_place(own->filter, own->dropped))))
        return sn_trouble("%s cannot be the filter (-f) and hold lines: write them to another file",
                          own->filter);
    if (args->hashes && !own->filter && !own->exact)
        return sn_trouble("--hashes is for a filter that -f creates: leave it out, or name one");
    if (own->exact && (args->error_rate > 0 || args->hashes))
        return sn_trouble("--exact has no error rate: leave -p and --hashes out");
    return SN_EXIT_OK;
}

/* Opens the filter, or makes one that grows. */
static seen_status open_filter(const uniq_run *run, uint64_t room, seen_set **set,
                               seen_error *error)
{
    const char *where = run->own->filter;
    seen_options options = sn_args_options(run->args);
    seen_status status = seen_open(where, &options, 0, set, error);
    if (status != SEEN_ERR_NOT_FOUND)
        return status;
    if (!(options.error_rate > 0))
        options.error_rate = 1e-6;
    if (!run->args->memory) {
        options.growth = SEEN_GROWING;
        if (!options.capacity)
            options.capacity = room < 1000000 ? 1000000 : room;
    }
    status = seen_create(where, &options, 0, set, error);
    return status == SEEN_ERR_EXISTS ? seen_open(where, &options, 0, set, error) : status;
}

/* Says what is about to be done where that takes more than a moment. */
static void tell_plan(const uniq_run *run)
{
    char lines[SN_TEXT], memory[SN_TEXT], rate[SN_TEXT];
    const sn_uniq_plan *plan = &run->plan;
    uint64_t bytes = sn_input_size(run->input);
    if (bytes == UINT64_MAX || bytes < (UINT64_C(256) << 20) || plan->lines == UINT64_MAX ||
        run->args->json)
        return;
    sn_show_words(lines, (double)plan->lines);
    sn_show_size(memory, (double)plan->memory);
    if (run->own->exact)
        sn_note(run->args, "about %s lines; exact, in at most %s", lines, memory);
    else
        sn_note(run->args, "about %s lines; %s of memory%s, error rate %s", lines, memory,
                plan->growing ? " to begin with" : "", sn_show_rate(rate, plan->error_rate));
    uint64_t free = sn_memory_free();
    if (plan->memory > free)
        sn_warn("%s of memory are planned and %s are free: --exact -m SIZE stays within SIZE, a "
                "larger -p needs less, and -n tells how many lines are different",
                memory, sn_show_size(rate, (double)free));
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
    sn_json_bool(&json, "exact", run->own->exact);
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

static void tell_summary(const uniq_run *run)
{
    char lines[SN_TEXT], kept[SN_TEXT], dropped[SN_TEXT], rate[SN_TEXT], memory[SN_TEXT];
    char wrong[SN_TEXT + 64];
    const sn_uniq_result *r = &run->result;
    const char *what = run->own->repeated ? "kept" : "dropped";
    sn_show_count(lines, (double)r->lines);
    sn_show_count(kept, (double)r->written);
    sn_show_count(dropped, (double)(r->lines - r->written));
    sn_show_size(memory, (double)r->memory);
    if (run->own->exact)
        snprintf(wrong, sizeof wrong, "exact");
    else if (r->wrong < 0.05)
        snprintf(wrong, sizeof wrong, "%.2g %s wrongly, by expectation, at a rate of %s", r->wrong,
                 what, sn_show_rate(rate, r->error_rate));
    else
        snprintf(wrong, sizeof wrong, "about %.*f %s wrongly, at a rate of %s",
                 r->wrong < 10 ? 1 : 0, r->wrong, what, sn_show_rate(rate, r->error_rate));
    sn_note(run->args, "%s lines read, %s kept, %s dropped (%s; %s)", lines, kept, dropped, wrong,
            memory);
}

/* A set that does not grow and got more lines than it has room for. */
static void warn_full(const uniq_run *run)
{
    char rate[SN_TEXT], where[SN_WHERE];
    const sn_uniq_result *r = &run->result;
    double asked = run->args->error_rate > 0 ? run->args->error_rate : 0.005;
    if (run->own->filter)
        asked = run->plan.error_rate; /* its promise */
    if (run->own->singles)
        asked *= 2; /* two sets */
    if (run->own->exact || r->error_rate < 0.01 || r->error_rate < 2 * asked)
        return;
    sn_show_rate(rate, r->error_rate);
    if (run->own->filter)
        sn_warn("%s is too full: %s of new lines are taken for repeats; 'seen info' shows how full "
                "it is, and a larger one, or one that grows, must be made anew",
                sn_show_where(where, run->own->filter), rate);
    else
        sn_warn("-m is too little for these lines: %s of new lines are taken for repeats; give "
                "more, or use --exact, which needs no more than -m",
                rate);
}

/* What a signal leaves behind. */
static int tell_stopped(const uniq_run *run)
{
    const uniq_own *own = run->own;
    /* Where no new line is written, or a server is told first, all lines read are remembered. */
    bool all = run->options.remember_first || own->count_only || (own->repeated && !own->dropped);
    bool later = own->repeated ? run->dropped_deferred : run->deferred;
    const char *printed = own->count_only && run->args->json ? "the numbers are of these"
                          : own->count_only                  ? "no number is printed"
                          : run->deferred                    ? "the output file is as it was"
                                          : "what was printed is complete up to there";
    const char *kept = !own->filter             ? ""
                       : all                    ? ", and the filter holds these lines"
                       : later && run->deferred ? ", and so is the filter"
                       : later                  ? ", and the filter is as it was"
                       : own->repeated          ? ", and the filter holds what was written"
                                                : ", and the filter holds what was printed";
    return sn_trouble("stopped after %llu lines; %s%s", (unsigned long long)run->result.lines,
                      printed, kept);
}

/* The filter knows these lines: they would never be printed again. */
static void tell_partial(const uniq_run *run)
{
    const sn_uniq_result *r = &run->result;
    if (r->partial)
        (void)sn_trouble("the new lines up to there (%llu) are in %s, and the filter holds them; "
                         "run again, it prints the others",
                         (unsigned long long)r->distinct, r->partial);
    if (r->lost)
        (void)sn_trouble("the filter holds %llu new lines that could not be written, and does not "
                         "let them through again",
                         (unsigned long long)r->lost);
}

static int tell_end(const uniq_run *run)
{
    const sn_uniq_result *r = &run->result;
    /* A signal that came when all was read has stopped nothing. */
    bool asked = r->stopped && sn_stop_get((sn_stop *)&run->watch.stop) == SN_STOP_ASKED;
    if (run->args->json)
        json_summary(run, run->own->count_only ? stdout : stderr);
    else if (run->own->count_only && !asked)
        printf("%llu\n", (unsigned long long)r->written);
    if (!run->args->json && !asked)
        tell_summary(run);
    warn_full(run);
    if (asked)
        return sn_finish_stdout(tell_stopped(run));
    if (r->stopped && run->deferred)
        return sn_finish_stdout(sn_trouble("nobody reads on what goes to %s, so %s is not written",
                                           run->own->dropped, run->args->output));
    if (r->stopped && run->dropped_deferred)
        sn_note(run->args, "nobody reads on, so %s is not written", run->own->dropped);
    return sn_finish_stdout(SN_EXIT_OK);
}

static seen_status do_run(void *context, seen_error *error)
{
    uniq_run *run = context;
    sn_output *output = run->output, *dropped = run->dropped;
    run->output = run->dropped = NULL; /* the engine ends them */
    return sn_uniq_run(&run->options, &run->plan, run->input, output, dropped, &run->result, error);
}

static seen_status prepare(uniq_run *run, seen_error *error)
{
    sn_args *args = run->args;
    const uniq_own *own = run->own;
    char terminator = args->null ? '\0' : '\n';
    seen_status status = sn_input_open((const char *const *)args->operands, args->operand_count,
                                       &run->watch.stop, &run->input, error);
    if (status == SEEN_OK && own->filter) {
        uint64_t lines, bytes;
        status = sn_input_estimate(run->input, terminator, &lines, &bytes, error);
        if (status == SEEN_OK)
            status = open_filter(run, sn_input_room(run->input, lines, bytes, true),
                                 &run->options.filter, error);
    }
    if (status == SEEN_OK)
        status = sn_uniq_plan_make(&run->options, run->input, &run->plan, error);
    if (status == SEEN_OK && !own->count_only)
        status = sn_output_open(args->output, terminator, &run->watch.stop, &run->output, error);
    if (status == SEEN_OK && run->output) {
        sn_output_header(run->output, run->input);
        run->deferred = sn_output_is_deferred(run->output);
        status = sn_output_apart(run->output, run->input, error);
    }
    /* What is printed goes on when nobody reads what is dropped, unless a filter would remember
     * lines that nobody got. */
    sn_stop *stop = own->filter && own->repeated ? &run->watch.stop : NULL;
    if (status == SEEN_OK && own->dropped)
        status = sn_output_open(own->dropped, terminator, stop, &run->dropped, error);
    if (status == SEEN_OK && run->dropped) {
        sn_output_header(run->dropped, run->input);
        run->dropped_deferred = sn_output_is_deferred(run->dropped);
        status = sn_output_apart(run->dropped, run->input, error);
    }
    return status;
}

static int run_uniq(sn_args *args)
{
    const uniq_own *own = args->own;
    int code = check_arguments(args, own);
    uniq_run run = {.args = args, .own = own};
    if (code || !sn_watch_begin(&run.watch, "uniq"))
        return SN_EXIT_TROUBLE;
    run.options = (sn_uniq_options){
        .keys = sn_args_keys(args),
        .pipeline = sn_args_pipeline(args, own->filter, &run.watch),
        .what = own->repeated  ? SN_UNIQ_REPEATED
                : own->singles ? SN_UNIQ_SINGLES
                               : SN_UNIQ_FIRST,
        .count_only = own->count_only,
        .exact = own->exact,
        .capacity = args->capacity,
        .error_rate = args->error_rate,
        .memory = args->memory,
        .temp_dir = args->temp,
        .remember_first = own->filter && sn_is_redis(own->filter),
    };
    args->prints = !own->count_only && (!args->output || !strcmp(args->output, "-"));
    seen_error error = {0};
    seen_status status = prepare(&run, &error);
    if (status == SEEN_OK) {
        tell_plan(&run);
        run.watch.input = run.input;
        run.watch.total = sn_input_size(run.input);
        if (own->singles && run.watch.total != UINT64_MAX)
            run.watch.total *= 2;
        run.watch.capacity = own->repeated || own->singles ? 0 : run.plan.capacity;
        status = sn_watch_run(&run.watch, args, do_run, &run, &error);
    }
    code = status == SEEN_OK ? tell_end(&run) : sn_trouble_error(&error);
    sn_args_warn_quoted(args);
    tell_partial(&run);
    free(run.result.partial);
    sn_output_abandon(run.output);
    sn_output_abandon(run.dropped);
    seen_close(run.options.filter);
    sn_input_close(run.input);
    sn_watch_end(&run.watch);
    return code;
}

const sn_command sn_command_uniq = {
    .name = "uniq",
    .summary = "print each line the first time it appears",
    .synopsis = "[OPTION]... [FILE]...",
    .about =
        "Prints each line of the files, or of the standard input, the first time it appears, in "
        "the order of the input and without sorting. Lines are bytes: there is no locale, a CR "
        "belongs to its line, and none is too short or too binary, or too long up to 4 GiB (with "
        "-m: up to a sixteenth of it; half of that with -i or --dropped, a quarter with --url, "
        "which make copies of it). Compressed input (gzip, zstd, xz, bzip2, lz4) is known by its "
        "content.\n\n"
        "Lines are remembered in a filter of some 30 bits each, sized by a look at the input, so a "
        "new line is taken for a repeat once in a million times (-p). The summary on stderr tells "
        "how many lines that is expected to have been. With --exact it never happens.\n\n"
        "Ctrl-C ends a run in order: what was printed is complete up to there, a filter holds what "
        "was printed, and a file that -o names is as it was. The message says what was kept. With "
        "--json the summary is JSON, on stderr, or on stdout with -c.",
    .operands = "FILE",
    .max_operands = SIZE_MAX,
    .own_size = sizeof(uniq_own),
    .groups = {&own_group, &sn_group_sizing, &sn_group_records, &sn_group_output, &sn_group_json,
               &sn_group_temp, &sn_group_threads, &sn_group_talk, &sn_group_timeout},
    .examples = {{"De-duplicate a file in place", "seen uniq urls.txt -o urls.txt",
                  "printf 'a\\nb\\na\\n' > urls.txt"},
                 {"Print what yesterday's run did not print", "seen uniq -f seen.filter today.txt",
                  "printf 'a\\nb\\na\\n' > today.txt"},
                 {"Count the different visitors in compressed logs",
                  "seen uniq -c -k 1 -t ' ' access.log.gz",
                  "printf '1.2.3.4 GET /\\n1.2.3.4 GET /a\\n' | gzip > access.log.gz"},
                 {"Exactly, in 256 MiB, whatever the size of the input",
                  "seen uniq --exact -m 256M huge.txt > unique.txt",
                  "printf 'a\\nb\\na\\n' > huge.txt"}},
    .run = run_uniq,
};
