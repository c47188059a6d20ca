/* Sets in Redis with one fault at a time.
 *
 *     [LD_PRELOAD=libfault_shim.so] redis [long]
 *
 * A scenario (open, add, grow, sync, info, copy, merge, rotate, remove, replace, drop) is run with
 * a fault at its n-th command, for n = 1, 2, 3 ... until none is reached; and, with the shim, with
 * its n-th allocation failing. After each run: acknowledged keys are present, existing filters are
 * intact, nothing leaks, and every failure had a message. */
#include "rig.h"
#include "tests/redis/meddle.h"

#include <dlfcn.h>
#include <sys/mman.h>

/* Few: every key is a command, and every command is a run. */
enum { KEYS = 12, BEFORE = 12, OUT = 2, BATCH = 6 };

typedef enum mode { CUT_BEFORE, CUT_AFTER, PASSING, REFUSED, ODD, NO_MEMORY, MODES } mode;

static const struct {
    const char *word;
    meddle_rule rule;
    bool heals; /* calls succeed in spite of it */
} MODE[MODES] = {
    [CUT_BEFORE] = {"cut off before it arrived", {.times = 1}, true},
    [CUT_AFTER] = {"cut off before its answer", {.times = 1, .done = true}, true},
    [PASSING] = {"told to come later", {.times = 1, .reply = "-LOADING later\r\n"}, true},
    [REFUSED] = {"refused", {.times = 1, .reply = "-ERR for a test\r\n"}, false},
    [ODD] = {"answered oddly", {.times = 1, .reply = "*1\r\n*1\r\n:7\r\n", .done = true}, false},
    [NO_MEMORY] = {"without memory", {0}, false},
};

static void (*fault_arm)(long n, int mode);
static int (*fault_disarm)(void);
static long (*fault_live)(void);

static test_server server;
/* In memory shared with the process it runs in: this one has no threads, so that it may fork. A
 * child would deadlock if another thread held a lock of the allocator. */
static test_meddle *meddle;
static pid_t meddler;
static long step = 4;
static int port; /* of the server, or of the proxy in front of it */
static int failed_calls, excused_calls;

/* A call that may fail, but not without a message. */
static bool good(seen_status status, seen_error *e, const char *what)
{
    if (status == SEEN_OK)
        return true;
    failed_calls++;
    /* What is unknown after a connection loss: whether a replica has it, whether a key was removed.
     * A restarted server has no replicas that are in sync. */
    excused_calls += strstr(e->message, "before a replica confirmed") ||
                     strstr(e->message, "LOADING") || strcmp(what, "remove") == 0;
    if (strlen(e->message) < 10 || e->status != status)
        die("a failure without words:", what);
    if (getenv("SEEN_FAULT_WORDS"))
        fprintf(stderr, "%s: %s\n", what, e->message);
    e->message[0] = 0;
    return false;
}

static const char *url(const char *name)
{
    static char text[8][64];
    static unsigned turn;
    char *p = text[turn++ % 8];
    snprintf(p, sizeof text[0], "redis://127.0.0.1:%d/%s", port, name);
    return p;
}

static seen_options patient(void)
{
    return (seen_options){.size = sizeof(seen_options), .command_ms = 60000, .retry_ms = 60000};
}

/* The number of acknowledged keys from `first` on. */
static uint64_t add_range(seen_set *set, uint64_t first, uint64_t count)
{
    seen_error e = {0};
    uint64_t done = 0;
    while (done < count) {
        seen_hash h[BATCH];
        seen_answer answers[BATCH];
        size_t n = count - done < BATCH ? (size_t)(count - done) : BATCH;
        for (size_t i = 0; i < n; i++)
            h[i] = hash_of(first + done + i);
        if (!good(seen_add_hashes(set, h, n, answers, &e), &e, "add")) {
            size_t decided = 0;
            while (decided < n && answers[decided] != SEEN_UNKNOWN)
                decided++;
            return done + decided;
        }
        done += n;
    }
    return done;
}

static void all_there(seen_set *set, uint64_t first, uint64_t count, const char *what)
{
    seen_hash h[512] = {{0}};
    seen_answer answers[512];
    seen_error e = {0};
    for (uint64_t i = 0; i < count; i++)
        h[i] = hash_of(first + i);
    must(seen_check_hashes(set, h, count, answers, &e), &e);
    for (uint64_t i = 0; i < count; i++)
        if (answers[i] != SEEN_BEFORE)
            die("a key is missing", what);
}

static void must_hold(const char *name, uint64_t first, uint64_t count)
{
    seen_set *set;
    seen_error e = {0};
    seen_options o = patient();
    if (seen_open(url(name), &o, SEEN_READ_ONLY, &set, &e) != SEEN_OK)
        die(name, e.message);
    all_there(set, first, count, name);
    seen_close(set);
}

typedef struct outcome {
    uint64_t added;
    bool copy, dropped, replaced;
    mode how;
} outcome;

