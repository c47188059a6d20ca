/* Inputs: plain and compressed, complete and truncated, files and pipes.
 * Needs: compression.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>

#include "stream/io/input.h"
#include "stream/io/output.h"
#include "test_stream.h"
#include <stddef.h>

/* One text, compressed by the tools of each format. */

#define PLAIN_TEXT "alpha\nbeta\ngamma\nalpha\r\n\nlast without newline"

typedef struct packed {
    const char *name;
    const unsigned char *bytes;
    size_t length;
} packed;

static const unsigned char gzip_bytes[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x4b, 0xcc, 0x29, 0xc8, 0x48, 0xe4,
    0x4a, 0x4a, 0x2d, 0x49, 0xe4, 0x4a, 0x4f, 0xcc, 0xcd, 0x4d, 0xe4, 0x4a, 0x04, 0x09, 0xf0, 0x72,
    0x71, 0xe5, 0x24, 0x16, 0x97, 0x28, 0x94, 0x67, 0x96, 0x64, 0xe4, 0x97, 0x96, 0x28, 0xe4, 0xa5,
    0x96, 0xe7, 0x64, 0xe6, 0xa5, 0x02, 0x00, 0xb0, 0x67, 0x12, 0x2a, 0x2d, 0x00, 0x00, 0x00};

static const unsigned char zstd_bytes[] = {
    0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x68, 0x69, 0x01, 0x00, 0x61, 0x6c, 0x70, 0x68, 0x61, 0x0a,
    0x62, 0x65, 0x74, 0x61, 0x0a, 0x67, 0x61, 0x6d, 0x6d, 0x61, 0x0a, 0x61, 0x6c, 0x70, 0x68,
    0x61, 0x0d, 0x0a, 0x0a, 0x6c, 0x61, 0x73, 0x74, 0x20, 0x77, 0x69, 0x74, 0x68, 0x6f, 0x75,
    0x74, 0x20, 0x6e, 0x65, 0x77, 0x6c, 0x69, 0x6e, 0x65, 0xf6, 0x61, 0xc7, 0x1c};

static const unsigned char xz_bytes[] = {
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21,
    0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0x01, 0x00, 0x2c, 0x61, 0x6c, 0x70,
    0x68, 0x61, 0x0a, 0x62, 0x65, 0x74, 0x61, 0x0a, 0x67, 0x61, 0x6d, 0x6d, 0x61, 0x0a, 0x61,
    0x6c, 0x70, 0x68, 0x61, 0x0d, 0x0a, 0x0a, 0x6c, 0x61, 0x73, 0x74, 0x20, 0x77, 0x69, 0x74,
    0x68, 0x6f, 0x75, 0x74, 0x20, 0x6e, 0x65, 0x77, 0x6c, 0x69, 0x6e, 0x65, 0x00, 0x00, 0x00,
    0x00, 0xd6, 0xcd, 0xd7, 0x54, 0xbe, 0x14, 0x8b, 0x4c, 0x00, 0x01, 0x45, 0x2d, 0x1e, 0x52,
    0x57, 0xe8, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a};

static const unsigned char bzip2_bytes[] = {
    0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x3b, 0xb6, 0x42, 0x07, 0x00, 0x00,
    0x06, 0x51, 0x80, 0x00, 0x12, 0x40, 0x00, 0x32, 0xe7, 0xce, 0x80, 0x20, 0x00, 0x31, 0x4d, 0x32,
    0x31, 0x31, 0x31, 0x08, 0x9e, 0x91, 0xa3, 0x47, 0xa8, 0xd1, 0xa0, 0xad, 0x14, 0x75, 0x0e, 0x54,
    0x3b, 0x64, 0xae, 0xc8, 0x58, 0x47, 0x69, 0xb0, 0x28, 0x44, 0x47, 0x30, 0x96, 0x99, 0xee, 0x25,
    0xeb, 0xf1, 0x77, 0x24, 0x53, 0x85, 0x09, 0x03, 0xbb, 0x64, 0x20, 0x70};

