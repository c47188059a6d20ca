/* `seen common` and `seen except`. */
#include "cli/sets.h"

#include "base/memory.h"
#include "base/thread.h"
#include "cli/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const sn_option what_options[] = {
    {.letter = 'u',
     .name = "unique",
     .type = SN_FLAG,
     .offset = offsetof(sn_sets_own, unique),
     .help = "print each line once, at its first position"},
    {.name = "all",
     .type = SN_FLAG,
     .offset = offsetof(sn_sets_own, all),
     .help = "with several B: only lines that are in each of them"},
    {.name = "approx",
     .type = SN_FLAG,
     .offset = offsetof(sn_sets_own, approx),
     .help = "read each file once; the result has some errors",
     .more = "The error rate is -p, or higher if -m is too small; the summary reports it."},
    {.letter = 'p',
     .name = "error-rate",
     .argument = "RATE",
     .type = SN_RATE,
     .offset = offsetof(sn_sets_own, error_rate),
     .help = "share that --approx may get wrong",
     .preset = "0.1%"},
    {.name = "key-b",
     .argument = "KEYS",
     .type = SN_LIST,
     .offset = offsetof(sn_sets_own, key_b),
     .help = "the fields to compare in B",
     .preset = "those of -k",
     .more = "Written like -k. Without -k, whole lines of A are looked up: 'seen common urls.txt "
             "visits.tsv --key-b 2'. Both files have the same format."},
};
const sn_group sn_group_sets = {.title = "What to print",
                                .options = what_options,
                                .count = sizeof what_options / sizeof *what_options,
                                .own = true};

static const sn_option plan_options[] = {
    {.letter = 'm',
     .name = "memory",
     .argument = "SIZE",
     .type = SN_SIZE,
     .offset = offsetof(sn_sets_own, memory),
     .min = 1,
     .help = "memory: 4GiB, 120MB",
     .preset = "half of what is free",
     .more = "At least 16 MiB. A line may be as long as a sixteenth of it; half of that "
             "with -i, a quarter with --url, which make a copy of it."},
    {.name = "explain",
     .type = SN_FLAG,
     .offset = offsetof(sn_sets_own, explain),
     .help = "print time, memory and disk needed, and exit",
     .more = "Only samples of the files are read."},
    {.name = "share",
     .argument = "SHARE",
     .type = SN_SHARE,
     .offset = offsetof(sn_sets_own, share),
     .help = "share of A expected to be in B, for the plan",
     .preset = "10%",
     .rare = true,
     .more = "The answer does not depend on it; the plan does."},
    {.name = "assume-lines",
     .argument = "LINES",
     .type = SN_COUNT,
     .offset = offsetof(sn_sets_own, assume_lines),
     .min = 1,
     .help = "with --explain: plan for files of this many lines",
     .rare = true},
    {.name = "assume-bytes",
     .argument = "BYTES",
     .type = SN_COUNT,
     .offset = offsetof(sn_sets_own, assume_bytes),
     .min = 1,
     .help = "with --assume-lines: bytes per line",
     .preset = "64",
     .rare = true},
};
const sn_group sn_group_sets_plan = {
    .title = "Plan", .options = plan_options, .count = 5, .own = true};

/* All resources of a run, freed in one place. */
typedef struct sets_run {
    sn_args *args;
    const sn_sets_own *own;
    sn_stop stop;
    sn_join_progress progress;
    sn_input *a;
    sn_input **b;
    size_t b_count;
    sn_output *output;
    sn_join_options options;
    sn_join_parameters parameters;
    sn_join_plan plan;
    sn_join_result result;
    sn_record_spec record_b; /* --key-b */
    sn_keys_options keys_b;
    seen_status status;
    seen_error error;
    sem_t done;
} sets_run;

/* ---- Inputs --------------------------------------------------------------------------------- */

/* The magic bytes of filter files. */
static bool is_filter(const char *where)
{
    static const unsigned char magic[8] = {0x89, 'S', 'E', 'E', 'N', '\r', '\n', 0x1a};
    unsigned char head[8];
    struct stat at;
    if (sn_where_is_redis(where))
        return true;
    if (stat(where, &at) != 0 || !S_ISREG(at.st_mode))
        return false;
    int fd = open(where, O_RDONLY | O_CLOEXEC);
    bool is = fd >= 0 && read(fd, head, sizeof head) == sizeof head &&
              memcmp(head, magic, sizeof magic) == 0;
    if (fd >= 0)
        close(fd);
    return is;
}

static int by_size(const void *x, const void *y)
{
    uint64_t a = sn_input_size(*(sn_input *const *)x), b = sn_input_size(*(sn_input *const *)y);
    return a < b ? -1 : a > b;
}

