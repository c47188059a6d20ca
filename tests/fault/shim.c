/* Makes system calls fail: preloaded into a program under test.
 *
 * A program arms it by fault_arm(n, mode), which it finds with dlsym: from then on the n-th call
 *     FAIL    fails with a typical error of that call (out of memory, EIO, ENOSPC)
 *     SHORT   if it reads or writes, transfers one byte only
 *     AGAIN   is interrupted by a signal: EINTR
 * or, by fault_arm_place(place, mode), the first call from a place in the code; fault_record()
 * records the places that calls come from. A place is a call stack. Other programs are armed by
 * FAULT_AT=n and FAULT_MODE=0, 1 or 2 in the environment, from their start on. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { FAIL, SHORT, AGAIN };

static volatile long left; /* calls until the fault; 0: not armed */
static volatile long armed_for;
static volatile int mode, hit, names_only;
static volatile uint64_t armed_place; /* 0: any */
static uint64_t *record_to;
static long record_room;

void fault_arm(long n, int how);
void fault_arm_place(uint64_t place, long n, int how);
void fault_record(uint64_t *places, long room);
int fault_disarm(void);
long fault_counted(void);
void fault_names_only(int yes);
long fault_live(void);

void fault_arm(long n, int how)
{
    hit = 0;
    mode = how;
    armed_place = 0;
    armed_for = n;
    left = n;
}

/* Only calls from `place` count. */
void fault_arm_place(uint64_t place, long n, int how)
{
    fault_arm(n, how);
    armed_place = place;
}

/* From now on the place of the i-th counted call is stored in places[i]. */
void fault_record(uint64_t *places, long room)
{
    record_to = places;
    record_room = room;
}

/* The calls since it was armed, up to the one that failed. */
long fault_counted(void)
{
    return armed_for - left;
}

/* Simulates a file system without files without a name and without RENAME_NOREPLACE. */
void fault_names_only(int yes)
{
    names_only = yes;
}

/* Whether the fault was reached. */
int fault_disarm(void)
{
    left = 0;
    return hit;
}

__attribute__((constructor)) static void arm_from_outside(void)
{
    void *frame[1];
    backtrace(frame, 1); /* forces its allocations to happen here */
    const char *at = getenv("FAULT_AT"), *how = getenv("FAULT_MODE");
    if (at)
        fault_arm(atol(at), how ? atoi(how) : FAIL);
}

/* Never 0. */
static uint64_t place_of_call(void)
{
    enum { SHIM = 2, DEPTH = SHIM + 5 };
    void *frame[DEPTH];
    int frames = backtrace(frame, DEPTH);
    uint64_t place = 1;
    for (int i = SHIM; i < frames; i++)
        place = (place ^ (uintptr_t)frame[i]) * 0x9e3779b97f4a7c15u;
    return place | 1;
}

/* Counts the call; true if it is the armed one. */
static __attribute__((noinline)) int due(void)
{
    if (left == 0 || (armed_place && place_of_call() != armed_place))
        return 0;
    long now = __atomic_sub_fetch(&left, 1, __ATOMIC_SEQ_CST), at = armed_for - now - 1;
    if (record_to && at < record_room)
        record_to[at] = place_of_call();
    if (now != 0)
        return 0;
    hit = 1;
    return 1;
}

/* Whether a call that cannot be short fails. */
static int fails(int number)
{
    if (left == 0 || mode == SHORT || !due())
        return 0;
    errno = mode == AGAIN ? EINTR : number;
    return 1;
}

/* ---- memory: never interrupted ---- */

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static int no_memory(void)
{
    if (left == 0 || mode != FAIL || !due())
        return 0;
    errno = ENOMEM;
    return 1;
}

static long live; /* live allocations */

long fault_live(void)
{
    return live;
}

/* Allocations that the C library caches with thread stacks. */
static __thread int uncounted __attribute__((tls_model("initial-exec")));

static void *counted(void *p)
{
    if (p && !uncounted)
        __atomic_add_fetch(&live, 1, __ATOMIC_RELAXED);
    return p;
}

void free(void *p)
{
    if (p)
        __atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
    __libc_free(p);
}

void *malloc(size_t n)
{
    return no_memory() ? NULL : counted(__libc_malloc(n));
}

void *calloc(size_t n, size_t each)
{
    return no_memory() ? NULL : counted(__libc_calloc(n, each));
}

void *realloc(void *p, size_t n)
{
    if (no_memory())
        return NULL;
    return p ? __libc_realloc(p, n) : counted(__libc_malloc(n));
}

void *aligned_alloc(size_t align, size_t n)
{
    return no_memory() ? NULL : counted(__libc_memalign(align, n));
}

char *strndup(const char *text, size_t most)
{
    size_t n = strnlen(text, most);
    char *copy = malloc(n + 1);
    if (copy) {
        memcpy(copy, text, n);
        copy[n] = 0;
    }
    return copy;
}

char *strdup(const char *text)
{
    return strndup(text, strlen(text));
}

void *mmap(void *where, size_t n, int protection, int flags, int fd, off_t at)
{
    if (no_memory())
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, where, n, protection, flags, fd, at);
}

