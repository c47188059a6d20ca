/* How a set grows: the rates sum to the error rate, few layers, and the memory overhead. */
#include "test_trust.h"

#include "filter/plan.h"
#include "set/layers.h"

#include <math.h>

static sn_image begin(seen_options options)
{
    sn_image image;
    OK(sn_layers_begin(&options, &image, error));
    return image;
}

/* The rate of all layers, with this many keys in the last one and the others full. */
static double rate_of(const sn_image *image, double last)
{
    double right = 1;
    for (uint32_t i = 0; i < image->layers; i++) {
        const sn_layer *layer = &image->layer[i];
        double keys = i + 1 < image->layers ? (double)layer->capacity : last;
        right *= 1 - sn_plan_rate(&layer->geometry, keys);
    }
    return 1 - right;
}

static double bits_of(const sn_image *image)
{
    double bits = 0;
    for (uint32_t i = 0; i < image->layers; i++)
        bits += 8 * (double)sn_geometry_bytes(&image->layer[i].geometry);
    return bits;
}

/* The bits of a set of one layer that knows the number of keys in advance. */
static double bits_known(double keys, double rate)
{
    sn_geometry geometry;
    assert_true(sn_plan_geometry(SEEN_BLOOM, keys, rate, &geometry));
    return 8 * (double)sn_geometry_bytes(&geometry);
}

static bool is_round(double keys)
{
    double decade = pow(10, floor(log10(keys)));
    return keys < decade * 1.02;
}

/* Grows to the maximum: every full set is within its rate, and the memory is that of a set that
 * knew its size times `most` at the worst moment, when a layer was just opened, and times
 * `most_round` for round numbers of keys. */
static void test_growing(void **state)
{
    (void)state;
    static const struct {
        double rate;
        uint32_t layers;
        double most, most_round;
    } BOUNDS[] = {{0.1, 22, 3.6, 2.6}, {0.01, 23, 2.4, 1.75}, {1e-3, 23, 2, 1.5},
                  {1e-4, 24, 2, 1.5},  {1e-6, 18, 2, 1.25},   {1e-9, 19, 2, 1.2}};
    for (size_t b = 0; b < 6; b++) {
        double rate = BOUNDS[b].rate, keys = 0, worst = 0, at = 0, worst_round = 0;
        uint32_t layers = 0;
        sn_image image = begin(plain_options(SEEN_BLOOM, SEEN_GROWING, 0, rate));
        while (image.layers < SN_IMAGE_LAYERS) {
            keys += (double)image.layer[image.layers - 1].capacity;
            assert_true(rate_of(&image, (double)image.layer[image.layers - 1].capacity) <= rate);
            double full = bits_of(&image) / bits_known(keys, rate);
            seen_error e;
            if (sn_layers_next(&image, &image.layer[image.layers], &e) != SEEN_OK)
                break;
            image.layers++;
            double opened = bits_of(&image) / bits_known(keys, rate);
            if (keys > 1.02e9)
                continue;
            layers = image.layers - 1;
            if (opened > worst)
                worst = opened, at = keys;
            if (is_round(keys) && full > worst_round)
                worst_round = full;
        }
        printf("rate %g: %u layers at 10^9 keys; memory at most %.2f x that of a set that knew its "
               "size (just after growing, at %.3g keys), %.2f x at powers of ten\n",
               rate, layers, worst, at, worst_round);
        assert_true(keys > 9e11 || image.layers == SN_IMAGE_LAYERS);
        /* The overhead of growing is known, and must not increase unnoticed. */
        assert_true(layers <= BOUNDS[b].layers);
        assert_true(worst <= BOUNDS[b].most);
        assert_true(worst_round > 0 && worst_round <= BOUNDS[b].most_round);
    }
}

/* With a given capacity the first layer touches no more lines per key than a fixed set, and sets no
 * more cells, for at most a quarter more memory (a half if the error rate is high: there four
 * tenths of it weigh more). */
static void test_growing_given(void **state)
{
    (void)state;
    static const struct {
        double rate;
        unsigned lines, cells;
        double memory;
    } EXPECTED[] = {{0.1, 1, 3, 1.51},
                    {0.01, 1, 6, 1.25},
                    {1e-4, 2, 10, 1.16},
                    {1e-6, 2, 16, 1.1},
                    {1e-9, 3, 24, 1.06}};
    for (size_t i = 0; i < 5; i++) {
        double rate = EXPECTED[i].rate;
        sn_image image = begin(plain_options(SEEN_BLOOM, SEEN_GROWING, 10000000, rate));
        const sn_layer *layer = &image.layer[0];
        const sn_geometry *g = &layer->geometry;
        double times = bits_of(&image) / bits_known(1e7, rate);
        printf("rate %g: %u lines, %u cells, %.3f x the memory of a fixed set\n", rate, g->spread,
               g->spread * g->probes, times);
        assert_int_equal(layer->capacity, 10000000);
        assert_true(sn_plan_rate(g, 1e7) <= 0.4 * rate * (1 + 1e-8));
        assert_true(g->spread <= EXPECTED[i].lines);
        assert_true(g->spread * g->probes <= EXPECTED[i].cells);
        assert_true(times <= EXPECTED[i].memory);
    }
}

