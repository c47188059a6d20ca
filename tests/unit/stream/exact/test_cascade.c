/* The row of filters, and the keys on their way, against plain sets. */
#include "stream/exact/cascade.h"
#include "stream/uniq/pending.h"
#include "test_stream.h"

#include <math.h>

static seen_hash hash_of(uint64_t key, const seen_hasher *hasher)
{
    return seen_hash_key(hasher, &key, sizeof key);
}

/* Adds keys 0, 1, 2 … with repeats and checks every answer: never a false "new", and at most some
 * false "before". */
static void check_model(const sn_cascade_options *options, uint64_t keys, size_t filters_min)
{
    sn_cascade c;
    seen_error error = {0};
    seen_status status = sn_cascade_open(&c, options, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, SEEN_OK);
    enum { BATCH = 1500 };
    seen_hash hashes[BATCH];
    seen_answer answers[BATCH];
    bool fresh[BATCH];
    uint64_t next = 0, wrong = 0;
    while (next < keys) {
        size_t n = random_below(BATCH) + 1;
        for (size_t i = 0; i < n; i++) {
            fresh[i] = !next || random_below(3);
            uint64_t key = fresh[i] ? next++ : random_next() % next;
            hashes[i] = hash_of(key, &c.hasher);
        }
        assert_int_equal(sn_cascade_add(&c, hashes, n, answers, NULL), SEEN_OK);
        for (size_t i = 0; i < n; i++) {
            if (!fresh[i])
                assert_int_equal(answers[i], SEEN_BEFORE);
            wrong += fresh[i] && answers[i] == SEEN_BEFORE;
        }
    }
    assert_in_range(c.count, filters_min, SN_CASCADE_MAX);
    assert_int_equal(sn_cascade_keys(&c) + wrong, next);
    /* Ten times what the rate allows, and some: a rate that is off by far shows, chance does not.
     */
    double allowed = 10 * options->error_rate * (double)next + 10;
    assert_true((double)wrong <= allowed);
    assert_true(sn_cascade_expect_wrong(&c) <= 1.05 * options->error_rate * (double)next);
    assert_true(sn_cascade_rate_now(&c) <= 1.05 * options->error_rate);
    /* All keys are there, and strangers are not. */
    uint64_t strangers = 0;
    for (uint64_t key = 0; key < next; key += BATCH) {
        for (size_t i = 0; i < BATCH; i++)
            hashes[i] = hash_of(key + i < next ? key + i : 0, &c.hasher);
        assert_int_equal(sn_cascade_check(&c, hashes, BATCH, answers, NULL), SEEN_OK);
        for (size_t i = 0; i < BATCH; i++)
            assert_int_equal(answers[i], SEEN_BEFORE);
        for (size_t i = 0; i < BATCH; i++)
            hashes[i] = hash_of(~(key + i), &c.hasher);
        assert_int_equal(sn_cascade_check(&c, hashes, BATCH, answers, NULL), SEEN_OK);
        for (size_t i = 0; i < BATCH; i++)
            strangers += answers[i];
    }
    assert_true((double)strangers <= allowed + 1500 * options->error_rate * 10);
    sn_cascade_close(&c);
}

static void test_estimated(void **state)
{
    (void)state;
    check_model(&(sn_cascade_options){.capacity = 100000, .error_rate = 1e-6}, 100000, 1);
    check_model(&(sn_cascade_options){.capacity = 50000, .error_rate = 0.01}, 40000, 1);
}

/* The estimate was far too low: it grows, and the rate is kept. */
static void test_grows(void **state)
{
    (void)state;
    check_model(&(sn_cascade_options){.capacity = 1000, .error_rate = 1e-6}, 100000, 4);
    check_model(&(sn_cascade_options){.capacity = 500, .error_rate = 0.001}, 100000, 4);
}

