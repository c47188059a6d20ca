/* The state folder: its lock, and small files that are replaced atomically. */
#include "crawl/frontier/folder.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder that has files but no lock file belongs to another program. */
static bool is_ours(int dir)
{
    struct stat about;
    if (fstatat(dir, "lock", &about, AT_SYMLINK_NOFOLLOW) == 0)
        return true;
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    if (!list) {
        if (fd >= 0)
            close(fd);
        return true;
    }
    bool empty = true;
    for (struct dirent *entry; (entry = readdir(list)) != NULL;)
        empty = empty && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0);
    closedir(list);
    return empty;
}

seen_status sn_folder_lock(const char *path, int *folder, int *lock, seen_error *error)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return sn_error_cannot(error, errno, "create the state folder", path);
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return sn_error_cannot(error, errno, "open the state folder", path);
    if (!is_ours(dir)) {
        close(dir);
        return sn_error_set(error, SEEN_ERR_EXISTS,
                            "%s contains files that do not belong to a crawl: use another folder",
                            path);
    }
    int fd = openat(dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    seen_status status = SEEN_OK;
    if (fd < 0)
        status = sn_error_cannot(error, errno, "open the lock of", path);
    else if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        status = errno == EWOULDBLOCK
                     ? sn_error_set(error, SEEN_ERR_EXISTS,
                                    "another crawler uses the state folder %s: wait for it, or "
                                    "use another folder",
                                    path)
                     : sn_error_cannot(error, errno, "lock", path);
    if (status != SEEN_OK) {
        if (fd >= 0)
            close(fd);
        close(dir);
        return status;
    }
    *folder = dir;
    *lock = fd;
    return SEEN_OK;
}

uint64_t sn_folder_path_hash(const char *path)
{
    if (!path || strcmp(path, "-") == 0)
        return 0;
    seen_hasher plain = {.kind = SEEN_XXH3};
    return seen_hash_key(&plain, path, strlen(path)).lo | 1;
}

seen_status sn_folder_replace(int folder, const char *name, const void *bytes, size_t len,
                              seen_error *error)
{
    const char *temporary = "replace.tmp";
    unlinkat(folder, temporary, 0);
    int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return sn_error_cannot_in(error, errno, folder, "write", name);
    bool ok = sn_io_write(fd, bytes, len, 0) && fsync(fd) == 0;
    seen_status status = ok ? SEEN_OK : sn_error_cannot_in(error, errno, folder, "write", name);
    close(fd);
    if (ok && (renameat(folder, temporary, folder, name) != 0 || fsync(folder) != 0))
        status = sn_error_cannot_in(error, errno, folder, "replace", name);
    return status;
}

seen_status sn_folder_read_file(int folder, const char *name, size_t max, void **bytes, size_t *len,
                                seen_error *error)
{
    *bytes = NULL;
    *len = 0;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat about;
    char path[SN_ERROR_FOLDER];
    if (fd < 0)
        return sn_error_cannot_in(error, errno, folder, "open", name);
    seen_status status = SEEN_OK;
    char *memory = NULL;
    if (fstat(fd, &about) != 0) {
        status = sn_error_cannot_in(error, errno, folder, "look at", name);
    } else if ((uint64_t)about.st_size > max) {
        status = sn_error_set(error, SEEN_ERR_FORMAT,
                              "%s in %s is too long for a crawl: use another folder", name,
                              sn_error_folder(folder, path));
    } else if (!(memory = malloc((size_t)about.st_size + 1))) {
        status = sn_error_memory(error);
    } else {
        ssize_t n = sn_io_read_some(fd, memory, (size_t)about.st_size, 0);
        if (n < 0)
            status = sn_error_cannot_in(error, errno, folder, "read", name);
        else
            memory[n] = '\0';
        *len = n < 0 ? 0 : (size_t)n;
    }
    close(fd);
    if (status != SEEN_OK) {
        free(memory);
        return status;
    }
    *bytes = memory;
    return SEEN_OK;
}
