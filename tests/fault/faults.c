/* Every system call fails in turn, is short in turn, is interrupted in turn.
 *
 *     LD_PRELOAD=libfault_shim.so faults
 *
 * A scenario (create, add, remove, grow, sync, rotate, copy, merge, replace, reopen) is run with
 * its n-th call failing, for n = 1, 2, 3 ... until none is reached; and again as on a file system
 * without RENAME_NOREPLACE. After each run: acknowledged keys are present, existing files are
 * intact, nothing temporary is left, nothing leaks, and every failure had a message. */
#include "local/local.h"
#include "rig.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/wait.h>

enum { KEYS = 400, SETS = 6 };
enum { FAIL, CUT, INTERRUPT, FAIL_PLAIN, MODES };

static const char *const NAME[SETS] = {"growing", "window",  "victim",
                                       "target",  "turning", "counting"};

static void (*fault_arm)(long n, int mode);
static int (*fault_disarm)(void);
static long (*fault_live)(void);
static void (*fault_names_only)(int yes);
static int failed_calls;

/* A call that may fail, but not without a message. */
static bool good(seen_status status, seen_error *e, const char *what)
{
    if (status == SEEN_OK)
        return true;
    failed_calls++;
    if (strlen(e->message) < 10 || e->status != status)
        die("a failure without words:", what);
    e->message[0] = 0;
    return false;
}

/* Adds keys one by one and in batches; returns how many, from `first` on, are acknowledged. */
static uint64_t add_range(seen_set *set, uint64_t first, uint64_t count)
{
    seen_error e = {0};
    uint64_t done = 0;
    while (done < count) {
        seen_hash h[97];
        seen_answer answers[97];
        size_t n = count - done < 97 ? (size_t)(count - done) : 97;
        for (size_t i = 0; i < n; i++)
            h[i] = hash_of(first + done + i);
        if (good(seen_add_hashes(set, h, n, answers, &e), &e, "add")) {
            done += n;
            continue;
        }
        size_t decided = 0;
        while (decided < n && answers[decided] != SEEN_UNKNOWN)
            decided++;
        return done + decided;
    }
    return done;
}

static bool all_there(seen_set *set, uint64_t first, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        seen_hash h = hash_of(first + i);
        seen_answer answer = SEEN_UNKNOWN;
        if (seen_check_hashes(set, &h, 1, &answer, NULL) != SEEN_OK || answer != SEEN_BEFORE)
            return false;
    }
    return true;
}

static void must_hold(const char *name, uint64_t first, uint64_t count)
{
    seen_set *set;
    seen_error e = {0};
    if (seen_open(at(name), NULL, 0, &set, &e) != SEEN_OK)
        die(name, e.message);
    if (!all_there(set, first, count))
        die(name, "has lost keys");
    seen_close(set);
}

/* The state before the faults begin. */
static void prepare(void)
{
    seen_options growing = options_of(SEEN_BLOOM, SEEN_GROWING, 100);
    seen_options window = options_of(SEEN_BLOOM, SEEN_WINDOW, 600);
    seen_options fixed = options_of(SEEN_BLOOM, SEEN_FIXED, 500);
    seen_options turning = options_of(SEEN_BLOOM, SEEN_WINDOW, 200);
    seen_options counting = options_of(SEEN_COUNTING, SEEN_GROWING, 100);
    window.generations = 3;
    turning.generations = 2;
    const seen_options *make[SETS] = {&growing, &window, &fixed, &fixed, &turning, &counting};
    for (int i = 0; i < SETS; i++) {
        seen_set *set;
        seen_error e;
        if (seen_create(at(NAME[i]), make[i], 0, &set, &e) != SEEN_OK)
            die("prepare", e.message);
        if (add_range(set, 0, 80) != 80 || seen_close_checked(set, &e) != SEEN_OK)
            die("prepare", e.message);
    }
    /* Appended bytes are cleared before a layer takes their place. */
    FILE *file = fopen(at("growing"), "ab");
    for (int i = 0; file && i < 3000; i++)
        fputc(0xff, file);
    if (!file || fclose(file) != 0)
        die("prepare", "cannot append");
}

typedef struct outcome {
    uint64_t growing, window, copied, counting;
    bool copy, replaced, target;
} outcome;

/* As if another thread were adding concurrently. */
static void act_crowded(seen_set *set)
{
    atomic_store(&((sn_local *)set)->crowd, 8);
}

