/* The public functions on one set: answers, batches, full sets, growth, windows, info, read-only,
 * flags. */
#include "test_trust.h"

#include "base/clock.h"

#include <math.h>

enum { MANY = 5000 };

static seen_hash h[MANY];
static seen_answer answers[MANY];

static uint64_t clock_now;

static uint64_t fake_clock(void)
{
    return clock_now;
}

static seen_set *heap(seen_kind kind, seen_growth growth, uint64_t capacity, double rate)
{
    seen_options options = plain_options(kind, growth, capacity, rate);
    seen_set *set = NULL;
    OK(seen_create(NULL, &options, 0, &set, error));
    return set;
}

static size_t count_of(const seen_answer *a, size_t count, seen_answer wanted)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += a[i] == wanted;
    return n;
}

static seen_info info_of(seen_set *set)
{
    seen_info info = {.size = sizeof info};
    OK(seen_get_info(set, &info, error));
    return info;
}

/* ---- answers ---- */

static void test_one_key(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (int growth = 0; growth < (kind ? 2 : 3); growth++) {
            seen_set *set = heap((seen_kind)kind, (seen_growth)growth, 1000, 1e-6);
            seen_answer answer = 9;
            static const struct {
                const char *data;
                size_t len;
            } KEYS[] = {{"", 0},     {"a", 1},    {"a\0b", 3}, {"a\0c", 3},
                        {"\xff", 1}, {"\x7f", 1}, {NULL, 0}};
            for (size_t i = 0; i < 6; i++) {
                OK(seen_check(set, KEYS[i].data, KEYS[i].len, &answer, error));
                assert_int_equal(answer, SEEN_NEW);
                OK(seen_add(set, KEYS[i].data, KEYS[i].len, &answer, error));
                assert_int_equal(answer, SEEN_NEW);
                OK(seen_add(set, KEYS[i].data, KEYS[i].len, &answer, error));
                assert_int_equal(answer, SEEN_BEFORE);
                OK(seen_check(set, KEYS[i].data, KEYS[i].len, &answer, error));
                assert_int_equal(answer, SEEN_BEFORE);
            }
            OK(seen_check(set, NULL, 0, &answer, error)); /* the empty key, once more */
            assert_int_equal(answer, SEEN_BEFORE);
            OK(seen_add(set, "b", 1, NULL, error));
            assert_int_equal(seen_add(set, "b", 1, NULL, NULL), SEEN_OK);
            seen_close(set);
        }
    seen_close(NULL);
    OK(seen_close_checked(NULL, error));
}

/* Any division of a sequence into batches gives the same answers and the same set. */
static void test_batches(void **state)
{
    (void)state;
    static const size_t CUTS[] = {1, 63, 64, 65, 1024, 2047, 2048, 2049, MANY};
    static seen_answer want[MANY];
    rng r = {test_seed()};
    for (int growth = 0; growth < 3; growth++)
        for (size_t c = 0; c < sizeof CUTS / sizeof *CUTS; c++) {
            rng same = r;
            seen_set *set = heap(SEEN_BLOOM, (seen_growth)growth, 10000, 1e-9);
            for (size_t i = 0; i < MANY; i++)
                h[i] = hash_of(rng_below(&same, MANY / 2));
            for (size_t done = 0; done < MANY; done += CUTS[c]) {
                size_t n = MANY - done < CUTS[c] ? MANY - done : CUTS[c];
                OK(seen_add_hashes(set, h + done, n, answers + done, error));
            }
            if (c == 0)
                memcpy(want, answers, sizeof want);
            assert_memory_equal(answers, want, sizeof want);
            OK(seen_check_hashes(set, h, MANY, answers, error));
            assert_int_equal(count_of(answers, MANY, SEEN_BEFORE), MANY);
            OK(seen_add_hashes(set, h, MANY, NULL, error));
            OK(seen_add_hashes(set, h, 0, NULL, error));
            OK(seen_check_hashes(set, NULL, 0, answers, error));
            seen_close(set);
        }
}