static const unsigned char lz4_bytes[] = {
    0x04, 0x22, 0x4d, 0x18, 0x64, 0x40, 0xa7, 0x2d, 0x00, 0x00, 0x80, 0x61, 0x6c, 0x70, 0x68, 0x61,
    0x0a, 0x62, 0x65, 0x74, 0x61, 0x0a, 0x67, 0x61, 0x6d, 0x6d, 0x61, 0x0a, 0x61, 0x6c, 0x70, 0x68,
    0x61, 0x0d, 0x0a, 0x0a, 0x6c, 0x61, 0x73, 0x74, 0x20, 0x77, 0x69, 0x74, 0x68, 0x6f, 0x75, 0x74,
    0x20, 0x6e, 0x65, 0x77, 0x6c, 0x69, 0x6e, 0x65, 0x00, 0x00, 0x00, 0x00, 0xd2, 0x62, 0x70, 0x7c};

static const packed packings[] = {
    {"gzip", gzip_bytes, sizeof gzip_bytes}, {"zstd", zstd_bytes, sizeof zstd_bytes},
    {"xz", xz_bytes, sizeof xz_bytes},       {"bzip2", bzip2_bytes, sizeof bzip2_bytes},
    {"lz4", lz4_bytes, sizeof lz4_bytes},
};

#define PACKINGS (sizeof packings / sizeof *packings)

/* Reads everything in pieces of up to `piece` bytes; files are joined by '|'. */
static seen_status read_all(sn_input *input, size_t piece, char *to, size_t room, size_t *length,
                            seen_error *error)
{
    size_t at = 0;
    for (;;) {
        size_t got;
        assert_in_range(at + piece, 0, room);
        seen_status status = sn_input_read(input, to + at, piece, &got, error);
        if (status != SEEN_OK)
            return status;
        at += got;
        if (got)
            continue;
        bool more;
        status = sn_input_next(input, &more, error);
        if (status != SEEN_OK || !more)
            break;
        to[at++] = '|';
    }
    *length = at;
    return SEEN_OK;
}

static void expect_bytes(const char *const *paths, size_t count, const void *bytes, size_t length)
{
    static const size_t pieces[] = {1, 3, 64, 70000};
    char *to = malloc(1 << 20);
    for (size_t i = 0; i < 4; i++) {
        sn_input *input;
        seen_error error = {0};
        size_t got = 0;
        assert_int_equal(sn_input_open(paths, count, NULL, &input, &error), SEEN_OK);
        seen_status status = read_all(input, pieces[i], to, 1 << 20, &got, &error);
        assert_string_equal(error.message, "");
        assert_int_equal(status, SEEN_OK);
        assert_int_equal(got, length);
        if (length)
            assert_memory_equal(to, bytes, length);
        sn_input_close(input);
    }
    free(to);
}

static void expect_failure(const char *path, seen_status wanted, const char *words)
{
    sn_input *input = NULL;
    seen_error error = {0};
    char *to = malloc(1 << 20);
    size_t got;
    seen_status status = sn_input_open(&path, 1, NULL, &input, &error);
    if (status == SEEN_OK)
        status = read_all(input, 1000, to, 1 << 20, &got, &error);
    assert_int_equal(status, wanted);
    assert_int_equal(error.status, wanted);
    assert_non_null(strstr(error.message, path));
    if (!strstr(error.message, words))
        fail_msg("'%s' does not say '%s'", error.message, words);
    sn_input_close(input);
    free(to);
}

