/* Sentences about failures. */
#include "stream/fail.h"

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

seen_status sn_stream_fail(seen_error *error, seen_status status, const char *format, ...)
{
    if (!error)
        return status;
    char text[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    error->status = status;
    copy_safe(error->message, sizeof error->message, text);
    return status;
}

static seen_status status_of(int code)
{
    switch (code) {
    case ENOSPC:
    case EDQUOT:
        return SEEN_ERR_SPACE;
    case ENOMEM:
        return SEEN_ERR_MEMORY;
    case ENOENT:
        return SEEN_ERR_NOT_FOUND;
    case EACCES:
    case EPERM:
    case EROFS:
        return SEEN_ERR_PERMISSION;
    default:
        return SEEN_ERR_IO;
    }
}

seen_status sn_stream_fail_system(seen_error *error, int code, const char *action, const char *name)
{
    char reason[128];
    /* The GNU strerror_r may answer with a string of its own. */
    const char *why = strerror_r(code, reason, sizeof reason);
    return sn_stream_fail(error, status_of(code), "cannot %s %s: %s", action, name, why);
}
