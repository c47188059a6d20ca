/* Every system call of uniq, common and except fails in turn, is short, is interrupted.
 *
 *     LD_PRELOAD=libfault_shim.so stream            one call from each place in the code that makes
 *                                                   calls and that no job before had
 *     LD_PRELOAD=libfault_shim.so stream MOST       MOST random calls of each job
 *     LD_PRELOAD=libfault_shim.so stream 0          every call of each job, but of the calls from
 *                                                   one place the first four, then the 8th, 16th,
 *                                                   32nd ... and the last
 *
 * The jobs are commands with so little memory that they need temporary files. After each run the
 * result is correct, or the status is 2, with a message, and the file with the name of the result
 * is unchanged. Inputs are unchanged, nothing temporary is left, nothing leaks. A failed run with a
 * filter (uniq -f) is repeated: between the runs no line is lost. */
#include "command.h"
#include "rig.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { FAIL, MODES = 3, CALLS_MAX = 20000, PLACES_MAX = 1 << 16 };
/* Enough to fill the smallest table of uniq --exact, and short enough to fit into a pipe. */
enum { LINES = 140000, VALUES = 200000, LONGEST = 8 };
static const char OLD[] = "what was there\n";

static void (*fault_arm)(long n, int mode);
static void (*fault_arm_place)(uint64_t place, long n, int mode);
static void (*fault_record)(uint64_t *places, long room);
static int (*fault_disarm)(void);
static long (*fault_counted)(void);
static void (*fault_names_only)(int yes);
static long (*fault_live)(void);

typedef struct text {
    char *bytes;
    size_t size;
} text;

/* The expected output of a run, and its input. */
typedef enum want { FIRST, REPEATS, SINGLES, COMMON, REST } want;

typedef struct job {
    const char *words; /* the command line; input "a" and "b", result "out" */
    want result;
    const char *strategy; /* of common and except */
    const char *tool;     /* that compressed its input "c" */
    const char *packed;   /* the result is compressed too: its name, else "out" */
    bool piped;           /* "a" is standard input */
    bool printed;         /* the result goes to standard output */
    bool names_only;      /* no files without a name */
    bool second;          /* something is written after the result, which is complete then */
    bool memory;          /* uniq -f */
} job;

static const job JOBS[] = {
    {.words = "uniq -q --exact -m 1M -T temp a -o out"},
    {.words = "uniq -q --exact -m 1M -T temp a -o out", .names_only = true},
    {.words = "uniq -q --exact -m 1M -T temp", .piped = true, .printed = true},
    {.words = "uniq -q --duplicates --exact -m 1M -T temp -j 3 a",
     .result = REPEATS,
     .printed = true},
    {.words = "uniq -q -u -m 2M -T temp", .result = SINGLES, .piped = true, .printed = true},
    {.words = "uniq -q --exact a --dropped rest -o out", .second = true},
    {.words = "uniq -q -p 1e-12 -f set -o out a", .memory = true, .second = true},
    {.words = "uniq -q -p 1e-12 -f set a", .memory = true, .printed = true},
    {.words = "uniq -q -p 1e-12 -f set --dropped rest a -o out", .memory = true, .second = true},
    {.words = "uniq -q --exact -i a -o out"},
    {.words = "uniq -q --exact c -o out.gz", .tool = "gzip", .packed = "out.gz"},
    {.words = "uniq -q --exact c -o out.zst", .tool = "zstd -q", .packed = "out.zst"},
    {.words = "uniq -q --exact c -o out", .tool = "xz"},
    {.words = "uniq -q --exact c -o out", .tool = "bzip2"},
    {.words = "uniq -q --exact c -o out", .tool = "lz4 -q"},
    {.words = "common -q -T temp -m 16M a b -o out", .result = COMMON},
    {.words = "common -q -T temp a b -o out", .result = COMMON, .strategy = "spill"},
    {.words = "common -q -T temp a b -o out", .result = COMMON, .strategy = "filtered spill"},
    {.words = "common -q -T temp a b", .result = COMMON, .strategy = "spill", .printed = true},
    {.words = "common -q -T temp - b -o out",
     .result = COMMON,
     .strategy = "filter",
     .piped = true},
    {.words = "except -q -T temp a b -o out", .result = REST, .strategy = "table of A"},
    {.words = "except -q -T temp - b",
     .result = REST,
     .strategy = "spill",
     .piped = true,
     .printed = true,
     .names_only = true},
};
enum { JOB_COUNT = sizeof JOBS / sizeof *JOBS };