static void test_plain(void **state)
{
    (void)state;
    const char *path = scratch("plain");
    write_file(path, PLAIN_TEXT, sizeof PLAIN_TEXT - 1);
    expect_bytes(&path, 1, PLAIN_TEXT, sizeof PLAIN_TEXT - 1);
    write_file(path, "", 0);
    expect_bytes(&path, 1, "", 0);
    /* Prefixes of magic numbers, and similar bytes, are lines. */
    static const char *const lookalikes[] = {"B",        "BZh",          "BZh9 is no bzip2", "\x1f",
                                             "\x1f\x8b", "\x28\xb5\x2f", "\x04\x22M"};
    for (size_t i = 0; i < sizeof lookalikes / sizeof *lookalikes; i++) {
        write_file(path, lookalikes[i], strlen(lookalikes[i]));
        expect_bytes(&path, 1, lookalikes[i], strlen(lookalikes[i]));
    }
}

static void test_several(void **state)
{
    (void)state;
    const char *paths[3] = {scratch("one"), scratch("two"), scratch("three")};
    write_file(paths[0], "a\nb", 3);
    write_file(paths[1], "", 0);
    write_file(paths[2], packings[0].bytes, packings[0].length);
    expect_bytes(paths, 3, "a\nb||" PLAIN_TEXT, sizeof("a\nb||" PLAIN_TEXT) - 1);
}

static void test_compressed(void **state)
{
    (void)state;
    for (size_t i = 0; i < PACKINGS; i++) {
        const char *path = scratch("packed");
        write_file(path, packings[i].bytes, packings[i].length);
        expect_bytes(&path, 1, PLAIN_TEXT, sizeof PLAIN_TEXT - 1);
    }
}

/* Several consecutive frames are one text. */
static void test_frames(void **state)
{
    (void)state;
    for (size_t i = 0; i < PACKINGS; i++) {
        size_t n = packings[i].length;
        unsigned char *three = malloc(3 * n);
        for (size_t k = 0; k < 3; k++)
            memcpy(three + k * n, packings[i].bytes, n);
        const char *path = scratch("frames");
        write_file(path, three, 3 * n);
        static const char wanted[] = PLAIN_TEXT PLAIN_TEXT PLAIN_TEXT;
        expect_bytes(&path, 1, wanted, sizeof wanted - 1);
        free(three);
    }
}

static void test_cut_short(void **state)
{
    (void)state;
    for (size_t i = 0; i < PACKINGS; i++)
        for (size_t n = 11; n < packings[i].length; n++) {
            const char *path = scratch("cut");
            write_file(path, packings[i].bytes, n);
            expect_failure(path, SEEN_ERR_FORMAT, packings[i].name);
        }
}

static void test_something_behind(void **state)
{
    (void)state;
    for (size_t i = 0; i < PACKINGS; i++) {
        size_t n = packings[i].length;
        unsigned char *more = malloc(n + 20);
        memcpy(more, packings[i].bytes, n);
        memcpy(more + n, "trailing garbage....", 20);
        const char *path = scratch("behind");
        write_file(path, more, n + 20);
        expect_failure(path, SEEN_ERR_FORMAT, "unexpected data after");
        /* One byte, and one that could begin another frame, and then nothing. */
        write_file(path, more, n + 1);
        expect_failure(path, SEEN_ERR_FORMAT, "unexpected data after");
        more[n] = packings[i].bytes[0];
        write_file(path, more, n + 1);
        expect_failure(path, SEEN_ERR_FORMAT, "unexpected data after");
        free(more);
    }
    /* Trailing zeros (from tapes and disks) after a gzip file are ignored, as gzip does. */
    unsigned char *padded = calloc(1, packings[0].length + 512);
    memcpy(padded, packings[0].bytes, packings[0].length);
    const char *path = scratch("padded");
    write_file(path, padded, packings[0].length + 512);
    expect_bytes(&path, 1, PLAIN_TEXT, sizeof PLAIN_TEXT - 1);
    free(padded);
}

/* Zero padding after and between the streams of xz comes in multiples of four, as for its own
 * tool. */
