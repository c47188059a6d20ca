/* The image: encoding and decoding; damaged, foreign or invalid pages are refused. */
#include "test_trust.h"

#include "base/bytes.h"
#include "hash/hash.h"
#include "set/image.h"
#include "set/layers.h"

static sn_image sample_image(seen_growth growth)
{
    seen_options options = plain_options(SEEN_BLOOM, growth, 1000, 0.01);
    options.window_seconds = growth == SEEN_WINDOW ? 3600 : 0;
    sn_image image;
    OK(sn_layers_begin(&options, &image, error));
    memcpy(image.seed, options.seed, sizeof image.seed);
    if (growth == SEEN_GROWING) {
        OK(sn_layers_next(&image, &image.layer[1], error));
        image.layers = 2;
        image.current = 1;
        sn_image_lay_out(&image);
    }
    return image;
}

static void seal(unsigned char page[SN_IMAGE_BYTES])
{
    sn_store64(page + SN_IMAGE_BYTES - 8, sn_hash_checksum(page, SN_IMAGE_BYTES - 8));
}

static void test_round_trip(void **state)
{
    (void)state;
    for (int growth = 0; growth < 3; growth++) {
        sn_image image = sample_image((seen_growth)growth), back;
        unsigned char page[SN_IMAGE_BYTES], again[SN_IMAGE_BYTES];
        const char *why = NULL;
        uint64_t end = sn_image_end(&image);
        assert_int_equal(end, sn_image_lay_out(&image));
        assert_int_equal(end % 4096, 0);
        sn_image_encode(&image, page);
        assert_true(sn_image_decode(page, end, &back, &why));
        assert_true(sn_image_decode(page, 0, &back, &why));
        sn_image_encode(&back, again);
        assert_memory_equal(page, again, sizeof page);
        assert_int_equal(back.capacity, image.capacity);
        assert_int_equal(back.layers, image.layers);
        assert_int_equal(back.layer[0].geometry.shard_lines, image.layer[0].geometry.shard_lines);
        /* One byte short of the last line is truncated. */
        const sn_layer *last = &image.layer[image.layers - 1];
        uint64_t need = last->offset + sn_geometry_bytes(&last->geometry);
        if (growth != SEEN_GROWING) /* created with a multiple of 4096 bytes */
            need = end;
        assert_true(sn_image_decode(page, need, &back, &why));
        assert_false(sn_image_decode(page, need - 1, &back, &why));
        assert_non_null(strstr(why, "truncated"));
    }
}

