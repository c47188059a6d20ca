/* crawl/fail.c: errors as sentences. */
#include "crawl/fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void escape(char *out, size_t capacity, const char *text)
{
    size_t at = 0;
    for (; *text != '\0' && at + 5 < capacity; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7f)
            at += (size_t)snprintf(out + at, capacity - at, "\\x%02x", c);
        else
            out[at++] = (char)c;
    }
    out[at] = '\0';
}

seen_status sn_crawl_fail(seen_error *error, seen_status status, const char *format, ...)
{
    if (error == NULL)
        return status;
    char text[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    error->status = status;
    escape(error->message, sizeof error->message, text);
    return status;
}

seen_status sn_crawl_fail_errno(seen_error *error, const char *what, const char *name)
{
    int why = errno;
    seen_status status = SEEN_ERR_IO;
    if (why == ENOSPC || why == EDQUOT)
        status = SEEN_ERR_SPACE;
    else if (why == EACCES || why == EPERM || why == EROFS)
        status = SEEN_ERR_PERMISSION;
    else if (why == ENOENT)
        status = SEEN_ERR_NOT_FOUND;
    else if (why == EEXIST)
        status = SEEN_ERR_EXISTS;
    else if (why == ENOMEM)
        status = SEEN_ERR_MEMORY;
    char text[128];
    return sn_crawl_fail(error, status, "cannot %s %s: %s", what, name,
                         strerror_r(why, text, sizeof text));
}

seen_status sn_crawl_fail_memory(seen_error *error)
{
    return sn_crawl_fail(error, SEEN_ERR_MEMORY, "out of memory");
}
