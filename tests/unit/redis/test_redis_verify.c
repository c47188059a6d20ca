/* A server that lost a shard or the counters is detected: by the next call that uses them, by any
 * call within a second, and when the filter is opened. */
#include "seen.h"
#include "tests/redis/rig.h"

#include <pthread.h>

enum { RUNS = 100, BATCH = 2000 };

static unsigned seed;
static char where[96];
static uint64_t next_key = 1;

static seen_set *make(seen_options o)
{
    seen_set *set;
    seen_error error = {0};
    freeReplyObject(test_ask(&server, "FLUSHALL"));
    snprintf(where, sizeof where, "%s/loss", server.url);
    o.size = sizeof o;
    if (seen_create(where, &o, 0, &set, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    return set;
}

static seen_status work(seen_set *set, bool add, uint64_t from, size_t n, seen_error *error)
{
    uint64_t number[BATCH];
    seen_key keys[BATCH];
    seen_answer answers[BATCH];
    for (size_t i = 0; i < n; i++) {
        number[i] = from + i;
        keys[i] = (seen_key){&number[i], sizeof number[i]};
    }
    return add ? seen_add_many(set, keys, n, answers, error)
               : seen_check_many(set, keys, n, answers, error);
}

static seen_status add(seen_set *set, seen_error *error)
{
    next_key += BATCH;
    return work(set, true, next_key, BATCH, error);
}

static void must(seen_status status, const seen_error *error)
{
    if (status != SEEN_OK)
        fail_msg("%s", error->message);
}

/* The keys of the filter that match, according to the server. */
static redisReply *names(const char *pattern)
{
    redisReply *found = test_ask(&server, "KEYS %s", pattern);
    assert_true(found && found->elements > 0);
    return found;
}

static void must_notice(seen_status status, const seen_error *error, const char *what)
{
    if (status != SEEN_ERR_FORMAT)
        fail_msg("status %d: %s", (int)status, error->message);
    assert_non_null(strstr(error->message, what));
    assert_non_null(strstr(error->message, "noeviction"));
}

static void must_not_open(const char *what)
{
    seen_set *set;
    seen_error error = {0};
    must_notice(seen_open(where, NULL, SEEN_READ_ONLY, &set, &error), &error, what);
}

/* Removes a shard, runs calls, restores it. */
static void lose_shards(seen_set *set, unsigned layers)
{
    seen_error error = {0};
    for (int run = 0; run < 10; run++)
        must(add(set, &error), &error);
    redisReply *shards = names("seen:{loss:*:*.*:*}*");
    assert_true(shards->elements >= 4);
    for (int run = 0; run < RUNS; run++) {
        const char *shard;
        do /* other types are fences */
            shard = shards->element[(size_t)rand_r(&seed) % shards->elements]->str;
        while (test_number(&server, "STRLEN %s", shard) < 0);
        assert_int_equal(test_number(&server, "COPY %s saved", shard), 1);
        assert_int_equal(test_number(&server, "DEL %s", shard), 1);
        error = (seen_error){0};
        /* A layer that becomes full is closed, and could not be restored. */
        bool stays = layers == 1 || strstr(shard, ":closed");
        switch (stays ? run % 3 : 1) {
        case 0: /* new keys go to all shards, and recreate the missing one */
            must_notice(add(set, &error), &error, "shard");
            must_notice(add(set, &error), &error, "shard");
            break;
        case 1: /* lookups in a shard that another client recreated, in full length or not */
            if (run % 2)
                test_number(&server, "SETBIT %s %d 1", shard, run * 13);
            must_notice(work(set, false, 1, BATCH, &error), &error, "shard");
            break;
        default: /* one key that never uses the shard; after a second that does not matter */
            test_sleep_ms(run < 10 ? 250 : 0);
            if (run < 10)
                must_notice(work(set, false, 5000, 1, &error), &error, "shard");
        }
        must_not_open("shard");
        test_number(&server, "DEL %s", shard);
        freeReplyObject(test_ask(&server, "RENAME saved %s", shard));
        must(work(set, false, 1, BATCH, &error), &error);
    }
    freeReplyObject(shards);
    seen_close(set);
}

static void test_shards(void **state)
{
    (void)state;
    lose_shards(make((seen_options){.capacity = 2000000, .error_rate = 0.01}), 1);
}

static void test_shards_classic(void **state)
{
    (void)state;
    lose_shards(make((seen_options){.bits = 16 << 20, .hashes = 7}), 1);
}

static void test_shards_counting(void **state)
{
    (void)state;
    lose_shards(make((seen_options){.kind = SEEN_COUNTING, .capacity = 1000000}), 1);
}

static void test_shards_growing(void **state)
{
    (void)state;
    lose_shards(make((seen_options){.growth = SEEN_GROWING, .capacity = 3000}), 2);
}

static void test_shards_window(void **state)
{
    (void)state;
    seen_set *set = make((seen_options){
        .growth = SEEN_WINDOW, .capacity = 10000, .generations = 4, .window_seconds = 3600});
    seen_error error = {0};
    for (int i = 0; i < 5; i++) {
        must(add(set, &error), &error);
        must(seen_rotate(set, &error), &error);
    }
    lose_shards(set, 4);
}

/* A shard disappears while a client adds: the client fails within a second, and never reports
 * success. */
static void *add_for_long(void *context)
{
    seen_error *error = context;
    seen_set *set;
    if (seen_open(where, NULL, 0, &set, error) != SEEN_OK)
        return NULL;
    uint64_t key = 1u << 30;
    seen_status status = SEEN_OK;
    for (; status == SEEN_OK && key < (1u << 30) + 10000 * BATCH; key += BATCH)
        status = work(set, true, key, BATCH, error);
    seen_close(set);
    return error;
}

static void test_running(void **state)
{
    (void)state;
    for (int run = 0; run < 10; run++) {
        seen_close(make(
            (seen_options){.capacity = 2000000, .error_rate = 0.01, .when_full = SEEN_FULL_GO_ON}));
        seen_error error = {0};
        pthread_t thread;
        pthread_create(&thread, NULL, add_for_long, &error);
        test_sleep_ms(20 + run * 7);
        redisReply *shards = names("seen:{loss:*:*.*:*}*");
        assert_int_equal(
            test_number(&server, "DEL %s", shards->element[(unsigned)run % shards->elements]->str),
            1);
        freeReplyObject(shards);
        pthread_join(thread, NULL);
        must_notice(SEEN_ERR_FORMAT, &error, "shard");
        must_not_open("shard");
    }
}

/* 100 of each kind take a minute and a half: make redis-loss. */
static int counter_runs(void)
{
    const char *given = getenv("SEEN_LOSS_RUNS");
    return given ? atoi(given) : RUNS / 4;
}

/* A set that refuses when full, a growing one, one that may exceed its capacity, and a window by
 * count. */
static void lose_counters(seen_options o)
{
    seen_error error = {0};
    seen_set *set = make(o);
    must(add(set, &error), &error);
    redisReply *counters = names("seen:{loss:*}:added");
    for (int run = 0; run < counter_runs(); run++) {
        const char *key = counters->element[0]->str;
        assert_int_equal(test_number(&server, "COPY %s saved", key), 1);
        assert_int_equal(test_number(&server, "DEL %s", key), 1);
        must_not_open("counters");
        test_sleep_ms(210);
        seen_status status = run % 2 ? add(set, &error) : work(set, false, 1, 1, &error);
        must_notice(status, &error, "counters");
        seen_info info = {.size = sizeof info};
        must_notice(seen_get_info(set, &info, &error), &error, "counters");
        must_not_open("counters");
        test_number(&server, "DEL %s", key);
        freeReplyObject(test_ask(&server, "RENAME saved %s", key));
        must(work(set, false, 1, 1, &error), &error);
    }
    freeReplyObject(counters);
    seen_close(set);
}

static void test_counters(void **state)
{
    (void)state;
    lose_counters((seen_options){.capacity = 1000000});
    lose_counters((seen_options){.capacity = 10000, .growth = SEEN_GROWING});
    lose_counters((seen_options){.capacity = 1000000, .when_full = SEEN_FULL_GO_ON});
    lose_counters((seen_options){.capacity = 100000, .growth = SEEN_WINDOW, .generations = 3});
}

/* The set does not accept its capacity a second time. */
static void test_counters_refuse(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_set *set = make((seen_options){.capacity = 10000});
    seen_status status = SEEN_OK;
    unsigned batches = 0;
    for (; status == SEEN_OK && batches < 100; batches++) {
        status = add(set, &error);
        redisReply *counters = test_ask(&server, "KEYS seen:{loss:*}:added");
        if (counters->elements)
            test_number(&server, "DEL %s", counters->element[0]->str);
        freeReplyObject(counters);
    }
    assert_true(batches < 100);
    must_notice(status, &error, "counters");
    seen_close(set);
}

/* A filter of an earlier version has no marks: it works as before. */
static void test_format_1(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_set *set = make((seen_options){.growth = SEEN_GROWING, .capacity = 3000});
    must(add(set, &error), &error);
    seen_close(set);
    redisReply *shards = names("seen:{loss:*:*.*:*}*"), *counters = names("seen:{loss:*}:added");
    for (size_t i = 0; i < shards->elements; i++)
        freeReplyObject(
            test_ask(&server, "EVAL %s 1 %s",
                     "return redis.call('SET',KEYS[1],redis.call('GETRANGE',KEYS[1],0,-2))",
                     shards->element[i]->str));
    assert_int_equal(test_number(&server, "HDEL %s created", counters->element[0]->str), 1);
    freeReplyObject(test_ask(&server, "HSET seen:loss format 1"));
    must(seen_open(where, NULL, 0, &set, &error), &error);
    for (int i = 0; i < 10; i++)
        must(add(set, &error), &error);
    must(work(set, false, 1 + BATCH, BATCH, &error), &error);
    redisReply *format = test_ask(&server, "HGET seen:loss format");
    assert_string_equal(format->str, "1");
    freeReplyObject(format);
    assert_int_equal(test_number(&server, "DEL %s", counters->element[0]->str), 1);
    must_not_open("counters");
    freeReplyObject(shards);
    freeReplyObject(counters);
    seen_close(set);
}

int main(void)
{
    const char *given = getenv("SEEN_SEED");
    seed = given ? (unsigned)strtoul(given, NULL, 0) : (unsigned)time(NULL);
    printf("SEEN_SEED=%u\n", seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shards),          cmocka_unit_test(test_shards_classic),
        cmocka_unit_test(test_shards_counting), cmocka_unit_test(test_shards_growing),
        cmocka_unit_test(test_shards_window),   cmocka_unit_test(test_running),
        cmocka_unit_test(test_counters),        cmocka_unit_test(test_counters_refuse),
        cmocka_unit_test(test_format_1),
    };
    return RIG_RUN(tests);
}
