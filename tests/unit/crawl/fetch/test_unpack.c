/* Decoding bodies: whole, in pieces, truncated, with trailing data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "crawl/fetch/unpack.h"

enum { MAX = 1 << 16 };

/* `text`, compressed with the brotli and zstd tools; the last with a window of 16 MiB. */
static const uint8_t by_brotli[] = {
    0x1b, 0xdd, 0x03, 0x00, 0x04, 0x84, 0xd8, 0xd5, 0x95, 0x28, 0x14, 0xb6, 0x79, 0x8b, 0xd4,
    0x05, 0xa7, 0x8a, 0x28, 0xd4, 0x03, 0x2c, 0xcb, 0x81, 0x52, 0x53, 0x5a, 0x5e, 0x6d, 0xc8,
    0x90, 0xa3, 0x03, 0x46, 0x71, 0x6b, 0x5d, 0x04, 0x3e, 0xd3, 0x77, 0xbf, 0xcf, 0x34, 0x8f,
    0xd7, 0xff, 0x6e, 0x79, 0x0d, 0x99, 0x20, 0x4a, 0xb2, 0xc8, 0x2a, 0x9b, 0xec, 0x72, 0xc8,
    0xd9, 0x28, 0x7d, 0x92, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x40, 0x92, 0x24, 0x49,
    0x92, 0x24, 0x49, 0x92, 0x14, 0x45, 0x51, 0x14, 0x45, 0x51, 0xd4, 0x04};
static const uint8_t by_zstd[] = {
    0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x68, 0xfd, 0x02, 0x00, 0xf2, 0xc3, 0x0c, 0x11, 0xa0, 0xed,
    0xc8, 0x86, 0xf9, 0x00, 0x20, 0x4e, 0xec, 0x96, 0x10, 0x99, 0x80, 0xf7, 0x77, 0x1d, 0x06,
    0xbb, 0xbb, 0xbb, 0xbb, 0xbb, 0xff, 0xff, 0xff, 0xbf, 0x6d, 0xdb, 0xb6, 0xad, 0x12, 0x3a,
    0xa6, 0xec, 0x0d, 0x9a, 0x1b, 0xab, 0x36, 0x41, 0xc6, 0x8b, 0x6e, 0x0e, 0xc1, 0xe0, 0xa3,
    0x32, 0xb8, 0x15, 0x28, 0xa8, 0x11, 0xf0, 0xeb, 0x7f, 0x07, 0x80, 0xa3, 0xd2, 0x03, 0x11,
    0xec, 0x10, 0xdc, 0x10, 0x9e, 0xe7, 0x07, 0x26, 0x61, 0xdf, 0x97, 0xef, 0xbd, 0xf5, 0xce,
    0x8b, 0xf7, 0x5d, 0xbb, 0xeb, 0xd2, 0x5d, 0xa4, 0x54, 0xbd, 0x0c, 0x36, 0x88, 0x6a};
static const uint8_t by_zstd_wide[] = {
    0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x70, 0x4d, 0x04, 0x00, 0xe4, 0x03, 0x3c, 0x61, 0x20, 0x68,
    0x72, 0x65, 0x66, 0x3d, 0x22, 0x2f, 0x70, 0x61, 0x67, 0x65, 0x2f, 0x30, 0x22, 0x3e, 0x78,
    0x3c, 0x2f, 0x61, 0x3e, 0x0a, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x31,
    0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32,
    0x32, 0x32, 0x32, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x28, 0x20,
    0x80, 0xa3, 0xd2, 0x03, 0x85, 0x80, 0x17, 0x64, 0xa0, 0x00, 0x0f, 0x64, 0x41, 0x01, 0x0f,
    0xc8, 0x40, 0x01, 0x1e, 0xc8, 0x80, 0x02, 0x1e, 0xc8, 0x82, 0x02, 0x1e, 0x90, 0x81, 0x32,
    0x78, 0x7d, 0x41, 0xc6, 0x17, 0x94, 0xbd, 0xe0, 0xe9, 0x05, 0x59, 0x5e, 0x50, 0xf0, 0x82,
    0x77, 0x17, 0x64, 0x76, 0x41, 0xa9, 0x0b, 0x02, 0xdd, 0x72, 0x35, 0x53, 0x4b, 0x7d, 0x6a,
    0x56, 0x8b, 0xfa, 0x6a, 0x56, 0x4b, 0xaf, 0x2f, 0xdb, 0xc5, 0x31};