static int numbers[LINES]; /* of input a */
static bool in_b[VALUES];
static text a, b, c;

/* What a child reports about its run. */
static struct board {
    long calls, leaked;
    int hit, descriptors;
    uint64_t place[CALLS_MAX]; /* of the calls of a run without a fault */
} * board;

/* What fails: call `n`; if `place` is not 0, the n-th call from there. */
typedef struct fault {
    int mode;
    long n;
    uint64_t place;
} fault;

static const fault NONE = {.n = 1L << 40};

/* ---- inputs and results ---- */

static text put_lines(bool (*wanted)(int line))
{
    text t = {malloc((size_t)LINES * LONGEST), 0};
    for (int i = 0; i < LINES; i++)
        if (wanted(i))
            t.size += (size_t)sprintf(t.bytes + t.size, "%d\n", numbers[i]);
    return t;
}

static int times_before[LINES], times[VALUES];

static bool any(int i)
{
    return i >= 0;
}

static bool is_first(int i)
{
    return times_before[i] == 0;
}

static bool is_repeat(int i)
{
    return times_before[i] != 0;
}

static bool is_single(int i)
{
    return times[numbers[i]] == 1;
}

static bool is_in_b(int i)
{
    return in_b[numbers[i]];
}

static bool is_not_in_b(int i)
{
    return !in_b[numbers[i]];
}

static void make_inputs(void)
{
    for (int i = 0; i < LINES; i++) {
        numbers[i] = (int)below(VALUES);
        times_before[i] = times[numbers[i]]++;
    }
    a = put_lines(any);
    b = (text){malloc((size_t)LINES * LONGEST), 0};
    for (int i = 0; i < LINES; i++) {
        int number = (int)below(VALUES * 2);
        b.size += (size_t)sprintf(b.bytes + b.size, "%d\n", number);
        if (number < VALUES)
            in_b[number] = true;
    }
}

static const char *result_of(const job *j)
{
    return j->printed ? "printed" : j->packed ? j->packed : "out";
}

static text wanted_of(const job *j)
{
    static bool (*const RULE[])(int) = {is_first, is_repeat, is_single, is_in_b, is_not_in_b};
    return put_lines(RULE[j->result]);
}

static void put_file(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(name, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        die(name, "cannot be written");
}

static text get_file(const char *name)
{
    text t = {0};
    FILE *file = fopen(name, "rb");
    if (!file)
        return t;
    fseek(file, 0, SEEK_END);
    t.size = (size_t)ftell(file);
    rewind(file);
    t.bytes = malloc(t.size + 1);
    if (fread(t.bytes, 1, t.size, file) != t.size)
        die(name, "cannot be read");
    fclose(file);
    t.bytes[t.size] = 0;
    return t;
}

static bool file_is(const char *name, const void *bytes, size_t size)
{
    text t = get_file(name);
    bool same = t.bytes && t.size == size && memcmp(t.bytes, bytes, size) == 0;
    free(t.bytes);
    return same;
}

static void run_tool(const char *tool, const char *strategy, const char *from, const char *to)
{
    char line[200];
    snprintf(line, sizeof line, "%s -%sc < %s > %s", tool, strategy, from, to);
    if (system(line) != 0)
        die(line, "failed");
}

static bool result_is(const job *j, const text *right)
{
    const char *name = result_of(j);
    if (j->packed) {
        run_tool(j->tool, "d", name, "printed");
        name = "printed";
    }
    return file_is(name, right->bytes, right->size);
}

/* ---- one run, in a child ---- */

/* Standard input: empty, or a pipe that contains all of input a. */
static void give_input(const job *j)
{
    int ends[2];
    if (!j->piped) {
        ends[0] = open("/dev/null", O_RDONLY);
    } else if (pipe(ends) != 0 || fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) < 0 ||
               write(ends[1], a.bytes, a.size) != (ssize_t)a.size || close(ends[1]) != 0) {
        die("a pipe", "cannot be filled");
    }
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
}