static void test_keys_many(void **state)
{
    (void)state;
    seen_set *set = heap(SEEN_COUNTING, SEEN_FIXED, 10000, 1e-9);
    static char text[MANY][8];
    static seen_key keys[MANY];
    for (size_t i = 0; i < MANY; i++) {
        snprintf(text[i], sizeof text[i], "%zu", i / 2);
        keys[i] = (seen_key){text[i], strlen(text[i])};
    }
    OK(seen_add_many(set, keys, MANY, answers, error));
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(answers[i], i % 2 ? SEEN_BEFORE : SEEN_NEW);
    OK(seen_check_many(set, keys, MANY, answers, error));
    assert_int_equal(count_of(answers, MANY, SEEN_BEFORE), MANY);
    OK(seen_remove_many(set, keys, MANY, answers, error));
    assert_int_equal(count_of(answers, MANY, SEEN_BEFORE), MANY);
    OK(seen_check_many(set, keys, MANY, answers, error));
    assert_int_equal(count_of(answers, MANY, SEEN_NEW), MANY);
    OK(seen_remove_many(set, keys, MANY, NULL, error));
    seen_close(set);
    set = heap(SEEN_BLOOM, SEEN_FIXED, 10000, 0.01);
    memset(answers, 9, sizeof answers);
    FAILS(SEEN_ERR_KIND, seen_remove_many(set, keys, MANY, answers, error));
    assert_int_equal(count_of(answers, MANY, SEEN_UNKNOWN), MANY);
    seen_answer answer = 9;
    FAILS(SEEN_ERR_KIND, seen_remove(set, "a", 1, &answer, error));
    assert_int_equal(answer, 9);
    FAILS(SEEN_ERR_KIND, seen_rotate(set, error));
    seen_close(set);
}

/* ---- full ---- */

static void test_full_refuses(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        seen_set *set = heap((seen_kind)kind, SEEN_FIXED, 3000, 1e-9);
        hashes_from(0, MANY, h);
        /* In one call, beyond the capacity: what fits is decided, the rest is not. */
        FAILS(SEEN_ERR_FULL, seen_add_hashes(set, h, MANY, answers, error));
        for (size_t i = 0; i < MANY; i++)
            assert_int_equal(answers[i], i < 3000 ? SEEN_NEW : SEEN_UNKNOWN);
        assert_true(!is_there(set, h[3000]) && is_there(set, h[2999]));
        /* Present keys may be added again; an absent key in the middle is undecided. */
        OK(seen_add_hashes(set, h, 3000, answers, error));
        assert_int_equal(count_of(answers, 3000, SEEN_BEFORE), 3000);
        seen_hash mixed[3] = {h[7], h[4000], h[8]};
        FAILS(SEEN_ERR_FULL, seen_add_hashes(set, mixed, 3, answers, error));
        assert_int_equal(answers[0], SEEN_BEFORE);
        assert_int_equal(answers[1], SEEN_UNKNOWN);
        assert_false(is_there(set, h[4000]));
        seen_answer answer = 9;
        seen_error e;
        assert_int_equal(seen_add(set, "stranger", 8, &answer, &e), SEEN_ERR_FULL);
        assert_int_equal(answer, 9);
        if (kind) { /* after a removal there is room again */
            OK(seen_remove_hashes(set, h, 2, answers, error)); /* added twice: still present */
            FAILS(SEEN_ERR_FULL, seen_add_hashes(set, h + 4000, 1, answers, error));
            OK(seen_remove_hashes(set, h + 10, 1, answers, error));
            OK(seen_remove_hashes(set, h + 10, 1, answers, error));
            OK(seen_add_hashes(set, h + 4000, 1, answers, error));
            assert_int_equal(answers[0], SEEN_NEW);
        }
        seen_close(set);
    }
}

/* Adds new keys in batches, up to this many or until it is full. */
static seen_status add_up_to(seen_set *set, uint64_t *next, uint64_t end)
{
    seen_status status = SEEN_OK;
    while (status == SEEN_OK && *next < end) {
        size_t n = end - *next < MANY ? (size_t)(end - *next) : MANY;
        hashes_from(*next, n, h);
        status = seen_add_hashes(set, h, n, answers, NULL);
        *next += n - count_of(answers, n, SEEN_UNKNOWN);
    }
    return status;
}

/* With frequent false positives, many of the keys are not reported as new: the full capacity is
 * accepted, also after a pause, and not so much more that the rate is exceeded. */