/* `long_text`, compressed. */
static const uint8_t long_by_brotli[] = {
    0x1b, 0x21, 0x9b, 0x00, 0xc4, 0x59, 0x83, 0x75, 0x4a, 0x34, 0x14, 0x07, 0xfc, 0x7e, 0xac, 0x98,
    0xba, 0xc1, 0xb3, 0x1a, 0xa5, 0xa8, 0x1d, 0x80, 0x2c, 0x08, 0x3d, 0x61, 0x13, 0x35, 0xa7, 0x96,
    0x5a, 0x00, 0x12, 0xd1, 0xe4, 0xe8, 0x00, 0x7f, 0x0f, 0x41, 0xd4, 0x5a, 0x5e, 0x04, 0x2e, 0xcf,
    0xdf, 0xfb, 0xfb, 0x79, 0xd6, 0xe3, 0xf5, 0xff, 0x6e, 0x39, 0x21, 0x13, 0x8a, 0xc4, 0x72, 0xa4,
    0xe5, 0xca, 0x48, 0x64, 0x1b, 0x87, 0xde, 0x92, 0x28, 0x51, 0xa2, 0x44, 0x89, 0x12, 0x25, 0x4a,
    0x44, 0x22, 0x91, 0x48, 0x24, 0x12, 0x89, 0x44, 0x22, 0x91, 0xc9, 0x64, 0x32, 0x99, 0x4c, 0x26,
    0x93, 0xc9, 0xbf, 0xcf, 0x11, 0x60, 0xc3, 0x1f, 0x2a, 0xcc, 0xaa, 0x60, 0xde, 0x09, 0x86, 0x9a,
    0x03, 0xdd, 0xa9, 0xc6, 0xce, 0xce, 0x20, 0x5d, 0x39, 0x48, 0x4a, 0x8b, 0x9b, 0x5a, 0x1c, 0x1e,
    0x17, 0x96, 0xc9, 0xa2, 0xc3, 0x18, 0xa7, 0xcc, 0x86, 0xa3, 0x34, 0x5a, 0xb5, 0x46, 0x38, 0x5e,
    0x68, 0xa4, 0x42, 0xd2, 0x47, 0xb8, 0x7d, 0xb7, 0x33, 0x77, 0x0f, 0x00};
static const uint8_t long_by_zstd[] = {
    0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x68, 0x1d, 0x05, 0x00, 0x12, 0x0b, 0x1c, 0x15, 0xb0, 0xa9, 0x03,
    0x2f, 0x43, 0x2c, 0x01, 0xa3, 0x50, 0x2c, 0x48, 0x29, 0xf7, 0xde, 0x32, 0x05, 0x67, 0x6b, 0x21,
    0xd4, 0x01, 0x3d, 0x99, 0x10, 0x35, 0x33, 0xa1, 0xd4, 0x1f, 0x84, 0xd8, 0xfa, 0xef, 0x4d, 0x3b,
    0x63, 0x2d, 0xeb, 0xa8, 0x08, 0x8f, 0x56, 0x64, 0xab, 0x53, 0x43, 0x23, 0x6a, 0x22, 0x3a, 0x5b,
    0x76, 0x7c, 0x9a, 0x85, 0xa9, 0xf9, 0x42, 0xec, 0xc1, 0x42, 0xd8, 0xbb, 0xbc, 0x2c, 0xaa, 0x4b,
    0xef, 0xb9, 0xfb, 0x8a, 0x97, 0x6c, 0xad, 0xe7, 0xb5, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xfe, 0xff,
    0xff, 0x7f, 0xdb, 0xb6, 0x6d, 0x3b, 0xf1, 0x12, 0x3a, 0x76, 0xb7, 0x30, 0x84, 0xa1, 0x29, 0x82,
    0x12, 0x8e, 0xc4, 0x58, 0x84, 0x80, 0x40, 0x0e, 0x46, 0x01, 0x8c, 0x21, 0x29, 0xa8, 0x31, 0xf4,
    0xfd, 0xef, 0x70, 0xa3, 0x92, 0xc7, 0x11, 0xec, 0x10, 0xdc, 0x10, 0x9e, 0xa7, 0xef, 0xff, 0xff,
    0x06, 0xcf, 0x96, 0xf0, 0x55, 0xe8, 0x74, 0x7e, 0x3f, 0x7c, 0xed, 0xd5, 0x3b, 0x2f, 0x5e, 0x77,
    0xd9, 0xad, 0x9b, 0x4e, 0xfd, 0xff, 0x3f, 0x36, 0x65, 0x03, 0xad, 0x06};

