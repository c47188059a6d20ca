/* Messages on stderr. File names and server replies may contain any bytes; what a terminal would
 * interpret (control characters, broken UTF-8, characters that reorder text) is written as \xHH. */
#include "base/text.h"
#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void sn_message_put(FILE *out, const char *text, size_t len)
{
    char buffer[512];
    for (size_t i = 0; i < len;) {
        /* A piece that ends between characters, so that none is split. */
        size_t take = len - i < 100 ? len - i : 100;
        while (take < len - i && take > 96 && ((unsigned char)text[i + take] & 0xc0) == 0x80)
            take--;
        fwrite(buffer, 1, sn_text_escape(buffer, sizeof buffer, text + i, take), out);
        i += take;
    }
}

static sn_message_color_when color_when;

void sn_message_color_choose(sn_message_color_when when)
{
    color_when = when;
}

const char *sn_message_color(FILE *out, const char *style, char buffer[16])
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    bool automatic = isatty(fileno(out)) && !(none && *none) && !(term && !strcmp(term, "dumb"));
    bool use = color_when == SN_COLOR_AUTO ? automatic : color_when == SN_COLOR_ALWAYS;
    buffer[0] = '\0';
    if (use)
        snprintf(buffer, 16, "\033[%sm", style);
    return buffer;
}

/* `style` is that of the label, or of the program's name if there is none. */
__attribute__((format(printf, 3, 0))) static void
print_message(const char *label, const char *style, const char *format, va_list list)
{
    char plain[2000], line[8200], on[16] = "", off[16] = "";
    vsnprintf(plain, sizeof plain, format, list);
    if (style) {
        sn_message_color(stderr, style, on);
        sn_message_color(stderr, "", off);
    }
    size_t at = (size_t)snprintf(line, 100, "%sseen:%s %s", on, off, label);
    at += sn_text_escape(line + at, sizeof line - at - 2, plain, strlen(plain));
    line[at++] = '\n';
    flockfile(stderr); /* no progress line between the two */
    sn_progress_hide();
    fwrite(line, 1, at, stderr);
    funlockfile(stderr);
}

int sn_message_error(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    print_message("", "1;31", format, list);
    va_end(list);
    return SN_EXIT_ERROR;
}

int sn_message_report(const seen_error *error)
{
    const char *text = error->message[0] ? error->message : seen_status_text(error->status);
    return sn_message_error("%s", text);
}

void sn_message_warn(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    print_message("warning: ", "1;33", format, list);
    va_end(list);
}

void sn_message_note(const sn_args *args, const char *format, ...)
{
    va_list list;
    if (args->quiet)
        return;
    va_start(list, format);
    print_message("", NULL, format, list);
    va_end(list);
}

static bool has_summary(const sn_args *args)
{
    return !args->quiet && !args->json && (args->summary || isatty(STDERR_FILENO));
}

void sn_message_summary(const sn_args *args, const char *format, ...)
{
    va_list list;
    if (!has_summary(args))
        return;
    va_start(list, format);
    print_message("", NULL, format, list);
    va_end(list);
}

bool sn_message_pipe_closed(FILE *out)
{
    struct pollfd fd = {.fd = fileno(out), .events = POLLOUT};
    return poll(&fd, 1, 0) == 1 && (fd.revents & (POLLERR | POLLHUP));
}

int sn_message_finish_stdout(int status)
{
    errno = 0;
    if (!fflush(stdout) && !ferror(stdout))
        return status;
    /* Of an earlier write only the failure is known. */
    if (errno == EPIPE || (!errno && sn_message_pipe_closed(stdout)))
        return status;
    return sn_message_error("cannot write to standard output: %s",
                            errno ? strerror(errno) : "an earlier write failed");
}
