/* Outputs: standard output, or a file that is replaced atomically. */
#include "stream/io/output.h"

#include "base/error.h"
#include "base/newfile.h"
#include "stream/io/encode.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIPE_SIZE = 1 << 20, TRIES = 100, LINKS = 40 };
/* Write-back is started after this many bytes, so that the final fsync does not have to write
 * gigabytes. */
#define PUSH ((uint64_t)32 << 20)

struct sn_output {
    int fd;
    char *name;      /* for messages */
    char *path;      /* deferred: final path */
    sn_newfile file; /* deferred: the temporary file */
    char terminator;
    bool regular;
    bool owned; /* close the descriptor */
    bool closed;
    mode_t mode; /* of the replaced file, or 0 */
    uid_t owner;
    gid_t group;
    sn_stop *stop;
    sn_input *header;    /* input whose header is still to be written, or NULL */
    const char *columns; /* to be written in front of it */
    sn_encoder *encoder;
    uint64_t taken;  /* bytes before compression */
    uint64_t stored; /* bytes passed to write, */
    uint64_t whole;  /* up to the end of the last write that succeeded */
    uint64_t pushed;
};

/* ---- Opening -------------------------------------------------------------------------------- */

/* Resolves a dangling symbolic link, for which realpath fails: the file it names is written, not
 * the link. */
static char *behind_links(const char *path)
{
    char *at = strdup(path);
    char to[PATH_MAX];
    ssize_t len;
    for (int i = 0; at && (len = readlink(at, to, sizeof to - 1)) > 0; i++) {
        char *next = NULL;
        if (i == LINKS) {
            free(at);
            errno = ELOOP;
            return NULL;
        }
        const char *slash = strrchr(at, '/');
        int dir = slash && to[0] != '/' ? (int)(slash - at) + 1 : 0;
        to[len] = '\0';
        if (asprintf(&next, "%.*s%s", dir, at, to) < 0)
            next = NULL;
        free(at);
        at = next;
    }
    return at;
}

static seen_status open_path(sn_output *output, const char *path, seen_error *error)
{
    struct stat at = {0};
    bool there = stat(path, &at) == 0;
    if (there && S_ISDIR(at.st_mode))
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "%s is a folder, not a file to write to; name a file in it", path);
    output->owned = true;
    output->regular = !there || S_ISREG(at.st_mode);
    if (!output->regular) {
        output->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return output->fd >= 0 ? SEEN_OK : sn_error_cannot(error, errno, "write", path);
    }
    if (there && access(path, W_OK) != 0)
        return sn_error_cannot(error, errno, "replace", path);
    output->mode = there ? at.st_mode & 07777 : 0;
    output->owner = at.st_uid;
    output->group = at.st_gid;
    output->path = there ? realpath(path, NULL) : behind_links(path);
    if (!output->path)
        return sn_error_cannot(error, errno, "write", path);
    seen_status status = sn_newfile_open(output->path, true, &output->file, error);
    output->fd = output->file.fd;
    output->file.folder_may_fail = true;
    return status;
}

static seen_status send(void *context, const void *bytes, size_t length, seen_error *error);

seen_status sn_output_open(const char *path, char terminator, sn_stop *stop, sn_output **output,
                           seen_error *error)
{
    bool standard = !path || strcmp(path, "-") == 0;
    sn_output *made = calloc(1, sizeof *made);
    if (!made || !(made->name = strdup(standard ? "standard output" : path))) {
        free(made);
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for an output");
    }
    made->fd = -1;
    made->file.fd = -1;
    made->terminator = terminator;
    made->stop = stop;
    seen_status status = SEEN_OK;
    if (standard) {
        struct stat at;
        made->fd = STDOUT_FILENO;
        made->regular = fstat(STDOUT_FILENO, &at) == 0 && S_ISREG(at.st_mode);
    } else {
        status = open_path(made, path, error);
        if (status == SEEN_OK)
            status = sn_encoder_open(path, send, made, &made->encoder, error);
    }
    if (status != SEEN_OK) {
        sn_output_abandon(made);
        return status;
    }
    fcntl(made->fd, F_SETPIPE_SZ, PIPE_SIZE); /* fails harmlessly if fd is not a pipe */
    *output = made;
    return SEEN_OK;
}

