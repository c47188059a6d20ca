/* Samples of lines: their deviation is as predicted at any fill; validating counters with them. */
#include "test_trust.h"

#include "local/local.h"

#include <math.h>

enum { ROUNDS = 60, BATCH = 4096 };

typedef struct layer_case {
    seen_kind kind;
    uint64_t capacity, bits;
    uint32_t hashes;
    uint64_t keys;
    bool all; /* so few lines that all are sampled */
} layer_case;

static const layer_case CASES[] = {
    {SEEN_BLOOM, 1000, 8 << 23, 0, 0, false},
    {SEEN_BLOOM, 1000, 8 << 23, 0, 20, false},
    {SEEN_BLOOM, 1000, 8 << 23, 0, 500, false},
    {SEEN_BLOOM, 60000, 1 << 23, 0, 3000, false},
    {SEEN_BLOOM, 400000, 4 << 20, 6, 100000, false},
    {SEEN_BLOOM, 400000, 4 << 20, 6, 400000, false},
    {SEEN_BLOOM, 400000, 4 << 20, 0, 400000, false},
    {SEEN_COUNTING, 50000, 4 << 20, 0, 30000, false},
    {SEEN_BLOOM, 1000, 500000, 0, 30, true},
    {SEEN_BLOOM, 60000, 600000, 0, 60000, true},
    {SEEN_BLOOM, 60000, 600000, 7, 60000, true},
};

static void fill(seen_set *set, uint64_t first, uint64_t keys)
{
    static seen_hash h[BATCH];
    for (uint64_t at = 0; at < keys; at += BATCH) {
        size_t n = keys - at < BATCH ? (size_t)(keys - at) : BATCH;
        hashes_from(first + at, n, h);
        OK(seen_add_hashes(set, h, n, NULL, error));
    }
}

static seen_set *set_of(const layer_case *c, uint64_t first)
{
    seen_options options = plain_options(c->kind, SEEN_FIXED, c->capacity, 0);
    options.bits = c->bits;
    options.hashes = c->hashes;
    options.when_full = SEEN_FULL_GO_ON;
    seen_set *set = NULL;
    OK(seen_create(NULL, &options, 0, &set, error));
    fill(set, first, c->keys);
    return set;
}

static sn_sample sample_of(const seen_set *set, uint64_t most)
{
    const sn_view *view = atomic_load(&((const sn_local *)set)->view);
    return sn_sample_layer(&view->image.layer[0], view->bits[0], most);
}

static double deviation_of(const sn_sample *sample)
{
    return sn_sample_deviation(sample, sample->keys);
}

static void test_deviation(void **state)
{
    (void)state;
    uint64_t seed = test_seed() << 32;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const layer_case *c = &CASES[i];
        double squares = 0, keys = (double)c->keys;
        int rounds = c->keys > 50000 ? ROUNDS / 2 : ROUNDS;
        for (int round = 0; round < rounds; round++) {
            seen_set *set = set_of(c, seed);
            sn_sample sample = sample_of(set, SN_SAMPLE_QUICK);
            seen_info shape = {.size = sizeof shape};
            OK(seen_get_shape(set, &shape, error));
            assert_int_equal(c->all, fabs(sample.unit * shape.spread - 1) < 1e-9);
            seen_close(set);
            seed += c->keys;
            double off = (sample.keys - keys) / deviation_of(&sample);
            squares += off * off;
            /* A correct counter is never rejected, and few others except nearby ones are
             * accepted. */
            if (!sn_sample_plausible(&sample, c->keys))
                fail_msg("case %zu: %llu keys look like %.0f", i, (unsigned long long)c->keys,
                         sample.keys);
            double far = keys + 40 * sample.unit + 12 * deviation_of(&sample);
            assert_false(sn_sample_plausible(&sample, (uint64_t)far));
            assert_false(sn_sample_plausible(&sample, UINT64_MAX));
        }
        double off = sqrt(squares / rounds);
        print_message("case %zu: off by %.2f deviations\n", i, off);
        assert_true(off < 1.7);
        assert_true(c->keys < 500 || off > 0.4);
    }
}

/* Few keys in many lines: more lines are sampled, up to the maximum. */
static void test_careful(void **state)
{
    (void)state;
    seen_set *set = set_of(&CASES[1], 0);
    assert_true(sample_of(set, SN_SAMPLE_QUICK).unit > 1);
    sn_sample sample = sample_of(set, SN_SAMPLE_CAREFUL);
    assert_true(sample.unit <= 1 && fabs(sample.keys - 20) < 0.5);
    seen_close(set);
    set = set_of(&CASES[5], 0); /* a few of these are sufficient */
    assert_true(sample_of(set, SN_SAMPLE_CAREFUL).unit == sample_of(set, SN_SAMPLE_QUICK).unit);
    seen_close(set);
}

static seen_set *counting_set(uint64_t capacity, double rate)
{
    seen_set *set = NULL;
    seen_options options = plain_options(SEEN_COUNTING, SEEN_FIXED, capacity, rate);
    OK(seen_create(NULL, &options, 0, &set, error));
    return set;
}

/* Keys are added and removed for long: the set is full when it really is, not when false positives
 * accumulate. */
static void test_churn(void **state)
{
    (void)state;
    enum { CAPACITY = 200, LIVE = 165, LONG = 150000 };
    uint64_t first = test_seed() << 32;
    seen_set *set = counting_set(CAPACITY, 0.01);
    fill(set, first, LIVE);
    for (uint64_t i = 0; i < LONG; i++) {
        seen_hash come = hash_of(first + i + LIVE), go = hash_of(first + i);
        OK(seen_remove_hashes(set, &go, 1, NULL, error));
        OK(seen_add_hashes(set, &come, 1, NULL, error));
        assert_in_range(((sn_local *)set)->added[0], LIVE - 35, LIVE + 34);
    }
    seen_close(set);
}

/* While few were removed the counter is exact: as many can be added as were removed. */
static void test_few_gone(void **state)
{
    (void)state;
    enum { CAPACITY = 1000 };
    seen_set *set = counting_set(CAPACITY, 1e-6);
    fill(set, 0, CAPACITY);
    for (uint64_t i = 0; i < 3 * CAPACITY; i += CAPACITY / 2) {
        static seen_hash go[CAPACITY / 2];
        hashes_from(i, CAPACITY / 2, go);
        OK(seen_remove_hashes(set, go, CAPACITY / 2, NULL, error));
        fill(set, i + CAPACITY, CAPACITY / 2);
        assert_int_equal(((sn_local *)set)->added[0], CAPACITY);
    }
    seen_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deviation),
        cmocka_unit_test(test_careful),
        cmocka_unit_test(test_churn),
        cmocka_unit_test(test_few_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