static void be_child(const job *j, fault f)
{
    give_input(j);
    int out = open("printed", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int words = open("words", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(out, STDOUT_FILENO);
    dup2(words, STDERR_FILENO);
    close(out);
    close(words);
    if (j->strategy)
        setenv("SEEN_JOIN_STRATEGY", j->strategy, 1);
    alarm(200);           /* generous, for a busy machine */
    fprintf(stderr, " "); /* triggers lazy allocations of stdio */
    int descriptors = count_descriptors();
    long live = fault_live();
    fault_names_only(j->names_only);
    if (f.n == NONE.n)
        fault_record(board->place, CALLS_MAX);
    if (f.place)
        fault_arm_place(f.place, f.n, f.mode);
    else
        fault_arm(f.n, f.mode);
    int status = run_command(j->words);
    board->calls = fault_counted();
    board->hit = fault_disarm();
    board->leaked = fault_live() - live;
    board->descriptors = count_descriptors() - descriptors;
    fflush(stderr);
    exit(status);
}

static void prepare(const job *j)
{
    folder_clear(NULL);
    mkdir("temp", 0700);
    put_file("a", a.bytes, a.size);
    put_file("b", b.bytes, b.size);
    if (j->tool)
        put_file("c", c.bytes, c.size);
    if (!j->printed)
        put_file(result_of(j), OLD, sizeof OLD - 1);
}

static int run_child(const job *j, fault f)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        be_child(j, f);
    if (child < 0 || waitpid(child, &status, 0) != child)
        die("a child", "was lost");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

/* ---- what must hold afterwards ---- */

/* The lines of both runs together are the expected output. */
static const char *nothing_lost(const job *j, const text *first)
{
    bool *there = calloc(VALUES, sizeof *there);
    const char *failure = run_child(j, NONE) == 0 ? NULL : "does not work again";
    text second = get_file(result_of(j));
    const text *both[] = {first, &second};
    for (int k = 0; k < 2; k++)
        for (char *p = both[k]->bytes; p && *p; p += *p == '\n') {
            long number = strtol(p, &p, 10);
            if (number >= 0 && number < VALUES)
                there[number] = true;
            p += strcspn(p, "\n");
        }
    for (int i = 0; i < LINES && !failure; i++)
        if (!there[numbers[i]])
            failure = "lost a line";
    free(second.bytes);
    free(there);
    return failure;
}

static int names_expected(const job *j)
{
    int names = 5; /* a b temp printed words */
    names += !j->printed;
    names += j->tool != NULL;
    names += j->memory && access("set", F_OK) == 0;
    names += access("rest", F_OK) == 0;
    return names;
}

static const char *verify(const job *j, const text *right, int status, int mode)
{
    if (status != 0 && status != SN_EXIT_ERROR)
        return status > 100 ? "was ended by a signal" : "ended with an odd status";
    if (status == 0 && !result_is(j, right))
        return "says that all is well, but printed something else";
    text words = get_file("words");
    size_t length = words.size;
    free(words.bytes);
    if (status != 0 && length < 20)
        return "failed without words";
    if (status != 0 && mode != FAIL)
        return "took a short or interrupted call for a failure";
    if (status != 0 && !j->printed && !file_is(result_of(j), OLD, sizeof OLD - 1))
        if (!j->second || !result_is(j, right))
            return "failed and changed the result's file";
    if (!file_is("a", a.bytes, a.size) || !file_is("b", b.bytes, b.size))
        return "changed its input";
    if (rmdir("temp") != 0 || mkdir("temp", 0700) != 0 || folder_count(NULL) != names_expected(j))
        return "left something temporary";
    if (board->descriptors != 0)
        return "leaks a file descriptor";
    if (board->leaked != 0)
        return "leaks memory";
    return NULL;
}

static bool broken_by(const job *j, const text *right, fault f)
{
    static const char *const WORD[MODES] = {"failed", "cut short", "interrupted"};
    prepare(j);
    int status = run_child(j, f);
    const char *failure = verify(j, right, status, f.mode);
    if (!failure && status != 0 && j->memory) {
        text first = get_file(result_of(j));
        failure = nothing_lost(j, &first);
        free(first.bytes);
    }
    if (!failure)
        return false;
    text words = get_file("words");
    fprintf(stderr, "%s (%s), call %ld from place %llx %s: %s; status %d, words:%s\n", j->words,
            j->strategy ? j->strategy : "", f.n, (unsigned long long)f.place, WORD[f.mode], failure,
            status, words.bytes);
    free(words.bytes);
    return true;
}

/* ---- selecting calls ---- */

/* Places and their number of calls; open addressing. */
typedef struct places {
    uint64_t place[PLACES_MAX];
    uint32_t calls[PLACES_MAX];
} places;

static uint32_t *calls_of(places *p, uint64_t place)
{
    size_t i = place % PLACES_MAX;
    while (p->place[i] && p->place[i] != place)
        i = (i + 1) % PLACES_MAX;
    p->place[i] = place;
    return &p->calls[i];
}

/* Thousands of calls from one place do the same each time. */
static bool is_telling(uint32_t time, uint32_t last)
{
    return time <= 4 || time == last || (time & (time - 1)) == 0;
}

/* The calls of the last run that get a fault, as described at the top of this file. */
static size_t choose_calls(int mode, long most, long calls, fault *faults)
{
    static places known[MODES], all, now;
    size_t count = 0;
    memset(&all, 0, sizeof all);
    memset(&now, 0, sizeof now);
    for (long i = 0; i < calls; i++)
        ++*calls_of(&all, board->place[i]);
    for (long i = 0; i < calls; i++) {
        uint64_t place = board->place[i];
        uint32_t time = ++*calls_of(&now, place);
        if (most > 0 && calls > most ? i < most : most > 0)
            faults[count++] =
                (fault){.mode = mode, .n = calls > most ? 1 + (long)below((uint64_t)calls) : i + 1};
        else if (most == 0 ? is_telling(time, *calls_of(&all, place))
                           : most < 0 && ++*calls_of(&known[mode], place) == 1)
            faults[count++] = (fault){.mode = mode, .n = time, .place = place};
    }
    return count;
}

/* The faults of a job in one strategy; *calls: its number of calls. */
static size_t choose_faults(const job *j, const text *right, int mode, long most, fault *faults,
                            long *calls)
{
    fault none = NONE;
    none.mode = mode;
    if (broken_by(j, right, none))
        die(j->words, "does not work");
    *calls = board->calls < CALLS_MAX ? board->calls : CALLS_MAX;
    return choose_calls(mode, most, *calls, faults);
}

static size_t tried, misses; /* threads may make fewer calls than were counted */

static int run_job(const job *j, long most)
{
    static fault faults[CALLS_MAX];
    int broken = 0;
    size_t runs[MODES] = {0};
    long calls[MODES] = {0};
    text right = wanted_of(j);
    if (j->tool) {
        put_file("a", a.bytes, a.size);
        run_tool(j->tool, "", "a", "c");
        c = get_file("c");
    }
    for (int mode = 0; mode < MODES && broken < 5; mode++) {
        runs[mode] = choose_faults(j, &right, mode, most, faults, &calls[mode]);
        for (size_t i = 0; i < runs[mode] && broken < 5; i++) {
            broken += broken_by(j, &right, faults[i]);
            misses += !board->hit;
        }
    }
    printf("%s%s%s: %zu of %ld calls failed, %zu of %ld cut short, %zu of %ld interrupted\n",
           j->words, j->strategy ? ", " : "", j->strategy ? j->strategy : "", runs[0], calls[0],
           runs[1], calls[1], runs[2], calls[2]);
    fflush(stdout);
    free(right.bytes);
    free(c.bytes);
    c = (text){0};
    tried += runs[0] + runs[1] + runs[2];
    return broken;
}

int main(int argc, char **argv)
{
    long most = argc > 1 ? atol(argv[1]) : -1;
    *(void **)&fault_arm = dlsym(RTLD_DEFAULT, "fault_arm");
    *(void **)&fault_arm_place = dlsym(RTLD_DEFAULT, "fault_arm_place");
    *(void **)&fault_record = dlsym(RTLD_DEFAULT, "fault_record");
    *(void **)&fault_disarm = dlsym(RTLD_DEFAULT, "fault_disarm");
    *(void **)&fault_counted = dlsym(RTLD_DEFAULT, "fault_counted");
    *(void **)&fault_names_only = dlsym(RTLD_DEFAULT, "fault_names_only");
    *(void **)&fault_live = dlsym(RTLD_DEFAULT, "fault_live");
    if (!fault_arm || !fault_arm_place || !fault_record || !fault_disarm || !fault_counted ||
        !fault_names_only || !fault_live) {
        fprintf(stderr, "start me with LD_PRELOAD=libfault_shim.so\n");
        return 77;
    }
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    seed_random();
    folder_make(folder_in_memory(), "stream");
    if (board == MAP_FAILED || chdir(folder) != 0)
        return 2;
    make_inputs();
    int broken = 0;
    for (int i = 0; i < JOB_COUNT; i++)
        broken += run_job(&JOBS[i], most);
    folder_clear(NULL);
    rmdir("temp");
    printf("%zu faults, of which %zu were not reached; %d broken\n", tried, misses, broken);
    return rmdir(folder) != 0 || broken != 0 || (most < 0 && misses * 4 > tried);
}