static char text[MAX], long_text[MAX]; /* long_text: `text` forty times, and something else */
static size_t text_len, long_len;

typedef struct body {
    const char *name; /* of its encoding */
    uint8_t bytes[MAX];
    size_t len;
} body;

static body bodies[10];
static size_t body_count, long_count; /* long ones come after the others */

/* 31: gzip, 15: zlib, -15: without a wrapper. */
static size_t compress_as(int bits, const void *from, size_t len, uint8_t *to)
{
    z_stream z = {0};
    union {
        const void *from;
        uint8_t *to;
    } in = {from};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = in.to;
    z.avail_in = (uInt)len;
    z.next_out = to;
    z.avail_out = MAX;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t made = MAX - z.avail_out;
    deflateEnd(&z);
    return made;
}

static void add_body(const char *name, const void *bytes, size_t len)
{
    body *b = &bodies[body_count++];
    b->name = name;
    memcpy(b->bytes, bytes, len);
    b->len = len;
}

static int make_bodies(void **state)
{
    (void)state;
    uint8_t made[MAX];
    for (int i = 0; i < 40; i++)
        text_len += (size_t)sprintf(text + text_len, "<a href=\"/page/%d\">x</a>\n", i);
    add_body("gzip", made, compress_as(31, text, text_len, made));
    add_body("deflate", made, compress_as(15, text, text_len, made));
    add_body("DEFLATE", made, compress_as(-15, text, text_len, made));
    if (strstr(sn_unpack_names(), "br") != NULL)
        add_body("br", by_brotli, sizeof by_brotli);
    if (strstr(sn_unpack_names(), "zstd") != NULL)
        add_body("zstd", by_zstd, sizeof by_zstd);
    for (int i = 0; i < 40; i++, long_len += text_len)
        memcpy(long_text + long_len, text, text_len);
    for (int i = 0; i < 20; i++)
        long_len += (size_t)sprintf(long_text + long_len, "%d\n", (i * i * 7919 + i) % 100003);
    size_t count = body_count;
    add_body("gzip", made, compress_as(31, long_text, long_len, made));
    add_body("deflate", made, compress_as(15, long_text, long_len, made));
    if (strstr(sn_unpack_names(), "br") != NULL)
        add_body("br", long_by_brotli, sizeof long_by_brotli);
    if (strstr(sn_unpack_names(), "zstd") != NULL)
        add_body("zstd", long_by_zstd, sizeof long_by_zstd);
    long_count = body_count - count;
    body_count = count;
    return 0;
}

static char got[MAX];
static size_t got_len, got_max;

static bool keep(void *user, const char *bytes, size_t len)
{
    (void)user;
    assert_true(len > 0 && got_len + len <= sizeof got);
    memcpy(got + got_len, bytes, len);
    got_len += len;
    return got_len < got_max;
}

typedef struct outcome {
    sn_unpack_result result;
    bool whole;
} outcome;

/* One body, in pieces of this many bytes. */
static outcome unpack(const char *names, const void *bytes, size_t len, size_t piece)
{
    sn_unpack u = {0};
    outcome out = {SN_UNPACK_OK, false};
    got_len = 0;
    sn_unpack_begin(&u);
    assert_true(sn_unpack_header(&u, names, strlen(names)));
    for (size_t at = 0; at < len && out.result == SN_UNPACK_OK; at += piece) {
        size_t n = len - at < piece ? len - at : piece;
        /* A separate allocation, so that a sanitizer detects reads beyond the piece. */
        char *copy = malloc(n);
        assert_non_null(copy);
        memcpy(copy, (const char *)bytes + at, n);
        out.result = sn_unpack_feed(&u, copy, n, keep, NULL);
        free(copy);
    }
    out.whole = sn_unpack_end(&u);
    sn_unpack_begin(&u);
    return out;
}