static void test_xz_padding(void **state)
{
    (void)state;
    size_t i = 0;
    while (strcmp(packings[i].name, "xz") != 0)
        i++;
    size_t n = packings[i].length;
    for (size_t zeros = 0; zeros <= 8; zeros++) {
        unsigned char *two = calloc(1, 2 * (n + zeros));
        memcpy(two, packings[i].bytes, n);
        memcpy(two + n + zeros, packings[i].bytes, n);
        const char *path = scratch("fours");
        static const char wanted[] = PLAIN_TEXT PLAIN_TEXT;
        for (size_t behind = 0; behind <= zeros; behind += zeros ? zeros : 1) {
            write_file(path, two, 2 * n + zeros + behind);
            if (zeros % 4 == 0)
                expect_bytes(&path, 1, wanted, sizeof wanted - 1);
            else
                expect_failure(path, SEEN_ERR_FORMAT, "unexpected data after");
        }
        write_file(path, two, n + zeros);
        if (zeros % 4 == 0)
            expect_bytes(&path, 1, PLAIN_TEXT, sizeof PLAIN_TEXT - 1);
        else
            expect_failure(path, SEEN_ERR_FORMAT, "unexpected data after");
        free(two);
    }
}

/* Every bit flipped: an error or, if the format has no checksum over it, some text; never a crash.
 * gzip, zstd, xz and bzip2 have a checksum over the text. */
static void test_damaged(void **state)
{
    (void)state;
    char *to = malloc(1 << 20);
    for (size_t i = 0; i < PACKINGS; i++)
        for (size_t bit = 0; bit < packings[i].length * 8; bit++) {
            unsigned char bytes[400];
            memcpy(bytes, packings[i].bytes, packings[i].length);
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            const char *path = scratch("damaged");
            write_file(path, bytes, packings[i].length);
            sn_input *input;
            seen_error error = {0};
            size_t got = 0;
            assert_int_equal(sn_input_open(&path, 1, NULL, &input, &error), SEEN_OK);
            seen_status status = read_all(input, 4096, to, 1 << 20, &got, &error);
            if (status == SEEN_OK && sn_input_is_compressed(input) &&
                strcmp(packings[i].name, "lz4") != 0) {
                assert_int_equal(got, sizeof PLAIN_TEXT - 1);
                assert_memory_equal(to, PLAIN_TEXT, got);
            }
            sn_input_close(input);
        }
    free(to);
}

static void test_refused(void **state)
{
    (void)state;
    expect_failure(scratch("missing"), SEEN_ERR_NOT_FOUND, "No such file");
    expect_failure(scratch_dir, SEEN_ERR_ARGUMENT, "folder");
    sn_input *input;
    seen_error error;
    const char *nasty = "no\nsuch\x1b[2Jfile";
    assert_int_equal(sn_input_open(&nasty, 1, NULL, &input, &error), SEEN_ERR_NOT_FOUND);
    assert_null(strchr(error.message, '\n'));
    assert_null(strchr(error.message, '\x1b'));
}

/* A file that this user may not read is reported before any work is done. */
static void test_forbidden(void **state)
{
    (void)state;
    write_file(scratch("sealed"), "a\n", 2);
    assert_int_equal(chmod(scratch("sealed"), 0), 0);
    /* As another user: root may read everything. */
    uid_t user = getuid();
    if (user == 0)
        assert_int_equal(setreuid(65534, (uid_t)-1), 0);
    const char *path = scratch("sealed");
    sn_input *input = NULL;
    seen_error error = {0};
    seen_status status = sn_input_open(&path, 1, NULL, &input, &error);
    if (user == 0)
        assert_int_equal(setreuid(0, (uid_t)-1), 0);
    assert_int_equal(status, SEEN_ERR_PERMISSION);
    assert_null(input);
    assert_non_null(strstr(error.message, "Permission denied"));
}

