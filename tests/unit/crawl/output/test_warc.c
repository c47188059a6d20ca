/* WARC records: headers rewritten, lengths right, one gzip member each. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "crawl/output/warc.h"

static char path[] = "/tmp/seen-warc.XXXXXX";

static void writes_members(void **state)
{
    sn_sink *sink;
    seen_error error;
    sn_spool body;
    (void)state;
    assert_int_equal(sn_sink_open(path, UINT64_MAX, &sink, &error), SEEN_OK);
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
    int fd = open(path, O_RDONLY);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(writes_members)};
    close(mkstemp(path));
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