static void expect_text(const char *what, outcome out)
{
    bool ended = out.result == SN_UNPACK_OK || out.result == SN_UNPACK_OVER;
    if (!ended || !out.whole || got_len != text_len || memcmp(got, text, text_len) != 0)
        fail_msg("%s: result %d, %s, %zu bytes", what, (int)out.result, out.whole ? "whole" : "cut",
                 got_len);
}

static void reads_every_encoding(void **state)
{
    (void)state;
    for (size_t i = 0; i < body_count; i++)
        for (size_t piece = 1; piece <= bodies[i].len; piece += piece < 20 ? 1 : 37)
            expect_text(bodies[i].name,
                        unpack(bodies[i].name, bodies[i].bytes, bodies[i].len, piece));
}

static void knows_what_is_missing(void **state)
{
    (void)state;
    for (size_t i = 0; i < body_count; i++)
        for (size_t len = 0; len < bodies[i].len; len++)
            for (size_t piece = 1; piece <= MAX; piece *= MAX) {
                outcome out = unpack(bodies[i].name, bodies[i].bytes, len, piece);
                if (out.result != SN_UNPACK_OK || out.whole != (len == 0))
                    fail_msg("%s: %zu of %zu bytes: result %d", bodies[i].name, len, bodies[i].len,
                             (int)out.result);
                assert_true(got_len <= text_len);
                assert_memory_equal(got, text, got_len);
            }
}

/* Everything decodable of a truncated body is output, however it was split into pieces. */
static void gives_what_there_is(void **state)
{
    (void)state;
    for (size_t i = body_count; i < body_count + long_count; i++) {
        size_t most = 0;
        for (size_t len = 1; len <= bodies[i].len; len++) {
            unpack(bodies[i].name, bodies[i].bytes, len, 1);
            size_t want = got_len;
            outcome out = unpack(bodies[i].name, bodies[i].bytes, len, MAX);
            if (got_len != want || out.whole != (len == bodies[i].len))
                fail_msg("%s: %zu of %zu bytes give %zu, not %zu", bodies[i].name, len,
                         bodies[i].len, got_len, want);
            assert_true(got_len <= long_len);
            assert_memory_equal(got, long_text, got_len);
            most = got_len;
        }
        assert_int_equal(most, long_len);
    }
}

static void leaves_out_what_is_behind(void **state)
{
    (void)state;
    static const char *const junk[] = {
        "x",    "\n", "junk", "\x1f", "(", "\x1f\x8bjunk and more", "(junk and more than that",
        "Pjunk"};
    for (size_t i = 0; i < body_count; i++)
        for (size_t k = 0; k < sizeof junk / sizeof junk[0]; k++)
            for (size_t piece = 1; piece <= MAX; piece *= MAX) {
                uint8_t bytes[MAX];
                size_t len = bodies[i].len, more = strlen(junk[k]);
                memcpy(bytes, bodies[i].bytes, len);
                memcpy(bytes + len, junk[k], more);
                outcome out = unpack(bodies[i].name, bytes, len + more, piece);
                /* Half of the magic of another member may be a truncated one. */
                if (strcmp(junk[k], strcmp(bodies[i].name, "gzip") == 0 ? "\x1f" : "(") == 0)
                    out.whole = true;
                expect_text(bodies[i].name, out);
            }
}

/* A feed after the end reports that no more data is needed. */
static void reports_the_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < body_count; i++) {
        uint8_t bytes[MAX] = {0};
        memcpy(bytes, bodies[i].bytes, bodies[i].len);
        outcome out = unpack(bodies[i].name, bytes, bodies[i].len + 3, 1);
        assert_int_equal(out.result, SN_UNPACK_OVER);
        expect_text(bodies[i].name, out);
    }
}