static seen_status open_b(sets_run *run, const char *const *paths, size_t count, seen_error *error)
{
    size_t inputs = run->own->all ? count : 1, each = run->own->all ? 1 : count;
    run->b = calloc(inputs, sizeof(sn_input *));
    if (!run->b) {
        snprintf(error->message, sizeof error->message, "no memory for a list of files");
        return error->status = SEEN_ERR_MEMORY;
    }
    seen_status status = SEEN_OK;
    for (; run->b_count < inputs && status == SEEN_OK; run->b_count += status == SEEN_OK)
        status = sn_input_open(paths + run->b_count * each, each, &run->stop, &run->b[run->b_count],
                               error);
    if (status == SEEN_OK)
        qsort(run->b, run->b_count, sizeof(sn_input *), by_size);
    return status;
}

static seen_status open_inputs(sets_run *run, seen_error *error)
{
    const char *const *paths = (const char *const *)run->args->operands;
    size_t count = run->args->operand_count - 1;
    seen_status status = sn_input_open(paths, 1, &run->stop, &run->a, error);
    if (status != SEEN_OK)
        return status;
    if (count == 1 && is_filter(paths[1])) {
        seen_options options = sn_args_options(run->args);
        status = seen_open(paths[1], &options, SEEN_READ_ONLY, &run->options.given, error);
        if (status == SEEN_OK)
            status = sn_filter_keys(run->args, run->options.given, paths[1], error);
        run->options.keys = sn_args_keys(run->args);
        run->options.pipeline.record = sn_args_record_spec(run->args);
        return status;
    }
    return open_b(run, paths + 1, count, error);
}

/* ---- Messages ------------------------------------------------------------------------------- */

static void json_summary(const sets_run *run)
{
    const sn_join_result *r = &run->result;
    sn_json json;
    sn_json_open(&json, stderr, true);
    sn_json_object(&json, NULL);
    sn_json_u64(&json, "lines_a", r->lines_a);
    sn_json_u64(&json, "lines_b", r->lines_b);
    sn_json_u64(&json, "written", r->written);
    sn_json_bool(&json, "exact", r->strategy < SN_JOIN_APPROX);
    sn_json_number(&json, "error_rate", r->error_rate);
    sn_json_number(&json, "expected_wrong", r->wrong);
    sn_json_string(&json, "strategy", sn_join_strategy_name(r->strategy));
    sn_json_u64(&json, "strategy_changes", r->changes);
    sn_json_u64(&json, "passes", r->passes);
    sn_json_number(&json, "slices", r->slices);
    sn_json_u64(&json, "candidates", r->candidates);
    sn_json_u64(&json, "bytes_read", r->read);
    sn_json_u64(&json, "temporary", r->temporary);
    sn_json_u64(&json, "memory", run->parameters.memory);
    sn_json_bool(&json, "stopped", r->stopped);
    sn_json_end(&json);
}

static void print_summary(const sets_run *run)
{
    char lines[SN_TEXT], written[SN_TEXT], rate[SN_TEXT], read[SN_TEXT], temp[SN_TEXT + 40] = "";
    char lost[SN_TEXT + 60] = "";
    const sn_join_result *r = &run->result;
    const char *what = run->options.except ? "not in B" : "also in B";
    sn_show_number_of(lines, r->lines_a, "line");
    sn_show_count(written, (double)r->written);
    sn_show_size(read, (double)r->read);
    if (r->temporary)
        snprintf(temp, sizeof temp, ", %s of temporary files",
                 sn_show_size(rate, (double)r->temporary));
    if (r->strategy < SN_JOIN_APPROX) {
        sn_message_summary(run->args, "%s, %s %s (%s%s; %s read%s)", lines, written, what,
                           sn_join_strategy_name(r->strategy),
                           r->changes ? ", because the planned strategy had no room" : "", read,
                           temp);
        return;
    }
    sn_show_rate(rate, r->error_rate);
    if (run->options.unique)
        snprintf(lost, sizeof lost, "; -u: %s unique lines expected to be lost",
                 sn_show_expected(temp, r->wrong));
    sn_message_summary(run->args,
                       "%s, %s %s (approximate: a line that is not in B is taken for one that is "
                       "at a rate of %s%s)",
                       lines, written, what, rate, lost);
}

static int report_end(const sets_run *run)
{
    if (run->result.stopped && sn_stop_get((sn_stop *)&run->stop) == SN_STOP_REQUESTED) {
        sn_message_error("stopped; %s", run->args->prints
                                            ? "what was printed is the beginning of the answer"
                                            : "the output file is unchanged");
        return SN_EXIT_ERROR;
    }
    if (run->args->json)
        json_summary(run);
    else
        print_summary(run);
    return sn_message_finish_stdout(SN_EXIT_OK);
}

