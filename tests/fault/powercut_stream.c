/* Power failures while uniq, common and except write their results.
 *
 *     powercut_stream [CUTS]     default 40 on each path; 1000 for the figures of docs/trust.md
 *
 * A child runs the command until the power fails (disk.h), at a random moment of the whole run, and
 * leaves what may be on the disk. A result by -o is the old file or the complete new one, and the
 * new one if the command was done. With a filter (uniq -f) the command is run again with what is
 * left of it: between the two results no line is lost. SEEN_SEED repeats a run. */
#include "command.h"
#include "disk.h"

#include <sys/wait.h>

enum { LINES = 12000, VALUES = 9000, WIDTH = 64 };
static const char OLD[] = "what was there\n";

typedef struct job {
    const char *words; /* the command line; inputs "a" and "b", result "out" */
    bool (*wanted)(int line);
    bool printed; /* the result goes to standard output, which is a file */
    bool memory;  /* uniq -f set */
    bool made;    /* the set already existed */
} job;

static int numbers[LINES], times_before[LINES];
static bool in_b[VALUES];

static bool is_first(int i)
{
    return times_before[i] == 0;
}

static bool is_common(int i)
{
    return in_b[numbers[i]];
}

static bool is_rest(int i)
{
    return !in_b[numbers[i]];
}

static const job JOBS[] = {
    {.words = "uniq -q --exact a -o out", .wanted = is_first},
    {.words = "common -q a b -o out", .wanted = is_common},
    {.words = "except -q a b -o out", .wanted = is_rest},
    {.words = "uniq -q -p 1e-12 -f set a -o out", .wanted = is_first, .memory = true},
    {.words = "uniq -q -p 1e-12 -f set a -o out", .wanted = is_first, .memory = true, .made = true},
    {.words = "uniq -q -p 1e-12 -f set a", .wanted = is_first, .memory = true, .printed = true},
    {.words = "uniq -q -p 1e-12 -f set a",
     .wanted = is_first,
     .memory = true,
     .printed = true,
     .made = true},
};
enum { JOB_COUNT = sizeof JOBS / sizeof *JOBS };

/* ---- lines and files ---- */

/* A torn line differs from every other line: it contains its number twice, the second time
 * mixed. */
static void put_line(char to[WIDTH + 1], int number)
{
    snprintf(to, WIDTH + 1, "%08d %016llx %037d\n", number,
             (unsigned long long)mix64((uint64_t)number), number);
}

static char *put_lines(bool (*wanted)(int line), size_t *size)
{
    char *text = malloc((size_t)LINES * WIDTH + 1);
    *size = 0;
    for (int i = 0; text && i < LINES; i++)
        if (!wanted || wanted(i)) {
            put_line(text + *size, numbers[i]);
            *size += WIDTH;
        }
    return text;
}