static void test_reread(void **state)
{
    (void)state;
    const char *path = scratch("again");
    char to[100];
    size_t got;
    sn_input *input;
    seen_error error;
    write_file(path, "one\n", 4);
    assert_int_equal(sn_input_open(&path, 1, NULL, &input, NULL), SEEN_OK);
    assert_true(sn_input_can_reread(input));
    assert_int_equal(sn_input_size(input), 4);
    for (int pass = 0; pass < 3; pass++) {
        assert_int_equal(read_all(input, 10, to, sizeof to, &got, NULL), SEEN_OK);
        assert_int_equal(got, 4);
        assert_int_equal(sn_input_position(input), 4);
        assert_int_equal(sn_input_rewind(input, NULL), SEEN_OK);
    }
    /* Modified between the passes: longer, and of the same length. */
    write_file(path, "one\ntwo\n", 8);
    assert_int_equal(sn_input_rewind(input, &error), SEEN_ERR_CHANGED);
    assert_non_null(strstr(error.message, path));
    sn_input_close(input);

    assert_int_equal(sn_input_open(&path, 1, NULL, &input, NULL), SEEN_OK);
    assert_int_equal(read_all(input, 10, to, sizeof to, &got, NULL), SEEN_OK);
    usleep(20000); /* file systems have a coarse clock */
    write_file(path, "two\none\n", 8);
    assert_int_equal(sn_input_rewind(input, &error), SEEN_ERR_CHANGED);
    sn_input_close(input);

    /* Modified during the second pass. */
    assert_int_equal(sn_input_open(&path, 1, NULL, &input, NULL), SEEN_OK);
    assert_int_equal(read_all(input, 10, to, sizeof to, &got, NULL), SEEN_OK);
    assert_int_equal(sn_input_rewind(input, NULL), SEEN_OK);
    assert_int_equal(sn_input_read(input, to, 3, &got, NULL), SEEN_OK);
    usleep(20000);
    write_file(path, "six\nten\n", 8);
    assert_int_equal(read_all(input, 10, to, sizeof to, &got, &error), SEEN_ERR_CHANGED);
    sn_input_close(input);
}

/* Standard input that is positioned inside a file starts there, also the second time. */
static void test_redirected(void **state)
{
    (void)state;
    const char *path = scratch("redirected");
    write_file(path, "head\nbody\n", 10);
    int saved = dup(STDIN_FILENO), fd = open(path, O_RDONLY);
    dup2(fd, STDIN_FILENO);
    lseek(STDIN_FILENO, 5, SEEK_SET);
    sn_input *input;
    char to[100];
    size_t got;
    assert_int_equal(sn_input_open(NULL, 0, NULL, &input, NULL), SEEN_OK);
    assert_int_equal(sn_input_size(input), 5);
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(read_all(input, 10, to, sizeof to, &got, NULL), SEEN_OK);
        assert_int_equal(got, 5);
        assert_memory_equal(to, "body\n", 5);
        assert_int_equal(sn_input_rewind(input, NULL), SEEN_OK);
    }
    assert_string_equal(sn_input_name(input, 0), "standard input");
    sn_input_close(input);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(fd);
}

typedef struct feeder {
    int fd;
    const unsigned char *bytes;
    size_t length;
} feeder;

static void *feed(void *argument)
{
    feeder *f = argument;
    for (size_t at = 0; at < f->length; at++)
        assert_int_equal(write(f->fd, f->bytes + at, 1), 1);
    close(f->fd);
    return NULL;
}