/* ---- Running with progress ------------------------------------------------------------------ */

static void *work(void *argument)
{
    sets_run *run = argument;
    sn_output *output = run->output;
    run->output = NULL; /* the engine finishes it */
    run->status = sn_join_run(&run->options, &run->plan, &run->parameters, run->a, run->b,
                              run->b_count, output, &run->result, &run->error);
    sem_post(&run->done);
    return NULL;
}

static bool wait_a_moment(sets_run *run)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 100 * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    return sem_timedwait(&run->done, &until) == 0;
}

/* Each pass has its own progress line, which names it. */
static void show(sets_run *run, sn_progress *progress, uint64_t *pass)
{
    uint64_t bytes = atomic_load(&run->progress.meter.bytes);
    uint64_t lines = atomic_load(&run->progress.meter.lines);
    uint64_t now = atomic_load(&run->progress.pass);
    if (now != *pass) {
        if (*pass)
            sn_progress_end(progress, bytes, lines, -1);
        sn_progress_begin(progress, run->args, atomic_load(&run->progress.what),
                          atomic_load(&run->progress.total));
        *pass = now;
    }
    if (now)
        sn_progress_show(progress, bytes, lines, -1);
}

static void watch(sets_run *run)
{
    pthread_t thread;
    sn_progress progress;
    uint64_t pass = 0;
    bool started = sn_thread_start(&thread, work, run);
    if (!started) {
        work(run);
        return;
    }
    while (!wait_a_moment(run)) {
        if (sn_signal_stopped())
            sn_stop_set(&run->stop, SN_STOP_REQUESTED);
        show(run, &progress, &pass);
    }
    pthread_join(thread, NULL);
    show(run, &progress, &pass);
    if (pass)
        sn_progress_end(&progress, atomic_load(&run->progress.meter.bytes),
                        atomic_load(&run->progress.meter.lines), -1);
}

/* ---- The command ---------------------------------------------------------------------------- */

static int check_arguments(const sn_args *args, const sn_sets_own *own)
{
    if (own->assume_bytes && !own->assume_lines)
        return sn_message_error("--assume-bytes goes with --assume-lines");
    if (own->assume_lines && !own->explain)
        return sn_message_error("--assume-lines goes with --explain");
    if (own->assume_lines && args->operand_count)
        return sn_message_error("--assume-lines looks at no files; leave them out");
    if (!own->assume_lines && args->operand_count < 2)
        return sn_message_error("%s needs two files: seen %s %s", args->command->name,
                                args->command->name, args->command->synopsis);
    if (own->error_rate > 0 && !own->approx)
        return sn_message_error("without --approx there are no errors: leave -p out");
    unsigned standard = 0;
    for (size_t i = 0; i < args->operand_count; i++) {
        standard += !strcmp(args->operands[i], "-");
        if (i == 0 && is_filter(args->operands[i]))
            return sn_message_error(
                "%s is a filter, which cannot list what it has seen: A must be a "
                "file of lines",
                args->operands[i]);
        if (i > 0 && !own->explain && is_filter(args->operands[i]) &&
            sn_where_same(args->operands[i], args->output ? args->output : "-"))
            return sn_message_error("%s is a filter: write the lines to another file",
                                    args->operands[i]);
        if (i > 0 && args->operand_count > 2 && is_filter(args->operands[i]))
            return sn_message_error(
                "%s is a filter; give it as the only B, or merge several with 'seen "
                "merge'",
                args->operands[i]);
    }
    if (standard > 1)
        return sn_message_error("the standard input ('-') can be only one of the files");
    return SN_EXIT_OK;
}

/* Lets tests run each strategy on small files. */
static sn_join_strategy forced_strategy(void)
{
    const char *name = getenv("SEEN_JOIN_STRATEGY");
    for (int strategy = SN_JOIN_TABLE_B; name && strategy <= SN_JOIN_SPILL_FILTERED; strategy++)
        if (!strcmp(name, sn_join_strategy_name((sn_join_strategy)strategy)))
            return (sn_join_strategy)strategy;
    return SN_JOIN_ANY;
}

static void assume(sets_run *run)
{
    const sn_sets_own *own = run->own;
    double lines = (double)own->assume_lines;
    double bytes = lines * (own->assume_bytes ? (double)own->assume_bytes : 64);
    unsigned threads = run->options.pipeline.threads;
    run->parameters =
        (sn_join_parameters){.lines_a = lines,
                             .lines_b = lines,
                             .lines_first = lines,
                             .bytes_a = bytes,
                             .bytes_b = bytes,
                             .text_a = bytes,
                             .memory = own->memory ? own->memory : sn_memory_free() / 2,
                             .threads = threads ? threads : sn_thread_cpus(),
                             .except = run->options.except,
                             .unique = own->unique,
                             .share = run->options.share,
                             .error_rate = own->error_rate};
}