static void put_file(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(at(name), "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        die(name, "cannot be written");
}

static unsigned char *get_file(const char *name, size_t *size)
{
    *size = 0;
    int fd = open(at(name), O_RDONLY);
    if (fd < 0)
        return NULL;
    unsigned char *bytes = content(fd, size);
    close(fd);
    return bytes;
}

static bool file_is(const char *name, const void *bytes, size_t size)
{
    size_t length;
    unsigned char *have = get_file(name, &length);
    bool same = have && length == size && memcmp(have, bytes, size) == 0;
    free(have);
    return same;
}

static void make_inputs(void)
{
    static int times[VALUES];
    size_t size;
    for (int i = 0; i < LINES; i++) {
        numbers[i] = (int)below(VALUES);
        times_before[i] = times[numbers[i]]++;
    }
    for (int i = 0; i < VALUES; i++)
        in_b[i] = below(2);
    char *a = put_lines(NULL, &size), *b = put_lines(is_common, &size);
    put_file("b", b, size);
    put_file("a", a, (size_t)LINES * WIDTH);
    free(a);
    free(b);
}

static void make_set(void)
{
    seen_set *set;
    seen_error e;
    seen_options options = options_of(SEEN_BLOOM, SEEN_GROWING, 1000);
    options.error_rate = 1e-12;
    must(seen_create(at("set"), &options, 0, &set, &e), &e);
    seen_close(set);
}

/* ---- one run, in a child ---- */

static unsigned long *moments; /* of a whole run; shared with the child */

/* The power fails: copies what is left of the result and of the filter. */
static void cut_run(void)
{
    for (int i = 0; i < DISK_NAMES; i++) {
        const char *to = i == 0 ? at("after-out") : at("after-set");
        if (!names[i].path[0] || !leave_name(&names[i], to))
            unlink(to);
    }
    _exit(0);
}

static void never(void)
{
    die("a whole run", "has no end");
}

enum { WHOLE = 100 }; /* exit status of a run without a failure, plus that of the command */

static void be_child(const job *j, unsigned long when)
{
    int out = open("out", O_RDWR | O_CREAT | (j->printed ? O_TRUNC : 0), 0600);
    if (j->printed)
        dup2(out, STDOUT_FILENO);
    close(out);
    keep_file("out");
    watch_name(&names[0], "out");
    names[1] = (watched){0};
    if (j->memory)
        watch_name(&names[1], "set");
    if (j->made)
        keep_file("set");
    alarm(200);
    countdown = when ? when : 1ul << 40;
    cut = when ? cut_run : never;
    int status = run_command(j->words);
    *moments = (1ul << 40) - countdown;
    _exit(WHOLE + status);
}

static int run_child(const job *j, unsigned long when)
{
    int status = 0;
    fflush(stdout);
    random_state += 77; /* different moments for each child */
    pid_t child = fork();
    if (child == 0)
        be_child(j, when);
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        die(j->words, "a run was lost");
    return WEXITSTATUS(status);
}

/* ---- what must hold afterwards ---- */

static void note_lines(const char *name, bool *there)
{
    size_t size;
    unsigned char *bytes = get_file(name, &size);
    for (size_t i = 0; bytes && i + WIDTH <= size; i += WIDTH) {
        char line[WIDTH + 1];
        int number = (int)strtol((const char *)bytes + i, NULL, 10);
        put_line(line, number);
        if (number >= 0 && number < VALUES && memcmp(line, bytes + i, WIDTH) == 0)
            there[number] = true;
    }
    free(bytes);
}

static void nothing_lost(const job *j)
{
    bool there[VALUES] = {0};
    note_lines("after-out", there);
    rename(at("after-set"), at("set"));
    unlink(at("out"));
    if (run_child(&(job){.words = j->words, .printed = j->printed}, 0) != WHOLE)
        die(j->words, "does not work after a power cut");
    note_lines("out", there);
    for (int i = 0; i < LINES; i++)
        if (!there[numbers[i]])
            die(j->words, "a power cut lost a line");
}

static void prepare(const job *j)
{
    unlink(at("set"));
    unlink(at("after-set"));
    unlink(at("after-out"));
    put_file("out", OLD, sizeof OLD - 1);
    if (j->made)
        make_set();
}

/* A whole run is correct; its number of moments determines the random ones. */
static void run_whole(const job *j, const char *right, size_t size)
{
    prepare(j);
    if (run_child(j, 0) != WHOLE || !file_is("out", right, size))
        die(j->words, "does not work");
}

static void run_job(const job *j, unsigned long wanted)
{
    size_t size;
    unsigned long cuts = 0, new_keys = 0;
    char *right = put_lines(j->wanted, &size);
    run_whole(j, right, size);
    unsigned long most = *moments;
    for (unsigned long run = 0; cuts < wanted; run++) {
        if (run > 20 * wanted + 100)
            die(j->words, "cannot be cut");
        prepare(j);
        /* Half of the failures are near the end, where the result is renamed into place. */
        unsigned long last = most < 16 ? most : 16;
        int status = run_child(j, below(2) ? 1 + below(most) : most - below(last));
        if (status >= WHOLE)
            continue; /* threads may make fewer calls than were counted */
        cuts++;
        bool new = file_is("after-out", right, size);
        if (!j->printed && !new && !file_is("after-out", OLD, sizeof OLD - 1))
            die(j->words, "a power cut left half a result");
        new_keys += new;
        if (j->memory)
            nothing_lost(j);
    }
    printf("%-36s %lu power cuts, %lu moments, %lu times the new file\n", j->words, cuts, most,
           new_keys);
    fflush(stdout);
    free(right);
}

int main(int argc, char **argv)
{
    unsigned long wanted = argc > 1 ? strtoul(argv[1], NULL, 10) : 40;
    seed_random();
    folder_make(folder_in_memory(), "power");
    moments =
        mmap(NULL, sizeof *moments, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (moments == MAP_FAILED || chdir(folder) != 0)
        return 2;
    make_inputs();
    for (int i = 0; i < JOB_COUNT; i++)
        run_job(&JOBS[i], wanted);
    folder_clear(NULL);
    return rmdir(folder) != 0;
}
