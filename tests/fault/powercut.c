/* Power cuts: what reaches the disk of the writes that were not synced is anybody's guess.
 *
 *     powercut [CUTS]         default 150 on each path; 1000 for the figures of docs/trust.md
 *
 * Calls that write, sync or rename are caught on their way to the system. At random ones of them
 * the power goes: for every file there is what was durable (its content at the last sync of it) and
 * what the system had in memory. Of the sectors of 512 bytes in which the two differ any may have
 * been written and any not; the length may be either; a rename counts only when the folder was
 * synced, and otherwise may have happened or not. What is left is copied aside and opened:
 * everything that was synced must be there, and the set must go on. SEEN_SEED repeats a run. */
#include "rig.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { FILES = 64, SECTOR = 512 };

/* ---- what is durable ---- */

typedef struct durable {
    ino_t inode;
    unsigned char *data;
    size_t size;
} durable;

static durable disk[FILES]; /* of each file: its content at its last sync */
static struct {
    char path[300];
    ino_t was, is; /* 0: none */
    bool open;     /* renamed, and the folder not yet synced */
} name;            /* the one name that may be replaced */

static void (*cut)(void); /* what to do when the power goes */
static unsigned long countdown;

static unsigned char *content(int fd, size_t *size)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        die("fstat", strerror(errno));
    *size = (size_t)st.st_size;
    unsigned char *data = malloc(*size + 1);
    for (size_t done = 0; done < *size;) {
        ssize_t n = pread(fd, data + done, *size - done, (off_t)done);
        if (n <= 0)
            die("pread", strerror(errno));
        done += (size_t)n;
    }
    return data;
}

static durable *durable_of(ino_t inode)
{
    durable *unused = NULL;
    for (int i = 0; i < FILES; i++) {
        if (disk[i].inode == inode)
            return &disk[i];
        if (!disk[i].inode)
            unused = &disk[i];
    }
    if (!unused)
        die("durable_of", "too many files");
    unused->inode = inode;
    return unused;
}

static void forget_disk(void)
{
    for (int i = 0; i < FILES; i++) {
        free(disk[i].data);
        disk[i] = (durable){0};
    }
}

/* A moment at which the power may go. */
static void moment(void)
{
    if (!cut || countdown == 0 || --countdown != 0)
        return;
    void (*now)(void) = cut;
    cut = NULL; /* the calls of the check are not caught */
    now();
    cut = now;
}

static int synced(int fd)
{
    struct stat st;
    moment();
    if (cut && fstat(fd, &st) == 0) {
        if (S_ISDIR(st.st_mode)) {
            name.open = false;
            name.was = name.is;
        } else {
            durable *d = durable_of(st.st_ino);
            free(d->data);
            d->data = content(fd, &d->size);
        }
    }
    moment();
    return 0;
}

/* ---- the calls; the disk itself is not waited for ---- */

int fsync(int fd)
{
    return synced(fd);
}

int fdatasync(int fd)
{
    return synced(fd);
}

int msync(void *where, size_t n, int flags)
{
    (void)where, (void)n, (void)flags;
    moment();
    return 0;
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at)
{
    moment();
    /* A write may be caught in the middle. */
    size_t half = n > SECTOR && cut ? n / 2 : 0;
    if (half && syscall(SYS_pwrite64, fd, data, half, at) == (ssize_t)half)
        moment();
    ssize_t done = syscall(SYS_pwrite64, fd, data, n, at);
    moment();
    return done;
}

static void renamed(const char *to)
{
    struct stat st;
    if (cut && strcmp(to, name.path) == 0 && stat(to, &st) == 0) {
        name.is = st.st_ino;
        name.open = true;
    }
    moment();
}

int rename(const char *from, const char *to)
{
    moment();
    int result = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    renamed(to);
    return result;
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
    moment();
    int result = (int)syscall(SYS_renameat2, a, from, b, to, flags);
    if (result == 0)
        renamed(to);
    return result;
}

/* ---- the power goes ---- */

/* Writes to "after" what may be left of a file. `memory` is what the system had, or NULL where the
 * file is gone from there and only its durable content matters. */
static void leave(const durable *d, const unsigned char *memory, size_t size)
{
    uint64_t chance = below(5) * 25; /* of each sector to have been written, in percent */
    if (!memory) {
        memory = d->data;
        size = d->size;
    }
    size_t length = size == d->size || below(2) ? size : d->size;
    unsigned char *out = calloc(1, length + 1);
    for (size_t s = 0; s < length; s += SECTOR) {
        size_t n = length - s < SECTOR ? length - s : SECTOR;
        size_t old = d->size > s ? d->size - s : 0, now = size > s ? size - s : 0;
        old = old < n ? old : n;
        now = now < n ? now : n;
        if (old)
            memcpy(out + s, d->data + s, old);
        if (now && below(100) < chance)
            memcpy(out + s, memory + s, now);
    }
    FILE *file = fopen(at("after"), "wb");
    if (!file || fwrite(out, 1, length, file) != length || fclose(file) != 0)
        die("after", strerror(errno));
    free(out);
}