/* However small it begins. */
static void test_growing_from_one(void **state)
{
    (void)state;
    for (uint64_t first = 1; first < 2000; first = first * 3 + 1) {
        sn_image image = begin(plain_options(SEEN_COUNTING, SEEN_GROWING, first, 0.01));
        for (int i = 0; i < 30; i++) {
            assert_true(rate_of(&image, (double)image.layer[image.layers - 1].capacity) <= 0.01);
            OK(sn_layers_next(&image, &image.layer[image.layers], error));
            assert_true(sn_geometry_valid(&image.layer[image.layers].geometry));
            assert_int_equal(image.layer[image.layers].generation, image.layers + 1);
            image.layers++;
        }
    }
}

/* From any hint to 10^12 keys, in steps that are not large, and within the rate. */
static void test_growing_reaches(void **state)
{
    (void)state;
    static const uint64_t HINTS[] = {0, 1, 2, 10, 100, 1000, 100000};
    static const double RATES[] = {0.1, 0.01, 1.1e-5, 1e-9, 1e-15, 9.9e-16, 1e-16};
    for (int kind = 0; kind < 2; kind++)
        for (size_t h = 0; h < 7; h++)
            for (size_t r = 0; r < 7; r++) {
                sn_image image =
                    begin(plain_options((seen_kind)kind, SEEN_GROWING, HINTS[h], RATES[r]));
                double keys = (double)image.layer[0].capacity;
                uint64_t rates = image.layer[0].rate64;
                for (; image.layers < SN_IMAGE_LAYERS && keys < 1e12; image.layers++) {
                    sn_layer *layer = &image.layer[image.layers];
                    OK(sn_layers_next(&image, layer, error));
                    assert_true((double)layer->capacity <= ceil(0.85 * keys));
                    keys += (double)layer->capacity;
                    rates += layer->rate64;
                }
                if (keys < 1e12)
                    fail_msg("%llu keys at %g: full after %g keys", (unsigned long long)HINTS[h],
                             RATES[r], keys);
                assert_true((double)rates <= (double)image.rate64 * (1 + 1e-12));
            }
}

static void test_growing_ends(void **state)
{
    (void)state;
    sn_image image = begin(plain_options(SEEN_BLOOM, SEEN_GROWING, 1000000000000, 0.01));
    sn_layer next;
    for (; image.layers < 20; image.layers++) {
        seen_status status = sn_layers_next(&image, &image.layer[image.layers], NULL);
        if (status == SEEN_OK)
            continue;
        assert_int_equal(status, SEEN_ERR_FULL);
        break;
    }
    assert_true(image.layers < 20);
    image.layers = SN_IMAGE_LAYERS;
    FAILS(SEEN_ERR_FULL, sn_layers_next(&image, &next, error));
    image = begin(plain_options(SEEN_BLOOM, SEEN_GROWING, 1000, 1e-16));
    seen_status status = SEEN_OK;
    for (; status == SEEN_OK && image.layers < 47; image.layers++)
        status = sn_layers_next(&image, &image.layer[image.layers], NULL);
    assert_true(status == SEEN_OK || status == SEEN_ERR_ARGUMENT);
}

static void test_window(void **state)
{
    (void)state;
    for (uint32_t generations = 2; generations <= 32; generations += 5)
        for (double rate = 0.05; rate > 1e-9; rate /= 100) {
            seen_options options = plain_options(SEEN_BLOOM, SEEN_WINDOW, 12345, rate);
            options.generations = generations;
            options.window_seconds = 3600;
            sn_image image = begin(options);
            assert_int_equal(image.layers, generations);
            assert_true(rate_of(&image, (double)image.layer[0].capacity) <= rate * (1 + 1e-8));
            /* All generations except the one being filled hold the window. */
            assert_true(image.layer[0].capacity * (generations - 1) >= 12345);
            assert_true(sn_layers_span(&image) * (generations - 1) >= 3600);
            assert_int_equal(image.layer[0].generation, 1);
            assert_int_equal(image.layer[1].generation, 0);
        }
}

