/* The filters of an approximate set compared with simple sets. */
#include "stream/exact/approx.h"
#include "test_stream.h"

#include <math.h>

/* Whether each key is in one of the filters. */
static void check(const sn_approx *a, const seen_hash *hashes, size_t count, seen_answer *answers)
{
    assert_int_equal(seen_check_hashes(a->first, hashes, count, answers, NULL), SEEN_OK);
    for (size_t i = 0; a->more && i < count; i++) {
        seen_answer answer;
        assert_int_equal(seen_check_hashes(a->more, hashes + i, 1, &answer, NULL), SEEN_OK);
        answers[i] |= answer;
    }
}

static seen_hash hash_of(uint64_t key, const seen_hasher *hasher)
{
    return seen_hash_key(hasher, &key, sizeof key);
}

/* Adds keys 0, 1, 2 … with repeats and checks every answer: never a false SEEN_NEW, and few false
 * positives. */
static void check_model(const sn_approx_options *options, uint64_t keys, bool more)
{
    sn_approx c;
    seen_error error = {0};
    seen_status status = sn_approx_open(&c, options, &error);
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
        assert_int_equal(sn_approx_add(&c, hashes, n, answers, NULL), SEEN_OK);
        for (size_t i = 0; i < n; i++) {
            if (!fresh[i])
                assert_int_equal(answers[i], SEEN_BEFORE);
            wrong += fresh[i] && answers[i] == SEEN_BEFORE;
        }
    }
    assert_true(more == (c.more != NULL));
    assert_int_equal(sn_approx_keys(&c) + wrong, next);
    /* Ten times the expected number, and some: detects a rate that is far off, but not chance. */
    double allowed = 10 * options->error_rate * (double)next + 10;
    assert_true((double)wrong <= allowed);
    double expected, rate = sn_approx_error(&c, &expected);
    assert_true(expected <= 1.05 * options->error_rate * (double)next);
    assert_true(rate <= 1.05 * options->error_rate);
    /* All keys are present, and absent keys are not. */
    uint64_t absent_keys = 0;
    for (uint64_t key = 0; key < next; key += BATCH) {
        for (size_t i = 0; i < BATCH; i++)
            hashes[i] = hash_of(key + i < next ? key + i : 0, &c.hasher);
        check(&c, hashes, BATCH, answers);
        for (size_t i = 0; i < BATCH; i++)
            assert_int_equal(answers[i], SEEN_BEFORE);
        for (size_t i = 0; i < BATCH; i++)
            hashes[i] = hash_of(~(key + i), &c.hasher);
        check(&c, hashes, BATCH, answers);
        for (size_t i = 0; i < BATCH; i++)
            absent_keys += answers[i];
    }
    assert_true((double)absent_keys <= allowed + 1500 * options->error_rate * 10);
    sn_approx_close(&c);
}

static void test_estimated(void **state)
{
    (void)state;
    check_model(&(sn_approx_options){.capacity = 102000, .error_rate = 1e-6}, 100000, false);
    check_model(&(sn_approx_options){.capacity = 50000, .error_rate = 0.01}, 40000, false);
}

/* The estimate was far too low: it grows, and the rate still holds. */
static void test_grows(void **state)
{
    (void)state;
    check_model(&(sn_approx_options){.capacity = 1000, .error_rate = 1e-6}, 100000, true);
    check_model(&(sn_approx_options){.capacity = 500, .error_rate = 0.001}, 100000, true);
}

/* No filter can reach a share of the lowest rates: it grows nevertheless, and reports it. */
static void test_strictest(void **state)
{
    (void)state;
    enum { KEYS = 4000 };
    static const double rates[] = {1e-18, 2e-18, 1e-16};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        sn_approx c;
        sn_approx_options options = {.capacity = 10, .error_rate = rates[i]};
        assert_int_equal(sn_approx_open(&c, &options, NULL), SEEN_OK);
        for (uint64_t key = 0; key < KEYS; key++) {
            seen_hash hash = hash_of(key, &c.hasher);
            seen_answer answer;
            seen_error error = {0};
            if (sn_approx_add(&c, &hash, 1, &answer, &error) != SEEN_OK)
                fail_msg("%s", error.message);
            assert_int_equal(answer, SEEN_NEW);
        }
        assert_non_null(c.more);
        double wrong;
        assert_true(sn_approx_error(&c, &wrong) <= 1.05 * (rates[i] + 1e-12));
        sn_approx_close(&c);
        options.error_rate = 0.99e-18;
        seen_error error = {0};
        assert_int_not_equal(sn_approx_open(&c, &options, &error), SEEN_OK);
        assert_non_null(strstr(error.message, "1e-18 or more"));
    }
}