static void use_growing(outcome *o)
{
    seen_set *set = NULL, *heap = NULL;
    seen_error e = {0};
    seen_options patience = patient();
    if (!good(seen_open(url("growing"), &patience, 0, &set, &e), &e, "open"))
        return;
    o->added = add_range(set, BEFORE, KEYS);
    good(seen_sync(set, &e), &e, "sync");
    seen_info info = {.size = sizeof info};
    good(seen_get_info(set, &info, &e), &e, "info");
    o->copy = good(seen_copy(set, url("copy"), 0, &patience, &e), &e, "copy");
    if (good(seen_create_like(NULL, set, NULL, 0, &heap, &e), &e, "like")) {
        add_keys(heap, 1000000, 1);
        good(seen_merge(set, heap, &e), &e, "merge");
        seen_close(heap);
    }
    good(seen_close_checked(set, &e), &e, "close");
}

static void use_window(outcome *o)
{
    seen_set *set = NULL, *heap = NULL;
    seen_error e = {0};
    seen_options patience = patient();
    if (!good(seen_open(url("window"), &patience, 0, &set, &e), &e, "open"))
        return;
    o->added = add_range(set, BEFORE, BATCH);
    good(seen_rotate(set, &e), &e, "rotate");
    if (good(seen_create_like(NULL, set, NULL, 0, &heap, &e), &e, "like")) {
        good(seen_merge(set, heap, &e), &e, "merge");
        seen_close(heap);
    }
    seen_close(set);
}

static void use_counting(outcome *o)
{
    seen_set *set = NULL;
    seen_error e = {0};
    seen_hash h[OUT];
    seen_answer answers[OUT];
    seen_options patience = patient();
    if (!good(seen_open(url("counting"), &patience, 0, &set, &e), &e, "open"))
        return;
    o->added = add_range(set, BEFORE, BATCH);
    for (uint64_t i = 0; i < OUT; i++)
        h[i] = hash_of(i);
    good(seen_remove_hashes(set, h, OUT, answers, &e), &e, "remove");
    seen_close(set);
}

static void use_filters(outcome *o)
{
    seen_set *set = NULL;
    seen_error e = {0};
    seen_options options = options_of(SEEN_BLOOM, SEEN_FIXED, 900), patience = patient();
    options.ttl_seconds = 500;
    options.command_ms = options.retry_ms = 60000;
    if (good(seen_open(url("target"), &patience, 0, &set, &e), &e, "open")) {
        o->added = add_range(set, BEFORE, BATCH);
        o->copy = good(seen_copy(set, url("copy"), 0, &patience, &e), &e, "copy");
        seen_close(set);
    }
    set = NULL;
    if (good(seen_create(url("target"), &options, SEEN_REPLACE, &set, &e), &e, "replace")) {
        o->replaced = true;
        add_range(set, 0, 1);
        seen_close(set);
    }
    set = NULL;
    if (good(seen_create(url("shared"), &options, SEEN_IF_ABSENT, &set, &e), &e, "if absent"))
        seen_close(set);
    o->dropped = good(seen_drop(url("shared"), &patience, &e), &e, "drop");
}

/* ---- the parts of the scenario: preparation, work, checks ---- */

static void check_growing(const outcome *o)
{
    seen_set *set;
    seen_error e = {0};
    seen_options patience = patient();
    must_hold("growing", 0, BEFORE + o->added);
    if (o->copy)
        must_hold("copy", 0, BEFORE + o->added);
    /* Everything works again. */
    must(seen_open(url("growing"), &patience, 0, &set, &e), &e);
    add_keys(set, 500000, 64);
    all_there(set, 500000, 64, "growing");
    seen_close(set);
}

static void check_window(const outcome *o)
{
    must_hold("window", BEFORE, o->added);
}

static void check_counting(const outcome *o)
{
    /* The state of the removed ones is unknown. */
    must_hold("counting", OUT, BEFORE - OUT + o->added);
}

static void check_filters(const outcome *o)
{
    /* A server with an invalid reply may have executed the command. */
    must_hold("target", 0, o->replaced || o->how == ODD ? 0 : BEFORE);
    if (o->copy)
        must_hold("copy", 0, BEFORE + o->added);
    if (o->dropped && test_number(&server, "EXISTS seen:shared") != 0)
        die("shared", "was dropped and is there");
}

static const struct part {
    const char *name;
    seen_options made;
    void (*use)(outcome *o);
    void (*check)(const outcome *o);
} PART[] = {
    {"growing",
     {.growth = SEEN_GROWING, .capacity = 16, .error_rate = 0.001, .when_full = SEEN_FULL_GO_ON},
     use_growing,
     check_growing},
    {"window",
     {.growth = SEEN_WINDOW, .capacity = 60, .error_rate = 0.001, .generations = 3},
     use_window,
     check_window},
    {"counting",
     {.kind = SEEN_COUNTING, .capacity = 500, .error_rate = 0.001},
     use_counting,
     check_counting},
    {"target",
     {.capacity = 500, .error_rate = 0.001, .ttl_seconds = 1000},
     use_filters,
     check_filters},
};
enum { PARTS = sizeof PART / sizeof *PART };

