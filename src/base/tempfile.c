/* Temporary files without a name. */
#include "base/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *sn_tempfile_folder(const char *dir)
{
    if (!dir || !*dir)
        dir = getenv("TMPDIR");
    return dir && *dir ? dir : "/tmp";
}

int sn_tempfile_open(int folder, const char *dir)
{
    dir = sn_tempfile_folder(dir);
    int fd = folder >= 0 ? openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)
                         : open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOENT))
        return fd;
    /* A file system without O_TMPFILE: a name that is removed at once. */
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/seen.XXXXXX", dir) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}