seen_status sn_output_apart(const sn_output *output, const sn_input *input, seen_error *error)
{
    const char *name = output->path ? NULL : sn_input_same_file(input, output->fd);
    if (!name)
        return SEEN_OK;
    return sn_error_set(error, SEEN_ERR_ARGUMENT,
                        "%s is both the input and the standard output; use -o FILE, which may name "
                        "the input and replaces it at the end",
                        name);
}

/* ---- Writing -------------------------------------------------------------------------------- */

static seen_status fail_write(sn_output *output, int code, seen_error *error)
{
    if (code == ENOSPC || code == EDQUOT)
        return sn_error_set(
            error, SEEN_ERR_SPACE,
            "cannot write %s: no space left after %llu MiB; free some space and try "
            "again",
            output->name, (unsigned long long)(output->stored >> 20));
    return sn_error_cannot(error, code, "write", output->name);
}

static void wait_for_room(const sn_output *output)
{
    struct pollfd fd = {.fd = output->fd, .events = POLLOUT};
    poll(&fd, 1, -1);
}

static void push_to_disk(sn_output *output)
{
    if (!output->path || output->stored - output->pushed < PUSH)
        return;
    sync_file_range(output->fd, (off_t)output->pushed, (off_t)(output->stored - output->pushed),
                    SYNC_FILE_RANGE_WRITE);
    output->pushed = output->stored;
}

static seen_status send(void *context, const void *bytes, size_t length, seen_error *error)
{
    sn_output *output = context;
    const char *from = bytes;
    while (length && !output->closed) {
        ssize_t put = write(output->fd, from, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && errno == EAGAIN) {
            wait_for_room(output);
            continue;
        }
        if (put < 0 && errno == EPIPE) {
            output->closed = true;
            sn_stop_set(output->stop, SN_STOP_CLOSED);
            return SEEN_OK;
        }
        if (put <= 0)
            return fail_write(output, put < 0 ? errno : ENOSPC, error);
        from += put;
        length -= (size_t)put;
        output->stored += (uint64_t)put;
    }
    push_to_disk(output);
    return SEEN_OK;
}

static seen_status pass_on(sn_output *output, const void *bytes, size_t length, seen_error *error)
{
    output->taken += length;
    return output->encoder ? sn_encoder_write(output->encoder, bytes, length, error)
                           : send(output, bytes, length, error);
}

void sn_output_header(sn_output *output, sn_input *input, const char *columns)
{
    output->header = input;
    output->columns = columns;
}

static seen_status write_header(sn_output *output, seen_error *error)
{
    const sn_header *header = sn_input_header(output->header);
    size_t mark = header->length >= 3 && !memcmp(header->bytes, "\xef\xbb\xbf", 3) ? 3 : 0;
    output->header = NULL;
    if (!header->length)
        return SEEN_OK;
    /* A byte order mark stays in front. */
    seen_status status = pass_on(output, header->bytes, mark, error);
    if (status == SEEN_OK)
        status = pass_on(output, output->columns, strlen(output->columns), error);
    return status == SEEN_OK
               ? sn_output_write(output, header->bytes + mark, header->length - mark, error)
               : status;
}

seen_status sn_output_write(sn_output *output, const void *bytes, size_t length, seen_error *error)
{
    if (!length)
        return SEEN_OK;
    if (output->header) {
        seen_status status = write_header(output, error);
        if (status != SEEN_OK)
            return status;
    }
    seen_status status = pass_on(output, bytes, length, error);
    if (status == SEEN_OK && ((const char *)bytes)[length - 1] != output->terminator)
        status = pass_on(output, &output->terminator, 1, error);
    if (status == SEEN_OK)
        output->whole = output->stored;
    return status;
}