/* A pipe that delivers one byte at a time. */
static void test_pipe(void **state)
{
    (void)state;
    for (size_t i = 0; i <= PACKINGS; i++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        feeder f = {ends[1], (const unsigned char *)PLAIN_TEXT, sizeof PLAIN_TEXT - 1};
        if (i < PACKINGS)
            f = (feeder){ends[1], packings[i].bytes, packings[i].length};
        int saved = dup(STDIN_FILENO);
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        pthread_t thread;
        pthread_create(&thread, NULL, feed, &f);
        sn_input *input;
        char to[1000];
        size_t got;
        uint64_t lines, bytes;
        assert_int_equal(sn_input_open(NULL, 0, NULL, &input, NULL), SEEN_OK);
        assert_false(sn_input_can_reread(input));
        assert_true(sn_input_size(input) == UINT64_MAX);
        assert_int_equal(sn_input_estimate(input, '\n', &lines, &bytes, NULL), SEEN_OK);
        assert_true(lines == UINT64_MAX);
        assert_int_equal(read_all(input, 100, to, sizeof to, &got, NULL), SEEN_OK);
        assert_int_equal(got, sizeof PLAIN_TEXT - 1);
        assert_memory_equal(to, PLAIN_TEXT, got);
        assert_int_equal(sn_input_rewind(input, NULL), SEEN_ERR_ARGUMENT);
        sn_input_close(input);
        pthread_join(thread, NULL);
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
}

static void *stop_soon(void *argument)
{
    usleep(50000);
    sn_stop_set(argument, SN_STOP_REQUESTED);
    return NULL;
}

static void test_stop_wakes_a_reader(void **state)
{
    (void)state;
    sn_stop stop;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(sn_stop_init(&stop, NULL), SEEN_OK);
    int saved = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    sn_input *input;
    char to[10];
    size_t got = 7;
    assert_int_equal(sn_input_open(NULL, 0, &stop, &input, NULL), SEEN_OK);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(sn_input_read(input, to, 10, &got, NULL), SEEN_OK);
    assert_int_equal(got, 1);
    assert_true(sn_input_would_wait(input));
    pthread_t thread;
    pthread_create(&thread, NULL, stop_soon, &stop);
    assert_int_equal(sn_input_read(input, to, 10, &got, NULL), SEEN_OK);
    assert_int_equal(got, 0);
    assert_true(sn_input_stopped(input));
    pthread_join(thread, NULL);
    sn_input_close(input);
    sn_stop_free(&stop);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(ends[0]);
    close(ends[1]);
}

static void test_estimate(void **state)
{
    (void)state;
    /* Short lines first, then long ones: a sample of the beginning alone would be far off. */
    const char *path = scratch("estimate");
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 200000; i++)
        fprintf(file, i < 20000 ? "%d\n" : "a rather long line with the number %d in it\n", i);
    fclose(file);
    sn_input *input;
    uint64_t lines, bytes;
    assert_int_equal(sn_input_open(&path, 1, NULL, &input, NULL), SEEN_OK);
    assert_int_equal(sn_input_estimate(input, '\n', &lines, &bytes, NULL), SEEN_OK);
    assert_in_range(lines, 170000, 230000);
    assert_in_range(bytes, sn_input_size(input) - 10, sn_input_size(input) + 10);
    assert_false(sn_input_is_compressed(input));
    sn_input_close(input);
    path = scratch("packed");
    write_file(path, packings[1].bytes, packings[1].length);
    assert_int_equal(sn_input_open(&path, 1, NULL, &input, NULL), SEEN_OK);
    assert_int_equal(sn_input_estimate(input, '\n', &lines, &bytes, NULL), SEEN_OK);
    assert_in_range(lines, 5, 7);
    assert_true(sn_input_is_compressed(input));
    sn_input_close(input);
}

static void write_lines(const char *path, size_t count, size_t length)
{
    FILE *file = fopen(path, "w");
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%0*zu\n", (int)length - 1, i % 10);
    assert_int_equal(fclose(file), 0);
}

static uint64_t estimate_of(const char *const *paths, size_t count)
{
    sn_input *input;
    uint64_t lines, bytes;
    assert_int_equal(sn_input_open(paths, count, NULL, &input, NULL), SEEN_OK);
    assert_int_equal(sn_input_estimate(input, '\n', &lines, &bytes, NULL), SEEN_OK);
    sn_input_close(input);
    return lines;
}

/* Each file is estimated from its own lines and its size: small files next to a large one, or a
 * compressed one next to a plain one, say nothing about the lines of the other. */
