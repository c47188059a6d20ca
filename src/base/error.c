/* Statuses and the sentences that go with them. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The length of the well-formed UTF-8 sequence at p, or 0. Controls do not count as well-formed:
 * C0, DEL and C1 (U+0080 to U+009F) can steer a terminal. */
static size_t clean_sequence(const unsigned char *p, size_t len)
{
    unsigned c = p[0];
    if (c < 0x80)
        return c >= 0x20 && c != 0x7f;
    size_t need = c >= 0xc2 && c <= 0xdf   ? 2
                  : (c & 0xf0) == 0xe0     ? 3
                  : c >= 0xf0 && c <= 0xf4 ? 4
                                           : 0;
    if (need == 0 || need > len)
        return 0;
    for (size_t i = 1; i < need; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((c == 0xc2 && p[1] < 0xa0) || (c == 0xe0 && p[1] < 0xa0) || (c == 0xed && p[1] > 0x9f) ||
        (c == 0xf0 && p[1] < 0x90) || (c == 0xf4 && p[1] > 0x8f))
        return 0;
    return need;
}

void sn_error_escape(char *out, size_t room, const char *text, size_t len)
{
    size_t at = strnlen(out, room);
    for (size_t i = 0; i < len;) {
        const unsigned char *p = (const unsigned char *)text + i;
        size_t clean = clean_sequence(p, len - i);
        size_t need = clean ? clean : 4;
        if (at + need + 1 > room)
            break;
        if (clean)
            memcpy(out + at, p, clean);
        else
            snprintf(out + at, 5, "\\x%02x", *p);
        at += need;
        i += clean ? clean : 1;
    }
    if (at < room)
        out[at] = '\0';
}

static size_t escaped_length(const char *text, size_t len)
{
    size_t escaped = 0;
    for (size_t i = 0; i < len;) {
        size_t clean = clean_sequence((const unsigned char *)text + i, len - i);
        escaped += clean ? clean : 4;
        i += clean ? clean : 1;
    }
    return escaped;
}

/* The names come first and the reason last: where there is no room for all, the middle is left out.
 */
static void fit(char *out, size_t room, const char *text, size_t len)
{
    static const char GAP[] = " ... ";
    out[0] = '\0';
    if (escaped_length(text, len) >= room) {
        size_t from = len > room / 2 ? len - room / 2 : 0;
        while ((from < len && ((unsigned char)text[from] & 0xc0) == 0x80) ||
               escaped_length(text + from, len - from) > room / 2)
            from++;
        size_t head = room - escaped_length(text + from, len - from) - sizeof GAP + 1;
        sn_error_escape(out, head, text, len);
        sn_error_escape(out, room, GAP, sizeof GAP - 1);
        text += from;
        len -= from;
    }
    sn_error_escape(out, room, text, len);
}

seen_status sn_error_set(seen_error *error, seen_status status, const char *format, ...)
{
    enum { NAMES = 2 * 4096 }; /* the longest that the system takes */
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

seen_status sn_error_system(seen_error *error, int number, const char *name, const char *what)
{
    seen_status status = SEEN_ERR_IO;
    const char *advice = "";
    switch (number) {
    case ENOENT:
    case ENOTDIR:
        status = SEEN_ERR_NOT_FOUND;
        advice = "; check the name";
        break;
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
        advice = "; check the name";
        break;
    case EMFILE:
        advice = "; allow more open files (ulimit -n)";
        break;
    case EEXIST:
        status = SEEN_ERR_EXISTS;
        break;
    case EACCES:
    case EPERM:
    case EROFS:
        status = SEEN_ERR_PERMISSION;
        advice = "; check who may read and write it";
        break;
    case ENOSPC:
    case EDQUOT:
        status = SEEN_ERR_SPACE;
        advice = "; free some space and try again";
        break;
    case EFBIG:
        status = SEEN_ERR_SPACE;
        advice = "; allow larger files (ulimit -f)";
        break;
    case ENOMEM:
        status = SEEN_ERR_MEMORY;
        advice = "; ask for a smaller set";
        break;
    default:
        break;
    }
    return sn_error_set(error, status, "%s: cannot %s: %s%s", name, what, strerror(number), advice);
}

const char *seen_status_text(seen_status status)
{
    switch (status) {
    case SEEN_OK:
        return "done";
    case SEEN_ERR_MEMORY:
        return "out of memory";
    case SEEN_ERR_ARGUMENT:
        return "impossible request";
    case SEEN_ERR_IO:
        return "input or output failed";
    case SEEN_ERR_FORMAT:
        return "damaged or foreign file";
    case SEEN_ERR_EXISTS:
        return "already there";
    case SEEN_ERR_NOT_FOUND:
        return "not found";
    case SEEN_ERR_MISMATCH:
        return "numbers do not agree";
    case SEEN_ERR_FULL:
        return "full";
    case SEEN_ERR_KIND:
        return "not possible with this kind of set";
    case SEEN_ERR_PERMISSION:
        return "not allowed";
    case SEEN_ERR_NETWORK:
        return "the server does not answer";
    case SEEN_ERR_SERVER:
        return "the server refused";
    case SEEN_ERR_UNSUPPORTED:
        return "not part of this build";
    case SEEN_ERR_CHANGED:
        return "changed underneath";
    case SEEN_ERR_SPACE:
        return "no space left";
    }
    return "unknown status";
}

const char *seen_version(void)
{
#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)
    return TEXT(SEEN_VERSION_MAJOR) "." TEXT(SEEN_VERSION_MINOR) "." TEXT(SEEN_VERSION_PATCH);
}