static void test_full_often_mistaken(void **state)
{
    (void)state;
    static const double RATES[] = {0.051, 0.1, 0.2, 0.3, 0.5};
    char path[300];
    snprintf(path, sizeof path, "%s/full.seen", scratch());
    for (size_t i = 0; i < 5; i++)
        for (int kind = 0; kind < 2; kind++) {
            enum { KEYS = 60000 };
            seen_options options = plain_options((seen_kind)kind, SEEN_FIXED, KEYS, RATES[i]);
            seen_set *set;
            uint64_t next = 0;
            OK(seen_create(path, &options, 0, &set, error));
            OK(add_up_to(set, &next, KEYS * 9 / 10));
            seen_close(set);
            OK(seen_open(path, NULL, 0, &set, error));
            OK(add_up_to(set, &next, KEYS));
            assert_int_equal(add_up_to(set, &next, 2 * KEYS), SEEN_ERR_FULL);
            double times = info_of(set).error_rate_now / RATES[i];
            if (times > 1.05)
                fail_msg("kind %d: %.3f x %g with %llu keys", kind, times, RATES[i],
                         (unsigned long long)next);
            seen_close(set);
            unlink(path);
        }
    /* Chance does not make the capacity smaller. */
    for (uint64_t first = 0; first < 2000; first++) {
        seen_set *set = heap(SEEN_BLOOM, SEEN_FIXED, 300, RATES[first % 5]);
        uint64_t next = 1000 * first;
        OK(add_up_to(set, &next, next + 300));
        seen_close(set);
    }
    scratch_remove();
}

static void test_full_goes_on(void **state)
{
    (void)state;
    seen_options options = plain_options(SEEN_BLOOM, SEEN_FIXED, 2000, 0.001);
    options.when_full = SEEN_FULL_GO_ON;
    seen_set *set;
    OK(seen_create(NULL, &options, 0, &set, error));
    hashes_from(0, MANY, h);
    OK(seen_add_hashes(set, h, 2000, answers, error));
    double before = info_of(set).error_rate_now;
    OK(seen_add_hashes(set, h, MANY, answers, error));
    OK(seen_check_hashes(set, h, MANY, answers, error));
    assert_int_equal(count_of(answers, MANY, SEEN_BEFORE), MANY);
    seen_info info = info_of(set);
    assert_true(before < 0.0013 && info.error_rate_now > 0.01);
    assert_true(fabs(info.keys_estimated - MANY) < 0.1 * MANY);
    seen_close(set);
}

/* ---- growing ---- */

/* The share of absent keys that are false positives. */
static double count_false_positives(seen_set *set)
{
    uint64_t wrong = 0;
    for (int i = 0; i < 40; i++) {
        hashes_from((UINT64_C(1) << 50) + (uint64_t)i * MANY, MANY, h);
        OK(seen_check_hashes(set, h, MANY, answers, error));
        wrong += count_of(answers, MANY, SEEN_BEFORE);
    }
    return (double)wrong / (40.0 * MANY);
}

static void test_growing(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        seen_set *set = heap((seen_kind)kind, SEEN_GROWING, 100, 0.01);
        uint64_t added = 0, new_keys = 0;
        rng r = {test_seed()};
        while (added < 100000) {
            size_t n = 1 + rng_below(&r, MANY);
            hashes_from(added, n, h);
            OK(seen_add_hashes(set, h, n, answers, error));
            new_keys += count_of(answers, n, SEEN_NEW);
            added += n;
        }
        for (uint64_t at_ = 0; at_ < added; at_ += MANY) {
            size_t n = added - at_ < MANY ? added - at_ : MANY;
            hashes_from(at_, n, h);
            OK(seen_check_hashes(set, h, n, answers, error));
            assert_int_equal(count_of(answers, n, SEEN_BEFORE), n);
        }
        seen_info info = info_of(set);
        double measured = count_false_positives(set);
        printf("growing %s to %llu keys: %u layers, rate %.5f, measured %.5f\n",
               kind ? "counting" : "bloom", (unsigned long long)added, info.layers,
               info.error_rate_now, measured);
        assert_true(measured <= 0.0105 && info.error_rate_now <= 0.01);
        assert_true(fabs(measured - info.error_rate_now) < 0.001);
        assert_true((double)new_keys > 0.99 * (double)added);
        assert_true(fabs(info.keys_estimated - (double)added) < 0.03 * (double)added);
        assert_true(info.layers < 25 && info.capacity >= new_keys);
        seen_close(set);
    }
}