static void test_every_bit(void **state)
{
    (void)state;
    sn_image image = sample_image(SEEN_WINDOW), back;
    unsigned char page[SN_IMAGE_BYTES];
    sn_image_encode(&image, page);
    for (size_t bit = 0; bit < 8 * SN_IMAGE_BYTES; bit++) {
        const char *why = NULL;
        page[bit / 8] ^= (unsigned char)(1u << bit % 8);
        memset(&back, 0x55, sizeof back);
        assert_false(sn_image_decode(page, 0, &back, &why));
        assert_non_null(why);
        assert_int_equal(back.layers, 0x55555555);
        page[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
}

/* With a correct checksum, invalid values are still refused. */
static void refuse32(const unsigned char *good, size_t at, uint32_t value)
{
    unsigned char page[SN_IMAGE_BYTES];
    const char *why = NULL;
    sn_image back;
    memcpy(page, good, sizeof page);
    sn_store32(page + at, value);
    seal(page);
    if (sn_image_decode(page, 0, &back, &why))
        fail_msg("%u at %zu is believed", value, at);
}

static void refuse64(const unsigned char *good, size_t at, uint64_t value)
{
    unsigned char page[SN_IMAGE_BYTES];
    const char *why = NULL;
    sn_image back;
    memcpy(page, good, sizeof page);
    sn_store64(page + at, value);
    seal(page);
    if (sn_image_decode(page, UINT64_C(1) << 40, &back, &why))
        fail_msg("%llu at %zu is believed", (unsigned long long)value, at);
}

static void test_impossible(void **state)
{
    (void)state;
    for (int growth = 0; growth < 3; growth++) {
        sn_image image = sample_image((seen_growth)growth);
        unsigned char page[SN_IMAGE_BYTES];
        sn_image_encode(&image, page);
        refuse32(page, 8, 0);
        refuse32(page, 8, 2);
        refuse32(page, 12, 8192);
        for (size_t at = 16; at <= 28; at += 4) {
            refuse32(page, at, 3);
            refuse32(page, at, UINT32_MAX);
        }
        refuse64(page, 48, 0);
        refuse64(page, 48, UINT64_C(1000000000001)); /* more keys than a set holds */
        refuse64(page, 48, UINT64_MAX);
        refuse64(page, 56, 0);
        refuse32(page, 68, 0);
        refuse32(page, 68, 49);
        refuse32(page, 68, UINT32_MAX);
        refuse32(page, 80, image.layers);
        refuse32(page, 80, UINT32_MAX);
        if (growth == SEEN_WINDOW) {
            refuse32(page, 64, 1);
            refuse32(page, 64, 33);
            refuse64(page, 72, UINT64_MAX); /* sums of times must not overflow */
        }
        for (uint32_t i = 0; i < image.layers; i++) {
            size_t at = 128 + 64 * i;
            refuse64(page, at, 0);
            refuse64(page, at, 16384 + 64);
            refuse64(page, at, UINT64_MAX - 4095);
            refuse64(page, at, UINT64_C(1) << 41);
            refuse64(page, at + 8, 0);
            refuse64(page, at + 8, UINT64_MAX);
            refuse64(page, at + 16, 0);
            refuse32(page, at + 32, 0);
            refuse32(page, at + 32, 65);
            refuse32(page, at + 36, 0);
            refuse32(page, at + 36, 9);
            refuse64(page, at + 40, 0);
            refuse64(page, at + 40, UINT64_MAX);
            refuse64(page, at + 48, 0);
            refuse64(page, at + 48, UINT64_MAX);
            refuse64(page, at + 48, UINT64_C(1) << 34);
        }
        /* Overlapping layers. */
        if (image.layers > 1)
            refuse64(page, 128 + 64, 16384);
    }
}

/* Generations of different sizes, each valid by itself: a merge would write the lines of one into a
 * smaller one. The layers of a growing set differ. */
static void test_uneven_window(void **state)
{
    (void)state;
    sn_image good = sample_image(SEEN_WINDOW), back;
    unsigned char page[SN_IMAGE_BYTES];
    const char *why = NULL;
    for (uint32_t i = 0; i < good.layers; i++)
        for (int number = 0; number < 4; number++) {
            sn_image image = good;
            sn_geometry *g = &image.layer[i].geometry;
            g->spread += number == 0;
            g->probes -= number == 1;
            g->shards *= number == 2 ? 2 : 1;
            g->shard_lines *= number == 0 ? g->spread : number == 3 ? 2 : 1;
            uint64_t end = sn_image_lay_out(&image);
            sn_image_encode(&image, page);
            assert_false(sn_image_decode(page, end, &back, &why));
            assert_non_null(strstr(why, "impossible"));
            image.growth = SEEN_GROWING;
            image.current = image.layers - 1;
            sn_image_encode(&image, page);
            assert_true(sn_image_decode(page, end, &back, &why));
        }
}

static void test_words(void **state)
{
    (void)state;
    unsigned char page[SN_IMAGE_BYTES] = "just a text file";
    const char *why = NULL;
    sn_image image = sample_image(SEEN_FIXED), back;
    assert_false(sn_image_decode(page, 0, &back, &why));
    assert_non_null(strstr(why, "not a seen filter"));
    sn_image_encode(&image, page);
    assert_true(sn_image_is_magic(page, 8));
    assert_false(sn_image_is_magic(page, 7));
    sn_store32(page + 8, SEEN_FORMAT_VERSION + 1);
    seal(page);
    assert_false(sn_image_decode(page, 0, &back, &why));
    assert_non_null(strstr(why, "version"));
    page[100] ^= 1;
    assert_false(sn_image_decode(page, 0, &back, &why));
    assert_non_null(strstr(why, "damaged"));
}

static void test_rates(void **state)
{
    (void)state;
    assert_int_equal(sn_image_rate_to64(0.5), UINT64_C(1) << 63);
    assert_int_equal(sn_image_rate_to64(1), UINT64_MAX);
    assert_int_equal(sn_image_rate_to64(0), 1);
    for (double rate = 0.99; rate > 1e-18; rate *= 0.7) {
        double back = sn_image_rate_from64(sn_image_rate_to64(rate));
        assert_true(back <= rate && back > rate * (1 - 1e-9) - 1e-19);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_every_bit),
        cmocka_unit_test(test_impossible), cmocka_unit_test(test_uneven_window),
        cmocka_unit_test(test_words),      cmocka_unit_test(test_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
