/* Blocks of whole lines: long lines, freeing their memory, and a stop between two bytes. */
#include <pthread.h>

#include "stream/io/reader.h"
#include "test_stream.h"

enum { SIZE = 4096, LONG = 3 << 20 };

static sn_input *open_file(const char *path)
{
    sn_input *input;
    assert_int_equal(sn_input_open(&path, 1, NULL, &input, NULL), SEEN_OK);
    return input;
}

/* A line of megabytes uses memory for itself only. */
static void test_long_line_gives_memory_back(void **state)
{
    (void)state;
    size_t length = 0;
    char *text = malloc(LONG + 100000);
    memset(text, 'x', LONG);
    text[LONG - 1] = '\n';
    for (length = LONG; length < LONG + 90000;)
        length += (size_t)sprintf(text + length, "line %zu\n", length);
    write_file(scratch("long"), text, length);

    sn_input *input = open_file(scratch("long"));
    sn_reader reader;
    sn_block block;
    sn_block_init(&block, '\n');
    sn_reader_init(&reader, input, SIZE, LONG, '\n');
    size_t at = 0, blocks = 0;
    for (bool got;; blocks++) {
        block.number = 77;
        assert_int_equal(sn_reader_fill(&reader, &block, &got, NULL), SEEN_OK);
        if (!got)
            break;
        assert_int_equal(block.offset, at);
        assert_memory_equal(block.bytes, text + at, block.length);
        assert_int_equal(block.bytes[block.length - 1], '\n');
        at += block.length;
        if (blocks > 0)
            assert_in_range(block.capacity, 1, 8 * SIZE);
        assert_int_equal(block.number, 77);
    }
    assert_int_equal(at, length);
    assert_in_range(blocks, 20, 200);
    sn_reader_free(&reader);
    sn_block_free(&block);
    sn_input_close(input);
    free(text);
}

/* If a block ends inside a line, the rest of it is in the next one. */
static void test_lines_over_blocks(void **state)
{
    (void)state;
    enum { TEXT = 30000 };
    static char text[TEXT];
    for (size_t i = 0; i < TEXT; i++)
        text[i] = random_below(20) ? (char)('a' + random_below(26)) : '\n';
    write_file(scratch("lines"), text, TEXT);
    for (size_t size = 1; size < SIZE; size += 1 + size / 3) {
        sn_input *input = open_file(scratch("lines"));
        sn_reader reader;
        sn_block block;
        size_t at = 0;
        sn_block_init(&block, '\n');
        sn_reader_init(&reader, input, size, 0, '\n');
        for (bool got;; at += block.length) {
            assert_int_equal(sn_reader_fill(&reader, &block, &got, NULL), SEEN_OK);
            if (!got)
                break;
            assert_int_equal(block.offset, at);
            assert_in_range(block.length, 1, TEXT - at);
            assert_memory_equal(block.bytes, text + at, block.length);
            assert_true(block.bytes[block.length - 1] == '\n' || at + block.length == TEXT);
        }
        assert_int_equal(at, TEXT);
        sn_reader_free(&reader);
        sn_block_free(&block);
        sn_input_close(input);
    }
}

/* Too long by one byte, with and without a terminator. */
static void test_too_long(void **state)
{
    (void)state;
    char text[SIZE * 3];
    memset(text, 'x', sizeof text);
    for (int ended = 0; ended < 2; ended++)
        for (size_t most = SIZE * 2; most <= SIZE * 2 + 2; most++) {
            size_t length = SIZE * 2 + 1;
            text[length] = '\n';
            write_file(scratch("edge"), text, length + (size_t)ended);
            text[length] = 'x';
            sn_input *input = open_file(scratch("edge"));
            sn_reader reader;
            sn_block block;
            bool got = false;
            seen_error error = {0};
            sn_block_init(&block, '\n');
            sn_reader_init(&reader, input, SIZE, most, '\n');
            seen_status status = sn_reader_fill(&reader, &block, &got, &error);
            if (length > most) {
                assert_int_equal(status, SEEN_ERR_ARGUMENT);
                assert_non_null(strstr(error.message, "edge"));
            } else {
                assert_int_equal(status, SEEN_OK);
                assert_true(got);
                assert_int_equal(block.length, length + (size_t)ended);
            }
            sn_reader_free(&reader);
            sn_block_free(&block);
            sn_input_close(input);
        }
}

static void *stop_soon(void *stop)
{
    usleep(20000);
    sn_stop_set(stop, SN_STOP_REQUESTED);
    return NULL;
}

