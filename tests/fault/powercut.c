/* Power failures: any subset of the writes that were not synced may have reached the disk.
 *
 *     powercut [CUTS]         default 150 on each path, ten times that for repeated failures;
 *                             1000 for the figures of docs/trust.md
 *
 * The remaining content (disk.h) is copied and opened: everything that was synced must be present,
 * and the set must be usable. SEEN_SEED repeats a run. */
#include "disk.h"

#include <sys/wait.h>

/* ---- paths ---- */

static uint64_t safe_from, safe_to; /* keys that were synced and not removed or rotated away */
static unsigned long cuts;

static void verify(const char *what)
{
    seen_set *set;
    seen_error e;
    if (seen_open(at("after"), NULL, 0, &set, &e) != SEEN_OK)
        die(what, e.message);
    must_have(set, safe_from, safe_to, what);
    /* It is usable, and stays intact. */
    add_keys(set, 1000000, 128);
    seen_close(set);
    must(seen_open(at("after"), NULL, 0, &set, &e), &e);
    must_have(set, safe_from, safe_to, "of those synced, after going on");
    must_have(set, 1000000, 1000128, "of those added after going on");
    seen_close(set);
    unlink(at("after"));
    cuts++;
}

static void cut_set(void)
{
    leave_file(at("set"), at("after"));
    verify("the set");
    countdown = 1 + below(12);
}

static seen_set *begin(seen_kind kind, seen_growth growth, uint64_t capacity)
{
    seen_set *set;
    seen_error e;
    seen_options options = options_of(kind, growth, capacity);
    unlink(at("set"));
    forget_disk();
    safe_from = safe_to = 0;
    cut = NULL;
    must(seen_create(at("set"), &options, 0, &set, &e), &e);
    keep_file(at("set"));
    cut = cut_set;
    countdown = 1 + below(12);
    return set;
}

static void path_adds(seen_growth growth, uint64_t capacity, unsigned long wanted)
{
    seen_error e;
    while (cuts < wanted) {
        seen_set *set = begin(SEEN_BLOOM, growth, capacity);
        for (uint64_t i = 0; i < 3000 && cuts < wanted; i += 50) {
            add_keys(set, i, 50);
            pause_here();
            if (below(3) == 0) {
                must(seen_sync(set, &e), &e);
                safe_to = i + 50;
                pause_here();
            }
        }
        cut = NULL;
        seen_close(set);
    }
}

static void path_fixed(unsigned long wanted)
{
    path_adds(SEEN_FIXED, 3000, wanted);
}

static void path_growing(unsigned long wanted)
{
    path_adds(SEEN_GROWING, 64, wanted);
}

/* Eight generations of 5000: the keys of the last six rotations stay. */
static void path_window(unsigned long wanted)
{
    seen_error e;
    while (cuts < wanted) {
        seen_set *set = begin(SEEN_BLOOM, SEEN_WINDOW, 35000);
        uint64_t born[1000] = {0}, turns = 0;
        for (uint64_t i = 0; i < 4000 && cuts < wanted; i += 50) {
            add_keys(set, i, 50);
            if (below(3) == 0) {
                must(seen_sync(set, &e), &e);
                safe_to = i + 50;
            }
            if (below(4) == 0) {
                /* While it rotates, the oldest may be present or not. */
                born[++turns] = i + 50;
                safe_from = turns > 7 ? born[turns - 7] : 0;
                must(seen_rotate(set, &e), &e);
                safe_to = i + 50; /* a rotation syncs */
            }
            pause_here();
        }
        cut = NULL;
        seen_close(set);
    }
}

/* Repeated failures: each run starts with what the failure before it left. Keys synced by any of
 * them stay. */
static struct {
    uint64_t safe_to;
} * lives;

static void cut_life(void)
{
    leave_file(at("set"), at("after"));
    size_t size;
    int fd = open(at("after"), O_RDONLY);
    unsigned char *left = content(fd, &size);
    close(fd);
    verify("a later life");
    FILE *file = fopen(at("set"), "wb");
    if (!file || fwrite(left, 1, size, file) != size || fclose(file) != 0)
        die("set", strerror(errno));
    lives->safe_to = safe_to;
    _exit(0);
}

static void live(void)
{
    seen_set *set;
    seen_error e;
    safe_to = lives->safe_to;
    forget_disk();
    keep_file(at("set"));
    cut = cut_life;
    countdown = 1 + below(30);
    must(seen_open(at("set"), NULL, 0, &set, &e), &e);
    for (uint64_t i = safe_to;; i += 10) {
        add_keys(set, i, 10);
        if (below(2)) {
            must(seen_sync(set, &e), &e);
            safe_to = i + 10;
        }
        pause_here();
    }
}