static void reads_parts_in_a_row(void **state)
{
    (void)state;
    uint8_t bytes[MAX], part[MAX];
    size_t half = text_len / 2, len = compress_as(31, text, half, bytes);
    size_t n = compress_as(31, text + half, text_len - half, part);
    memcpy(bytes + len, part, n);
    for (size_t piece = 1; piece < len + n; piece++)
        expect_text("two parts", unpack("gzip", bytes, len + n, piece));
    assert_false(unpack("gzip", bytes, len + n - 1, MAX).whole);
    assert_true(unpack("gzip", bytes, len, MAX).whole);
    bytes[len + n - 8] ^= 1; /* the checksum of the second */
    assert_int_equal(unpack("gzip", bytes, len + n, MAX).result, SN_UNPACK_BAD);
}

/* A broken frame is not treated as trailing data of the one before; frames of formats older than
 * the standard are not supported. */
static void detects_frames(void **state)
{
    (void)state;
    enum { LEN = sizeof by_zstd };
    uint8_t bytes[2 * LEN];
    if (strstr(sn_unpack_names(), "zstd") == NULL)
        skip();
    for (size_t piece = 1; piece <= MAX; piece *= MAX) {
        memcpy(bytes, by_zstd, LEN);
        memcpy(bytes + LEN, by_zstd, LEN);
        bytes[LEN + 6] |= 6; /* an invalid block type */
        assert_int_equal(unpack("zstd", bytes, 2 * LEN, piece).result, SN_UNPACK_BAD);
        bytes[LEN] = 0x25;
        expect_text("an old frame behind", unpack("zstd", bytes, 2 * LEN, piece));
        bytes[0] = 0x25;
        assert_int_equal(unpack("zstd", bytes, LEN, piece).result, SN_UNPACK_BAD);
        assert_int_equal(got_len, 0);
    }
}

static void undoes_layers(void **state)
{
    (void)state;
    uint8_t twice[MAX], thrice[MAX];
    size_t len = compress_as(31, bodies[1].bytes, bodies[1].len, twice);
    expect_text("two layers", unpack("deflate, gzip", twice, len, 7));
    assert_int_equal(unpack("gzip, deflate", twice, len, 7).result, SN_UNPACK_BAD);
    assert_false(unpack("deflate,gzip", twice, len - 1, MAX).whole);
    /* The end of the inner encoding is the end, even if the outer one is incomplete. */
    len = compress_as(31, "junk", 4, thrice);
    memcpy(twice, bodies[1].bytes, bodies[1].len);
    memcpy(twice + bodies[1].len, thrice, len);
    len = compress_as(31, twice, bodies[1].len + len, thrice);
    for (size_t cut = 0; cut < 9; cut++)
        expect_text("junk within", unpack("deflate, gzip", thrice, len - cut, 1));
    thrice[len - 8] ^= 1; /* the checksum */
    for (size_t piece = 1; piece <= MAX; piece *= MAX)
        expect_text("junk within what is broken", unpack("deflate, gzip", thrice, len, piece));
    len = compress_as(31, bodies[1].bytes, bodies[1].len, twice);
    len = compress_as(31, twice, len, thrice);
    expect_text("three layers", unpack("deflate ,\tx-gzip,GZip ", thrice, len, MAX));
    assert_int_equal(unpack("deflate,gzip,gzip,gzip", thrice, len, MAX).result, SN_UNPACK_BAD);
}

