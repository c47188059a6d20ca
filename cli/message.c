/* Words for people, on stderr. File names and server answers may hold anything; what a terminal
 * would obey (control characters, broken UTF-8, characters that reorder text) is written as \xHH.
 */
#include "base/text.h"
#include "cli/cli.h"
#include "cli/progress.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

void sn_put_safe(FILE *out, const char *text, size_t len)
{
    char buffer[512];
    for (size_t i = 0; i < len;) {
        /* A piece that ends between characters, so that none is cut in two. */
        size_t take = len - i < 100 ? len - i : 100;
        while (take < len - i && take > 96 && ((unsigned char)text[i + take] & 0xc0) == 0x80)
            take--;
        fwrite(buffer, 1, sn_text_escape(buffer, sizeof buffer, text + i, take), out);
        i += take;
    }
}

__attribute__((format(printf, 2, 0))) static void say(const char *label, const char *format,
                                                      va_list list)
{
    char plain[2000], line[8100];
    vsnprintf(plain, sizeof plain, format, list);
    size_t at = (size_t)snprintf(line, 100, "seen: %s", label);
    at += sn_text_escape(line + at, sizeof line - at - 2, plain, strlen(plain));
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