static void leave_file(const char *path)
{
    int fd = open(path, O_RDONLY);
    struct stat st;
    size_t size;
    if (fd < 0 || fstat(fd, &st) != 0)
        die(path, strerror(errno));
    unsigned char *memory = content(fd, &size);
    leave(durable_of(st.st_ino), memory, size);
    free(memory);
    close(fd);
}

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
    /* It goes on, and after that is still whole. */
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
    leave_file(at("set"));
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
    int fd = open(at("set"), O_RDONLY);
    struct stat st;
    fstat(fd, &st);
    durable *d = durable_of(st.st_ino);
    d->data = content(fd, &d->size);
    close(fd);
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
            moment();
            if (below(3) == 0) {
                must(seen_sync(set, &e), &e);
                safe_to = i + 50;
                moment();
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

/* Eight generations of 5000: the last six rotations' keys stay. */
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
                /* While it turns, the oldest may be there or not. */
                born[++turns] = i + 50;
                safe_from = turns > 7 ? born[turns - 7] : 0;
                must(seen_rotate(set, &e), &e);
                safe_to = i + 50; /* a rotation syncs */
            }
            moment();
        }
        cut = NULL;
        seen_close(set);
    }
}

/* Life after life: each begins with what the cut before it left. Keys that any of them synced stay.
 */
static struct {
    uint64_t safe_to;
} * lives;

static void cut_life(void)
{
    leave_file(at("set"));
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
    struct stat st;
    safe_to = lives->safe_to;
    forget_disk();
    int fd = open(at("set"), O_RDONLY);
    fstat(fd, &st);
    durable *d = durable_of(st.st_ino);
    d->data = content(fd, &d->size);
    close(fd);
    cut = cut_life;
    countdown = 1 + below(30);
    must(seen_open(at("set"), NULL, 0, &set, &e), &e);
    for (uint64_t i = safe_to;; i += 10) {
        add_keys(set, i, 10);
        if (below(2)) {
            must(seen_sync(set, &e), &e);
            safe_to = i + 10;
        }
        moment();
    }
}

static void path_lives(unsigned long wanted)
{
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

/* Keys below safe_from are being removed; what is synced above stays in any mix of pages. */
static void path_counting(unsigned long wanted)
{
    seen_error e;
    while (cuts < wanted) {
        seen_set *set = begin(SEEN_COUNTING, SEEN_GROWING, 200);
        for (uint64_t i = 0; i < 2000 && cuts < wanted; i += 50) {
            add_keys(set, i, 50);
            moment();
            if (below(3) == 0) {
                must(seen_sync(set, &e), &e);
                safe_to = i + 50;
                moment();
            }
            for (uint64_t end = safe_from + below(40);
                 safe_from < end && safe_from + 100 < safe_to;) {
                seen_hash h = hash_of(safe_from++);
                must(seen_remove_hashes(set, &h, 1, NULL, &e), &e);
                moment();
            }
        }
        cut = NULL;
        seen_close(set);
    }
}

/* A union into an existing file, with syncs of it. */
static void path_merge(unsigned long wanted)
{
    seen_error e;
    while (cuts < wanted) {
        seen_set *set = begin(SEEN_BLOOM, SEEN_FIXED, 5000), *from = NULL;
        must(seen_create_like(NULL, set, 0, &from, &e), &e);
        add_keys(set, 0, 64);
        must(seen_sync(set, &e), &e);
        safe_to = 64;
        for (uint64_t i = 64; i < 3000 && cuts < wanted; i += 64) {
            add_keys(from, i, 64);
            must(seen_merge(set, from, &e), &e);
            moment();
            must(seen_sync(set, &e), &e);
            safe_to = i + 64;
        }
        cut = NULL;
        seen_close(set);
        seen_close(from);
    }
}

/* A name that is given to a new file: the old set or the new one, whole. */
static void cut_name(void)
{
    ino_t pick = name.open && below(2) ? name.was : name.is;
    struct stat st;
    countdown = 1 + below(12);
    if (pick == 0)
        return; /* not made yet: nothing to keep */
    if (stat(name.path, &st) == 0 && st.st_ino == pick)
        leave_file(name.path);
    else
        leave(durable_of(pick), NULL, 0);
    verify("the replaced name");
}

static void path_replace(unsigned long wanted)
{
    seen_error e;
    snprintf(name.path, sizeof name.path, "%s", at("name"));
    while (cuts < wanted) {
        seen_options options = options_of(SEEN_BLOOM, SEEN_GROWING, 100);
        seen_set *set;
        unlink(name.path);
        forget_disk();
        name.was = name.is = 0;
        name.open = false;
        safe_from = safe_to = 0;
        must(seen_create(NULL, &options, 0, &set, &e), &e);
        cut = cut_name;
        countdown = 1 + below(12);
        for (uint64_t i = 0; i < 1000 && cuts < wanted; i += 50) {
            add_keys(set, i, 50); /* the copy before this one had the keys below i */
            must(seen_copy(set, name.path, SEEN_REPLACE, NULL, &e), &e);
            safe_to = i + 50;
        }
        cut = NULL;
        seen_close(set);
    }
    unlink(name.path);
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
