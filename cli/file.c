/* Atomic report files, and comparing file names. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool sn_report_open(sn_report *report, const char *path)
{
    *report = (sn_report){.path = path, .file.fd = -1};
    if (!strcmp(path, "-")) {
        report->out = stdout;
        return true;
    }
    struct stat info;
    seen_error error = {0};
    report->special = !stat(path, &info) && !S_ISREG(info.st_mode); /* /dev/null, a pipe */
    if (!report->special && sn_newfile_open(path, true, &report->file, &error) != SEEN_OK) {
        sn_message_report(&error);
        return false;
    }
    int fd = report->special ? open(path, O_WRONLY | O_CLOEXEC) : dup(report->file.fd);
    report->out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!report->out) {
        sn_message_error("cannot write %s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        sn_newfile_drop(&report->file);
        return false;
    }
    return true;
}

int sn_report_close(sn_report *report)
{
    if (report->out == stdout)
        return sn_message_finish_stdout(SN_EXIT_OK);
    bool failed = ferror(report->out) != 0;
    bool closed = failed && sn_message_pipe_closed(report->out);
    errno = 0;
    failed |= fclose(report->out) != 0;
    int why = errno;
    if (failed)
        sn_newfile_drop(&report->file);
    if (closed || (failed && why == EPIPE))
        return SN_EXIT_OK;
    if (failed)
        return sn_message_error("cannot write %s: %s", report->path,
                                why ? strerror(why) : "an earlier write failed");
    seen_error error = {0};
    if (!report->special &&
        sn_newfile_publish(&report->file, report->path, true, &error) != SEEN_OK)
        return sn_message_report(&error);
    return SN_EXIT_OK;
}

bool sn_where_is_redis(const char *where)
{
    return strncmp(where, "redis", 5) == 0 && strstr(where, "://");
}

int sn_where_check_ttl(const sn_args *args, const char *where)
{
    if (!args->ttl_ms || sn_where_is_redis(where))
        return SN_EXIT_OK;
    return sn_message_error(
        "--ttl is for filters in Redis; %s is a file, which stays until 'seen drop' "
        "removes it",
        where);
}

static bool stat_file(const char *path, struct stat *at)
{
    return (strcmp(path, "-") ? stat(path, at) : fstat(STDOUT_FILENO, at)) == 0;
}

/* The folder of a name, if it exists. */
static bool stat_folder(const char *path, struct stat *at)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    int len = slash ? (int)(slash - path) + 1 : 0;
    if ((size_t)len >= sizeof folder)
        return false;
    snprintf(folder, sizeof folder, "%.*s", len, path);
    return stat(len ? folder : ".", at) == 0;
}

bool sn_where_same(const char *a, const char *b)
{
    struct stat x, y;
    bool there = stat_file(a, &x);
    if (!strcmp(a, "-") && !strcmp(b, "-"))
        return true;
    if (there != stat_file(b, &y))
        return false;
    if (there)
        return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    const char *name_a = strrchr(a, '/'), *name_b = strrchr(b, '/');
    return !strcmp(name_a ? name_a + 1 : a, name_b ? name_b + 1 : b) && stat_folder(a, &x) &&
           stat_folder(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

const char *sn_where_show(char buffer[SN_WHERE], const char *where)
{
    const char *scheme = strstr(where, "://");
    const char *at = scheme ? strrchr(where, '@') : NULL;
    const char *colon = at ? memchr(scheme + 3, ':', (size_t)(at - scheme) - 3) : NULL;
    if (strncmp(where, "redis", 5) != 0 || !colon)
        snprintf(buffer, SN_WHERE, "%s", where);
    else
        snprintf(buffer, SN_WHERE, "%.*s:...%s", (int)(colon - where), where, at);
    return buffer;
}