/* A filter that refuses keys. */
static void test_refuses(void **state)
{
    (void)state;
    sn_approx c;
    seen_error error = {0};
    seen_answer answers[2];
    sn_approx_options options = {.capacity = 1, .error_rate = 0.01};
    assert_int_equal(sn_approx_open(&c, &options, NULL), SEEN_OK);
    seen_hash hashes[2] = {hash_of(1, &c.hasher), hash_of(2, &c.hasher)};
    c.first_keys = c.capacity;
    assert_int_equal(sn_approx_add(&c, hashes, 1, answers, NULL), SEEN_OK);
    assert_non_null(c.more);
    seen_set *file, *taken = c.more;
    seen_options made = {.size = sizeof made, .capacity = 100, .error_rate = 0.01};
    assert_int_equal(seen_create(scratch("set"), &made, 0, &file, NULL), SEEN_OK);
    seen_close(file);
    assert_int_equal(seen_open(scratch("set"), NULL, SEEN_READ_ONLY, &c.more, NULL), SEEN_OK);
    assert_int_equal(sn_approx_add(&c, hashes + 1, 1, answers, &error), SEEN_ERR_PERMISSION);
    seen_close(taken);
    sn_approx_close(&c);
}

static void test_bounded(void **state)
{
    (void)state;
    sn_approx c;
    sn_approx_options options = {.capacity = 1000000, .error_rate = 1e-6, .most = 1 << 20};
    assert_int_equal(sn_approx_open(&c, &options, NULL), SEEN_OK);
    assert_in_range(sn_approx_memory(&c), 1 << 19, 1 << 20);
    seen_hash hashes[1000];
    seen_answer answers[1000];
    for (uint64_t key = 0; key < 2000000; key += 1000) {
        for (size_t i = 0; i < 1000; i++)
            hashes[i] = hash_of(key + i, &c.hasher);
        assert_int_equal(sn_approx_add(&c, hashes, 1000, answers, NULL), SEEN_OK);
    }
    assert_true(c.alone && !c.more);
    assert_in_range(sn_approx_memory(&c), 1 << 19, 1 << 20);
    /* The reported loss is about the number of keys that were dropped. */
    double dropped = 2000000 - (double)sn_approx_keys(&c);
    assert_true(dropped > 1000);
    double output_text, now = sn_approx_error(&c, &output_text);
    assert_true(output_text > dropped * 0.9 && output_text < dropped * 1.1);
    /* The reported rate is that of the next absent keys. */
    double absent_keys = 0;
    for (uint64_t key = 0; key < 100000; key += 1000) {
        for (size_t i = 0; i < 1000; i++)
            hashes[i] = hash_of(~(key + i), &c.hasher);
        check(&c, hashes, 1000, answers);
        for (size_t i = 0; i < 1000; i++)
            absent_keys += answers[i];
    }
    assert_true(now > absent_keys / 100000 * 0.9 && now < absent_keys / 100000 * 1.1);
    sn_approx_close(&c);
    /* If nothing can be distinguished any more it reports that the loss is unknown. */
    options = (sn_approx_options){.capacity = 100, .error_rate = 1e-6, .most = 64};
    assert_int_equal(sn_approx_open(&c, &options, NULL), SEEN_OK);
    c.first_keys = 1000;
    now = sn_approx_error(&c, &output_text);
    assert_true(isinf(output_text) && now >= 1);
    sn_approx_close(&c);
    /* A growing one stays within its limit too, and uses it. */
    options = (sn_approx_options){.capacity = 1000, .error_rate = 1e-6, .most = 1 << 20};
    assert_int_equal(sn_approx_open(&c, &options, NULL), SEEN_OK);
    uint64_t at_200k = 0;
    for (uint64_t key = 0; key < 800000; key += 1000) {
        for (size_t i = 0; i < 1000; i++)
            hashes[i] = hash_of(key + i, &c.hasher);
        assert_int_equal(sn_approx_add(&c, hashes, 1000, answers, NULL), SEEN_OK);
        if (key + 1000 == 200000)
            at_200k = sn_approx_keys(&c);
    }
    assert_true(at_200k >= 199990);
    assert_in_range(sn_approx_memory(&c), 3 << 18, 1 << 20);
    dropped = 800000 - (double)sn_approx_keys(&c);
    sn_approx_error(&c, &output_text);
    assert_true(dropped > 1000 && output_text > dropped * 0.9 && output_text < dropped * 1.1);
    sn_approx_close(&c);
    /* Memory that is not needed is not allocated. */
    options = (sn_approx_options){.capacity = 1000, .error_rate = 1e-6, .most = 1 << 30};
    assert_int_equal(sn_approx_open(&c, &options, NULL), SEEN_OK);
    assert_in_range(sn_approx_memory(&c), 1, 1 << 16);
    sn_approx_close(&c);
}

static void test_plan(void **state)
{
    (void)state;
    sn_approx_options options = {.capacity = 1000000, .error_rate = 1e-6};
    seen_plan plan;
    bool alone = true;
    assert_int_equal(sn_approx_plan(&options, &plan, &alone, NULL), SEEN_OK);
    assert_false(alone);
    assert_int_equal(plan.spread, 2);
    assert_true(plan.bits_per_key < 33);
    options.capacity = 0;
    assert_int_equal(sn_approx_plan(&options, &plan, &alone, NULL), SEEN_OK);
    assert_in_range(plan.bytes, 24 << 20, 40 << 20);
}

int main(void)
{
    seed_from_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_estimated), cmocka_unit_test(test_grows),
        cmocka_unit_test(test_strictest), cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_bounded),   cmocka_unit_test(test_plan),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