seen_status sn_output_block(sn_output *output, const sn_block *block, seen_error *error)
{
    return sn_output_write(output, block->out, block->out_length, error);
}

seen_status sn_output_sync(sn_output *output, seen_error *error)
{
    if (!output->regular)
        return SEEN_OK;
    if (fdatasync(output->fd) != 0)
        return fail_write(output, errno, error);
    return SEEN_OK;
}

bool sn_output_is_deferred(const sn_output *output)
{
    return output->path != NULL;
}

bool sn_output_is_file(const sn_output *output)
{
    return output->regular;
}

/* ---- Finishing ------------------------------------------------------------------------------ */

/* Gives the new file the owner and mode of the old one. Only root can change the owner; for others
 * the old file is their own or in a shared folder. chown clears set-user-ID bits, so the mode is
 * set last. */
static bool take_after_old(sn_output *output)
{
    if (output->mode && fchown(output->fd, output->owner, output->group) != 0 &&
        fchown(output->fd, (uid_t)-1, output->group) != 0)
        output->mode &= 0777;
    return !output->mode || fchmod(output->fd, output->mode) == 0;
}

static seen_status appear(sn_output *output, seen_error *error)
{
    if (!take_after_old(output) || fsync(output->fd) != 0)
        return fail_write(output, errno, error);
    output->fd = -1;
    return sn_newfile_publish(&output->file, output->path, true, error);
}

seen_status sn_output_finish(sn_output *output, seen_error *error)
{
    seen_status status = output->header ? write_header(output, error) : SEEN_OK;
    if (status == SEEN_OK && output->encoder)
        status = sn_encoder_finish(output->encoder, error);
    if (status == SEEN_OK && output->path && !output->closed)
        status = appear(output, error);
    /* Some file systems report a full disk only on close. */
    if (status == SEEN_OK && output->owned && output->fd >= 0) {
        int fd = output->fd;
        output->fd = -1;
        if (close(fd) != 0)
            status = fail_write(output, errno, error);
    }
    sn_output_abandon(output);
    return status;
}

/* "dir/name.partial", then "dir/name.partial.2" and so on; NULL if out of memory. */
static char *partial_name(const char *path, int number)
{
    const char *slash = strrchr(path, '/');
    int dir = slash ? (int)(slash - path) + 1 : 0;
    char digits[16] = "", *text = NULL;
    if (number > 1)
        snprintf(digits, sizeof digits, ".%d", number);
    if (asprintf(&text, "%.*s%.200s.partial%s", dir, path, path + dir, digits) < 0)
        return NULL;
    return text;
}

/* Existing files are not replaced: they may be left from an earlier run. */
static char *keep_partial(sn_output *output)
{
    for (int i = 1; i <= TRIES; i++) {
        char *name = partial_name(output->path, i);
        if (!name)
            return NULL;
        if (sn_newfile_keep(&output->file, name))
            return name;
        free(name);
        if (errno != EEXIST)
            return NULL;
    }
    return NULL;
}

char *sn_output_keep(sn_output *output)
{
    char *name = NULL;
    if (output->path && output->taken > 0) {
        /* Removes an incomplete last line. */
        if (output->encoder)
            (void)sn_encoder_finish(output->encoder, NULL);
        else if (ftruncate(output->fd, (off_t)output->whole) == 0)
            output->stored = output->whole;
        if (output->stored > 0 && take_after_old(output))
            name = keep_partial(output);
    }
    sn_output_abandon(output);
    return name;
}

void sn_output_abandon(sn_output *output)
{
    if (!output)
        return;
    sn_encoder_close(output->encoder);
    if (output->path)
        sn_newfile_drop(&output->file);
    else if (output->owned && output->fd >= 0)
        close(output->fd);
    free(output->path);
    free(output->name);
    free(output);
}
