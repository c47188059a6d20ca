/* The progress bar: percent, rate, time left. On a terminal it is redrawn in place and removed at
 * the end; with --progress in a pipe it is a line every second; for programs it is JSON. */
#include "base/clock.h"
#include "base/thread.h"
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { SILENT, TERMINAL, JSON, PLAIN };

static bool line_on_terminal; /* protected by the lock of stderr */

static double now(void)
{
    return (double)sn_clock_ns() / 1e9;
}

void sn_progress_hide(void)
{
    flockfile(stderr);
    if (line_on_terminal)
        fputs("\r\033[K", stderr);
    line_on_terminal = false;
    funlockfile(stderr);
}

static void draw(const char *line)
{
    flockfile(stderr);
    fprintf(stderr, "\r%s\033[K", line);
    fflush(stderr);
    line_on_terminal = true;
    funlockfile(stderr);
}

/* Whether stderr is a terminal on which a line can be redrawn without disturbing the results. */
static bool can_redraw(const sn_args *args)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0 &&
           !(args->prints && isatty(STDOUT_FILENO));
}

void sn_progress_begin(sn_progress *progress, const sn_args *args, const char *what,
                       uint64_t total_bytes)
{
    bool can_draw = can_redraw(args);
    *progress = (sn_progress){.what = what, .total = (double)total_bytes, .started = now()};
    if (args->progress == 2)
        progress->mode = JSON;
    else if (args->progress == 1)
        progress->mode = can_draw ? TERMINAL : PLAIN;
    else
        progress->mode = can_draw && !args->quiet ? TERMINAL : SILENT;
    /* Nothing for short jobs. */
    progress->last = progress->started + (progress->mode == TERMINAL ? 0.3 : 0);
}

static double seconds_left(const sn_progress *progress, double bytes, double seconds)
{
    if (progress->total <= 0 || bytes <= 0 || seconds < 0.2 || bytes > progress->total)
        return -1;
    return (progress->total - bytes) * seconds / bytes;
}

static void draw_json(const sn_progress *progress, double bytes, double lines, double fill,
                      double seconds, bool done)
{
    sn_json json;
    double left = seconds_left(progress, bytes, seconds);
    sn_json_open(&json, stderr, true);
    sn_json_object(&json, NULL);
    sn_json_string(&json, "what", progress->what);
    sn_json_number(&json, "bytes", bytes);
    if (progress->total > 0)
        sn_json_number(&json, "bytes_total", progress->total);
    sn_json_number(&json, "lines", lines);
    sn_json_number(&json, "seconds", seconds);
    sn_json_number(&json, "lines_per_second", seconds > 0 ? lines / seconds : 0);
    if (left >= 0 && !done)
        sn_json_number(&json, "seconds_left", left);
    if (fill >= 0)
        sn_json_number(&json, "fill", fill);
    sn_json_bool(&json, "done", done);
    sn_json_end(&json);
    fflush(stderr);
}

static size_t terminal_width(void)
{
    struct winsize size;
    if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col > 10)
        return size.ws_col;
    return 80;
}

/* Appends a part to a line. If it does not fit, it and what follows are omitted: half a number
 * would be a different number. */
__attribute__((format(printf, 4, 5))) static size_t add_part(char *line, size_t at, size_t width,
                                                             const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int len = vsnprintf(line + at, width + 1 - at, format, list);
    va_end(list);
    if (len >= 0 && (size_t)len <= width - at)
        return at + (size_t)len;
    line[at] = 0;
    return width;
}

/* [########            ] with `share` of it filled. */
static size_t add_bar(char *line, size_t at, size_t width, double share)
{
    enum { CELLS = 20 };
    char bar[CELLS + 1] = {0};
    memset(bar, ' ', CELLS);
    memset(bar, '#', (size_t)(share * CELLS));
    return add_part(line, at, width, " [%s] %3.0f%%", bar, floor(100 * share));
}

static void draw_text(const sn_progress *progress, double bytes, double lines, double fill,
                      double seconds)
{
    char a[SN_TEXT], line[300];
    size_t width = progress->mode == PLAIN ? sizeof line - 1 : terminal_width() - 1;
    if (width > sizeof line - 1)
        width = sizeof line - 1;
    size_t at = add_part(line, 0, width, "%s:", progress->what);
    double left = seconds_left(progress, bytes, seconds);
    double per_second = seconds > 0 ? 1 / seconds : 0;
    if (progress->total > 0 && bytes <= progress->total)
        at = add_bar(line, at, width, bytes / progress->total);
    else
        at = add_part(line, at, width, " %s", sn_show_size(a, bytes));
    at = add_part(line, at, width, ", %s/s", sn_show_size(a, bytes * per_second));
    if (left >= 0)
        at = add_part(line, at, width, ", %s left", sn_show_seconds(a, left));
    at = add_part(line, at, width, ", %s lines/s", sn_show_words(a, floor(lines * per_second)));
    if (fill >= 0)
        at = add_part(line, at, width, ", filter %.0f%% full", 100 * fill);
    add_part(line, at, width, ", %s lines", sn_show_words(a, lines));
    if (progress->mode == PLAIN) {
        fprintf(stderr, "seen: %s\n", line);
        return;
    }
    draw(line);
}

void sn_progress_show(sn_progress *progress, uint64_t bytes, uint64_t lines, double fill)
{
    if (progress->mode == SILENT)
        return;
    double t = now(), every = progress->mode == TERMINAL ? 0.1 : 1.0;
    if (t - progress->last < every)
        return;
    progress->last = t;
    progress->drawn = true;
    if (progress->mode == JSON)
        draw_json(progress, (double)bytes, (double)lines, fill, t - progress->started, false);
    else
        draw_text(progress, (double)bytes, (double)lines, fill, t - progress->started);
}

void sn_progress_end(sn_progress *progress, uint64_t bytes, uint64_t lines, double fill)
{
    if (progress->mode == JSON)
        draw_json(progress, (double)bytes, (double)lines, fill, now() - progress->started, true);
    sn_progress_hide();
    progress->mode = SILENT;
}

/* ---- Jobs without a measure ----------------------------------------------------------------- */

/* Draws the time that has passed, every second, until `done`. */
static void *draw_clock(void *argument)
{
    sn_busy *busy = argument;
    struct timespec next;
    char a[SN_TEXT], line[2 * SN_TEXT];
    clock_gettime(CLOCK_REALTIME, &next);
    for (int seconds = 1;; seconds++) {
        int failed;
        next.tv_sec++;
        while ((failed = sem_timedwait(&busy->done, &next)) != 0 && errno == EINTR) {
        }
        if (!failed)
            return NULL;
        snprintf(line, sizeof line, "%s: %s", busy->what, sn_show_seconds(a, seconds));
        draw(line);
    }
}

void sn_busy_begin(sn_busy *busy, const sn_args *args, const char *what)
{
    *busy = (sn_busy){.what = what};
    sem_init(&busy->done, 0, 0);
    busy->drawing =
        !args->quiet && can_redraw(args) && sn_thread_start(&busy->thread, draw_clock, busy);
}

void sn_busy_end(sn_busy *busy)
{
    sem_post(&busy->done);
    if (busy->drawing)
        pthread_join(busy->thread, NULL);
    sem_destroy(&busy->done);
    sn_progress_hide();
}
