/* Temporary files without a name. */
#include "stream/io/temp.h"

#include "base/error.h"
#include "base/io.h"
#include "base/tempfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GATHER = 64 << 10 };

struct sn_temp {
    int fd;
    uint64_t length;   /* bytes written to the file */
    uint64_t expected; /* 0: unknown */
    size_t gathered;
    char *dir;
    char *buffer;
};

static seen_status fail_open(const char *dir, int code, seen_error *error)
{
    char reason[128];
    seen_status status = sn_error_cannot(error, code, "create a temporary file in", dir);
    if (code == EMFILE || code == ENFILE || code == ENOMEM)
        return status; /* in any folder */
    return sn_error_set(error, status,
                        "cannot create a temporary file in %s: %s; name another folder with -T",
                        dir, strerror_r(code, reason, sizeof reason));
}

seen_status sn_temp_open(const char *dir, uint64_t expected, sn_temp **temp, seen_error *error)
{
    dir = sn_tempfile_folder(dir);
    sn_temp *made = calloc(1, sizeof *made);
    if (made) {
        made->fd = -1;
        made->expected = expected;
        made->dir = strdup(dir);
        made->buffer = malloc(GATHER);
    }
    if (!made || !made->dir || !made->buffer) {
        sn_temp_close(made);
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for a temporary file");
    }
    made->fd = sn_tempfile_open(-1, dir);
    if (made->fd < 0) {
        int code = errno;
        sn_temp_close(made);
        return fail_open(dir, code, error);
    }
    *temp = made;
    return SEEN_OK;
}

void sn_temp_close(sn_temp *temp)
{
    if (!temp)
        return;
    if (temp->fd >= 0)
        close(temp->fd);
    free(temp->dir);
    free(temp->buffer);
    free(temp);
}

static seen_status fail_write(const sn_temp *temp, int code, seen_error *error)
{
    if (code != ENOSPC && code != EDQUOT)
        return sn_error_cannot(error, code, "write a temporary file in", temp->dir);
    unsigned long long had = temp->length >> 20;
    if (temp->expected)
        return sn_error_set(
            error, SEEN_ERR_SPACE,
            "%s is full: about %llu MiB of temporary files are needed, and %llu MiB "
            "could be written; choose another folder with -T",
            temp->dir, (unsigned long long)(temp->expected >> 20) + 1, had);
    return sn_error_set(error, SEEN_ERR_SPACE,
                        "%s is full: temporary files need more than %llu MiB; choose another "
                        "folder with -T",
                        temp->dir, had);
}

static seen_status put_all(sn_temp *temp, const char *bytes, size_t length, seen_error *error)
{
    while (length) {
        ssize_t put = pwrite(temp->fd, bytes, length, (off_t)temp->length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return fail_write(temp, put < 0 ? errno : ENOSPC, error);
        temp->length += (uint64_t)put;
        bytes += put;
        length -= (size_t)put;
    }
    return SEEN_OK;
}

seen_status sn_temp_flush(sn_temp *temp, seen_error *error)
{
    size_t gathered = temp->gathered;
    temp->gathered = 0;
    return put_all(temp, temp->buffer, gathered, error);
}

seen_status sn_temp_write(sn_temp *temp, const void *bytes, size_t length, seen_error *error)
{
    if (length > GATHER - temp->gathered) {
        seen_status status = sn_temp_flush(temp, error);
        if (status != SEEN_OK)
            return status;
        if (length >= GATHER)
            return put_all(temp, bytes, length, error);
    }
    memcpy(temp->buffer + temp->gathered, bytes, length);
    temp->gathered += length;
    return SEEN_OK;
}

seen_status sn_temp_read(sn_temp *temp, uint64_t offset, void *to, size_t length, size_t *got,
                         seen_error *error)
{
    ssize_t n = sn_io_read_some(temp->fd, to, length, offset);
    if (n < 0)
        return sn_error_cannot(error, errno, "read a temporary file in", temp->dir);
    *got = (size_t)n;
    return SEEN_OK;
}

uint64_t sn_temp_length(const sn_temp *temp)
{
    return temp->length + temp->gathered;
}

int sn_temp_fd(const sn_temp *temp)
{
    return temp->fd;
}

const char *sn_temp_dir(const sn_temp *temp)
{
    return temp->dir;
}
