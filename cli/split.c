/* `seen split`: splits a stream into parts by the hash of the key. */
#include "base/error.h"
#include "cli/cli.h"
#include "cli/watch.h"
#include "stream/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef struct split_own {
    uint64_t parts;
    const char *command;
} split_own;

static const sn_option own_options[] = {
    {.letter = 'n',
     .name = "parts",
     .argument = "NUMBER",
     .type = SN_COUNT,
     .offset = offsetof(split_own, parts),
     .min = 1,
     .max = SN_PARTS_MAX,
     .help = "number of parts"},
    {.name = "exec",
     .argument = "COMMAND",
     .type = SN_STRING,
     .offset = offsetof(split_own, command),
     .help = "pipe each part into a COMMAND of its own",
     .more =
         "COMMAND is run by the shell, once for each part, all at the same time, with the number "
         "of the part in SEEN_PART (from 0) and their number in SEEN_PARTS. A command that "
         "reads no further does not stop the others. If one fails, so does split."},
};
static const sn_group own_group = {
    .title = "Parts", .options = own_options, .count = 2, .own = true};

typedef struct split_run {
    sn_args *args;
    const split_own *own;
    sn_watch watch;
    sn_parts_options options;
    sn_input *input;
    sn_output **output;
    pid_t *child; /* of --exec; 0: none */
    uint64_t *lines;
    bool stopped;
} split_run;

/* ---- Outputs -------------------------------------------------------------------------------- */

/* The digits of the one %d or %04d in a name; -1 if it has none, more than one, or another %. */
static int find_number(const char *name, const char **before, const char **behind)
{
    const char *percent = strchr(name, '%');
    if (!percent)
        return -1;
    char *end;
    long width = strtol(percent + 1, &end, 10);
    if (*end != 'd' || strchr(end, '%') || width < 0 || width > 20 || percent[1] == '+' ||
        percent[1] == ' ')
        return -1;
    *before = percent;
    *behind = end + 1;
    return (int)width;
}

static char *part_name(const char *pattern, size_t part)
{
    const char *before = pattern, *behind = pattern;
    char *name = NULL;
    int width = find_number(pattern, &before, &behind);
    if (asprintf(&name, "%.*s%0*zu%s", (int)(before - pattern), pattern, width < 1 ? 1 : width,
                 part, behind) < 0)
        return NULL;
    return name;
}

static seen_status open_file(split_run *run, size_t part, seen_error *error)
{
    char *name = part_name(run->args->output, part);
    if (!name)
        return sn_error_memory(error);
    seen_status status =
        sn_output_open(name, run->options.pipeline.terminator, NULL, &run->output[part], error);
    free(name);
    return status;
}

/* Starts the command of one part; its standard input is the part. */
static seen_status start_command(split_run *run, size_t part, seen_error *error)
{
    int ends[2];
    char number[32], parts[32], path[64];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return sn_error_cannot(error, errno, "make a pipe for", run->own->command);
    snprintf(number, sizeof number, "%zu", part);
    snprintf(parts, sizeof parts, "%zu", run->options.parts);
    setenv("SEEN_PART", number, 1);
    setenv("SEEN_PARTS", parts, 1);
    posix_spawnattr_t attributes; /* SIGPIPE is ignored here, and must not be there */
    sigset_t pipe_signal;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &pipe_signal);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    char shell[] = "sh", option[] = "-c";
    char *const words[] = {shell, option, (char *)(uintptr_t)run->own->command, NULL};
    int code = posix_spawn(&run->child[part], "/bin/sh", &actions, &attributes, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(ends[0]);
    seen_status status = SEEN_OK;
    if (code != 0) {
        run->child[part] = 0;
        status = sn_error_cannot(error, code, "start", run->own->command);
    } else {
        snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
        status =
            sn_output_open(path, run->options.pipeline.terminator, NULL, &run->output[part], error);
    }
    close(ends[1]);
    return status;
}

