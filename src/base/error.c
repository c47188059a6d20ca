/* Statuses and error messages. */
#include "base/error.h"

#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Escapes text into `out`. If it does not fit, the middle is left out. */
static void fit(char *out, size_t room, const char *text, size_t len)
{
    static const char GAP[] = " ... ";
    size_t at = 0;
    if (sn_text_escaped_length(text, len) >= room) {
        size_t from = len > room / 2 ? len - room / 2 : 0;
        while ((from < len && ((unsigned char)text[from] & 0xc0) == 0x80) ||
               sn_text_escaped_length(text + from, len - from) > room / 2)
            from++;
        size_t head = room - sn_text_escaped_length(text + from, len - from) - sizeof GAP + 1;
        at = sn_text_escape(out, head, text, len);
        at += sn_text_escape(out + at, room - at, GAP, sizeof GAP - 1);
        text += from;
        len -= from;
    }
    sn_text_escape(out + at, room - at, text, len);
}

seen_status sn_error_set(seen_error *error, seen_status status, const char *format, ...)
{
    enum { NAMES = 2 * 4096 }; /* two of the longest paths that the system accepts */
    if (!error)
        return status;
    char raw[NAMES + sizeof error->message];
    va_list args;
    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    error->status = status;
    fit(error->message, sizeof error->message, raw, strlen(raw));
    return status;
}

/* The status of an errno value, and what the user can do about it ("" or "; free some space …"). */
static seen_status status_of(int number, const char **advice)
{
    static const struct {
        int number;
        seen_status status;
        const char *advice;
    } TABLE[] = {
        {ENOENT, SEEN_ERR_NOT_FOUND, "; check the name"},
        {ENOTDIR, SEEN_ERR_NOT_FOUND, "; check the name"},
        {EISDIR, SEEN_ERR_IO, "; check the name"},
        {ELOOP, SEEN_ERR_IO, "; check the name"},
        {ENAMETOOLONG, SEEN_ERR_IO, "; check the name"},
        {EEXIST, SEEN_ERR_EXISTS, ""},
        {EACCES, SEEN_ERR_PERMISSION, "; check the permissions"},
        {EPERM, SEEN_ERR_PERMISSION, "; check the permissions"},
        {EROFS, SEEN_ERR_PERMISSION, "; check the permissions"},
        {ENOSPC, SEEN_ERR_SPACE, "; free some space and try again"},
        {EDQUOT, SEEN_ERR_SPACE, "; free some space and try again"},
        {EFBIG, SEEN_ERR_SPACE, "; allow larger files (ulimit -f)"},
        {ENOMEM, SEEN_ERR_MEMORY, "; free memory, or use less"},
        {EMFILE, SEEN_ERR_IO, "; allow more open files (ulimit -n)"},
        {ENFILE, SEEN_ERR_IO, "; too many files are open on this machine"},
    };
    *advice = "";
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++)
        if (TABLE[i].number == number) {
            *advice = TABLE[i].advice;
            return TABLE[i].status;
        }
    return SEEN_ERR_IO;
}

seen_status sn_error_system(seen_error *error, int number, const char *name, const char *what)
{
    char reason[128];
    const char *advice;
    seen_status status = status_of(number, &advice);
    return sn_error_set(error, status, "%s: cannot %s: %s%s", name, what,
                        strerror_r(number, reason, sizeof reason), advice);
}

seen_status sn_error_cannot(seen_error *error, int number, const char *what, const char *name)
{
    char reason[128];
    const char *advice;
    seen_status status = status_of(number, &advice);
    return sn_error_set(error, status, "cannot %s %s: %s%s", what, name,
                        strerror_r(number, reason, sizeof reason), advice);
}

seen_status sn_error_cannot_in(seen_error *error, int number, int folder, const char *what,
                               const char *name)
{
    char reason[128], path[SN_ERROR_FOLDER];
    const char *advice;
    seen_status status = status_of(number, &advice);
    return sn_error_set(error, status, "cannot %s %s in %s: %s%s", what, name,
                        sn_error_folder(folder, path), strerror_r(number, reason, sizeof reason),
                        advice);
}

const char *sn_error_folder(int folder, char out[SN_ERROR_FOLDER])
{
    char link[32];
    const char *temporary = getenv("TMPDIR");
    snprintf(out, SN_ERROR_FOLDER, "%s", temporary && *temporary ? temporary : "/tmp");
    if (folder < 0)
        return out;
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, out, SN_ERROR_FOLDER - 1);
    if (length > 0)
        out[length] = '\0';
    else
        snprintf(out, SN_ERROR_FOLDER, "the state folder");
    return out;
}

seen_status sn_error_memory(seen_error *error)
{
    return sn_error_set(error, SEEN_ERR_MEMORY, "out of memory");
}

const char *seen_status_text(seen_status status)
{
    switch (status) {
    case SEEN_OK:
        return "success";
    case SEEN_ERR_MEMORY:
        return "out of memory";
    case SEEN_ERR_ARGUMENT:
        return "invalid request";
    case SEEN_ERR_IO:
        return "input/output error";
    case SEEN_ERR_FORMAT:
        return "damaged file or not a seen file";
    case SEEN_ERR_EXISTS:
        return "already exists";
    case SEEN_ERR_NOT_FOUND:
        return "not found";
    case SEEN_ERR_MISMATCH:
        return "parameters differ";
    case SEEN_ERR_FULL:
        return "set is full";
    case SEEN_ERR_KIND:
        return "not supported by this kind of set";
    case SEEN_ERR_PERMISSION:
        return "permission denied";
    case SEEN_ERR_NETWORK:
        return "server unreachable";
    case SEEN_ERR_SERVER:
        return "server error";
    case SEEN_ERR_UNSUPPORTED:
        return "not included in this build";
    case SEEN_ERR_CHANGED:
        return "modified concurrently";
    case SEEN_ERR_SPACE:
        return "no space left";
    case SEEN_ERR_FORKED:
        return "opened by the parent process";
    }
    return "unknown status";
}

const char *seen_version(void)
{
#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)
    return TEXT(SEEN_VERSION_MAJOR) "." TEXT(SEEN_VERSION_MINOR) "." TEXT(SEEN_VERSION_PATCH);
}