/* No more filters can be opened, and one that does not take what it is given. */
/* A share of the strictest rate can be kept by no filter: it grows all the same. */
static void test_strictest(void **state)
{
    (void)state;
    enum { KEYS = 4000 };
    static const double rates[] = {1e-18, 2e-18, 1e-16};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        sn_cascade c;
        sn_cascade_options options = {.capacity = 10, .error_rate = rates[i]};
        assert_int_equal(sn_cascade_open(&c, &options, NULL), SEEN_OK);
        for (uint64_t key = 0; key < KEYS; key++) {
            seen_hash hash = hash_of(key, &c.hasher);
            seen_answer answer;
            assert_int_equal(sn_cascade_add(&c, &hash, 1, &answer, NULL), SEEN_OK);
            assert_int_equal(answer, SEEN_NEW);
        }
        assert_in_range(c.count, 4, SN_CASCADE_MAX);
        assert_true(sn_cascade_rate_now(&c) <= 1.05 * (rates[i] + (double)c.count * 1e-18));
        sn_cascade_close(&c);
        options.error_rate = 0.99e-18;
        seen_error error = {0};
        assert_int_not_equal(sn_cascade_open(&c, &options, &error), SEEN_OK);
        assert_non_null(strstr(error.message, "1e-18 or more"));
    }
}

static void test_refuses(void **state)
{
    (void)state;
    sn_cascade c;
    seen_error error = {0};
    seen_answer answers[2];
    sn_cascade_options options = {.capacity = 1, .error_rate = 0.01};
    assert_int_equal(sn_cascade_open(&c, &options, NULL), SEEN_OK);
    seen_status status = SEEN_OK;
    uint64_t key = 0;
    for (; status == SEEN_OK && key < 1000; key++) {
        seen_hash hash = hash_of(key, &c.hasher);
        for (size_t i = 0; i < c.count; i++)
            c.capacity[i] = 1; /* or the last would be as large as all keys there are */
        c.keys[c.count - 1] = 1;
        status = sn_cascade_add(&c, &hash, 1, answers, &error);
    }
    assert_int_equal(status, SEEN_ERR_FULL);
    assert_int_equal(c.count, SN_CASCADE_MAX);
    assert_non_null(strstr(error.message, "use --exact"));
    sn_cascade_close(&c);

    assert_int_equal(sn_cascade_open(&c, &options, NULL), SEEN_OK);
    seen_hash hashes[2] = {hash_of(1, &c.hasher), hash_of(2, &c.hasher)};
    c.keys[0] = c.capacity[0] = 1;
    assert_int_equal(sn_cascade_add(&c, hashes, 1, answers, NULL), SEEN_OK);
    assert_int_equal(c.count, 2);
    seen_set *file, *taken = c.set[1];
    seen_options made = {.size = sizeof made, .capacity = 100, .error_rate = 0.01};
    assert_int_equal(seen_create(scratch("set"), &made, 0, &file, NULL), SEEN_OK);
    seen_close(file);
    assert_int_equal(seen_open(scratch("set"), NULL, SEEN_READ_ONLY, &c.set[1], NULL), SEEN_OK);
    assert_int_equal(sn_cascade_add(&c, hashes + 1, 1, answers, &error), SEEN_ERR_PERMISSION);
    seen_close(taken);
    sn_cascade_close(&c);
}

