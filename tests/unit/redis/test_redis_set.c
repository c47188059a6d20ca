/* Sets in Redis compared with sets in memory: the same keys, the same answers, the same bits. */
#include "base/clock.h"
#include "set/layers.h"
#include "set/store.h"
#include "tests/redis/rig.h"

static uint64_t random_state;

static uint64_t draw(void)
{
    random_state += 0x9e3779b97f4a7c15u;
    uint64_t z = random_state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static char *url_of(const char *name)
{
    static char url[8][160];
    static int next;
    char *to = url[next++ % 8];
    snprintf(to, 160, "%s/%s", server.url, name);
    return to;
}

static seen_set *create(const char *where, seen_options o, unsigned flags)
{
    seen_set *set = NULL;
    seen_error error = {0};
    o.size = sizeof o;
    o.seed_given = true;
    o.seed[0] = 7;
    o.seed[1] = 9;
    /* A retry on a busy machine would increment a counter twice, unlike in memory. */
    o.command_ms = 60000;
    seen_status status;
    if (!where && o.growth == SEEN_GROWING) {
        /* In memory such a set has tag lines; Redis has layers, with large steps. */
        sn_image image = {0};
        status = sn_layers_begin(&o, &image, &error);
        image.wide = true;
        memcpy(image.seed, o.seed, sizeof image.seed);
        if (status == SEEN_OK)
            status = sn_heap_create(&image, &set, &error);
    } else {
        status = seen_create(where, &o, flags, &set, &error);
    }
    if (status != SEEN_OK)
        fail_msg("create %s: %s", where ? where : "memory", error.message);
    return set;
}

static seen_hash hash_of(uint64_t number)
{
    seen_hasher hasher = {.kind = SEEN_XXH3, .seed = {7, 9}};
    return seen_hash_key(&hasher, &number, sizeof number);
}

/* Every line of every layer. */
static void assert_same_bits(seen_set *a, seen_set *b, bool merged)
{
    sn_image left, right;
    seen_error error = {0};
    static char x[SN_COPY_LINES * SN_LINE_BYTES], y[SN_COPY_LINES * SN_LINE_BYTES];
    assert_int_equal(a->ops->image(a, &left, &error), SEEN_OK);
    assert_int_equal(b->ops->image(b, &right, &error), SEEN_OK);
    assert_int_equal(left.layers, right.layers);
    assert_int_equal(left.current, right.current);
    for (uint32_t i = 0; i < left.layers; i++) {
        assert_int_equal(left.layer[i].generation, right.layer[i].generation);
        if (!merged)
            assert_int_equal(left.layer[i].added, right.layer[i].added);
        uint64_t lines = sn_geometry_lines(&left.layer[i].geometry);
        assert_int_equal(lines, sn_geometry_lines(&right.layer[i].geometry));
        for (uint64_t at = 0; at < lines; at += SN_COPY_LINES) {
            uint64_t n = lines - at < SN_COPY_LINES ? lines - at : SN_COPY_LINES;
            assert_int_equal(a->ops->read(a, i, at, n, x, &error), SEEN_OK);
            if (b->ops->read(b, i, at, n, y, &error) != SEEN_OK)
                fail_msg("%s", error.message);
            assert_memory_equal(x, y, n * SN_LINE_BYTES);
        }
    }
}

/* Random batches on both; the answers must agree, key by key. */
static void run_model(const char *name, seen_options o, int steps, uint64_t range)
{
    seen_set *here = create(NULL, o, 0), *there = create(url_of(name), o, 0);
    seen_hash h[700];
    seen_answer a[700], b[700];
    for (int step = 0; step < steps; step++) {
        size_t n = draw() % 5 == 0 ? 1 + draw() % 4 : 1 + draw() % 700;
        uint64_t span = draw() % 3 == 0 ? range / 10 + 1 : range;
        for (size_t i = 0; i < n; i++)
            h[i] = hash_of(draw() % span);
        seen_error error = {0};
        unsigned what = (unsigned)(draw() % 8);
        seen_status left, right;
        if (what == 0 && o.kind == SEEN_COUNTING) {
            /* Keys that were never added may share cells with others: which of two is a false
             * positive depends on the order, and a batch may visit several layers in another
             * order. */
            size_t each = o.growth == SEEN_GROWING ? 1 : n;
            left = right = SEEN_OK;
            for (size_t i = 0; i < n && left == SEEN_OK && right == left; i += each) {
                left = seen_remove_hashes(here, h + i, each, a + i, NULL);
                right = seen_remove_hashes(there, h + i, each, b + i, &error);
            }
        } else if (what < 3) {
            left = seen_check_hashes(here, h, n, a, NULL);
            right = seen_check_hashes(there, h, n, b, &error);
        } else if (what == 3 && o.growth == SEEN_WINDOW && draw() % 4 == 0) {
            left = seen_rotate(here, NULL);
            right = seen_rotate(there, &error);
            n = 0;
        } else {
            left = seen_add_hashes(here, h, n, a, NULL);
            right = seen_add_hashes(there, h, n, b, &error);
        }
        if (left != right)
            fail_msg("step %d: %d, but %d: %s", step, left, right, error.message);
        if (left == SEEN_OK)
            assert_memory_equal(a, b, n);
    }
    assert_same_bits(here, there, false);
    seen_close(there);
    /* A closed set is present when opened again. */
    seen_error error = {0};
    if (seen_open(url_of(name), NULL, SEEN_READ_ONLY, &there, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    assert_same_bits(here, there, false);
    seen_close(there);
    seen_close(here);
}

static void test_fixed(void **state)
{
    (void)state;
    run_model("fixed",
              (seen_options){.capacity = 60000, .error_rate = 0.01, .when_full = SEEN_FULL_GO_ON},
              60, 40000);
    run_model("strict",
              (seen_options){.capacity = 20000, .error_rate = 1e-9, .when_full = SEEN_FULL_GO_ON},
              30, 40000);
    run_model("classic", (seen_options){.bits = 1 << 20, .hashes = 7, .when_full = SEEN_FULL_GO_ON},
              40, 40000);
    run_model("large", (seen_options){.capacity = 3000000, .error_rate = 0.01}, 20, 100000000);
}

static void test_refusing(void **state)
{
    (void)state;
    run_model("refusing", (seen_options){.capacity = 5000, .error_rate = 0.01}, 60, 40000);
    /* False positives count too, if they are frequent. */
    run_model("refusing-often", (seen_options){.capacity = 5000, .error_rate = 0.2}, 60, 40000);
    run_model("refusing-counting",
              (seen_options){.kind = SEEN_COUNTING, .capacity = 3000, .error_rate = 0.01}, 80,
              5000);
}

static void test_counting(void **state)
{
    (void)state;
    run_model("counting",
              (seen_options){.kind = SEEN_COUNTING,
                             .capacity = 30000,
                             .error_rate = 0.01,
                             .when_full = SEEN_FULL_GO_ON},
              80, 2000);
    run_model(
        "counting-classic",
        (seen_options){
            .kind = SEEN_COUNTING, .bits = 1 << 18, .hashes = 9, .when_full = SEEN_FULL_GO_ON},
        60, 3000);
}

/* Keys are added and removed for long: the counter drifts no more than in memory, and an idle
 * client has no reservations. */
static void test_churn(void **state)
{
    (void)state;
    enum { CAPACITY = 200, LIVE = 165, STEP = 100, ROUNDS = 600 };
    seen_options o = {.kind = SEEN_COUNTING, .capacity = CAPACITY, .error_rate = 0.01};
    seen_set *set[2] = {create(NULL, o, 0), create(url_of("churn"), o, 0)};
    static seen_hash h[ROUNDS * STEP + LIVE];
    sn_image image[2];
    seen_error error = {0};
    uint64_t first = draw();
    for (int i = 0; i < ROUNDS * STEP + LIVE; i++)
        h[i] = hash_of(first + (uint64_t)i);
    for (int s = 0; s < 2; s++) {
        assert_int_equal(seen_add_hashes(set[s], h, LIVE, NULL, &error), SEEN_OK);
        for (int i = 0; i < ROUNDS * STEP; i += STEP) {
            assert_int_equal(seen_remove_hashes(set[s], h + i, STEP, NULL, &error), SEEN_OK);
            assert_int_equal(seen_add_hashes(set[s], h + i + LIVE, STEP, NULL, &error), SEEN_OK);
        }
        assert_int_equal(set[s]->ops->image(set[s], &image[s], &error), SEEN_OK);
    }
    assert_int_equal(image[0].layer[0].added, image[1].layer[0].added);
    seen_close(set[0]);
    seen_close(set[1]);
    redisReply *added = test_ask(&server, "KEYS seen:{churn:*:added");
    assert_int_equal(added->elements, 1);
    assert_int_equal(test_number(&server, "HINCRBY %s 0.1:under-way 0", added->element[0]->str), 0);
    freeReplyObject(added);
}

static void test_growing(void **state)
{
    (void)state;
    run_model("growing",
              (seen_options){.growth = SEEN_GROWING, .capacity = 300, .error_rate = 0.01}, 60,
              40000);
    run_model("growing-strict",
              (seen_options){.growth = SEEN_GROWING, .capacity = 1000, .error_rate = 1e-6}, 30,
              40000);
}

static void test_growing_counting(void **state)
{
    (void)state;
    run_model(
        "growing-counting",
        (seen_options){
            .growth = SEEN_GROWING, .kind = SEEN_COUNTING, .capacity = 300, .error_rate = 0.01},
        80, 5000);
}

static void test_window(void **state)
{
    (void)state;
    run_model("window",
              (seen_options){
                  .growth = SEEN_WINDOW, .generations = 4, .capacity = 3000, .error_rate = 0.01},
              80, 40000);
}

static uint64_t fake_now = 1000000;
static uint64_t read_fake(void)
{
    return fake_now;
}

/* A window by time: generations rotate with the clock, and expire on the server. */
static void test_window_by_time(void **state)
{
    (void)state;
    uint64_t (*real)(void) = sn_clock_now;
    sn_clock_now = read_fake;
    seen_options o = {.growth = SEEN_WINDOW,
                      .generations = 4,
                      .capacity = 3000,
                      .error_rate = 0.001,
                      .window_seconds = 300};
    seen_set *set = create(url_of("hours"), o, 0);
    seen_answer answer;
    for (int i = 0; i < 12; i++, fake_now += 60) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        assert_int_equal(seen_add(set, key, strlen(key), &answer, NULL), SEEN_OK);
        assert_int_equal(answer, SEEN_NEW);
        for (int j = 0; j <= i; j++) {
            snprintf(key, sizeof key, "k%d", j);
            assert_int_equal(seen_check(set, key, strlen(key), &answer, NULL), SEEN_OK);
            if (i - j <= 5)
                assert_int_equal(answer, SEEN_BEFORE);
            else if (i - j > 7)
                assert_int_equal(answer, SEEN_NEW);
        }
    }
    redisReply *keys = test_ask(&server, "KEYS seen:{hours:*:closed");
    assert_non_null(keys);
    assert_true(keys->elements >= 3);
    for (size_t i = 0; i < keys->elements; i++) {
        long long ttl = test_number(&server, "TTL %s", keys->element[i]->str);
        assert_true(ttl > 200 && ttl <= 360);
    }
    freeReplyObject(keys);
    seen_close(set);
    sn_clock_now = real;
}

/* ---- replace, drop, evict ---- */

static void test_create_and_drop(void **state)
{
    (void)state;
    seen_options o = {.size = sizeof o, .capacity = 1000, .error_rate = 0.01};
    seen_set *set, *other;
    seen_error error;
    assert_int_equal(seen_open(url_of("none"), NULL, 0, &set, &error), SEEN_ERR_NOT_FOUND);
    assert_int_equal(seen_create(url_of("life"), &o, 0, &set, &error), SEEN_OK);
    assert_int_equal(seen_create(url_of("life"), &o, 0, &other, &error), SEEN_ERR_EXISTS);
    assert_int_equal(seen_create(url_of("life"), &o, SEEN_IF_ABSENT, &other, &error), SEEN_OK);
    seen_answer answer;
    assert_int_equal(seen_add(set, "a", 1, &answer, NULL), SEEN_OK);
    assert_int_equal(answer, SEEN_NEW);
    assert_int_equal(seen_add(other, "a", 1, &answer, NULL), SEEN_OK);
    assert_int_equal(answer, SEEN_BEFORE);
    seen_close(other);
    o.capacity = 2000;
    assert_int_equal(seen_create(url_of("life"), &o, SEEN_IF_ABSENT, &other, &error),
                     SEEN_ERR_MISMATCH);
    /* Replaced while a client has it open: the client gets an error, and writes nothing into the
     * new one. */
    assert_int_equal(seen_create(url_of("life"), &o, SEEN_REPLACE, &other, &error), SEEN_OK);
    test_sleep_ms(250);
    answer = SEEN_UNKNOWN;
    assert_int_equal(seen_add(set, "b", 1, &answer, &error), SEEN_ERR_CHANGED);
    assert_int_equal(answer, SEEN_UNKNOWN);
    assert_int_equal(seen_check(other, "a", 1, &answer, NULL), SEEN_OK);
    assert_int_equal(answer, SEEN_NEW);
    seen_close(set);
    assert_int_equal(seen_drop(url_of("life"), NULL, &error), SEEN_OK);
    test_sleep_ms(250);
    assert_int_equal(seen_add(other, "b", 1, &answer, &error), SEEN_ERR_NOT_FOUND);
    seen_close(other);
    assert_int_equal(seen_drop(url_of("life"), NULL, &error), SEEN_ERR_NOT_FOUND);
    redisReply *keys = test_ask(&server, "KEYS seen:*life*");
    assert_int_equal(keys->elements, 0);
    freeReplyObject(keys);
}

static void test_time_to_live(void **state)
{
    (void)state;
    seen_options o = {.size = sizeof o, .capacity = 1000, .error_rate = 0.01, .ttl_seconds = 100};
    seen_set *set;
    assert_int_equal(seen_create(url_of("ttl"), &o, 0, &set, NULL), SEEN_OK);
    seen_answer answer;
    assert_int_equal(seen_add(set, "a", 1, &answer, NULL), SEEN_OK);
    redisReply *keys = test_ask(&server, "KEYS seen:*ttl*");
    assert_true(keys->elements >= 2);
    for (size_t i = 0; i < keys->elements; i++)
        assert_in_range(test_number(&server, "TTL %s", keys->element[i]->str), 90, 100);
    freeReplyObject(keys);
    seen_close(set);
}

/* An evicted shard is detected, not treated as empty. */
static void test_missing_shard(void **state)
{
    (void)state;
    seen_options o = {.size = sizeof o, .capacity = 1000, .error_rate = 0.01};
    seen_set *set, *other;
    seen_error error;
    assert_int_equal(seen_create(url_of("hole"), &o, 0, &set, NULL), SEEN_OK);
    redisReply *keys = test_ask(&server, "KEYS seen:{hole:*:0}");
    assert_int_equal(keys->elements, 1);
    assert_int_equal(test_number(&server, "DEL %s", keys->element[0]->str), 1);
    seen_answer answer = SEEN_UNKNOWN;
    assert_int_equal(seen_check(set, "a", 1, &answer, &error), SEEN_ERR_FORMAT);
    assert_int_equal(answer, SEEN_UNKNOWN);
    assert_int_equal(seen_open(url_of("hole"), NULL, 0, &other, &error), SEEN_ERR_FORMAT);
    freeReplyObject(keys);
    seen_close(set);
}

static void test_memory(void **state)
{
    (void)state;
    seen_options o = {.size = sizeof o, .capacity = 20000000, .error_rate = 0.01};
    seen_set *set;
    assert_int_equal(seen_create(url_of("weight"), &o, 0, &set, NULL), SEEN_OK);
    seen_info info = {.size = sizeof info};
    assert_int_equal(seen_get_shape(set, &info, NULL), SEEN_OK);
    redisReply *keys = test_ask(&server, "KEYS seen:{weight:*}");
    assert_int_equal(keys->elements, info.shards);
    double used = 0;
    for (size_t i = 0; i < keys->elements; i++)
        used += (double)test_number(&server, "MEMORY USAGE %s", keys->element[i]->str);
    assert_true(used < 1.03 * (double)info.bytes);
    freeReplyObject(keys);
    seen_close(set);
    assert_int_equal(seen_drop(url_of("weight"), NULL, NULL), SEEN_OK);
}

/* Merging two sets gives the same bits in Redis and in memory. */
static void merge_sets(const char *name, seen_options o)
{
    char other[64];
    snprintf(other, sizeof other, "%s-2", name);
    seen_set *a = create(NULL, o, 0), *b = create(NULL, o, 0);
    seen_set *x = create(url_of(name), o, 0), *y = create(url_of(other), o, 0);
    seen_hash h[3000];
    seen_answer answers[3000];
    for (uint64_t i = 0; i < 3000; i++)
        h[i] = hash_of(i);
    assert_int_equal(seen_add_hashes(a, h, 2000, answers, NULL), SEEN_OK);
    assert_int_equal(seen_add_hashes(x, h, 2000, answers, NULL), SEEN_OK);
    assert_int_equal(seen_add_hashes(b, h + 1000, 2000, answers, NULL), SEEN_OK);
    assert_int_equal(seen_add_hashes(y, h + 1000, 2000, answers, NULL), SEEN_OK);
    seen_error error = {0};
    assert_int_equal(seen_merge(a, b, NULL), SEEN_OK);
    if (seen_merge(x, y, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    assert_same_bits(a, x, true);
    assert_int_equal(seen_check_hashes(x, h, 3000, answers, NULL), SEEN_OK);
    for (int i = 0; i < 3000; i++)
        assert_int_equal(answers[i], SEEN_BEFORE);
    seen_close(a);
    seen_close(b);
    seen_close(x);
    seen_close(y);
}

static void test_unions(void **state)
{
    (void)state;
    merge_sets("u-fixed", (seen_options){.capacity = 5000, .error_rate = 0.01});
    merge_sets("u-counting",
               (seen_options){.kind = SEEN_COUNTING, .capacity = 5000, .error_rate = 0.01});
    merge_sets("u-growing", (seen_options){.growth = SEEN_GROWING,
                                           .capacity = 500,
                                           .error_rate = 0.01,
                                           .when_full = SEEN_FULL_GO_ON});
    merge_sets("u-window",
               (seen_options){
                   .growth = SEEN_WINDOW, .generations = 5, .capacity = 4000, .error_rate = 0.01});
}

/* Windows by time that started at different times: the union drops a key no earlier than the set
 * that it came from, in Redis as in memory. */
static void test_union_of_ages(void **state)
{
    (void)state;
    uint64_t (*real)(void) = sn_clock_now;
    sn_clock_now = read_fake;
    seen_options o = {.growth = SEEN_WINDOW,
                      .generations = 4,
                      .capacity = 3000,
                      .error_rate = 0.001,
                      .window_seconds = 300};
    seen_set *a = create(NULL, o, 0), *x = create(url_of("ages"), o, 0);
    fake_now += 90;
    uint64_t younger = fake_now;
    seen_set *b = create(NULL, o, 0), *y = create(url_of("ages-2"), o, 0);
    seen_hash h = hash_of(1);
    seen_answer here, there;
    assert_int_equal(seen_add_hashes(b, &h, 1, &here, NULL), SEEN_OK);
    assert_int_equal(seen_add_hashes(y, &h, 1, &there, NULL), SEEN_OK);
    assert_int_equal(seen_merge(a, b, NULL), SEEN_OK);
    assert_int_equal(seen_merge(x, y, NULL), SEEN_OK);
    sn_image left, right;
    assert_int_equal(a->ops->image(a, &left, NULL), SEEN_OK);
    assert_int_equal(x->ops->image(x, &right, NULL), SEEN_OK);
    for (uint32_t i = 0; i < left.layers; i++)
        assert_int_equal(left.layer[i].born, right.layer[i].born);
    assert_int_equal(right.layer[right.current].born, younger);
    for (int step = 0; step < 60; step++, fake_now += 10) {
        seen_hash other = hash_of(100 + (uint64_t)step);
        assert_int_equal(seen_check_hashes(a, &h, 1, &here, NULL), SEEN_OK);
        assert_int_equal(seen_check_hashes(x, &h, 1, &there, NULL), SEEN_OK);
        assert_int_equal(here, there);
        if (fake_now < younger + 300)
            assert_int_equal(there, SEEN_BEFORE);
        assert_int_equal(seen_add_hashes(a, &other, 1, &here, NULL), SEEN_OK);
        assert_int_equal(seen_add_hashes(x, &other, 1, &there, NULL), SEEN_OK);
        assert_int_equal(here, there);
    }
    assert_int_equal(seen_check_hashes(x, &h, 1, &there, NULL), SEEN_OK);
    assert_int_equal(there, SEEN_NEW);
    seen_close(a);
    seen_close(b);
    seen_close(x);
    seen_close(y);
    sn_clock_now = real;
}

static void test_names_of_any_bytes(void **state)
{
    (void)state;
    seen_options o = {.size = sizeof o, .capacity = 1000, .error_rate = 0.01};
    seen_set *set;
    seen_error error;
    const char *names[] = {"a%2Fb", "%7Bx%7D", "%00%0A%ff", "%7D%7B", "5", "x:y", "%25"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        seen_answer answer;
        if (seen_create(url_of(names[i]), &o, 0, &set, &error) != SEEN_OK)
            fail_msg("%s: %s", names[i], error.message);
        assert_int_equal(seen_add(set, "k", 1, &answer, NULL), SEEN_OK);
        assert_int_equal(answer, SEEN_NEW);
        seen_close(set);
        assert_int_equal(seen_drop(url_of(names[i]), NULL, &error), SEEN_OK);
    }
}

static int start(void **state)
{
    (void)state;
    random_state = (uint64_t)time(NULL);
    const char *given = getenv("SEEN_TEST_SEED");
    if (given)
        random_state = strtoull(given, NULL, 10);
    printf("SEEN_TEST_SEED=%llu\n", (unsigned long long)random_state);
    return rig_start(state);
}

int main(void)
{
    if (!test_have_redis())
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_refusing),
        cmocka_unit_test(test_counting),
        cmocka_unit_test(test_churn),
        cmocka_unit_test(test_growing),
        cmocka_unit_test(test_growing_counting),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_window_by_time),
        cmocka_unit_test(test_create_and_drop),
        cmocka_unit_test(test_time_to_live),
        cmocka_unit_test(test_missing_shard),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_unions),
        cmocka_unit_test(test_union_of_ages),
        cmocka_unit_test(test_names_of_any_bytes),
    };
    return cmocka_run_group_tests(tests, start, rig_stop);
}
