/* Words for people, on stderr. File names and server answers may hold anything; what a terminal
 * would obey (control characters, broken UTF-8, characters that reorder text) is written as \xHH.
 */
#include "cli/cli.h"
#include "cli/progress.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* The length of the harmless UTF-8 character at `s`, or 0. */
static size_t safe_character(const unsigned char *s, size_t len)
{
    unsigned char first = s[0];
    if (first < 0x80)
        return first >= 0x20 && first != 0x7f;
    size_t need = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || need > len)
        return 0;
    uint32_t code = first & (0x7fu >> need);
    for (size_t i = 1; i < need; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3fu);
    }
    bool overlong = code < (need == 4 ? 0x10000u : need == 3 ? 0x800u : 0x80u);
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    bool control = code < 0xa0 || code == 0x2028 || code == 0x2029 || code == 0xfeff;
    bool reorders = code == 0x061c || code == 0x200e || code == 0x200f ||
                    (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return overlong || surrogate || code > 0x10ffff || control || reorders ? 0 : need;
}

size_t sn_escape(char *out, size_t room, const char *text, size_t len)
{
    static const char hex[] = "0123456789abcdef";
    const unsigned char *s = (const unsigned char *)text;
    size_t at = 0;
    for (size_t i = 0; i < len && at + 5 <= room;) {
        size_t safe = safe_character(s + i, len - i);
        if (safe) {
            memcpy(out + at, s + i, safe);
            at += safe;
            i += safe;
            continue;
        }
        out[at++] = '\\';
        if (s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
            out[at++] = s[i] == '\n' ? 'n' : s[i] == '\t' ? 't' : 'r';
        } else {
            out[at++] = 'x';
            out[at++] = hex[s[i] >> 4];
            out[at++] = hex[s[i] & 15];
        }
        i++;
    }
    if (at < room)
        out[at] = 0;
    return at;
}

void sn_put_safe(FILE *out, const char *text, size_t len)
{
    char buffer[512];
    for (size_t i = 0; i < len;) {
        /* A piece that ends between characters, so that none is cut in two. */
        size_t take = len - i < 100 ? len - i : 100;
        while (take < len - i && take > 96 && ((unsigned char)text[i + take] & 0xc0) == 0x80)
            take--;
        fwrite(buffer, 1, sn_escape(buffer, sizeof buffer, text + i, take), out);
        i += take;
    }
}

__attribute__((format(printf, 2, 0))) static void say(const char *label, const char *format,
                                                      va_list list)
{
    char plain[2000], line[8100];
    vsnprintf(plain, sizeof plain, format, list);
    size_t at = (size_t)snprintf(line, 100, "seen: %s", label);
    at += sn_escape(line + at, sizeof line - at - 2, plain, strlen(plain));
    line[at++] = '\n';
    sn_progress_hide();
    fwrite(line, 1, at, stderr);
}

int sn_trouble(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say("", format, list);
    va_end(list);
    return SN_EXIT_TROUBLE;
}

int sn_trouble_error(const seen_error *error)
{
    const char *text = error->message[0] ? error->message : seen_status_text(error->status);
    return sn_trouble("%s", text);
}

void sn_warn(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say("warning: ", format, list);
    va_end(list);
}

void sn_note(const sn_args *args, const char *format, ...)
{
    va_list list;
    if (args->quiet)
        return;
    va_start(list, format);
    say("", format, list);
    va_end(list);
}

bool sn_summary_wanted(const sn_args *args)
{
    return !args->quiet && !args->json && (args->summary || isatty(STDERR_FILENO));
}

void sn_summary(const sn_args *args, const char *format, ...)
{
    va_list list;
    if (!sn_summary_wanted(args))
        return;
    va_start(list, format);
    say("", format, list);
    va_end(list);
}

bool sn_nobody_reads(FILE *out)
{
    struct pollfd fd = {.fd = fileno(out), .events = POLLOUT};
    return poll(&fd, 1, 0) == 1 && (fd.revents & (POLLERR | POLLHUP));
}

int sn_finish_stdout(int status)
{
    errno = 0;
    if (!fflush(stdout) && !ferror(stdout))
        return status;
    /* Of a write in between only the failure is known. */
    if (errno == EPIPE || (!errno && sn_nobody_reads(stdout)))
        return status;
    return sn_trouble("standard output could not be written: %s",
                      errno ? strerror(errno) : "an earlier write failed");
}
