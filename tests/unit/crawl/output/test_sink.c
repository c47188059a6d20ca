/* Sinks: what goes in comes out; continued at a length; JSON is safe; a full disk is told. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "crawl/output/sink.h"

static char path[] = "/tmp/seen-sink.XXXXXX";

static size_t slurp(char *bytes, size_t room)
{
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, bytes, room);
    close(fd);
    assert_true(n >= 0);
    return (size_t)n;
}

static void goes_on_at_a_length(void **state)
{
    sn_sink *sink;
    seen_error error;
    char bytes[100];
    (void)state;
    assert_int_equal(sn_sink_open(path, UINT64_MAX, &sink, &error), SEEN_OK);
    sn_sink_text(sink, "one ");
    sn_sink_number(sink, 1234567890123456789u);
    sn_sink_number(sink, 0);
    uint64_t length = sn_sink_length(sink);
    assert_int_equal(length, 24);
    assert_int_equal(sn_sink_sync(sink, &error), SEEN_OK);
    sn_sink_text(sink, "lost");
    assert_int_equal(sn_sink_flush(sink, &error), SEEN_OK);
    sn_sink_close(sink);
    assert_int_equal(sn_sink_open(path, length, &sink, &error), SEEN_OK);
    sn_sink_text(sink, "!");
    assert_int_equal(sn_sink_flush(sink, &error), SEEN_OK);
    sn_sink_close(sink);
    assert_int_equal(slurp(bytes, sizeof bytes), 25);
    assert_memory_equal(bytes, "one 12345678901234567890!", 25);
    /* A file that is shorter than it should be is not filled with holes. */
    assert_int_equal(truncate(path, 3), 0);
    assert_int_equal(sn_sink_open(path, length, &sink, &error), SEEN_OK);
    assert_int_equal(sn_sink_length(sink), 3);
    sn_sink_close(sink);
}

static void escapes(void **state)
{
    sn_sink *sink;
    seen_error error;
    char bytes[100];
    (void)state;
    assert_int_equal(sn_sink_open(path, UINT64_MAX, &sink, &error), SEEN_OK);
    sn_sink_json(sink, "a\"\\\n\x1b\x7f\xe9/", 8);
    assert_int_equal(sn_sink_flush(sink, &error), SEEN_OK);
    sn_sink_close(sink);
    const char *want = "\"a\\\"\\\\\\u000a\\u001b\\u007f\\u00e9/\"";
    assert_int_equal(slurp(bytes, sizeof bytes), strlen(want));
    assert_memory_equal(bytes, want, strlen(want));
}

static void tells_of_a_full_disk(void **state)
{
    sn_sink *sink;
    seen_error error;
    (void)state;
    assert_int_equal(sn_sink_open("/dev/full", UINT64_MAX, &sink, &error), SEEN_OK);
    for (int i = 0; i < 20000; i++)
        sn_sink_text(sink, "0123456789");
    assert_int_equal(sn_sink_flush(sink, &error), SEEN_ERR_SPACE);
    assert_non_null(strstr(error.message, "/dev/full"));
    assert_false(sn_sink_closed(sink));
    sn_sink_close(sink);
}

/* A pipe may have been made one that does not wait, by whoever else has it: its reader is waited
 * for all the same. */
static void waits_for_a_slow_reader(void **state)
{
    enum { TIMES = 20000 };
    static char bytes[4096];
    sn_sink *sink;
    seen_error error;
    int ends[2], told = 0;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    pid_t reader = fork();
    assert_true(reader >= 0);
    if (reader == 0) {
        size_t got = 0;
        close(ends[1]);
        usleep(200000);
        for (ssize_t n; (n = read(ends[0], bytes, sizeof bytes)) > 0;)
            got += (size_t)n;
        _exit(got == TIMES * 10 ? 0 : 1);
    }
    close(ends[0]);
    fflush(stdout);
    int before = dup(STDOUT_FILENO);
    assert_true(before >= 0 && dup2(ends[1], STDOUT_FILENO) >= 0);
    close(ends[1]);
    fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK);
    seen_status opened = sn_sink_open("-", UINT64_MAX, &sink, &error), flushed = SEEN_OK;
    if (opened == SEEN_OK) {
        for (int i = 0; i < TIMES; i++)
            sn_sink_text(sink, "0123456789");
        flushed = sn_sink_flush(sink, &error);
        sn_sink_close(sink);
    }
    dup2(before, STDOUT_FILENO);
    close(before);
    assert_int_equal(waitpid(reader, &told, 0), reader);
    assert_int_equal(opened, SEEN_OK);
    assert_int_equal(flushed, SEEN_OK);
    assert_int_equal(told, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_at_a_length),
        cmocka_unit_test(escapes),
        cmocka_unit_test(tells_of_a_full_disk),
        cmocka_unit_test(waits_for_a_slow_reader),
    };
    close(mkstemp(path));
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