static void test_estimate_of_unlike_files(void **state)
{
    (void)state;
    enum { SMALL = 50 };
    char names[SMALL + 1][64];
    const char *paths[SMALL + 1];
    for (size_t i = 0; i <= SMALL; i++) {
        snprintf(names[i], sizeof names[i], "%.40s/unlike-%zu", scratch_dir, i);
        paths[i] = names[i];
        write_lines(paths[i], i ? 2000 : 200000, i ? 2 : 100);
    }
    /* 200,000 long lines and 2,000 short ones, then 28,000, then 100,000. */
    assert_in_range(estimate_of(paths, 2), 199000, 205000);
    assert_in_range(estimate_of(paths, 15), 225000, 231000);
    assert_in_range(estimate_of(paths, SMALL + 1), 190000, 310000);
    write_file(paths[1], packings[1].bytes, packings[1].length);
    assert_in_range(estimate_of(paths, 2), 198000, 202000);
}

/* One repeated line first, then random ones. */
static void write_packed(const char *path, size_t same, size_t others)
{
    sn_output *output;
    char line[64];
    assert_int_equal(sn_output_open(path, '\n', NULL, &output, NULL), SEEN_OK);
    for (size_t i = 0; i < same + others; i++) {
        uint64_t a = i < same ? 0 : random_next(), b = i < same ? 0 : random_next();
        int len = snprintf(line, sizeof line, "%016llx%016llx\n", (unsigned long long)a,
                           (unsigned long long)b);
        assert_int_equal(sn_output_write(output, line, (size_t)len, NULL), SEEN_OK);
    }
    assert_int_equal(sn_output_finish(output, NULL), SEEN_OK);
}

/* The ratio of a beginning that compresses a thousand times better than the rest is not used for
 * all of it. */
static void test_estimate_of_a_dull_front(void **state)
{
    (void)state;
    enum { OTHERS = 100000 };
    static const size_t same[] = {40000, 1000000}; /* 1.3 and 33 MB */
    const char *path = scratch("dull.zst");
    for (size_t i = 0; i < 2; i++) {
        write_packed(path, same[i], OTHERS);
        sn_input *input;
        uint64_t lines, bytes;
        assert_int_equal(sn_input_open(&path, 1, NULL, &input, NULL), SEEN_OK);
        assert_int_equal(sn_input_estimate(input, '\n', &lines, &bytes, NULL), SEEN_OK);
        if (i == 0)
            assert_in_range(lines, OTHERS, 20 * OTHERS);
        else /* nothing of the rest was sampled */
            assert_in_range(lines, 100 * OTHERS, UINT64_MAX - 1);
        assert_in_range(sn_input_room(input, lines, bytes, true), OTHERS, 20 * OTHERS);
        assert_in_range(sn_input_room(input, lines, bytes, false), lines, UINT64_MAX - 1);
        sn_input_close(input);
    }
}

static void test_same_file(void **state)
{
    (void)state;
    const char *path = scratch("same"), *link_path = scratch("link");
    write_file(path, "x\n", 2);
    assert_int_equal(symlink(path, link_path), 0);
    sn_input *input;
    assert_int_equal(sn_input_open(&path, 1, NULL, &input, NULL), SEEN_OK);
    const char *places[] = {path, link_path, scratch_dir, "/dev/null"};
    for (size_t i = 0; i < 4; i++) {
        int fd = open(places[i], O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        const char *name = sn_input_same_file(input, fd);
        close(fd);
        if (i < 2)
            assert_string_equal(name, path);
        else
            assert_null(name);
    }
    assert_null(sn_input_same_file(input, -1));
    sn_input_close(input);
}

static int run_input(void)
{
    seed_from_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_something_behind),
        cmocka_unit_test(test_xz_padding),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_forbidden),
        cmocka_unit_test(test_reread),
        cmocka_unit_test(test_redirected),
        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_stop_wakes_a_reader),
        cmocka_unit_test(test_estimate),
        cmocka_unit_test(test_estimate_of_unlike_files),
        cmocka_unit_test(test_estimate_of_a_dull_front),
        cmocka_unit_test(test_same_file),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

/* ---- input_faults ---- */

