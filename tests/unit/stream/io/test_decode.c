/* Decoders that do what no library does: a codec that this build lacks, frames that cannot begin
 * again, a step that does nothing. The formats themselves are in test_input. */
#include "test_stream.h"

/* The source itself, as a build without the libraries has it. */
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

/* A frame is the one byte 'F'; 'S' is stuck at. */
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

/* zstd by its name, so that zstd's frames are of its family. */
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

/* Nothing taken and nothing made of bytes that are there: no loop without an end. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_in_this_build),
        cmocka_unit_test(test_second_frame),
        cmocka_unit_test(test_stuck),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
