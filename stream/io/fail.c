/* Sentences about failures. */
#include "stream/io/fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Copies text with control characters as \xNN, so that a file's name cannot command a terminal. */
static void copy_safe(char *to, size_t room, const char *from)
{
    size_t used = 0;
    for (const unsigned char *c = (const unsigned char *)from; *c; c++) {
        bool safe = *c >= 0x20 && *c != 0x7f;
        size_t need = safe ? 1 : 4;
        if (used + need + 1 > room)
            break;
        if (safe)
            to[used] = (char)*c;
        else
            snprintf(to + used, 5, "\\x%02x", *c);
        used += need;
    }
    to[used] = '\0';
}

/* The names come first and the reason last: where there is no room for all, the middle is left out.
 */
static void fit(char *to, size_t room, const char *text)
{
    static const char GAP[] = " ... ";
    size_t length = strlen(text), tail = room / 2;
    if (length < room) {
        memcpy(to, text, length + 1);
        return;
    }
    size_t head = room - 1 - tail - (sizeof GAP - 1);
    memcpy(to, text, head);
    memcpy(to + head, GAP, sizeof GAP - 1);
    memcpy(to + room - 1 - tail, text + length - tail, tail + 1);
}

seen_status sn_stream_fail(seen_error *error, seen_status status, const char *format, ...)
{
    enum { NAMES = 2 * 4096 }; /* the longest that the system takes */
    if (!error)
        return status;
    char text[NAMES + sizeof error->message], safe[4 * sizeof text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    error->status = status;
    copy_safe(safe, sizeof safe, text);
    fit(error->message, sizeof error->message, safe);
    return status;
}

static seen_status status_of(int code, const char **advice)
{
    *advice = "";
    switch (code) {
    case ENOSPC:
    case EDQUOT:
        *advice = "; free some space and try again";
        return SEEN_ERR_SPACE;
    case EFBIG:
        *advice = "; allow larger files (ulimit -f)";
        return SEEN_ERR_SPACE;
    case ENOMEM:
        return SEEN_ERR_MEMORY;
    case EMFILE:
        *advice = "; allow more open files (ulimit -n)";
        return SEEN_ERR_IO;
    case ENOENT:
        *advice = "; check the name";
        return SEEN_ERR_NOT_FOUND;
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
        *advice = "; check the name";
        return SEEN_ERR_IO;
    case EACCES:
    case EPERM:
    case EROFS:
        *advice = "; check who may read and write it";
        return SEEN_ERR_PERMISSION;
    default:
        return SEEN_ERR_IO;
    }
}

seen_status sn_stream_fail_system(seen_error *error, int code, const char *action, const char *name)
{
    char reason[128];
    const char *advice;
    seen_status status = status_of(code, &advice);
    /* The GNU strerror_r may answer with a string of its own. */
    const char *why = strerror_r(code, reason, sizeof reason);
    return sn_stream_fail(error, status, "cannot %s %s: %s%s", action, name, why, advice);
}
