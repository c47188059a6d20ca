/* Sinks: output is written unchanged; continued at a length; JSON is escaped; a full disk is
 * reported. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "crawl/output/sink.h"
#include "crawl/output/spool.h"
#include "crawl/output/warc.h"

static char path[] = "/tmp/seen-sink.XXXXXX";

static size_t read_file(char *bytes, size_t room)
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
    assert_int_equal(read_file(bytes, sizeof bytes), 25);
    assert_memory_equal(bytes, "one 12345678901234567890!", 25);
    /* A file that is shorter than expected is not extended with a hole. */
    assert_int_equal(truncate(path, 3), 0);
    assert_int_equal(sn_sink_open(path, length, &sink, &error), SEEN_OK);
    assert_int_equal(sn_sink_length(sink), 3);
    sn_sink_close(sink);
}

/* A file has one writer; what it left behind is continued at a length, at its end or after its last
 * whole line. */
static void is_locked(void **state)
{
    sn_sink *sink, *other;
    seen_error error;
    char bytes[100];
    (void)state;
    assert_int_equal(sn_sink_open(path, SN_SINK_NEW, &sink, &error), SEEN_OK);
    sn_sink_text(sink, "one\ntwo\nthr");
    assert_int_equal(sn_sink_flush(sink, &error), SEEN_OK);
    static const uint64_t lengths[] = {SN_SINK_NEW, SN_SINK_APPENDED, SN_SINK_WHOLE_LINES, 4};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(sn_sink_open(path, lengths[i], &other, &error), SEEN_ERR_EXISTS);
    sn_sink_close(sink);
    assert_int_equal(read_file(bytes, sizeof bytes), 11);
    static const struct {
        uint64_t length, found;
    } cases[] = {
        {SN_SINK_APPENDED, 11}, {SN_SINK_WHOLE_LINES, 8}, {3, 3}, {SN_SINK_WHOLE_LINES, 0}};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(sn_sink_open(path, cases[i].length, &sink, &error), SEEN_OK);
        assert_int_equal(sn_sink_length(sink), cases[i].found);
        sn_sink_close(sink);
        assert_int_equal(read_file(bytes, sizeof bytes), cases[i].found);
    }
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
    assert_int_equal(read_file(bytes, sizeof bytes), strlen(want));
    assert_memory_equal(bytes, want, strlen(want));
}

static void reports_a_full_disk(void **state)
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

/* Another process may have set the pipe to non-blocking: the sink still waits for its reader. */
static void waits_for_a_slow_reader(void **state)
{
    enum { TIMES = 20000 };
    static char bytes[4096];
    sn_sink *sink;
    seen_error error;
    int ends[2], reported = 0;
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
    assert_int_equal(waitpid(reader, &reported, 0), reader);
    assert_int_equal(opened, SEEN_OK);
    assert_int_equal(flushed, SEEN_OK);
    assert_int_equal(reported, 0);
}

static int run_sink(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_at_a_length),
        cmocka_unit_test(is_locked),
        cmocka_unit_test(escapes),
        cmocka_unit_test(reports_a_full_disk),
        cmocka_unit_test(waits_for_a_slow_reader),
    };
    close(mkstemp(path));
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}

/* ---- spool ---- */

/* Spools: the same bytes back, whether they fit in memory or not. */

