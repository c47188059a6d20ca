/* Atomic file creation and replacement. */
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

/* Opens the folder of `path`, or with O_TMPFILE a file in it. */
static int open_folder(const char *path, int flags)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    int fd = folder ? open(folder, flags | O_CLOEXEC, 0666) : -1;
    free(folder);
    return fd;
}

/* Only if the system can name the file later. */
static int open_nameless(const char *path)
{
    return access("/proc/self/fd", X_OK) == 0 ? open_folder(path, O_TMPFILE | O_RDWR) : -1;
}

char *sn_newfile_name(const char *path, seen_error *error)
{
    enum { NAME = 255, ENDING = 1 + 16 + 4 };
    uint64_t random;
    if (sn_io_random(&random, sizeof random, error) != SEEN_OK)
        return NULL;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name), room = strlen(path) + ENDING + 1;
    /* A long name is truncated to leave room for the suffix. */
    size_t kept = (size_t)(name - path) + (length < NAME - ENDING ? length : NAME - ENDING);
    char *made = malloc(room);
    if (made)
        snprintf(made, room, "%.*s.%016llx.tmp", (int)kept, path, (unsigned long long)random);
    else
        sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", path);
    return made;
}

seen_status sn_newfile_open(const char *path, bool nameless, sn_newfile *file, seen_error *error)
{
    seen_error unused;
    error = error ? error : &unused;
    *file = (sn_newfile){.fd = -1, .path = sn_newfile_name(path, error)};
    if (!file->path)
        return error->status;
    if (nameless)
        file->fd = open_nameless(path);
    file->named = file->fd < 0;
    if (file->named)
        file->fd = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file->fd >= 0)
        return SEEN_OK;
    seen_status status = sn_error_system(error, errno, path, "create");
    file->named = false; /* not ours to remove */
    sn_newfile_drop(file);
    return status;
}

void sn_newfile_drop(sn_newfile *file)
{
    if (file->fd >= 0)
        close(file->fd);
    if (file->named)
        unlink(file->path);
    free(file->path);
    *file = (sn_newfile){.fd = -1};
}

/* A rename would replace a device or a FIFO, too. */
static bool is_special(const char *path)
{
    struct stat at;
    return lstat(path, &at) == 0 && !S_ISREG(at.st_mode) && !S_ISLNK(at.st_mode) &&
           !S_ISDIR(at.st_mode);
}

/* Links a file without a name; never replaces an existing one. */
static bool link_nameless(const sn_newfile *file, const char *name)
{
    char by_fd[32];
    snprintf(by_fd, sizeof by_fd, "/proc/self/fd/%d", file->fd);
    return linkat(AT_FDCWD, by_fd, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

static bool move(const char *from, const char *to, bool replace)
{
    if (replace)
        return rename(from, to) == 0;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOTSUP && errno != ENOSYS)
        return false;
    /* A file system without RENAME_NOREPLACE can still refuse to link over an existing name. */
    if (link(from, to) != 0)
        return false;
    unlink(from);
    return true;
}

/* Some file systems cannot sync a folder and report that; it is not a failure. */
static bool sync_folder(int folder)
{
    return fsync(folder) == 0 || errno == EINVAL;
}

seen_status sn_newfile_place(const char *from, const char *path, bool replace, bool folder_may_fail,
                             seen_error *error)
{
    seen_status status = SEEN_OK;
    /* A rename is durable only when the folder is synced. It is opened first: what cannot be made
     * durable is not put in place. */
    int folder = open_folder(path, O_RDONLY | O_DIRECTORY);
    if (folder < 0)
        return sn_error_system(error, errno, path, "open the folder");
    if (replace && is_special(path))
        status = sn_error_set(error, SEEN_ERR_ARGUMENT, "%s: not a regular file, and not replaced",
                              path);
    else if (!move(from, path, replace))
        status =
            errno == EEXIST
                ? sn_error_set(error, SEEN_ERR_EXISTS,
                               "%s: already exists; choose another name, or replace it (--replace)",
                               path)
                : sn_error_system(error, errno, path, "put the new file in place");
    else if (!sync_folder(folder) && !folder_may_fail)
        status = sn_error_system(error, errno, path, "sync the folder");
    close(folder);
    return status;
}

seen_status sn_newfile_publish(sn_newfile *file, const char *path, bool replace, seen_error *error)
{
    seen_status status = SEEN_OK;
    int fd = file->fd;
    if (fsync(fd) != 0)
        status = sn_error_system(error, errno, path, "sync");
    else if (!file->named && !(file->named = link_nameless(file, file->path)))
        status = sn_error_system(error, errno, path, "put the new file in place");
    else if (file->fd = -1, close(fd) != 0) /* some file systems report a full disk only here */
        status = sn_error_system(error, errno, path, "write");
    else
        status = sn_newfile_place(file->path, path, replace, file->folder_may_fail, error);
    file->named =
        file->named && status != SEEN_OK; /* otherwise the temporary name no longer exists */
    sn_newfile_drop(file);
    return status;
}

bool sn_newfile_keep(sn_newfile *file, const char *name)
{
    if (!(file->named ? move(file->path, name, false) : link_nameless(file, name)))
        return false;
    file->named = false;
    fsync(file->fd);
    int folder = open_folder(name, O_RDONLY | O_DIRECTORY);
    if (folder >= 0) {
        sync_folder(folder);
        close(folder);
    }
    return true;
}