static void use_growing(outcome *o)
{
    seen_set *set = NULL, *heap = NULL;
    seen_error e = {0};
    if (!good(seen_open(at("growing"), NULL, 0, &set, &e), &e, "open"))
        return;
    o->growing = add_range(set, 80, KEYS / 2);
    good(seen_sync(set, &e), &e, "sync");
    if (o->growing == KEYS / 2)
        o->growing += add_range(set, 80 + o->growing, KEYS / 2);
    seen_info info = {.size = sizeof info};
    good(seen_get_info(set, &info, &e), &e, "info");
    if (good(seen_copy(set, at("copy"), 0, NULL, &e), &e, "copy")) {
        o->copy = true;
        o->copied = o->growing;
    }
    if (good(seen_copy(set, at("target"), SEEN_REPLACE, NULL, &e), &e, "copy over"))
        o->target = true;
    if (good(seen_create_like(NULL, set, NULL, 0, &heap, &e), &e, "like")) {
        add_range(heap, 1000000, 300);
        good(seen_merge(set, heap, &e), &e, "merge");
        seen_close(heap);
    }
    if (!all_there(set, 80, o->growing))
        die("growing", "lost keys while it was open");
    good(seen_close_checked(set, &e), &e, "close");
}

static void use_window(outcome *o)
{
    seen_set *set = NULL;
    seen_error e = {0};
    if (!good(seen_open(at("window"), NULL, SEEN_ALONE, &set, &e), &e, "open"))
        return;
    act_crowded(set);
    o->window = add_range(set, 80, 150);
    good(seen_rotate(set, &e), &e, "rotate");
    if (!all_there(set, 80, o->window))
        die("window", "forgot young keys");
    seen_close(set);
}

/* Rotates until generations are cleared, and merges another window. */
static void use_turning(void)
{
    seen_set *set = NULL, *heap = NULL;
    seen_error e = {0};
    if (!good(seen_open(at("turning"), NULL, 0, &set, &e), &e, "open"))
        return;
    if (good(seen_create_like(NULL, set, NULL, 0, &heap, &e), &e, "like")) {
        uint64_t added = add_range(heap, 2000, 50);
        if (good(seen_merge(set, heap, &e), &e, "merge") && !all_there(set, 2000, added))
            die("turning", "lost what was united into it");
        seen_close(heap);
    }
    for (int i = 0; i < 3; i++)
        good(seen_rotate(set, &e), &e, "rotate");
    uint64_t added = add_range(set, 3000, 50);
    if (!all_there(set, 3000, added))
        die("turning", "lost keys while it was open");
    seen_close(set);
}

static void use_counting(outcome *o)
{
    seen_set *set = NULL;
    seen_error e = {0};
    seen_answer answer;
    if (!good(seen_open(at("counting"), NULL, 0, &set, &e), &e, "open"))
        return;
    o->counting = add_range(set, 80, 150);
    for (uint64_t i = 0; i < 20; i++) { /* below 80: not checked afterwards */
        seen_hash h = hash_of(i);
        good(seen_remove_hashes(set, &h, 1, &answer, &e), &e, "remove");
    }
    if (!all_there(set, 20, 60 + o->counting))
        die("counting", "lost keys while it was open");
    seen_close(set);
}

/* Sets that refuse when full check the rate of the union first. */
static void merge_strict(void)
{
    seen_set *into = NULL, *from = NULL;
    seen_error e = {0};
    seen_options options = options_of(SEEN_BLOOM, SEEN_FIXED, 300);
    options.when_full = SEEN_FULL_REFUSE;
    if (!good(seen_create(NULL, &options, 0, &into, &e), &e, "create"))
        return;
    uint64_t mine = add_range(into, 0, 200), theirs = 0; /* too many together according to the
                                                          * counters */
    if (good(seen_create_like(NULL, into, NULL, 0, &from, &e), &e, "like")) {
        theirs = add_range(from, 100, 200);
        if (!good(seen_merge(into, from, &e), &e, "merge"))
            theirs = 0;
        seen_close(from);
    }
    if (!all_there(into, 0, mine) || !all_there(into, 100, theirs))
        die("a union", "lost keys");
    seen_close(into);
}

static void make_files(outcome *o)
{
    seen_set *set = NULL;
    seen_error e = {0};
    seen_options options = options_of(SEEN_BLOOM, SEEN_FIXED, 900);
    options.seed_given = false;
    if (good(seen_create(at("victim"), &options, SEEN_REPLACE, &set, &e), &e, "replace")) {
        o->replaced = true;
        seen_close(set);
    }
    set = NULL;
    if (good(seen_create(at("shared"), &options, SEEN_IF_ABSENT, &set, &e), &e, "if absent"))
        seen_close(set);
    if (seen_create(at("growing"), &options, 0, &set, &e) == SEEN_OK)
        die("growing", "was made twice");
}

/* ---- after the faults ---- */

/* Counts files of the folder. */
static int count_mappings(void)
{
    int count = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    char line[600];
    while (file && fgets(line, sizeof line, file))
        count += strstr(line, folder) != NULL;
    if (file)
        fclose(file);
    return count;
}