/* Counting layers: random additions and removals over all of them, nothing lost. */
static void test_growing_counting(void **state)
{
    (void)state;
    enum { KEYS = 3000 };
    static uint8_t count[KEYS];
    memset(count, 0, sizeof count);
    rng r = {test_seed()};
    seen_set *set = heap(SEEN_COUNTING, SEEN_GROWING, 50, 0.05);
    hashes_from(77, KEYS, h);
    for (int step = 0; step < 40000; step++) {
        size_t i = rng_below(&r, KEYS);
        seen_answer answer;
        if (count[i] < 3 && rng_below(&r, 2)) {
            OK(seen_add_hashes(set, h + i, 1, &answer, error));
            assert_true(!count[i] || answer == SEEN_BEFORE);
            count[i]++;
        } else if (count[i]) {
            OK(seen_remove_hashes(set, h + i, 1, &answer, error));
            assert_int_equal(answer, SEEN_BEFORE);
            count[i]--;
        }
        if (step % 2000 == 1999) {
            OK(seen_check_hashes(set, h, KEYS, answers, error));
            for (size_t j = 0; j < KEYS; j++)
                assert_true(!count[j] || answers[j] == SEEN_BEFORE);
        }
    }
    assert_true(info_of(set).layers > 5);
    seen_close(set);
}

/* ---- windows ---- */

/* All generations together are within the rate, even if each is full. */
static void test_window_rate(void **state)
{
    (void)state;
    for (uint32_t generations = 2; generations <= 32; generations *= 4) {
        seen_options options = plain_options(SEEN_BLOOM, SEEN_WINDOW, 70000, 0.01);
        options.renew = true;
        options.generations = generations;
        seen_set *set;
        OK(seen_create(NULL, &options, 0, &set, error));
        for (uint64_t key = 0; key < 140000; key += MANY) {
            hashes_from(key, MANY, h);
            OK(seen_add_hashes(set, h, MANY, answers, error));
        }
        double measured = count_false_positives(set);
        printf("window of %u generations: measured %.5f\n", generations, measured);
        assert_in_range((uint64_t)(measured * 1e6), 4000, 10500);
        seen_close(set);
    }
}

static void test_window_by_count(void **state)
{
    (void)state;
    for (uint32_t generations = 2; generations <= 9; generations += 7) {
        seen_options options = plain_options(SEEN_BLOOM, SEEN_WINDOW, 700, 1e-9);
        options.renew = true;
        options.generations = generations;
        seen_set *set;
        OK(seen_create(NULL, &options, 0, &set, error));
        uint64_t forgotten = 0;
        for (uint64_t i = 0; i < 20000; i++) {
            assert_int_equal(add_key(set, i), SEEN_NEW);
            uint64_t back =
                i < 699 ? i : 699; /* the window: the last 700 keys, this one included */
            assert_true(is_there(set, hash_of(i - back)));
            if (i >= 2200)
                forgotten += !is_there(set, hash_of(i - 2200));
        }
        assert_int_equal(forgotten, 20000 - 2200);
        /* The age of a key that is added again starts there. */
        add_key(set, 19500);
        for (uint64_t i = 30000; i < 30600; i++)
            add_key(set, i);
        assert_true(is_there(set, hash_of(19500)));
        seen_close(set);
    }
}

static void test_window_by_time(void **state)
{
    (void)state;
    uint64_t (*real)(void) = sn_clock_now;
    sn_clock_now = fake_clock;
    clock_now = 1000000;
    seen_options options = plain_options(SEEN_BLOOM, SEEN_WINDOW, 100000, 1e-9);
    options.renew = true;
    options.generations = 5;
    options.window_seconds = 100;
    seen_set *set;
    OK(seen_create(NULL, &options, 0, &set, error));
    rng r = {test_seed()};
    enum { STEPS = 3000 };
    static uint64_t when[STEPS];
    for (uint64_t i = 0; i < STEPS; i++) {
        clock_now += rng_below(&r, 8) ? rng_below(&r, 4) : rng_below(&r, 60);
        if (rng_below(&r, 200) == 0)
            clock_now += 1000; /* a long pause */
        when[i] = clock_now;
        assert_int_equal(add_key(set, i), SEEN_NEW);
        for (uint64_t back = 0; back < 60 && back <= i; back++) {
            bool there = is_there(set, hash_of(i - back));
            uint64_t age = clock_now - when[i - back];
            assert_true(there || age > 100);
            /* Dropped at the latest when the window and one generation have passed. */
            assert_true(!there || age <= 100 + 25);
        }
    }
    /* Old keys expire even if nothing is added. */
    clock_now += 100;
    assert_true(is_there(set, hash_of(STEPS - 1)));
    clock_now += 26;
    for (uint64_t i = 0; i < STEPS; i++)
        assert_false(is_there(set, hash_of(i)));
    assert_true(info_of(set).error_rate_now == 0);
    seen_close(set);
    sn_clock_now = real;
}

