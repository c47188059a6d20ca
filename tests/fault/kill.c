/* kill -9 at random moments; after each the file opens and contains everything that was
 * acknowledged.
 *
 *     kills [TIMES [PATH...]]     default 25 kills on each path; 1000 for docs/trust.md
 *
 * A child works on a file and records in shared memory what was acknowledged. A killed process
 * loses nothing that it had added, synced or not: the pages belong to the system. A file that is
 * being replaced is the old one or the new one. SEEN_SEED repeats the moments. */
#include "rig.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

typedef struct board {
    atomic_ullong added;   /* keys 0 ... added - 1 were acknowledged */
    atomic_ullong synced;  /* the same, followed by a sync */
    atomic_ullong removed; /* counting: keys 0 ... removed - 1 were removed */
    atomic_ullong rounds;
} board;

static board *note;
static void make(const char *name, seen_options options, uint64_t keys)
{
    seen_set *set;
    seen_error e;
    must(seen_create(at(name), &options, SEEN_REPLACE, &set, &e), &e);
    add_keys(set, 0, keys);
    must(seen_close_checked(set, &e), &e);
}

/* ---- the work, and what must hold after the kill ---- */

static seen_set *open_it(const char *name)
{
    seen_set *set;
    seen_error e;
    seen_status status = seen_open(at(name), NULL, 0, &set, &e);
    if (status != SEEN_OK)
        die("cannot be opened after a kill", e.message);
    return set;
}

static void work_add(void)
{
    seen_set *set = open_it("set");
    seen_error e;
    for (uint64_t i = note->added;; i += 16) {
        add_keys(set, i, 16);
        note->added = i + 16;
        if (i / 16 % 8 == 7) {
            must(seen_sync(set, &e), &e);
            note->synced = i + 16;
        }
    }
}

static void hold_add(void)
{
    seen_set *set = open_it("set");
    must_have(set, 0, note->synced, "synced");
    must_have(set, note->synced, note->added, "not synced");
    seen_close(set);
}

static void work_counting(void)
{
    seen_set *set = open_it("set");
    seen_error e;
    for (uint64_t i = note->added;; i += 16) {
        add_keys(set, i, 16);
        note->added = i + 16;
        if (i < 400)
            continue;
        for (uint64_t j = 0; j < 8; j++) {
            seen_hash h = hash_of(note->removed);
            atomic_fetch_add(&note->removed, 1); /* from here on it may be absent */
            must(seen_remove_hashes(set, &h, 1, NULL, &e), &e);
        }
    }
}

static void hold_counting(void)
{
    seen_set *set = open_it("set");
    must_have(set, note->removed, note->added, "counting");
    seen_close(set);
}

/* Keys of the last two rotations stay. */
static void work_window(void)
{
    seen_set *set = open_it("set");
    seen_error e;
    for (uint64_t i = note->added;; i += 16) {
        add_keys(set, i, 16);
        note->added = i + 16;
        if (i / 16 % 6 == 5)
            must(seen_rotate(set, &e), &e);
    }
}

static void hold_window(void)
{
    seen_set *set = open_it("set");
    uint64_t first = note->added > 200 ? note->added - 200 : 0;
    must_have(set, first, note->added, "of the young ones");
    seen_close(set);
}

static void work_copy(void)
{
    seen_set *set = open_it("set");
    seen_error e;
    for (;; atomic_fetch_add(&note->rounds, 1))
        must(seen_copy(set, at("copy"), SEEN_REPLACE, NULL, &e), &e);
}

static void work_replace(void)
{
    seen_error e;
    for (;; atomic_fetch_add(&note->rounds, 1)) {
        seen_set *set;
        seen_options options = options_of(SEEN_BLOOM, SEEN_FIXED, 300 + note->rounds % 7);
        must(seen_create(at("copy"), &options, SEEN_REPLACE, &set, &e), &e);
        seen_close(set);
    }
}