static seen_status prepare(sets_run *run, seen_error *error)
{
    const sn_sets_own *own = run->own;
    sn_join_strategy strategy = run->options.strategy;
    seen_status status = SEEN_OK;
    if (own->assume_lines)
        assume(run);
    else {
        status = open_inputs(run, error);
        if (status == SEEN_OK)
            status = sn_join_measure(&run->options, run->a, run->b, run->b_count, &run->parameters,
                                     error);
    }
    if (own->approx)
        strategy = SN_JOIN_APPROX;
    if (run->options.given)
        strategy = SN_JOIN_GIVEN;
    if (status == SEEN_OK)
        status = sn_join_plan_make(&run->parameters, strategy, &run->plan, error);
    if (status == SEEN_OK && !own->explain)
        status = sn_output_open(run->args->output, run->options.pipeline.terminator, &run->stop,
                                &run->output, error);
    if (status == SEEN_OK && run->output) {
        sn_output_header(run->output, run->a, "");
        status = sn_output_apart(run->output, run->a, error);
    }
    for (size_t i = 0; i < run->b_count && status == SEEN_OK && run->output; i++)
        status = sn_output_apart(run->output, run->b[i], error);
    return status;
}

static void set_options(sets_run *run, bool except)
{
    sn_args *args = run->args;
    const sn_sets_own *own = run->own;
    run->options = (sn_join_options){
        .keys = sn_args_keys(args),
        .pipeline = {.threads = (unsigned)args->threads,
                     .terminator = args->null ? '\0' : '\n',
                     .record = sn_args_record_spec(args),
                     .rewrite = sn_args_rewrite(args),
                     .stop = &run->stop},
        .except = except,
        .unique = own->unique,
        .all = own->all,
        .approx = own->approx,
        .error_rate = own->error_rate,
        .memory = own->memory,
        .temp_dir = args->temp,
        /* Zero is planned like very few. */
        .share = sn_args_given(args, "share") ? fmax(own->share, 1e-9) : 0.1,
        .strategy = forced_strategy(),
        .progress = &run->progress,
    };
}

/* The key of B: the format of A with other fields. */
static int set_key_b(sets_run *run)
{
    sn_args *args = run->args;
    const sn_args_list *list = &run->own->key_b;
    seen_error error = {0};
    if (!list->count)
        return SN_EXIT_OK;
    if (args->operand_count == 2 && is_filter(args->operands[1]))
        return sn_message_error("%s is a filter, which has no fields: leave --key-b out",
                                args->operands[1]);
    run->record_b = args->record;
    run->record_b.part = NULL;
    run->record_b.parts = 0;
    for (size_t i = 0; i < list->count; i++)
        if (sn_spec_add(&run->record_b, list->items[i], &error) != SEEN_OK)
            return sn_message_error("--key-b: %s", error.message);
    run->keys_b = sn_args_keys(args);
    run->keys_b.record = &run->record_b;
    run->options.keys_b = &run->keys_b;
    return SN_EXIT_OK;
}

int sn_sets_run(sn_args *args, bool except)
{
    const sn_sets_own *own = args->own;
    sets_run run = {.args = args, .own = own};
    int code = check_arguments(args, own);
    if (code)
        return code;
    if (sn_stop_init(&run.stop, &run.error) != SEEN_OK)
        return sn_message_report(&run.error);
    sem_init(&run.done, 0, 0);
    set_options(&run, except);
    code = set_key_b(&run);
    args->prints = !args->output || !strcmp(args->output, "-");
    seen_status status = code ? SEEN_ERR_ARGUMENT : prepare(&run, &run.error);
    if (code)
        ; /* the message is printed */
    else if (status != SEEN_OK)
        code = sn_message_report(&run.error);
    else if (own->explain) {
        sn_sets_explain(args, &run.parameters, &run.plan);
        code = sn_message_finish_stdout(SN_EXIT_OK);
    } else {
        watch(&run);
        code = run.status == SEEN_OK ? report_end(&run) : sn_message_report(&run.error);
        sn_args_warn_records(args);
    }
    sn_spec_free(&run.record_b);
    sn_output_abandon(run.output);
    seen_close(run.options.given);
    for (size_t i = 0; i < run.b_count; i++)
        sn_input_close(run.b[i]);
    free(run.b);
    sn_input_close(run.a);
    sem_destroy(&run.done);
    sn_stop_free(&run.stop);
    return code;
}