static void test_rotate(void **state)
{
    (void)state;
    seen_options options = plain_options(SEEN_BLOOM, SEEN_WINDOW, 1000, 1e-9);
    options.renew = true;
    options.generations = 4;
    seen_set *set;
    OK(seen_create(NULL, &options, 0, &set, error));
    add_key(set, 1);
    for (int i = 0; i < 3; i++) {
        assert_true(is_there(set, hash_of(1)));
        OK(seen_rotate(set, error));
    }
    assert_true(is_there(set, hash_of(1)));
    assert_int_equal(info_of(set).layers, 4);
    OK(seen_rotate(set, error));
    assert_false(is_there(set, hash_of(1)));
    seen_close(set);
}

/* ---- info ---- */

static void test_info(void **state)
{
    (void)state;
    static const double RATES[] = {0.2, 0.01, 0.001};
    for (size_t r = 0; r < 3; r++)
        for (int kind = 0; kind < 2; kind++) {
            seen_set *set = heap((seen_kind)kind, SEEN_FIXED, 20000, RATES[r]);
            seen_info info = info_of(set);
            assert_true(info.fill == 0 && info.keys_estimated == 0 && info.error_rate_now == 0);
            for (uint64_t done = 0; done < 20000; done += 4000) {
                hashes_from(done, 4000, h);
                OK(seen_add_hashes(set, h, 4000, NULL, error));
            }
            info = info_of(set);
            assert_int_equal(info.kind, kind);
            assert_int_equal(info.capacity, 20000);
            assert_true(fabs(info.error_rate - RATES[r]) < 1e-9);
            assert_string_equal(info.store, "memory");
            assert_int_equal(info.hashes, info.spread * info.probes);
            assert_int_equal(info.bits, info.bytes * 8);
            assert_int_equal(info.layers, 1);
            assert_int_equal(info.format_version, 1);
            assert_int_equal(info.seed[1], 67890);
            assert_false(info.sampled);
            uint64_t wrong = 0;
            for (int i = 0; i < 100; i++) {
                hashes_from((UINT64_C(1) << 50) + (uint64_t)i * MANY, MANY, h);
                OK(seen_check_hashes(set, h, MANY, answers, error));
                wrong += count_of(answers, MANY, SEEN_BEFORE);
            }
            double measured = (double)wrong / (100.0 * MANY);
            double deviation = sqrt(info.error_rate_now / (100.0 * MANY));
            assert_true(fabs(measured - info.error_rate_now) < 5 * deviation);
            assert_true(info.error_rate_now < RATES[r] * 1.1);
            assert_true(fabs(info.keys_estimated - 20000) < 400);
            seen_info shape = {.size = sizeof shape};
            OK(seen_get_shape(set, &shape, error));
            assert_int_equal(shape.bytes, info.bytes);
            assert_true(shape.fill == 0 && shape.keys_estimated == 0);
            seen_close(set);
        }
    seen_set *set = heap(SEEN_BLOOM, SEEN_FIXED, 10, 0.01);
    seen_info wrong = {.size = 1};
    FAILS(SEEN_ERR_ARGUMENT, seen_get_info(set, &wrong, error));
    FAILS(SEEN_ERR_ARGUMENT, seen_get_shape(set, &wrong, error));
    seen_close(set);
}

/* A rate that would be lost in a sum with 1 is reported. */
static void test_info_strict(void **state)
{
    (void)state;
    seen_set *set = heap(SEEN_BLOOM, SEEN_FIXED, 4000, 1e-17);
    hashes_from(0, 4000, h);
    OK(seen_add_hashes(set, h, 4000, NULL, error));
    double rate = info_of(set).error_rate_now;
    assert_true(rate > 1e-18 && rate < 1.05e-17);
    seen_close(set);
}

