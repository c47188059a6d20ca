/* Simulates a disk that loses power: any subset of the writes that were not synced may have reached
 * it.
 *
 * Calls that write, sync or rename are intercepted; a program includes this once. At random ones of
 * them the power fails: for every file there is the durable content (at its last sync) and the
 * content that the system had in memory. Of the 512-byte sectors in which the two differ, any
 * subset may have been written; the length may be either; a rename is durable only after the folder
 * was synced, and otherwise may have happened or not. */
#ifndef TESTS_FAULT_DISK_H
#define TESTS_FAULT_DISK_H

#include "rig.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { DISK_FILES = 64, DISK_NAMES = 2, SECTOR = 512 };

typedef struct durable {
    ino_t inode;
    unsigned char *data;
    size_t size;
} durable;

typedef struct watched {
    char path[300]; /* "": none */
    ino_t was, is;  /* 0: none */
    bool open;      /* renamed, and the folder not yet synced */
} watched;

static durable disk[DISK_FILES];  /* of each file: its content at its last sync */
static watched names[DISK_NAMES]; /* names that may be replaced */

static void (*cut)(void); /* called when the power fails; NULL: calls are not intercepted */
static unsigned long countdown;

/* One call at a time; those of `cut` itself are not intercepted. */
static pthread_mutex_t disk_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread bool inside;

static inline bool enter(void)
{
    if (!cut || inside)
        return false;
    pthread_mutex_lock(&disk_lock);
    inside = true;
    return true;
}

static inline void leave(bool entered)
{
    if (!entered)
        return;
    inside = false;
    pthread_mutex_unlock(&disk_lock);
}

/* ---- durable content ---- */

static inline unsigned char *content(int fd, size_t *size)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        die("fstat", strerror(errno));
    *size = (size_t)st.st_size;
    unsigned char *data = malloc(*size + 1);
    for (size_t done = 0; data && done < *size;) {
        ssize_t n = pread(fd, data + done, *size - done, (off_t)done);
        if (n <= 0)
            die("pread", strerror(errno));
        done += (size_t)n;
    }
    return data;
}

static inline durable *durable_of(ino_t inode)
{
    durable *unused = NULL;
    for (int i = 0; i < DISK_FILES; i++) {
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

static inline void keep_fd(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        die("fstat", strerror(errno));
    durable *d = durable_of(st.st_ino);
    free(d->data);
    d->data = content(fd, &d->size);
}

/* Records the current content of the file as durable. */
static inline void keep_file(const char *path)
{
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        die(path, strerror(errno));
    keep_fd(fd);
    close(fd);
}

static inline void forget_disk(void)
{
    for (int i = 0; i < DISK_FILES; i++) {
        free(disk[i].data);
        disk[i] = (durable){0};
    }
}

static inline ino_t inode_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_ino : 0;
}

/* Tracks a name, whose current target is durable. */
static inline void watch_name(watched *name, const char *path)
{
    ino_t now = inode_of(path);
    *name = (watched){.was = now, .is = now};
    snprintf(name->path, sizeof name->path, "%s", path);
}

/* A point at which the power may fail. */
static inline void moment(void)
{
    if (countdown && --countdown == 0)
        cut();
}

/* The same, outside of any call. */
static inline void pause_here(void)
{
    bool mine = enter();
    if (mine)
        moment();
    leave(mine);
}

/* ---- intercepted calls; they do not wait for the real disk ---- */

static inline int synced(int fd)
{
    struct stat st;
    bool mine = enter();
    if (!mine)
        return 0;
    moment();
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        for (int i = 0; i < DISK_NAMES; i++) {
            names[i].open = false;
            names[i].was = names[i].is;
        }
    } else
        keep_fd(fd);
    moment();
    leave(mine);
    return 0;
}

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
    pause_here();
    return 0;
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at)
{
    bool mine = enter();
    if (mine)
        moment();
    /* The power may fail in the middle of a write. */
    size_t half = n > SECTOR && mine ? n / 2 : 0;
    if (half && syscall(SYS_pwrite64, fd, data, half, at) == (ssize_t)half)
        moment();
    ssize_t done = syscall(SYS_pwrite64, fd, data, n, at);
    if (mine)
        moment();
    leave(mine);
    return done;
}

ssize_t write(int fd, const void *data, size_t n)
{
    bool mine = enter();
    if (mine)
        moment();
    /* Half of it, then the rest by another call, as for any short write. */
    size_t part = n > SECTOR && mine ? n / 2 : n;
    ssize_t done = syscall(SYS_write, fd, data, part);
    if (mine)
        moment();
    leave(mine);
    return done;
}

static inline void renamed(void)
{
    for (int i = 0; i < DISK_NAMES; i++) {
        ino_t now = names[i].path[0] ? inode_of(names[i].path) : 0;
        if (now != names[i].is) {
            names[i].is = now;
            names[i].open = true;
        }
    }
    moment();
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
    bool mine = enter();
    if (mine)
        moment();
    int result = (int)syscall(SYS_renameat2, a, from, b, to, flags);
    if (mine && result == 0)
        renamed();
    leave(mine);
    return result;
}

int rename(const char *from, const char *to)
{
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* ---- power failure ---- */

/* Writes a possible remaining content of a file to `to`. `memory` is what the system had, or NULL
 * if the file is gone from there and only its durable content matters. */
static inline void leave_bytes(const durable *d, const unsigned char *memory, size_t size,
                               const char *to)
{
    uint64_t chance =
        below(5) * 25; /* probability of each sector to have been written, in percent */
    if (!memory) {
        memory = d->data;
        size = d->size;
    }
    size_t length = size == d->size || below(2) ? size : d->size;
    unsigned char *out = calloc(1, length + 1);
    for (size_t s = 0; out && s < length; s += SECTOR) {
        size_t n = length - s < SECTOR ? length - s : SECTOR;
        size_t old = d->size > s ? d->size - s : 0, now = size > s ? size - s : 0;
        old = old < n ? old : n;
        now = now < n ? now : n;
        if (old)
            memcpy(out + s, d->data + s, old);
        if (now && below(100) < chance)
            memcpy(out + s, memory + s, now);
    }
    FILE *file = fopen(to, "wb");
    if (!out || !file || fwrite(out, 1, length, file) != length || fclose(file) != 0)
        die(to, strerror(errno));
    free(out);
}

static inline void leave_file(const char *path, const char *to)
{
    int fd = open(path, O_RDONLY);
    struct stat st;
    size_t size;
    if (fd < 0 || fstat(fd, &st) != 0)
        die(path, strerror(errno));
    unsigned char *memory = content(fd, &size);
    leave_bytes(durable_of(st.st_ino), memory, size, to);
    free(memory);
    close(fd);
}

/* The possible target of the name after the power failure; false: none. */
static inline bool leave_name(const watched *name, const char *to)
{
    ino_t pick = name->open && below(2) ? name->was : name->is;
    if (pick == 0)
        return false;
    if (inode_of(name->path) == pick)
        leave_file(name->path, to);
    else
        leave_bytes(durable_of(pick), NULL, 0, to);
    return true;
}

#endif
