/* Temporary files without a name. */
#include "crawl/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int sn_temp_file(int folder)
{
    const char *base = getenv("TMPDIR");
    if (base == NULL || base[0] == '\0')
        base = "/tmp";
    int fd = folder >= 0 ? openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)
                         : open(base, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    /* A file system without O_TMPFILE. */
    char name[4096];
    if (snprintf(name, sizeof name, "%s/seen-crawl.XXXXXX", base) >= (int)sizeof name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        unlink(name);
    return fd;
}