static void test_arguments(void **state)
{
    (void)state;
    seen_set *set = NULL;
    seen_options options = plain_options(SEEN_BLOOM, SEEN_FIXED, 10, 0.01);
    FAILS(SEEN_ERR_ARGUMENT, seen_create("", &options, 0, &set, error));
    FAILS(SEEN_ERR_ARGUMENT, seen_open("", NULL, 0, &set, error));
    FAILS(SEEN_ERR_ARGUMENT, seen_create(NULL, &options, 64, &set, error));
    FAILS(SEEN_ERR_ARGUMENT, seen_create(NULL, &options, SEEN_READ_ONLY, &set, error));
    FAILS(SEEN_ERR_ARGUMENT, seen_open("x", NULL, SEEN_REPLACE, &set, error));
    FAILS(SEEN_ERR_ARGUMENT, seen_create_like(NULL, NULL, NULL, 0, &set, error));
    FAILS(SEEN_ERR_ARGUMENT, seen_create(NULL, &options, 0, NULL, error));
    FAILS(SEEN_ERR_ARGUMENT, seen_open(NULL, NULL, 0, &set, error));
    FAILS(SEEN_ERR_ARGUMENT, seen_open("x", NULL, 0, NULL, error));
    FAILS(SEEN_ERR_ARGUMENT, seen_drop(NULL, NULL, error));
    options.error_rate = 7;
    FAILS(SEEN_ERR_ARGUMENT, seen_create(NULL, &options, 0, &set, error));
    assert_null(set);
}

/* Without a size a set grows, so that a program that ignores the status loses nothing. */
static void test_defaults(void **state)
{
    (void)state;
    seen_options rate_only = {.size = sizeof rate_only, .error_rate = 1e-3};
    const seen_options *options[] = {NULL, &rate_only};
    for (int i = 0; i < 2; i++) {
        seen_set *set;
        seen_info info = {.size = sizeof info};
        OK(seen_create(NULL, options[i], 0, &set, error));
        OK(seen_get_shape(set, &info, error));
        assert_int_equal(info.growth, SEEN_GROWING);
        assert_true(info.error_rate == (i ? 1e-3 : 0.01));
        seen_close(set);
    }
    seen_set *set = NULL;
    seen_options hashes_only = {.size = sizeof hashes_only, .hashes = 4};
    FAILS(SEEN_ERR_ARGUMENT, seen_create(NULL, &hashes_only, 0, &set, error));
}

/* A struct of another version is refused before anything but its size is read. */
static void test_sizes(void **state)
{
    (void)state;
    seen_set *set = NULL, *other = NULL;
    size_t part = offsetof(seen_options, seed), little = offsetof(seen_info, fill);
    seen_options *options = calloc(1, part);
    seen_info *info = calloc(1, little);
    const char *where = "redis://127.0.0.1:1/x";
    memcpy(options, &part, sizeof part);
    memcpy(info, &little, sizeof little);
    FAILS(SEEN_ERR_ARGUMENT, seen_create(NULL, options, 0, &set, error));
    FAILS(SEEN_ERR_ARGUMENT, seen_open(where, options, 0, &set, error));
    FAILS(SEEN_ERR_ARGUMENT, seen_drop(where, options, error));
    assert_null(set);
    seen_options whole = plain_options(SEEN_BLOOM, SEEN_FIXED, 10, 0.01);
    OK(seen_create(NULL, &whole, 0, &set, error));
    FAILS(SEEN_ERR_ARGUMENT, seen_copy(set, where, 0, options, error));
    whole.layout = (seen_layout)7;
    FAILS(SEEN_ERR_ARGUMENT, seen_copy(set, where, 0, &whole, error));
    FAILS(SEEN_ERR_ARGUMENT, seen_create_like(where, set, options, 0, &other, error));
    FAILS(SEEN_ERR_ARGUMENT, seen_create_like(where, set, &whole, 0, &other, error));
    assert_null(other);
    FAILS(SEEN_ERR_ARGUMENT, seen_get_shape(set, info, error));
    FAILS(SEEN_ERR_ARGUMENT, seen_get_info(set, info, error));
    seen_close(set);
    free(options);
    free(info);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_key),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_keys_many),
        cmocka_unit_test(test_full_refuses),
        cmocka_unit_test(test_full_often_mistaken),
        cmocka_unit_test(test_full_goes_on),
        cmocka_unit_test(test_growing),
        cmocka_unit_test(test_growing_counting),
        cmocka_unit_test(test_window_rate),
        cmocka_unit_test(test_window_by_count),
        cmocka_unit_test(test_window_by_time),
        cmocka_unit_test(test_rotate),
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_info_strict),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