static void verify(const outcome *o)
{
    seen_set *set;
    seen_error e = {0};
    must_hold("growing", 0, 80 + o->growing);
    must_hold("window", 80, o->window);
    must_hold("turning", 0, 0);
    must_hold("counting", 20, 60 + o->counting);
    if (o->copy)
        must_hold("copy", 0, 80 + o->copied);
    if (!o->replaced) /* unchanged; or in place, and only the folder's sync failed */
        if (seen_open(at("victim"), NULL, 0, &set, &e) != SEEN_OK)
            die("victim", e.message);
        else
            seen_close(set);
    else
        must_hold("victim", 0, 0);
    must_hold("target", 0, 80);
    if (folder_count(".tmp") != 0)
        die("a temporary file", "was left behind");
    /* Everything works again. */
    if (seen_open(at("growing"), NULL, SEEN_ALONE, &set, &e) != SEEN_OK)
        die("growing", e.message);
    if (add_range(set, 500000, 400) != 400 || !all_there(set, 500000, 400))
        die("growing", "does not go on");
    seen_close(set);
}

/* One run in a child; exits with 0: passed, 3: the fault was not reached, else failed. */
static void run_one(long n, int mode)
{
    outcome o = {0};
    int files = count_descriptors();
    strerror(EIO); /* triggers lazy allocations of the library */
    long memory = fault_live();
    fault_names_only(mode == FAIL_PLAIN);
    if (n > 0)
        fault_arm(n, mode == FAIL_PLAIN ? FAIL : mode);
    use_growing(&o);
    use_window(&o);
    use_turning();
    use_counting(&o);
    merge_strict();
    make_files(&o);
    int hit = fault_disarm();
    long after = fault_live();
    if (count_descriptors() != files)
        die("a file descriptor", "leaks");
    if (count_mappings() != 0)
        die("a mapping", "leaks");
    if (after != memory)
        die("memory", "leaks");
    if ((mode == CUT || mode == INTERRUPT) && failed_calls > 0)
        die("a short or interrupted call", "was taken for a failure");
    verify(&o);
    exit(hit || n == 0 ? 0 : 3);
}

/* The files as created by prepare(), restored before each run. */
static void put_back(void)
{
    static char *data[SETS];
    static size_t size[SETS];
    for (int i = 0; i < SETS; i++) {
        FILE *file = fopen(at(NAME[i]), data[i] ? "wb" : "rb");
        if (!file)
            die("cannot open", NAME[i]);
        if (data[i]) {
            fwrite(data[i], 1, size[i], file);
        } else {
            fseek(file, 0, SEEK_END);
            size[i] = (size_t)ftell(file);
            rewind(file);
            data[i] = malloc(size[i]);
            if (fread(data[i], 1, size[i], file) != size[i])
                die("cannot read", NAME[i]);
        }
        fclose(file);
    }
}

static int run(long n, int mode)
{
    static bool prepared;
    int status;
    folder_clear(NULL);
    if (!prepared)
        prepare();
    prepared = true;
    put_back();
    fflush(stdout); /* otherwise a child would print it again */
    pid_t child = fork();
    if (child == 0)
        run_one(n, mode);
    if (waitpid(child, &status, 0) != child)
        return 2;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

int main(void)
{
    static const char *const WORD[MODES] = {"failed", "cut short", "interrupted",
                                            "failed without refusing renames"};
    *(void **)&fault_arm = dlsym(RTLD_DEFAULT, "fault_arm");
    *(void **)&fault_disarm = dlsym(RTLD_DEFAULT, "fault_disarm");
    *(void **)&fault_live = dlsym(RTLD_DEFAULT, "fault_live");
    *(void **)&fault_names_only = dlsym(RTLD_DEFAULT, "fault_names_only");
    if (!fault_arm || !fault_disarm || !fault_live || !fault_names_only) {
        fprintf(stderr, "start me with LD_PRELOAD=libfault_shim.so\n");
        return 77;
    }
    folder_make(folder_in_memory(), "fault");
    int broken = run(0, 0) != 0;
    for (int mode = 0; mode < MODES; mode++) {
        long n = 1;
        for (int status;; n++) {
            status = run(n, mode);
            if (status == 3 || n > 5000 || broken > 20)
                break;
            if (status != 0) {
                fprintf(stderr, "call %ld %s: status %d\n", n, WORD[mode], status);
                broken++;
            }
        }
        printf("%ld calls %s in turn\n", n - 1, WORD[mode]);
        if (n < 30)
            broken++;
    }
    folder_clear(NULL);
    rmdir(folder);
    printf("%d broken\n", broken);
    return broken != 0;
}
