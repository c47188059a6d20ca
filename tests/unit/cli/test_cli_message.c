/* Output to a terminal or a JSON reader is safe for any file name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Long text is processed in pieces; no character may be split between them. */
static void long_text(void **state)
{
    (void)state;
    char text[3000], *out = NULL;
    size_t size = 0;
    for (size_t i = 0; i < sizeof text; i += 3)
        memcpy(text + i, "\xe2\x82\xac", 3);
    for (size_t lead = 0; lead < 3; lead++) {
        FILE *file = open_memstream(&out, &size);
        char shifted[3010] = "ab";
        memcpy(shifted + lead, text, sizeof text);
        sn_message_put(file, shifted, lead + sizeof text);
        fclose(file);
        assert_int_equal(size, lead + sizeof text);
        assert_memory_equal(out, shifted, size);
        free(out);
    }
}

static void json_strings(void **state)
{
    (void)state;
    static const char odd[] = "q\"\\\n\x01\xff\xc3\xbc";
    char *out = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&out, &size);
    sn_json json;
    sn_json_open(&json, file, true);
    sn_json_object(&json, NULL);
    sn_json_bytes(&json, "a", odd, sizeof odd - 1);
    sn_json_array(&json, "b");
    sn_json_u64(&json, NULL, UINT64_MAX);
    sn_json_number(&json, NULL, 0.1);
    sn_json_number(&json, NULL, 1e300 * 1e300);
    sn_json_number(&json, NULL, 1.0 / 3);
    sn_json_bool(&json, NULL, true);
    sn_json_end(&json);
    sn_json_object(&json, "c");
    sn_json_end(&json);
    sn_json_end(&json);
    fclose(file);
    assert_string_equal(out, "{\"a\": \"q\\\"\\\\\\u000a\\u0001\\ufffd\xc3\xbc\", \"b\": "
                             "[18446744073709551615, 0.1, null, 0.3333333333333333"
                             ", true], \"c\": {}}\n");
    free(out);
}

static void passwords(void **state)
{
    (void)state;
    char shown[SN_WHERE];
    assert_string_equal(sn_where_show(shown, "a/b@c:d"), "a/b@c:d");
    assert_string_equal(sn_where_show(shown, "redis://u:secret@h:1/0/n"), "redis://u:...@h:1/0/n");
    assert_string_equal(sn_where_show(shown, "redis://:s@cr@t@h/n"), "redis://:...@h/n");
    assert_string_equal(sn_where_show(shown, "redis://h:6379/n"), "redis://h:6379/n");
}

/* Runs `body` in a child with stderr in `said`; returns the wait status. */
static char output_text[1000];

static int in_child(void (*body)(void))
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        sn_signal_install();
        body();
        _exit(0);
    }
    close(ends[1]);
    size_t at = 0;
    for (ssize_t got; (got = read(ends[0], output_text + at, sizeof output_text - 1 - at)) > 0;)
        at += (size_t)got;
    output_text[at] = 0;
    close(ends[0]);
    waitpid(child, &status, 0);
    return status;
}

static void one_signal(void)
{
    raise(SIGTERM);
    raise(SIGPIPE);
    if (!sn_signal_stopped() || sn_signal_number() != SIGTERM)
        _exit(9);
}

static void two_signals(void)
{
    raise(SIGINT);
    raise(SIGINT); /* immediately, as timeout(1) does */
    if (!sn_signal_stopped())
        _exit(9);
    usleep(200 * 1000);
    raise(SIGINT);
    _exit(9);
}

static void cut_file(void)
{
    FILE *file = tmpfile();
    if (!file || ftruncate(fileno(file), 4096))
        _exit(8);
    volatile char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
    if (ftruncate(fileno(file), 0))
        _exit(8);
    _exit(page[0] ? 9 : 10);
}

static void signals(void **state)
{
    (void)state;
    int status = in_child(one_signal);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    status = in_child(two_signals);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    status = in_child(cut_file);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == SN_EXIT_ERROR);
    assert_non_null(strstr(output_text, "a file was truncated by another program"));
}

static void silent_progress(void)
{
    sn_args args = {0};
    sn_progress progress;
    sn_progress_begin(&progress, &args, "uniq", 1000);
    progress.last -= 10;
    sn_progress_show(&progress, 500, 10, 0.5);
    sn_progress_end(&progress, 1000, 20, 0.5);
}

static void json_progress(void)
{
    sn_args args = {.progress = 2};
    sn_progress progress;
    sn_progress_begin(&progress, &args, "uniq", 1000);
    progress.started -= 10;
    progress.last -= 10;
    sn_progress_show(&progress, 500, 10, 0.5);
    sn_progress_show(&progress, 600, 12, 0.5); /* too early to be shown */
    sn_progress_end(&progress, 1000, 20, -1);
}

/* The visible text on a terminal of `width` columns, without cursor movements. */
static const char *drawn(unsigned short width)
{
    static char text[1000];
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(master >= 0 && !grantpt(master) && !unlockpt(master));
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY), before = dup(STDERR_FILENO);
    struct winsize size = {.ws_row = 24, .ws_col = width};
    assert_true(slave >= 0 && before >= 0 && !ioctl(slave, TIOCSWINSZ, &size));
    setenv("TERM", "xterm", 1);
    fflush(stderr);
    dup2(slave, STDERR_FILENO);
    sn_args args = {0};
    sn_progress progress;
    sn_progress_begin(&progress, &args, "uniq", 250 << 20);
    progress.started -= 100;
    progress.last -= 100;
    sn_progress_show(&progress, 125 << 20, 123400000, 0.05);
    dup2(before, STDERR_FILENO);
    ssize_t got = read(master, text, sizeof text - 1);
    close(before);
    close(slave);
    close(master);
    text[got > 0 ? got : 0] = 0;
    char *end = strstr(text, "\033[K");
    assert_true(text[0] == '\r' && end);
    *end = 0;
    return text + 1;
}

/* No number is truncated, and the remaining time has priority over the amount done. */
static void progress_fits(void **state)
{
    (void)state;
    static const char whole[] = "uniq: [##########          ]  50%, 1.25 MiB/s, 1m40s left, "
                                "1.23 million lines/s, filter 5% full, 123 million lines";
    assert_string_equal(drawn(200), whole);
    assert_string_equal(drawn(90), "uniq: [##########          ]  50%, 1.25 MiB/s, 1m40s left, "
                                   "1.23 million lines/s");
    for (unsigned short width = 20; width < 130; width++) {
        const char *line = drawn(width);
        size_t len = strlen(line);
        assert_true(len > 0 && len < width && !strncmp(line, whole, len));
        assert_true(!whole[len] || whole[len] == ',' || len == strlen("uniq:"));
    }
    assert_string_equal(drawn(12), "uniq:");
}

static void progress_lines(void **state)
{
    (void)state;
    in_child(silent_progress); /* a pipe is not a terminal */
    assert_string_equal(output_text, "");
    in_child(json_progress);
    assert_non_null(strstr(output_text, "\"bytes\": 500, \"bytes_total\": 1000"));
    assert_null(strstr(output_text, "\"bytes\": 600"));
    assert_non_null(strstr(output_text, "\"done\": true}\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_text),      cmocka_unit_test(json_strings),
        cmocka_unit_test(passwords),      cmocka_unit_test(signals),
        cmocka_unit_test(progress_lines), cmocka_unit_test(progress_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