static void test_bounded(void **state)
{
    (void)state;
    sn_cascade c;
    sn_cascade_options options = {.capacity = 1000000, .error_rate = 1e-6, .memory = 1 << 20};
    assert_int_equal(sn_cascade_open(&c, &options, NULL), SEEN_OK);
    assert_in_range(sn_cascade_memory(&c), 1 << 19, 1 << 20);
    seen_hash hashes[1000];
    seen_answer answers[1000];
    for (uint64_t key = 0; key < 2000000; key += 1000) {
        for (size_t i = 0; i < 1000; i++)
            hashes[i] = hash_of(key + i, &c.hasher);
        assert_int_equal(sn_cascade_add(&c, hashes, 1000, answers, NULL), SEEN_OK);
    }
    assert_int_equal(c.count, 1);
    assert_in_range(sn_cascade_memory(&c), 1 << 19, 1 << 20);
    /* It says how wrong it became: about as many as it did drop. */
    double dropped = 2000000 - (double)sn_cascade_keys(&c);
    assert_true(dropped > 1000);
    double said = sn_cascade_expect_wrong(&c);
    assert_true(said > dropped * 0.9 && said < dropped * 1.1);
    /* It says how wrong it is: of strangers that come next. */
    double strangers = 0;
    for (uint64_t key = 0; key < 100000; key += 1000) {
        for (size_t i = 0; i < 1000; i++)
            hashes[i] = hash_of(~(key + i), &c.hasher);
        assert_int_equal(sn_cascade_check(&c, hashes, 1000, answers, NULL), SEEN_OK);
        for (size_t i = 0; i < 1000; i++)
            strangers += answers[i];
    }
    double now = sn_cascade_rate_now(&c);
    assert_true(now > strangers / 100000 * 0.9 && now < strangers / 100000 * 1.1);
    sn_cascade_close(&c);
    /* Where nothing can be told apart any more it does not claim to know. */
    options = (sn_cascade_options){.capacity = 100, .error_rate = 1e-6, .memory = 64};
    assert_int_equal(sn_cascade_open(&c, &options, NULL), SEEN_OK);
    c.keys[0] = 1000;
    assert_true(isinf(sn_cascade_expect_wrong(&c)) && sn_cascade_rate_now(&c) >= 1);
    sn_cascade_close(&c);
    /* One that grows stays within its bound too, and uses it. */
    options = (sn_cascade_options){.capacity = 1000, .error_rate = 1e-6, .most = 1 << 20};
    assert_int_equal(sn_cascade_open(&c, &options, NULL), SEEN_OK);
    uint64_t at_200k = 0;
    for (uint64_t key = 0; key < 600000; key += 1000) {
        for (size_t i = 0; i < 1000; i++)
            hashes[i] = hash_of(key + i, &c.hasher);
        assert_int_equal(sn_cascade_add(&c, hashes, 1000, answers, NULL), SEEN_OK);
        if (key + 1000 == 200000)
            at_200k = sn_cascade_keys(&c);
    }
    assert_true(at_200k >= 199990);
    assert_in_range(sn_cascade_memory(&c), 3 << 18, 1 << 20);
    dropped = 600000 - (double)sn_cascade_keys(&c);
    said = sn_cascade_expect_wrong(&c);
    assert_true(dropped > 1000 && said > dropped * 0.9 && said < dropped * 1.1);
    sn_cascade_close(&c);
    /* Plenty of memory is not taken when it is not needed. */
    options = (sn_cascade_options){.capacity = 1000, .error_rate = 1e-6, .most = 1 << 30};
    assert_int_equal(sn_cascade_open(&c, &options, NULL), SEEN_OK);
    assert_in_range(sn_cascade_memory(&c), 1, 1 << 16);
    sn_cascade_close(&c);
}

static void test_plan(void **state)
{
    (void)state;
    sn_cascade_options options = {.capacity = 1000000, .error_rate = 1e-6};
    seen_plan plan;
    assert_int_equal(sn_cascade_plan(&options, &plan, NULL), SEEN_OK);
    assert_int_equal(plan.spread, 2);
    assert_true(plan.bits_per_key < 33);
    options.capacity = 0;
    assert_int_equal(sn_cascade_plan(&options, &plan, NULL), SEEN_OK);
    assert_in_range(plan.bytes, 24 << 20, 40 << 20);
}

static void test_pending(void **state)
{
    (void)state;
    seen_hasher hasher;
    assert_int_equal(seen_hasher_random(SEEN_XXH3, &hasher, NULL), SEEN_OK);
    sn_pending pending;
    sn_pending_init(&pending);
    for (int round = 0; round < 3; round++) {
        assert_false(sn_pending_has(&pending, (seen_hash){0, 0}));
        for (uint64_t key = 0; key < 20000; key++) {
            seen_hash hash = key ? hash_of(key, &hasher) : (seen_hash){0, 0};
            bool fresh = false;
            assert_false(sn_pending_has(&pending, hash));
            assert_int_equal(sn_pending_add(&pending, hash, &fresh, NULL), SEEN_OK);
            assert_true(fresh);
            assert_int_equal(sn_pending_add(&pending, hash, &fresh, NULL), SEEN_OK);
            assert_false(fresh);
            assert_true(sn_pending_has(&pending, hash));
        }
        /* One half of a hash is not enough. */
        seen_hash half = hash_of(5, &hasher);
        half.lo ^= 1;
        assert_false(sn_pending_has(&pending, half));
        sn_pending_clear(&pending);
        assert_false(sn_pending_has(&pending, hash_of(5, &hasher)));
    }
    sn_pending_free(&pending);
}

int main(void)
{
    seed_from_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_estimated), cmocka_unit_test(test_grows),
        cmocka_unit_test(test_strictest), cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_bounded),   cmocka_unit_test(test_plan),
        cmocka_unit_test(test_pending),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
