/* Complete reads and writes, locks, reserved space, random bytes. */
#include "base/io.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

ssize_t sn_io_read_some(int fd, void *out, size_t len, uint64_t at)
{
    size_t done = 0;
    while (done < len) {
        ssize_t n = pread(fd, (char *)out + done, len - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

bool sn_io_read(int fd, void *out, size_t len, uint64_t at)
{
    ssize_t n = sn_io_read_some(fd, out, len, at);
    if (n >= 0 && (size_t)n < len)
        errno = 0;
    return n >= 0 && (size_t)n == len;
}

bool sn_io_write(int fd, const void *data, size_t len, uint64_t at)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = pwrite(fd, (const char *)data + done, len - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n == 0 ? ENOSPC : errno;
            return false;
        }
        done += (size_t)n;
    }
    return true;
}

bool sn_io_clear(int fd, uint64_t at, uint64_t len)
{
    static const char ZERO[16384];
    char have[sizeof ZERO];
    for (uint64_t done = 0; done < len;) {
        size_t n = len - done < sizeof ZERO ? (size_t)(len - done) : sizeof ZERO;
        if (!sn_io_read(fd, have, n, at + done))
            return false;
        if (memcmp(have, ZERO, n) != 0 && !sn_io_write(fd, ZERO, n, at + done))
            return false;
        done += n;
    }
    return true;
}

char *sn_io_absolute(const char *path)
{
    if (path[0] == '/')
        return strdup(path);
    char *folder = getcwd(NULL, 0);
    size_t room = folder ? strlen(folder) + strlen(path) + 2 : 0;
    char *whole = folder ? malloc(room) : NULL;
    if (whole)
        snprintf(whole, room, "%s/%s", folder, path);
    free(folder);
    return whole;
}

bool sn_io_replaced(int fd, const char *path)
{
    struct stat mine, there;
    return fstat(fd, &mine) == 0 && stat(path, &there) == 0 &&
           (mine.st_dev != there.st_dev || mine.st_ino != there.st_ino);
}

static size_t system_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

size_t (*sn_io_page)(void) = system_page;

bool sn_io_lock(int fd, uint64_t byte, short type, bool wait)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1};
    for (;;) {
        if (fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock) == 0)
            return true;
        if (errno != EINTR)
            return false;
    }
}

/* Whether there is certainly not enough space for this many bytes at `at`. Trying to allocate them
 * would use up all that is left before it fails, and other programs would find the disk full. */
static bool is_hopeless(int fd, uint64_t at, uint64_t len)
{
    struct stat file;
    struct statvfs disk;
    if (fstat(fd, &file) != 0 || fstatvfs(fd, &disk) != 0 || disk.f_blocks == 0)
        return false;
    double has = (double)file.st_blocks * 512; /* some of it may already be allocated */
    double there = has > (double)at ? has - (double)at : 0;
    return (double)len - there > (double)disk.f_bfree * (double)disk.f_frsize;
}

seen_status sn_io_reserve(int fd, const char *name, uint64_t at, uint64_t len, seen_error *error)
{
    int failure = is_hopeless(fd, at, len) ? ENOSPC : EINTR;
    while (failure == EINTR)
        failure = posix_fallocate(fd, (off_t)at, (off_t)len);
    if (failure == ENOSPC)
        return sn_error_set(error, SEEN_ERR_SPACE,
                            "%s: not enough disk space for %.1f %s; free some space, or use fewer "
                            "keys or a higher error rate",
                            name, (double)len / (len < 1 << 20 ? 1 << 10 : 1 << 20),
                            len < 1 << 20 ? "KiB" : "MiB");
    return failure ? sn_error_system(error, failure, name, "reserve space") : SEEN_OK;
}

/* Not by posix_fallocate: if the file system does not support it, that writes zeros into the
 * blocks, over data that another process may just have stored. */
seen_status sn_io_fill_holes(int fd, const char *name, uint64_t len, seen_error *error)
{
    struct stat file;
    if (fstat(fd, &file) != 0)
        return sn_error_system(error, errno, name, "look at");
    if (len > (uint64_t)file.st_size)
        len = (uint64_t)file.st_size;
    off_t hole = (uint64_t)file.st_blocks * 512 < len ? lseek(fd, 0, SEEK_HOLE) : -1;
    if (hole < 0 || (uint64_t)hole >= len)
        return SEEN_OK;
    int failure = is_hopeless(fd, 0, len) ? ENOSPC : EINTR;
    while (failure == EINTR)
        failure = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)len) == 0 ? 0 : errno;
    if (failure != ENOSPC && failure != EDQUOT)
        return SEEN_OK; /* not supported: works as long as the disk has space */
    return sn_error_set(
        error, SEEN_ERR_SPACE,
        "%s: not enough disk space to fill the holes of this file; free some space and try "
        "again",
        name);
}

seen_status sn_io_random(void *out, size_t len, seen_error *error)
{
    for (size_t got = 0; got < len;) {
        ssize_t n = getrandom((char *)out + got, len - got, 0);
        if (n < 0 && errno != EINTR)
            return sn_error_system(error, errno, "random source", "read");
        if (n > 0)
            got += (size_t)n;
    }
    return SEEN_OK;
}