/* Losses that need two failures in a row are rare: ten times as many. */
static void path_lives(unsigned long wanted)
{
    wanted *= 10;
    lives = mmap(NULL, sizeof *lives, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    while (cuts < wanted) {
        seen_close(begin(SEEN_BLOOM, SEEN_GROWING, 32));
        cut = NULL;
        lives->safe_to = 0;
        for (int life = 0; life < 30 && cuts < wanted; life++, cuts++) {
            random_state += 77;
            fflush(stdout);
            pid_t child = fork();
            if (child == 0)
                live();
            int status;
            if (waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
                WEXITSTATUS(status) != 0)
                die("a later life", "was lost");
        }
    }
    munmap(lives, sizeof *lives);
}

/* Keys below safe_from are being removed; synced keys above stay in any mix of pages. */
static void path_counting(unsigned long wanted)
{
    seen_error e;
    while (cuts < wanted) {
        seen_set *set = begin(SEEN_COUNTING, SEEN_GROWING, 200);
        for (uint64_t i = 0; i < 2000 && cuts < wanted; i += 50) {
            add_keys(set, i, 50);
            pause_here();
            if (below(3) == 0) {
                must(seen_sync(set, &e), &e);
                safe_to = i + 50;
                pause_here();
            }
            for (uint64_t end = safe_from + below(40);
                 safe_from < end && safe_from + 100 < safe_to;) {
                seen_hash h = hash_of(safe_from++);
                must(seen_remove_hashes(set, &h, 1, NULL, &e), &e);
                pause_here();
            }
        }
        cut = NULL;
        seen_close(set);
    }
}

/* A merge into an existing file, with syncs. */
static void path_merge(unsigned long wanted)
{
    seen_error e;
    while (cuts < wanted) {
        seen_set *set = begin(SEEN_BLOOM, SEEN_FIXED, 5000), *from = NULL;
        must(seen_create_like(NULL, set, NULL, 0, &from, &e), &e);
        add_keys(set, 0, 64);
        must(seen_sync(set, &e), &e);
        safe_to = 64;
        for (uint64_t i = 64; i < 3000 && cuts < wanted; i += 64) {
            add_keys(from, i, 64);
            must(seen_merge(set, from, &e), &e);
            pause_here();
            must(seen_sync(set, &e), &e);
            safe_to = i + 64;
        }
        cut = NULL;
        seen_close(set);
        seen_close(from);
    }
}

/* A name that is given to a new file: the old set or the new one, intact. */
static void cut_name(void)
{
    countdown = 1 + below(12);
    if (leave_name(&names[0], at("after")))
        verify("the replaced name");
}

static void path_replace(unsigned long wanted)
{
    seen_error e;
    while (cuts < wanted) {
        seen_options options = options_of(SEEN_BLOOM, SEEN_GROWING, 100);
        seen_set *set;
        unlink(at("name"));
        forget_disk();
        watch_name(&names[0], at("name"));
        safe_from = safe_to = 0;
        must(seen_create(NULL, &options, 0, &set, &e), &e);
        cut = cut_name;
        countdown = 1 + below(12);
        for (uint64_t i = 0; i < 1000 && cuts < wanted; i += 50) {
            add_keys(set, i, 50); /* the previous copy had the keys below i */
            must(seen_copy(set, names[0].path, SEEN_REPLACE, NULL, &e), &e);
            safe_to = i + 50;
        }
        cut = NULL;
        seen_close(set);
    }
    unlink(at("name"));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(unsigned long wanted);
    } PATHS[] = {{"add and sync", path_fixed},
                 {"grow", path_growing},
                 {"grow, cut again", path_lives},
                 {"rotate", path_window},
                 {"count and remove", path_counting},
                 {"merge", path_merge},
                 {"replace", path_replace}};
    unsigned long wanted = argc > 1 ? strtoul(argv[1], NULL, 10) : 150;
    seed_random();
    folder_make(folder_in_memory(), "power");
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++) {
        cuts = 0;
        PATHS[i].run(wanted);
        printf("%-18s %lu power cuts, nothing that was synced is lost\n", PATHS[i].name, cuts);
        fflush(stdout);
    }
    unlink(at("set"));
    forget_disk();
    return rmdir(folder) != 0;
}