static void test_defaults(void **state)
{
    (void)state;
    seen_options options = {.size = sizeof options, .capacity = 1000};
    sn_image image = begin(options);
    assert_true(fabs(sn_image_rate_from64(image.rate64) - 0.01) < 1e-9);
    options = (seen_options){.size = sizeof options, .growth = SEEN_GROWING};
    image = begin(options);
    assert_true(fabs(sn_image_rate_from64(image.rate64) - 0.01) < 1e-9);
    double bits = bits_of(&image);
    assert_true(bits > 12e6 && bits < 17e6);
    options = (seen_options){.size = sizeof options, .bits = 1 << 20};
    image = begin(options); /* memory alone: as many keys as 1% allows */
    assert_true(image.capacity > 90000 && bits_of(&image) <= 1 << 20);
    options = (seen_options){.size = sizeof options, .bits = 1 << 20, .capacity = 50000};
    image = begin(options);
    assert_true(sn_image_rate_from64(image.rate64) < 1e-3);
}

#define REFUSED(...)                                                                               \
    do {                                                                                           \
        seen_options options = {.size = sizeof options, __VA_ARGS__};                              \
        sn_image image;                                                                            \
        FAILS(SEEN_ERR_ARGUMENT, sn_layers_begin(&options, &image, error));                        \
    } while (0)

static void test_refusals(void **state)
{
    (void)state;
    REFUSED(.capacity = 0);
    REFUSED(.capacity = 1000, .error_rate = -1);
    REFUSED(.capacity = 1000, .error_rate = (double)NAN);
    REFUSED(.capacity = 1000, .error_rate = (double)INFINITY);
    REFUSED(.capacity = 1000, .error_rate = 1);
    REFUSED(.capacity = 1000000000001);
    REFUSED(.capacity = UINT64_MAX, .growth = SEEN_GROWING);
    REFUSED(.capacity = 1000, .kind = (seen_kind)2);
    REFUSED(.capacity = 1000, .growth = (seen_growth)3);
    REFUSED(.capacity = 1000, .hash = (seen_hash_kind)2);
    REFUSED(.capacity = 1000, .when_full = (seen_when_full)2);
    REFUSED(.capacity = 1000, .layout = (seen_layout)2);
    REFUSED(.growth = SEEN_GROWING, .bits = 1000);
    REFUSED(.growth = SEEN_GROWING, .hashes = 3);
    REFUSED(.growth = SEEN_GROWING, .error_rate = 1e-18);
    REFUSED(.growth = SEEN_GROWING, .error_rate = 4e-17);
    REFUSED(.growth = SEEN_GROWING, .error_rate = 1e-17, .capacity = 1000);
    REFUSED(.growth = SEEN_WINDOW);
    REFUSED(.growth = SEEN_WINDOW, .capacity = 10, .kind = SEEN_COUNTING);
    REFUSED(.growth = SEEN_WINDOW, .capacity = 10, .generations = 1);
    REFUSED(.growth = SEEN_WINDOW, .capacity = 10, .generations = 33);
    REFUSED(.growth = SEEN_WINDOW, .capacity = 10, .bits = 5000);
    REFUSED(.growth = SEEN_WINDOW, .capacity = 10, .error_rate = 1e-18);
    REFUSED(.growth = SEEN_WINDOW, .capacity = 10, .window_seconds = UINT64_MAX);
    REFUSED(.growth = SEEN_WINDOW, .capacity = 10, .window_seconds = UINT64_MAX - 10);
    seen_options options = {.size = 3, .capacity = 1000};
    sn_image image;
    FAILS(SEEN_ERR_ARGUMENT, sn_layers_begin(&options, &image, error));
}

/* False positives of earlier layers never reach a newer one; the estimate includes them. */
static void test_estimate(void **state)
{
    (void)state;
    static const double RATES[] = {0.3, 0.1, 0.01};
    enum { KEYS = 200000, BATCH = 1000 };
    for (size_t r = 0; r < sizeof RATES / sizeof *RATES; r++) {
        seen_options options = plain_options(SEEN_BLOOM, SEEN_GROWING, 1000, RATES[r]);
        seen_set *set = layered_create(NULL, &options);
        for (uint64_t i = 0; i < KEYS; i += BATCH) {
            seen_hash h[BATCH];
            hashes_from(i, BATCH, h);
            OK(seen_add_hashes(set, h, BATCH, NULL, error));
        }
        seen_info info = {.size = sizeof info};
        OK(seen_get_info(set, &info, error));
        assert_true(fabs(info.keys_estimated / KEYS - 1) < 0.02);
        seen_close(set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growing),          cmocka_unit_test(test_growing_given),
        cmocka_unit_test(test_growing_from_one), cmocka_unit_test(test_growing_reaches),
        cmocka_unit_test(test_growing_ends),     cmocka_unit_test(test_window),
        cmocka_unit_test(test_defaults),         cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_estimate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
