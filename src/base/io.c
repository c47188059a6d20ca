/* Whole reads and writes, locks, reserved space, and files that appear whole or not at all. */
#include "base/io.h"

#include "base/error.h"
#include "hash/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

bool sn_io_read(int fd, void *out, size_t len, uint64_t at)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = pread(fd, (char *)out + done, len - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n == 0)
                errno = 0;
            return false;
        }
        done += (size_t)n;
    }
    return true;
}

bool sn_io_write(int fd, const void *data, size_t len, uint64_t at)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = pwrite(fd, (const char *)data + done, len - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n == 0 ? EIO : errno;
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

/* Whether there is certainly no room for so many bytes at `at`. Asking for them would take all that
 * is left before it fails, and meanwhile every other program would find the disk full. */
static bool is_hopeless(int fd, uint64_t at, uint64_t len)
{
    struct stat file;
    struct statvfs disk;
    if (fstat(fd, &file) != 0 || fstatvfs(fd, &disk) != 0 || disk.f_blocks == 0)
        return false;
    double has = (double)file.st_blocks * 512; /* some of it may lie there already */
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
                            "%s: the disk has no room for %.1f %s; free some space, or ask for "
                            "fewer keys or a higher error rate",
                            name, (double)len / (len < 1 << 20 ? 1 << 10 : 1 << 20),
                            len < 1 << 20 ? "KiB" : "MiB");
    return failure ? sn_error_system(error, failure, name, "reserve space") : SEEN_OK;
}

/* Not by posix_fallocate: where a file system cannot reserve, that writes zeros into the blocks,
 * over what another process may just have stored there. */
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
        return SEEN_OK; /* where nothing can be reserved it works as long as the disk has room */
    return sn_error_set(error, SEEN_ERR_SPACE,
                        "%s: has holes, and the disk no room to fill them; free some space and try "
                        "again",
                        name);
}

/* Opens the folder that `path` is in, or with O_TMPFILE a file in it. */
static int open_folder(const char *path, int flags)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    int fd = folder ? open(folder, flags | O_CLOEXEC, 0666) : -1;
    free(folder);
    return fd;
}

/* Where the system can give it a name later. */
static int open_nameless(const char *path)
{
    return access("/proc/self/fd", X_OK) == 0 ? open_folder(path, O_TMPFILE | O_RDWR) : -1;
}

seen_status sn_io_temp_open(const char *path, bool nameless, sn_io_temp *temp, seen_error *error)
{
    uint64_t random[2];
    seen_status status = sn_hash_seed(random, error);
    if (status != SEEN_OK)
        return status;
    enum { NAME = 255, ENDING = 1 + 16 + 4 };
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name), room = strlen(path) + ENDING + 1;
    /* Of a long name only as much as leaves room for the ending. */
    size_t kept = (size_t)(name - path) + (length < NAME - ENDING ? length : NAME - ENDING);
    *temp = (sn_io_temp){.fd = -1, .path = malloc(room)};
    if (!temp->path)
        return sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", path);
    snprintf(temp->path, room, "%.*s.%016llx.tmp", (int)kept, path, (unsigned long long)random[0]);
    if (nameless)
        temp->fd = open_nameless(path);
    temp->named = temp->fd < 0;
    if (temp->named)
        temp->fd = open(temp->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (temp->fd >= 0)
        return SEEN_OK;
    status = sn_error_system(error, errno, path, "create");
    free(temp->path);
    temp->path = NULL;
    return status;
}

void sn_io_temp_drop(sn_io_temp *temp)
{
    if (temp->fd >= 0)
        close(temp->fd);
    if (temp->named)
        unlink(temp->path);
    free(temp->path);
    *temp = (sn_io_temp){.fd = -1};
}

/* A rename would take the place of a device or a fifo as well, which nobody means. */
static bool is_special(const char *path)
{
    struct stat at;
    return lstat(path, &at) == 0 && !S_ISREG(at.st_mode) && !S_ISLNK(at.st_mode) &&
           !S_ISDIR(at.st_mode);
}

static bool give_name(sn_io_temp *temp)
{
    char by_fd[32];
    snprintf(by_fd, sizeof by_fd, "/proc/self/fd/%d", temp->fd);
    if (!temp->named)
        temp->named = linkat(AT_FDCWD, by_fd, AT_FDCWD, temp->path, AT_SYMLINK_FOLLOW) == 0;
    return temp->named;
}

static bool take_place(const char *from, const char *to, bool replace)
{
    if (replace)
        return rename(from, to) == 0;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOTSUP && errno != ENOSYS)
        return false;
    /* A file system without that can still refuse to link over an existing name. */
    if (link(from, to) != 0)
        return false;
    unlink(from);
    return true;
}

seen_status sn_io_temp_publish(sn_io_temp *temp, const char *path, bool replace, seen_error *error)
{
    seen_status status = SEEN_OK;
    /* A rename is durable only when the folder is. Opened first: what cannot be made durable is not
     * put in place. */
    int folder = open_folder(path, O_RDONLY | O_DIRECTORY);
    if (folder < 0)
        status = sn_error_system(error, errno, path, "open the folder");
    else if (replace && is_special(path))
        status = sn_error_set(error, SEEN_ERR_ARGUMENT, "%s: not a regular file, and not replaced",
                              path);
    else if (fsync(temp->fd) != 0)
        status = sn_error_system(error, errno, path, "sync");
    else if (!give_name(temp) || !take_place(temp->path, path, replace))
        status = errno == EEXIST
                     ? sn_error_set(error, SEEN_ERR_EXISTS,
                                    "%s: exists already; choose another name, or ask to replace it",
                                    path)
                     : sn_error_system(error, errno, path, "put the new file in place");
    if (status != SEEN_OK) {
        if (folder >= 0)
            close(folder);
        sn_io_temp_drop(temp);
        return status;
    }
    /* Some file systems cannot sync a folder and say so; that is not a failure. */
    if (fsync(folder) != 0 && errno != EINVAL)
        status = sn_error_system(error, errno, path, "sync the folder");
    close(folder);
    close(temp->fd);
    free(temp->path);
    *temp = (sn_io_temp){.fd = -1};
    return status;
}
