/* Buffered output files. */
#include "crawl/output/sink.h"

#include "base/error.h"
#include "base/io.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SINK_BUFFER (64u << 10)

struct sn_sink {
    int fd;
    bool regular;
    int failed; /* errno of the first failed write */
    uint64_t length;
    size_t used;
    char *name;
    char buffer[SINK_BUFFER];
};

/* The length of the complete lines of a file. */
static bool whole_lines(const char *path, uint64_t *length)
{
    char end[65536];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    const char *line = NULL;
    bool ok = fd >= 0;
    while (ok && *length > 0 && !line) {
        size_t n = *length < sizeof end ? (size_t)*length : sizeof end;
        ok = sn_io_read(fd, end, n, *length - n);
        line = ok ? memrchr(end, '\n', n) : NULL;
        if (ok)
            *length -= line ? n - (size_t)(line + 1 - end) : n;
    }
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Opens a file to be created or continued, locks it, and seeks to its end. The length is looked at
 * when it is locked: before, another process may still write. */
static bool open_file(sn_sink *s, const char *path, uint64_t length, bool *locked)
{
    struct stat about;
    s->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (s->fd < 0 || fstat(s->fd, &about) != 0)
        return false;
    s->regular = S_ISREG(about.st_mode);
    if (!s->regular)
        return true;
    /* Some file systems have no locks. */
    *locked = !sn_io_lock(s->fd, 0, F_WRLCK, false) && (errno == EAGAIN || errno == EACCES);
    if (*locked || fstat(s->fd, &about) != 0)
        return false;
    /* If the file is shorter than expected, it was replaced: append to what is there. */
    s->length = (uint64_t)about.st_size < length ? (uint64_t)about.st_size : length;
    if (length == SN_SINK_NEW)
        s->length = 0;
    if (length == SN_SINK_WHOLE_LINES && !whole_lines(path, &s->length))
        return false;
    return ftruncate(s->fd, (off_t)s->length) == 0 && lseek(s->fd, (off_t)s->length, SEEK_SET) >= 0;
}

seen_status sn_sink_open(const char *path, uint64_t length, sn_sink **sink, seen_error *error)
{
    sn_sink *s = malloc(sizeof *s);
    bool standard = strcmp(path, "-") == 0, locked = false;
    char *name = strdup(standard ? "standard output" : path);
    if (!s || !name) {
        free(s);
        free(name);
        return sn_error_memory(error);
    }
    s->fd = -1;
    s->regular = false;
    s->failed = 0;
    s->length = 0;
    s->used = 0;
    s->name = name;
    if (standard) {
        s->fd = STDOUT_FILENO;
    } else if (!open_file(s, path, length, &locked)) {
        seen_status status =
            locked ? sn_error_set(error, SEEN_ERR_EXISTS, "%s: another process writes it", path)
                   : sn_error_cannot(error, errno, "write", path);
        sn_sink_close(s);
        return status;
    }
    *sink = s;
    return SEEN_OK;
}

void sn_sink_close(sn_sink *s)
{
    if (!s)
        return;
    if (s->fd > STDERR_FILENO)
        close(s->fd);
    free(s->name);
    free(s);
}

static void drain(sn_sink *s)
{
    size_t at = 0;
    while (at < s->used && s->failed == 0) {
        ssize_t n = write(s->fd, s->buffer + at, s->used - at);
        if (n >= 0)
            at += (size_t)n;
        else if (errno == EAGAIN) /* another process set the pipe to non-blocking */
            poll(&(struct pollfd){.fd = s->fd, .events = POLLOUT}, 1, -1);
        else if (errno != EINTR)
            s->failed = errno;
    }
    s->used = 0;
}

void sn_sink_put(sn_sink *s, const void *bytes, size_t len)
{
    const char *p = bytes;
    s->length += len;
    while (len > 0) {
        if (s->used == SINK_BUFFER)
            drain(s);
        size_t n = SINK_BUFFER - s->used < len ? SINK_BUFFER - s->used : len;
        memcpy(s->buffer + s->used, p, n);
        s->used += n;
        p += n;
        len -= n;
    }
}

void sn_sink_text(sn_sink *s, const char *text)
{
    sn_sink_put(s, text, strlen(text));
}

void sn_sink_number(sn_sink *s, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    sn_sink_put(s, digits + at, sizeof digits - at);
}

static void put_json(sn_sink *s, const char *bytes, size_t len, bool utf8)
{
    static const char hex[] = "0123456789abcdef";
    size_t plain = 0;
    sn_sink_put(s, "\"", 1);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if ((c >= 0x20 && c < 0x7f && c != '"' && c != '\\') || (utf8 && c >= 0x80))
            continue;
        sn_sink_put(s, bytes + plain, i - plain);
        plain = i + 1;
        char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
        if (c == '"' || c == '\\') {
            escape[1] = (char)c;
            sn_sink_put(s, escape, 2);
        } else {
            sn_sink_put(s, escape, 6);
        }
    }
    sn_sink_put(s, bytes + plain, len - plain);
    sn_sink_put(s, "\"", 1);
}

void sn_sink_json(sn_sink *s, const char *bytes, size_t len)
{
    put_json(s, bytes, len, false);
}

/* Whether all bytes are valid UTF-8 without C1 controls. */
static bool is_utf8(const char *bytes, size_t len)
{
    for (size_t at = 0, n; at < len; at += n) {
        n = (unsigned char)bytes[at] < 0x80 ? 1 : sn_text_utf8(bytes + at, len - at);
        if (n == 0 || ((unsigned char)bytes[at] == 0xc2 && (unsigned char)bytes[at + 1] < 0xa0))
            return false;
    }
    return true;
}

void sn_sink_json_utf8(sn_sink *s, const char *bytes, size_t len)
{
    put_json(s, bytes, len, is_utf8(bytes, len));
}

seen_status sn_sink_flush(sn_sink *s, seen_error *error)
{
    drain(s);
    if (s->failed == 0)
        return SEEN_OK;
    errno = s->failed;
    return sn_error_cannot(error, errno, "write", s->name);
}

seen_status sn_sink_sync(sn_sink *s, seen_error *error)
{
    seen_status status = sn_sink_flush(s, error);
    if (status == SEEN_OK && s->regular && fdatasync(s->fd) != 0)
        status = sn_error_cannot(error, errno, "sync", s->name);
    return status;
}

uint64_t sn_sink_length(const sn_sink *s)
{
    return s->length;
}

bool sn_sink_closed(const sn_sink *s)
{
    return s->failed == EPIPE;
}