/* Inputs whose descriptor fails, or that are stopped in the middle of a read. */

static bool fstat_fails, lseek_fails;
static void (*before_read)(void);

static int faulty_fstat(int fd, struct stat *at)
{
    errno = EIO;
    return fstat_fails ? -1 : fstat(fd, at);
}

static off_t faulty_lseek(int fd, off_t to, int from)
{
    errno = EIO;
    return lseek_fails ? -1 : lseek(fd, to, from);
}

static ssize_t faulty_read(int fd, void *to, size_t len)
{
    if (!before_read)
        return read(fd, to, len);
    before_read();
    errno = EAGAIN;
    return -1;
}

/* Includes the source, with calls that fail on demand. */
#define fstat faulty_fstat
#define lseek faulty_lseek
#define read faulty_read
#include "stream/io/input.c"
#undef fstat
#undef lseek
#undef read

static sn_stop stop;

static void stop_now(void)
{
    sn_stop_set(&stop, SN_STOP_REQUESTED);
}

static void test_no_descriptor(void **state)
{
    (void)state;
    sn_input *input = NULL;
    seen_error error = {0};
    assert_int_not_equal(sn_input_open_fd(-1, "a list", NULL, &input, &error), SEEN_OK);
    assert_non_null(strstr(error.message, "cannot read a list"));
    assert_null(input);
}

static void test_no_identity(void **state)
{
    (void)state;
    const char *path = scratch("in");
    write_file(path, "a\n", 2);
    sn_input *input;
    seen_error error = {0};
    char to[8];
    size_t got;
    assert_int_equal(sn_input_open(&path, 1, NULL, &input, NULL), SEEN_OK);
    fstat_fails = true;
    assert_int_equal(sn_input_read(input, to, sizeof to, &got, &error), SEEN_ERR_IO);
    fstat_fails = false;
    assert_non_null(strstr(error.message, "cannot read "));
    sn_input_close(input);
}

static void test_no_way_back(void **state)
{
    (void)state;
    write_file(scratch("in"), "a\n", 2);
    int file = open(scratch("in"), O_RDONLY), saved = dup(STDIN_FILENO);
    assert_true(file >= 0 && saved >= 0 && dup2(file, STDIN_FILENO) == STDIN_FILENO);
    sn_input *input;
    seen_error error = {0};
    char to[8];
    size_t got;
    assert_int_equal(sn_input_open(NULL, 0, NULL, &input, NULL), SEEN_OK);
    assert_int_equal(sn_input_read(input, to, sizeof to, &got, &error), SEEN_OK);
    assert_int_equal(got, 2);
    lseek_fails = true;
    assert_int_equal(sn_input_rewind(input, &error), SEEN_ERR_IO);
    lseek_fails = false;
    assert_non_null(strstr(error.message, "cannot read again standard input"));
    assert_int_equal(sn_input_rewind(input, &error), SEEN_OK);
    sn_input_close(input);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(file);
}

/* A descriptor that was reported as readable has no data, and a stop occurs in between. */
static void test_stop_in_a_read(void **state)
{
    (void)state;
    const char *path = scratch("in");
    write_file(path, "a\n", 2);
    sn_input *input;
    char to[8];
    size_t got = 9;
    assert_int_equal(sn_stop_init(&stop, NULL), SEEN_OK);
    assert_int_equal(sn_input_open(&path, 1, &stop, &input, NULL), SEEN_OK);
    before_read = stop_now;
    assert_int_equal(sn_input_read(input, to, sizeof to, &got, NULL), SEEN_OK);
    before_read = NULL;
    assert_int_equal(got, 0);
    assert_true(sn_input_stopped(input));
    sn_input_close(input);
    sn_stop_free(&stop);
}

static int run_input_faults(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_descriptor),
        cmocka_unit_test(test_no_identity),
        cmocka_unit_test(test_no_way_back),
        cmocka_unit_test(test_stop_in_a_read),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

int main(void)
{
    int status[] = {run_input(), run_input_faults()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
