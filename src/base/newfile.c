/* A file that appears whole or not at all. */
#include "base/newfile.h"

#include "base/error.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

seen_status sn_newfile_open(const char *path, bool nameless, sn_newfile *temp, seen_error *error)
{
    uint64_t random[2];
    seen_status status = sn_io_random(random, sizeof random, error);
    if (status != SEEN_OK)
        return status;
    enum { NAME = 255, ENDING = 1 + 16 + 4 };
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name), room = strlen(path) + ENDING + 1;
    /* Of a long name only as much as leaves room for the ending. */
    size_t kept = (size_t)(name - path) + (length < NAME - ENDING ? length : NAME - ENDING);
    *temp = (sn_newfile){.fd = -1, .path = malloc(room)};
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

void sn_newfile_drop(sn_newfile *temp)
{
    if (temp->fd >= 0)
        close(temp->fd);
    if (temp->named)
        unlink(temp->path);
    free(temp->path);
    *temp = (sn_newfile){.fd = -1};
}

/* A rename would take the place of a device or a fifo as well, which nobody means. */
static bool is_special(const char *path)
{
    struct stat at;
    return lstat(path, &at) == 0 && !S_ISREG(at.st_mode) && !S_ISLNK(at.st_mode) &&
           !S_ISDIR(at.st_mode);
}

static bool give_name(sn_newfile *temp)
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

seen_status sn_newfile_publish(sn_newfile *temp, const char *path, bool replace, seen_error *error)
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
        sn_newfile_drop(temp);
        return status;
    }
    /* Some file systems cannot sync a folder and say so; that is not a failure. */
    if (fsync(folder) != 0 && errno != EINVAL)
        status = sn_error_system(error, errno, path, "sync the folder");
    close(folder);
    close(temp->fd);
    free(temp->path);
    *temp = (sn_newfile){.fd = -1};
    return status;
}