static void gives_back_what_it_got(void **state)
{
    sn_spool spool;
    static const size_t sizes[] = {0, 1, 1000, SN_SPOOL_MEMORY, SN_SPOOL_MEMORY + 1, 3000000};
    (void)state;
    sn_spool_init(&spool);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        char piece[777];
        size_t put = 0;
        while (put < sizes[s]) {
            size_t n = sizes[s] - put < sizeof piece ? sizes[s] - put : sizeof piece;
            for (size_t i = 0; i < n; i++)
                piece[i] = (char)((put + i) % 251);
            assert_true(sn_spool_put(&spool, piece, n));
            put += n;
        }
        assert_int_equal(sn_spool_length(&spool), sizes[s]);
        assert_true(spool.room <= SN_SPOOL_MEMORY);
        uint64_t at = 0;
        for (long n; (n = sn_spool_read(&spool, at, piece, 500)) > 0; at += (uint64_t)n)
            for (long i = 0; i < n; i++)
                assert_int_equal((uint8_t)piece[i], (at + (uint64_t)i) % 251);
        assert_int_equal(at, sizes[s]);
        sn_spool_reset(&spool);
        assert_int_equal(sn_spool_length(&spool), 0);
    }
    sn_spool_free(&spool);
}

static int run_spool(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gives_back_what_it_got)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- warc ---- */

/* WARC records: rewritten headers, correct lengths, one gzip member each. */

static char warc_path[] = "/tmp/seen-warc.XXXXXX";

static void writes_members(void **state)
{
    sn_sink *sink;
    seen_error error;
    sn_spool body;
    (void)state;
    assert_int_equal(sn_sink_open(warc_path, UINT64_MAX, &sink, &error), SEEN_OK);
    sn_warc *warc = sn_warc_create(sink);
    sn_warc_info(warc, "agent");
    sn_spool_init(&body);
    assert_true(sn_spool_put(&body, "<p>", 3));
    const char *headers = "HTTP/2 200 \r\ncontent-length: 99\r\nContent-Encoding: br\r\n"
                          "Content-Type: text/html\r\n\r\n";
    sn_warc_page page = {.url = "http://a/",
                         .url_len = 9,
                         .address = "1.2.3.4",
                         .headers = headers,
                         .headers_len = strlen(headers),
                         .body = &body,
                         .truncated = "length",
                         .date = 86400};
    assert_int_equal(sn_warc_response(warc, &page, &error), SEEN_OK);
    assert_int_equal(sn_sink_flush(sink, &error), SEEN_OK);
    sn_warc_destroy(warc);
    sn_sink_close(sink);
    sn_spool_free(&body);

    uint8_t in[4096];
    char out[4096];
    int fd = open(warc_path, O_RDONLY);
    ssize_t len = read(fd, in, sizeof in);
    close(fd);
    z_stream z = {.next_in = in, .avail_in = (uInt)len};
    assert_int_equal(inflateInit2(&z, 31), Z_OK);
    for (int record = 0; record < 2; record++) {
        assert_int_equal(inflateReset(&z), Z_OK);
        z.next_out = (uint8_t *)out;
        z.avail_out = sizeof out - 1;
        assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
        *z.next_out = '\0';
        assert_int_equal(strncmp(out, "WARC/1.1\r\nWARC-Type: ", 21), 0);
    }
    assert_int_equal(z.avail_in, 0);
    inflateEnd(&z);
    assert_non_null(strstr(out, "WARC-Target-URI: http://a/\r\n"));
    assert_non_null(strstr(out, "WARC-Date: 1970-01-02T00:00:00Z\r\n"));
    assert_non_null(strstr(out, "WARC-IP-Address: 1.2.3.4\r\n"));
    assert_non_null(strstr(out, "WARC-Truncated: length\r\n"));
    const char *block = "HTTP/1.1 200 \r\nX-Archive-Orig-Content-Encoding: br\r\n"
                        "Content-Type: text/html\r\nContent-Length: 3\r\n\r\n<p>\r\n\r\n";
    char want[64];
    snprintf(want, sizeof want, "Content-Length: %zu\r\n\r\nHTTP", strlen(block) - 4);
    assert_non_null(strstr(out, want));
    assert_string_equal(strstr(out, "HTTP/1.1 200"), block);
}

static int run_warc(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(writes_members)};
    close(mkstemp(warc_path));
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(warc_path);
    return failed;
}

int main(void)
{
    int status[] = {run_sink(), run_spool(), run_warc()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