/* Waiting for a pipe, then stopped: an incomplete line is not returned. */
static void test_stop_while_waiting(void **state)
{
    (void)state;
    static const char *const SENT[] = {"half a li", "one\ntwo\nhalf a li"};
    for (int i = 0; i < 2; i++) {
        int ends[2];
        sn_stop stop;
        sn_input *input;
        pthread_t thread;
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], SENT[i], strlen(SENT[i])), strlen(SENT[i]));
        assert_int_equal(sn_stop_init(&stop, NULL), SEEN_OK);
        char name[64];
        const char *path = name;
        snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
        assert_int_equal(sn_input_open(&path, 1, &stop, &input, NULL), SEEN_OK);
        assert_int_equal(pthread_create(&thread, NULL, stop_soon, &stop), 0);
        sn_reader reader;
        sn_block block;
        bool got = true;
        size_t given = 0;
        sn_block_init(&block, '\n');
        sn_reader_init(&reader, input, SIZE, SIZE, '\n');
        while (got) {
            assert_int_equal(sn_reader_fill(&reader, &block, &got, NULL), SEEN_OK);
            given += got ? block.length : 0;
        }
        assert_int_equal(given, i ? 8 : 0);
        assert_true(sn_input_stopped(input));
        pthread_join(thread, NULL);
        sn_reader_free(&reader);
        sn_block_free(&block);
        sn_input_close(input);
        sn_stop_free(&stop);
        close(ends[0]);
        close(ends[1]);
    }
}

static int run_reader(void)
{
    seed_from_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_line_gives_memory_back),
        cmocka_unit_test(test_lines_over_blocks),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_stop_while_waiting),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

/* ---- decode ---- */

/* Decoders with behaviour that no library has: a codec not compiled in, frames that cannot be
 * restarted, a step without progress. The formats themselves are in test_input. */

/* Includes the source, configured without the libraries. */
#undef SEEN_WITH_COMPRESSION
#include "stream/io/decode.c"

static bool opens;
static bool resets;

static bool fake_open(sn_decoder *d)
{
    (void)d;
    return opens;
}

static bool fake_reset(sn_decoder *d)
{
    (void)d;
    return resets;
}

/* A frame is the single byte 'F'; 'S' makes no progress. */
static step_result fake_step(sn_decoder *d, const uint8_t *in, size_t length, size_t *used,
                             uint8_t *to, size_t room, size_t *made)
{
    (void)d;
    *used = *made = 0;
    if (!length || !room || *in == 'S')
        return STEP_ON;
    *used = *made = 1;
    *to = 'f';
    return STEP_END;
}

static void fake_close(sn_decoder *d)
{
    (void)d;
}

/* Named zstd, so that frames of zstd belong to it. */
static const sn_codec FAKE = {"zstd", {0}, 0, NONE, fake_open, fake_reset, fake_step, fake_close};
static const sn_codec ONCE = {"zstd", {0}, 0, NONE, fake_open, NULL, fake_step, fake_close};

static sn_decoder *open_fake(const sn_codec *codec)
{
    sn_decoder *d = NULL;
    opens = true;
    assert_int_equal(sn_decoder_open(codec, "file", &d, NULL), SEEN_OK);
    return d;
}

static seen_status step(sn_decoder *d, const char *bytes, bool last, seen_error *error)
{
    uint8_t to[8];
    size_t used, made;
    return sn_decoder_step(d, (const uint8_t *)bytes, strlen(bytes), &used, last, to, sizeof to,
                           &made, error);
}

static void test_not_in_this_build(void **state)
{
    (void)state;
    sn_decoder *d = NULL;
    seen_error error = {0};
    bool undecided;
    const sn_codec *gzip = sn_decode_detect((const uint8_t *)"\x1f\x8b\x08", 3, &undecided);
    assert_non_null(gzip);
    assert_int_equal(sn_decoder_open(gzip, "file", &d, &error), SEEN_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "file is compressed with gzip"));
    opens = false;
    assert_int_equal(sn_decoder_open(&FAKE, "file", &d, &error), SEEN_ERR_MEMORY);
    assert_null(d);
}

static void test_second_frame(void **state)
{
    (void)state;
    const char *const second = "\x28\xb5\x2f\xfd";
    seen_error error = {0};
    sn_decoder *d = open_fake(&FAKE);
    resets = true;
    assert_int_equal(step(d, "F", false, &error), SEEN_OK);
    assert_int_equal(step(d, second, false, &error), SEEN_OK);
    assert_int_equal(step(d, "", false, &error), SEEN_OK);
    sn_decoder_close(d);
    d = open_fake(&FAKE);
    resets = false;
    assert_int_equal(step(d, "F", false, &error), SEEN_OK);
    assert_int_equal(step(d, second, false, &error), SEEN_ERR_MEMORY);
    assert_non_null(strstr(error.message, "file: decompressing this "));
    sn_decoder_close(d);
    d = open_fake(&ONCE);
    assert_int_equal(step(d, "F", false, &error), SEEN_OK);
    assert_int_equal(step(d, second, false, &error), SEEN_ERR_FORMAT);
    assert_non_null(strstr(error.message, "unexpected data after"));
    sn_decoder_close(d);
}

/* No progress with input left: no endless loop. */
static void test_stuck(void **state)
{
    (void)state;
    seen_error error = {0};
    sn_decoder *d = open_fake(&FAKE);
    assert_int_equal(step(d, "S", false, &error), SEEN_ERR_FORMAT);
    assert_non_null(strstr(error.message, "is damaged"));
    assert_int_equal(step(d, "", false, &error), SEEN_OK);
    assert_int_equal(step(d, "", true, &error), SEEN_ERR_FORMAT);
    assert_non_null(strstr(error.message, "ends too early"));
    sn_decoder_close(d);
}

static int run_decode(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_in_this_build),
        cmocka_unit_test(test_second_frame),
        cmocka_unit_test(test_stuck),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    int status[] = {run_reader(), run_decode()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