/* As many descriptors as there are parts, if the system allows it. */
static void allow_files(size_t parts)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < parts + 100) {
        rlim_t want = parts + 100;
        limit.rlim_cur = limit.rlim_max < want ? limit.rlim_max : want;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static seen_status prepare(split_run *run, seen_error *error)
{
    sn_args *args = run->args;
    size_t parts = run->options.parts;
    seen_status status = sn_input_open((const char *const *)args->operands, args->operand_count,
                                       &run->watch.stop, &run->input, error);
    run->output = calloc(parts, sizeof(sn_output *));
    run->child = calloc(parts, sizeof *run->child);
    run->lines = calloc(parts, sizeof *run->lines);
    if (!run->output || !run->child || !run->lines)
        return sn_error_memory(error);
    allow_files(parts);
    for (size_t p = 0; p < parts && status == SEEN_OK; p++) {
        status = run->own->command ? start_command(run, p, error) : open_file(run, p, error);
        if (status == SEEN_OK)
            sn_output_header(run->output[p], run->input, "");
    }
    return status;
}

/* ---- Finishing ------------------------------------------------------------------------------ */

/* Renames the files into place, or discards them all. */
static seen_status finish(split_run *run, seen_status status, seen_error *error)
{
    for (size_t p = 0; run->output && p < run->options.parts; p++) {
        if (run->output[p] && status == SEEN_OK && !run->stopped)
            status = sn_output_finish(run->output[p], error);
        else
            sn_output_abandon(run->output[p]);
    }
    return status;
}

/* Waits for all commands: an exit status, after a message about each that failed. */
static int wait_for_commands(const split_run *run)
{
    int code = SN_EXIT_OK;
    for (size_t p = 0; run->child && p < run->options.parts; p++) {
        int status = 0;
        if (!run->child[p])
            continue;
        while (waitpid(run->child[p], &status, 0) < 0 && errno == EINTR)
            ;
        if (WIFSIGNALED(status))
            code = sn_message_error("the command of part %zu was ended by signal %d", p,
                                    WTERMSIG(status));
        else if (WEXITSTATUS(status))
            code = sn_message_error("the command of part %zu failed with status %d", p,
                                    WEXITSTATUS(status));
    }
    return code;
}

static void print_summary(const split_run *run)
{
    uint64_t all = 0, most = 0;
    char lines[SN_TEXT], parts[SN_TEXT], largest[SN_TEXT];
    for (size_t p = 0; p < run->options.parts; p++) {
        all += run->lines[p];
        most = run->lines[p] > most ? run->lines[p] : most;
    }
    if (run->args->json) {
        sn_json json;
        sn_json_open(&json, stderr, true);
        sn_json_object(&json, NULL);
        sn_json_u64(&json, "lines", all);
        sn_json_array(&json, "parts");
        for (size_t p = 0; p < run->options.parts; p++)
            sn_json_u64(&json, NULL, run->lines[p]);
        sn_json_end(&json);
        sn_json_end(&json);
        return;
    }
    sn_message_summary(
        run->args, "%s in %s, the largest with %s", sn_show_number_of(lines, all, "line"),
        sn_show_number_of(parts, run->options.parts, "part"), sn_show_count(largest, (double)most));
}

/* ---- The command ---------------------------------------------------------------------------- */

static int check_arguments(const sn_args *args, const split_own *own)
{
    const char *before, *behind;
    if (!own->parts)
        return sn_message_error("into how many parts? Give their number with -n");
    if (!own->command == !args->output)
        return sn_message_error(
            "give the names of the parts, as in -o 'part.%%d', or a command (--exec)");
    if (args->output && find_number(args->output, &before, &behind) < 0)
        return sn_message_error(
            "%s: the name of the parts needs one %%d, or %%04d, for their number", args->output);
    return SN_EXIT_OK;
}

static seen_status do_run(void *context, seen_error *error)
{
    split_run *run = context;
    return sn_parts_run(&run->options, run->input, run->output, run->lines, &run->stopped, error);
}

static int run_split(sn_args *args)
{
    split_run run = {.args = args, .own = args->own};
    seen_error error = {0};
    int code = check_arguments(args, run.own);
    if (code || !sn_watch_begin(&run.watch, "split"))
        return SN_EXIT_ERROR;
    run.options = (sn_parts_options){.keys = sn_args_keys(args),
                                     .pipeline = sn_args_pipeline(args, NULL, &run.watch),
                                     .parts = (size_t)run.own->parts};
    seen_status status = prepare(&run, &error);
    if (status == SEEN_OK) {
        run.watch.input = run.input;
        run.watch.total = sn_input_size(run.input);
        status = sn_watch_run(&run.watch, args, do_run, &run, &error);
    }
    status = finish(&run, status, &error);
    code = wait_for_commands(&run);
    if (status != SEEN_OK)
        code = sn_message_report(&error);
    else if (run.stopped)
        code = sn_message_error("stopped; %s", run.own->command
                                                   ? "the commands got a part of the input"
                                                   : "no file was written");
    else
        print_summary(&run);
    sn_args_warn_records(args);
    free(run.output);
    free(run.child);
    free(run.lines);
    sn_input_close(run.input);
    sn_watch_end(&run.watch);
    return code;
}

const sn_cli_command sn_cli_command_split = {
    .name = "split",
    .summary = "cut a stream into parts by the hash of the key",
    .synopsis = "-n NUMBER (-o NAME%d | --exec COMMAND) [OPTION]... [FILE]...",
    .about =
        "Cuts the lines of the files, or of the standard input, into parts, so that equal keys "
        "are in the same part. What uniq, count, common and except print for the parts is then "
        "what they print for the whole, in another order: the way to use more processes or "
        "machines, with GNU parallel, Slurm, Hadoop Streaming or Spark's pipe.\n\n"
        "The part of a key depends on the key and the number of parts only: two inputs that are "
        "cut apart from each other, on any machine, have equal keys in parts of the same "
        "number. Within a part the lines keep their order. Files appear when all are complete; "
        "names that end in .gz or .zst are compressed. With --csv and --tsv each part has the "
        "header.",
    .operands = "FILE",
    .max_operands = SIZE_MAX,
    .own_size = sizeof(split_own),
    .groups = {&own_group, &sn_group_records, &sn_group_url, &sn_group_print, &sn_group_output,
               &sn_group_json, &sn_group_threads, &sn_group_messages},
    .examples = {{"Eight files with different lines", "seen split -n 8 -o 'part.%d' urls.txt",
                  "seq 100 > urls.txt"},
                 {"Count the users of a CSV file in four processes",
                  "seen split -n 4 --csv -k user --exec 'seen count --csv -k user' visits.csv",
                  "printf 'user,page\\na,1\\nb,1\\na,2\\n' > visits.csv"},
                 {"Remove duplicates with GNU parallel",
                  "seen split -n 4 -o 'part.%d' urls.txt && parallel seen uniq ::: part.*", "-"}},
    .run = run_split,
};