static void hold_source(void)
{
    seen_set *set = open_it("set");
    must_have(set, 0, 500, "in the source");
    seen_close(set);
}

static void hold_copy(void)
{
    hold_source();
    if (access(at("copy"), F_OK) != 0)
        return;
    seen_set *set = open_it("copy");
    must_have(set, 0, 500, "in the copy");
    seen_close(set);
}

static void hold_replace(void)
{
    hold_source();
    if (access(at("copy"), F_OK) == 0)
        seen_close(open_it("copy"));
}

/* Merges; killed, and merged again: complete. */
static void work_merge(void)
{
    seen_set *into = open_it("set"), *from = open_it("other");
    seen_error e;
    for (;; atomic_fetch_add(&note->rounds, 1))
        must(seen_merge(into, from, &e), &e);
}

static void hold_merge(void)
{
    seen_set *into = open_it("set"), *from = open_it("other");
    seen_error e;
    must_have(into, 0, 500, "before the union");
    must(seen_merge(into, from, &e), &e);
    must_have(into, 0, 900, "after the union");
    seen_close(into);
    seen_close(from);
}

/* ---- */

typedef struct path {
    const char *name;
    void (*work)(void);
    void (*hold)(void);
    seen_kind kind;
    seen_growth growth;
    uint64_t capacity, keys;
} path;

static const path PATHS[] = {
    {"add", work_add, hold_add, SEEN_BLOOM, SEEN_FIXED, 100000, 0},
    {"grow", work_add, hold_add, SEEN_BLOOM, SEEN_GROWING, 64, 0},
    {"rotate", work_window, hold_window, SEEN_BLOOM, SEEN_WINDOW, 20000, 0},
    {"count", work_counting, hold_counting, SEEN_COUNTING, SEEN_GROWING, 64, 0},
    {"copy", work_copy, hold_copy, SEEN_BLOOM, SEEN_FIXED, 1000, 500},
    {"replace", work_replace, hold_replace, SEEN_BLOOM, SEEN_FIXED, 1000, 500},
    {"merge", work_merge, hold_merge, SEEN_BLOOM, SEEN_FIXED, 300000, 500},
};

static void prepare(const path *p)
{
    folder_clear(NULL);
    memset((void *)note, 0, sizeof *note);
    make("set", options_of(p->kind, p->growth, p->capacity), p->keys);
    if (p->work == work_merge)
        make("other", options_of(p->kind, p->growth, p->capacity), 900);
}

static void kill_on(const path *p, int times)
{
    unsigned long long added = 0, rounds = 0;
    for (int i = 0; i < times; i++) {
        if (i % 20 == 0)
            prepare(p);
        pid_t child = fork();
        if (child == 0) {
            p->work();
            _exit(9);
        }
        static const uint64_t SCALE[] = {3000, 30000, 30000, 100000};
        usleep((useconds_t)below(SCALE[below(4)]));
        kill(child, SIGKILL);
        int status;
        if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status))
            die(p->name, "the child ended by itself");
        p->hold();
        folder_clear(".tmp");
        added = note->added > added ? note->added : added;
        rounds += note->rounds;
    }
    printf("%-8s %d kills survived (up to %llu keys acknowledged, %llu rounds)\n", p->name, times,
           added, rounds);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int times = argc > 1 ? atoi(argv[1]) : 25;
    const char *where = getenv("TMPDIR");
    seed_random();
    note = mmap(NULL, sizeof *note, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (note == MAP_FAILED)
        return 2;
    folder_make(where ? where : "/tmp", "kill");
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++) {
        bool wanted = argc <= 2;
        for (int a = 2; a < argc; a++)
            wanted |= strcmp(argv[a], PATHS[i].name) == 0;
        if (wanted)
            kill_on(&PATHS[i], times);
    }
    folder_clear(NULL);
    return rmdir(folder) != 0;
}