void *mmap64(void *where, size_t n, int protection, int flags, int fd, off_t at)
{
    return mmap(where, n, protection, flags, fd, at);
}

/* ---- files ---- */

static int open_any(const char *path, int flags, va_list args)
{
    mode_t permissions = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;
    if (names_only && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    if (mode == FAIL && fails(EMFILE)) /* only opening a pipe is interrupted */
        return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, permissions);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    int fd = open_any(path, flags, args);
    va_end(args);
    return fd;
}

int open64(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    int fd = open_any(path, flags, args);
    va_end(args);
    return fd;
}

/* The bytes to transfer, or -1 with errno. */
static ssize_t share(size_t n, int number)
{
    if (left == 0 || !due())
        return (ssize_t)n;
    if (mode == SHORT)
        return n > 1 ? 1 : (ssize_t)n;
    errno = mode == AGAIN ? EINTR : number;
    return -1;
}

#define TRANSFER(name, number, call, type)                                                         \
    ssize_t name(int fd, type data, size_t n, off_t at)                                            \
    {                                                                                              \
        ssize_t part = share(n, number);                                                           \
        return part < 0 ? -1 : (ssize_t)syscall(call, fd, data, (size_t)part, at);                 \
    }
TRANSFER(pread, EIO, SYS_pread64, void *)
TRANSFER(pread64, EIO, SYS_pread64, void *)
TRANSFER(pwrite, ENOSPC, SYS_pwrite64, const void *)
TRANSFER(pwrite64, ENOSPC, SYS_pwrite64, const void *)

ssize_t read(int fd, void *data, size_t n)
{
    ssize_t part = share(n, EIO);
    return part < 0 ? -1 : (ssize_t)syscall(SYS_read, fd, data, (size_t)part);
}

ssize_t write(int fd, const void *data, size_t n)
{
    ssize_t part = share(n, ENOSPC);
    return part < 0 ? -1 : (ssize_t)syscall(SYS_write, fd, data, (size_t)part);
}

/* A sync is not interrupted in practice. */
static int sync_fails(void)
{
    return mode == FAIL && fails(EIO);
}

int fsync(int fd)
{
    return sync_fails() ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return sync_fails() ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int msync(void *where, size_t n, int flags)
{
    return sync_fails() ? -1 : (int)syscall(SYS_msync, where, n, flags);
}

int ftruncate(int fd, off_t n)
{
    return fails(EIO) ? -1 : (int)syscall(SYS_ftruncate, fd, n);
}

int ftruncate64(int fd, off_t n)
{
    return ftruncate(fd, n);
}

int posix_fallocate(int fd, off_t at, off_t n)
{
    if (fails(ENOSPC))
        return errno;
    return syscall(SYS_fallocate, fd, 0, at, n) == 0 ? 0 : errno;
}

int posix_fallocate64(int fd, off_t at, off_t n)
{
    return posix_fallocate(fd, at, n);
}

static int name_fails(void)
{
    return mode == FAIL && fails(EIO);
}

int rename(const char *from, const char *to)
{
    return name_fails() ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
    if (names_only && flags) {
        errno = EINVAL;
        return -1;
    }
    return name_fails() ? -1 : (int)syscall(SYS_renameat2, a, from, b, to, flags);
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
    return name_fails() ? -1 : (int)syscall(SYS_linkat, a, from, b, to, flags);
}

int fchmod(int fd, mode_t permissions)
{
    return name_fails() ? -1 : (int)syscall(SYS_fchmod, fd, permissions);
}

int link(const char *from, const char *to)
{
    return name_fails() ? -1 : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

ssize_t getrandom(void *data, size_t n, unsigned flags)
{
    ssize_t part = share(n, ENOSYS);
    return part < 0 ? -1 : (ssize_t)syscall(SYS_getrandom, data, (size_t)part, flags);
}

/* Locks and duplicated descriptors; unlocking does not fail. */
static int fcntl_any(int fd, int what, va_list args)
{
    uintptr_t argument = va_arg(args, uintptr_t);
    int unlock = (what == F_OFD_SETLK || what == F_OFD_SETLKW) &&
                 ((const struct flock *)argument)->l_type == F_UNLCK;
    int counts = what == F_OFD_SETLK || what == F_OFD_SETLKW || what == F_DUPFD_CLOEXEC;
    if (what == F_DUPFD_CLOEXEC && mode != FAIL)
        counts = 0; /* duplicating does not block */
    if (counts && !unlock && fails(what == F_DUPFD_CLOEXEC ? EMFILE : ENOLCK))
        return -1;
    return (int)syscall(SYS_fcntl, fd, what, argument);
}

int fcntl(int fd, int what, ...)
{
    va_list args;
    va_start(args, what);
    int result = fcntl_any(fd, what, args);
    va_end(args);
    return result;
}

int fcntl64(int fd, int what, ...)
{
    va_list args;
    va_start(args, what);
    int result = fcntl_any(fd, what, args);
    va_end(args);
    return result;
}

/* ---- threads ---- */

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (mode == FAIL && fails(EAGAIN))
        return EAGAIN;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    uncounted = 1;
    int result = real(thread, attributes, run, argument);
    uncounted = 0;
    return result;
}