static void passes_over_what_is_no_encoding(void **state)
{
    (void)state;
    static const char *const none[] = {"",    "identity", "none", "utf-8",       " , ,",
                                       "gzi", "gzipp",    "b",    "text/html;x", "identity, UTF-8"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        expect_text(none[i], unpack(none[i], text, text_len, 100));
    expect_text("beside another", unpack("utf-8, gzip", bodies[0].bytes, bodies[0].len, MAX));
    assert_int_equal(unpack("compress", text, text_len, MAX).result, SN_UNPACK_BAD);
    assert_int_equal(got_len, 0);
}

static void finds_what_is_broken(void **state)
{
    (void)state;
    for (size_t i = 0; i < body_count; i++) {
        outcome out = unpack(bodies[i].name, "<html> this is not packed at all", 32, MAX);
        assert_int_equal(out.result, SN_UNPACK_BAD);
        assert_int_equal(got_len, 0);
    }
    uint8_t bytes[MAX];
    memcpy(bytes, bodies[0].bytes, bodies[0].len);
    bytes[bodies[0].len - 5] ^= 1;
    assert_int_equal(unpack("gzip", bytes, bodies[0].len, MAX).result, SN_UNPACK_BAD);
    /* More memory than a page may use. */
    if (strstr(sn_unpack_names(), "zstd") != NULL)
        assert_int_equal(unpack("zstd", by_zstd_wide, sizeof by_zstd_wide, MAX).result,
                         SN_UNPACK_BAD);
}

static void stops_when_it_is_enough(void **state)
{
    (void)state;
    got_max = 10;
    for (size_t i = 0; i < body_count; i++)
        assert_int_equal(unpack(bodies[i].name, bodies[i].bytes, bodies[i].len, MAX).result,
                         SN_UNPACK_ENOUGH);
    assert_int_equal(unpack("", text, text_len, MAX).result, SN_UNPACK_ENOUGH);
    got_max = SIZE_MAX;
}

/* Empty members, compressed again, are long and produce no output: the sink cannot stop them. */
static void bounds_what_gives_nothing(void **state)
{
    (void)state;
    enum { PARTS = 800 };
    uint8_t part[MAX], parts[MAX], packed[MAX];
    size_t len = compress_as(31, "", 0, part), packed_len;
    for (size_t i = 0; i < PARTS; i++)
        memcpy(parts + i * len, part, len);
    packed_len = compress_as(31, parts, PARTS * len, packed);
    sn_unpack u = {0};
    assert_true(sn_unpack_header(&u, "gzip, gzip", 10));
    got_len = 0;
    for (size_t between = PARTS * len; between <= SN_UNPACK_BETWEEN; between += PARTS * len)
        assert_int_equal(sn_unpack_feed(&u, (char *)packed, packed_len, keep, NULL), SN_UNPACK_OK);
    assert_int_equal(sn_unpack_feed(&u, (char *)packed, packed_len, keep, NULL), SN_UNPACK_BAD);
    assert_int_equal(got_len, 0);
    sn_unpack_begin(&u);
    /* Alone, it is as long as the received data. */
    assert_true(sn_unpack_header(&u, "gzip", 4));
    for (size_t fed = 0; fed <= 2 * SN_UNPACK_BETWEEN; fed += PARTS * len)
        assert_int_equal(sn_unpack_feed(&u, (char *)parts, PARTS * len, keep, NULL), SN_UNPACK_OK);
    sn_unpack_begin(&u);
}

/* A response contains nothing of the previous one. */
static void begins_again(void **state)
{
    (void)state;
    sn_unpack u = {0};
    assert_true(sn_unpack_header(&u, "gzip", 4));
    assert_true(sn_unpack_header(&u, "compress", 8));
    assert_int_equal(sn_unpack_feed(&u, "x", 1, keep, NULL), SN_UNPACK_BAD);
    sn_unpack_begin(&u);
    got_len = 0;
    assert_int_equal(sn_unpack_feed(&u, "x", 1, keep, NULL), SN_UNPACK_OK);
    assert_int_equal(got_len, 1);
    assert_true(sn_unpack_end(&u));
    sn_unpack_begin(&u);
}

int main(void)
{
    got_max = SIZE_MAX;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_encoding),
        cmocka_unit_test(knows_what_is_missing),
        cmocka_unit_test(gives_what_there_is),
        cmocka_unit_test(leaves_out_what_is_behind),
        cmocka_unit_test(reports_the_end),
        cmocka_unit_test(reads_parts_in_a_row),
        cmocka_unit_test(detects_frames),
        cmocka_unit_test(undoes_layers),
        cmocka_unit_test(passes_over_what_is_no_encoding),
        cmocka_unit_test(finds_what_is_broken),
        cmocka_unit_test(stops_when_it_is_enough),
        cmocka_unit_test(bounds_what_gives_nothing),
        cmocka_unit_test(begins_again),
    };
    return cmocka_run_group_tests(tests, make_bodies, NULL);
}