static void prepare(const struct part *part)
{
    seen_set *set;
    seen_error e;
    seen_options o = part->made;
    o.size = sizeof o;
    o.command_ms = 60000;
    o.seed_given = true;
    o.seed[0] = 7;
    o.seed[1] = 8;
    freeReplyObject(test_ask(&server, "FLUSHALL"));
    must(seen_create(url(part->name), &o, 0, &set, &e), &e);
    add_keys(set, 0, BEFORE);
    must(seen_close_checked(set, &e), &e);
}

/* One run in a child; 0: passed. */
static void run_one(const struct part *part, long n, mode how)
{
    outcome o = {.how = how};
    int files = count_descriptors();
    bool armed = how == NO_MEMORY && n > 0;
    strerror(EIO); /* triggers lazy allocations of the library */
    long memory = fault_live ? fault_live() : 0;
    if (armed)
        fault_arm(n, 0);
    part->use(&o);
    int hit = armed ? fault_disarm() : 1;
    long after = fault_live ? fault_live() : 0;
    if (count_descriptors() != files)
        die("a file descriptor", "leaks");
    if (after != memory)
        die("memory", "leaks");
    if (MODE[how].heals && failed_calls > excused_calls)
        die("something that passes", "was taken for a failure");
    if (n == 0 && failed_calls)
        die("a call failed", "and nothing was wrong");
    port = server.port;
    part->check(&o);
    exit(hit ? 0 : 3);
}

/* 0: passed; 3: there are fewer calls; else failed. */
static int run(const struct part *part, long n, mode how)
{
    int status;
    port = server.port;
    prepare(part);
    if (how != NO_MEMORY)
        port = meddle->relay.port;
    meddle_rule rule = MODE[how].rule;
    rule.skip = (unsigned)n - 1;
    if (how != NO_MEMORY && n > 0)
        meddle_set(meddle, 0, rule);
    fflush(stdout); /* otherwise a child would print it again */
    pid_t child = fork();
    if (child == 0)
        run_one(part, n, how);
    if (waitpid(child, &status, 0) != child)
        return 2;
    bool reached = how == NO_MEMORY || n == 0 || meddle_hits(meddle, 0) > 0;
    meddle_set(meddle, 0, (meddle_rule){0});
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !reached)
        return 3;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

/* Number 1, 2, 3 ... of a part; only some of them in the short run. */
static int run_part(const struct part *part, mode how, long *total)
{
    int broken = 0;
    for (long n = 1 + (long)how % step; n <= 5000 && broken < 20; n += step, ++*total) {
        int status = run(part, n, how);
        if (status == 3)
            break;
        if (status != 0) {
            fprintf(stderr, "%s: number %ld %s: status %d\n", part->name, n, MODE[how].word,
                    status);
            broken++;
        }
    }
    return broken;
}

static int run_all(mode how)
{
    int broken = 0;
    long total = 0;
    for (unsigned i = 0; i < PARTS; i++)
        broken += run_part(&PART[i], how, &total);
    printf("%ld %s in turn\n", total, MODE[how].word);
    fflush(stdout);
    return broken + (total * step < 100);
}

/* Runs until it is killed. */
static void be_meddler(int ready)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char good = test_meddle_start(meddle, server.port);
    if (write(ready, &good, 1) == 1)
        for (;;)
            pause();
    _exit(1);
}

static bool start_meddler(void)
{
    int ready[2];
    char good = 0;
    meddle = mmap(NULL, sizeof *meddle, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (meddle == MAP_FAILED || pipe(ready) != 0)
        return false;
    meddler = fork();
    if (meddler == 0)
        be_meddler(ready[1]);
    close(ready[1]);
    if (read(ready[0], &good, 1) != 1)
        good = 0;
    close(ready[0]);
    return good;
}

int main(int argc, char **argv)
{
    int broken = 0;
    if (argc > 1 && strcmp(argv[1], "long") == 0)
        step = 1;
    unsetenv("LD_PRELOAD"); /* not for the server */
    if (!test_have_redis())
        return 77;
    *(void **)&fault_arm = dlsym(RTLD_DEFAULT, "fault_arm");
    *(void **)&fault_disarm = dlsym(RTLD_DEFAULT, "fault_disarm");
    *(void **)&fault_live = dlsym(RTLD_DEFAULT, "fault_live");
    if (!test_server_start(&server, NULL) || !start_meddler())
        die("no server", "redis-server does not start");
    for (unsigned i = 0; i < PARTS; i++)
        broken += run(&PART[i], 0, CUT_BEFORE) != 0;
    for (int how = 0; how < MODES; how++)
        if (how != NO_MEMORY || fault_arm)
            broken += run_all((mode)how);
    kill(meddler, SIGKILL);
    waitpid(meddler, NULL, 0);
    test_server_stop(&server);
    printf("%d broken\n", broken);
    return broken != 0;
}
