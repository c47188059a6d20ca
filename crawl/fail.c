/* Errors as sentences. */
#include "crawl/fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* What a number of errno means, and what can be done about it. */
static seen_status explain(int why, const char **advice)
{
    *advice = "";
    switch (why) {
    case ENOSPC:
    case EDQUOT:
        *advice = "; free some space and try again";
        return SEEN_ERR_SPACE;
    case EACCES:
    case EPERM:
    case EROFS:
        *advice = "; check who may read and write it";
        return SEEN_ERR_PERMISSION;
    case ENOENT:
    case ENOTDIR:
        *advice = "; check the name";
        return SEEN_ERR_NOT_FOUND;
    case EEXIST:
        return SEEN_ERR_EXISTS;
    case ENOMEM:
        return SEEN_ERR_MEMORY;
    default:
        return SEEN_ERR_IO;
    }
}

seen_status sn_crawl_fail_errno(seen_error *error, const char *what, const char *name)
{
    int why = errno;
    char text[128];
    const char *advice;
    seen_status status = explain(why, &advice);
    return sn_crawl_fail(error, status, "cannot %s %.300s: %s%s", what, name,
                         strerror_r(why, text, sizeof text), advice);
}

seen_status sn_crawl_fail_in(seen_error *error, int folder, const char *what, const char *name)
{
    int why = errno;
    char text[128], path[SN_FOLDER_TEXT];
    const char *advice;
    seen_status status = explain(why, &advice);
    return sn_crawl_fail(error, status, "cannot %s %s in %s: %s%s", what, name,
                         sn_crawl_folder(folder, path), strerror_r(why, text, sizeof text), advice);
}

const char *sn_crawl_folder(int folder, char out[SN_FOLDER_TEXT])
{
    char link[32];
    const char *temporary = getenv("TMPDIR");
    ssize_t n = -1;
    if (folder >= 0) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        n = readlink(link, out, SN_FOLDER_TEXT - 1);
    }
    if (n > 0)
        out[n] = '\0';
    else if (folder >= 0)
        snprintf(out, SN_FOLDER_TEXT, "the state folder");
    else
        snprintf(out, SN_FOLDER_TEXT, "%s",
                 temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp");
    return out;
}

seen_status sn_crawl_fail_memory(seen_error *error)
{
    return sn_crawl_fail(error, SEEN_ERR_MEMORY, "out of memory");
}
