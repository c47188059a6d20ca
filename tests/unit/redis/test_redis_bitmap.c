/* Plain bitmaps: their parameters, and keys that already exist. */
#include "tests/redis/door.h"

static const seen_options SMALL = {.size = sizeof(seen_options),
                                   .layout = SEEN_LAYOUT_BITMAP,
                                   .bits = 8192,
                                   .hashes = 3,
                                   .capacity = 100};

static seen_status make(const char *name, seen_options o, seen_set **set, seen_error *error)
{
    char here[128];
    snprintf(here, sizeof here, "%s/%s", server.url, name);
    o.size = sizeof o;
    o.layout = SEEN_LAYOUT_BITMAP;
    return seen_create(here, &o, 0, set, error);
}

static void refused(seen_options o, seen_status expected, const char *words)
{
    seen_set *set;
    seen_error error = {0};
    seen_status status = make("refused", o, &set, &error);
    if (status != expected || !strstr(error.message, words))
        fail_msg("%d: %s", status, error.message);
}

static void test_refused(void **state)
{
    (void)state;
    refused((seen_options){.kind = SEEN_COUNTING, .capacity = 100}, SEEN_ERR_ARGUMENT,
            "kind bloom");
    refused((seen_options){.growth = SEEN_GROWING, .capacity = 100}, SEEN_ERR_ARGUMENT, "fixed");
    refused((seen_options){.capacity = 1000000000}, SEEN_ERR_ARGUMENT, "2^32 bits");
    refused((seen_options){.bits = (UINT64_C(1) << 32) + 512, .hashes = 3}, SEEN_ERR_ARGUMENT,
            "2^32 bits");
}

/* The error rate holds although k is an integer. */
static void test_rate(void **state)
{
    (void)state;
    for (double rate = 0.3; rate > 1e-6; rate /= 2.7) {
        seen_set *set;
        seen_error error = {0};
        seen_info info = {.size = sizeof info};
        if (make("rate", (seen_options){.capacity = 5000, .error_rate = rate}, &set, &error) !=
            SEEN_OK)
            fail_msg("%s", error.message);
        assert_int_equal(seen_get_shape(set, &info, &error), SEEN_OK);
        assert_true(seen_classic_rate(5000, (double)info.bits, (double)info.hashes) <= rate * 1.02);
        seen_close(set);
        freeReplyObject(test_ask(&server, "FLUSHALL"));
    }
}

/* A key of another program is adopted with its bits; a larger one, or one that is not a string, is
 * refused. */
static void test_taken_over(void **state)
{
    (void)state;
    seen_set *set;
    seen_error error = {0};
    seen_options o = {.bits = 8192, .hashes = 3, .when_full = SEEN_FULL_GO_ON};
    freeReplyObject(test_ask(&server, "SETRANGE theirs 10 x"));
    assert_int_equal(make("theirs", o, &set, &error), SEEN_OK);
    assert_int_equal(test_number(&server, "STRLEN theirs"), 1025);
    redisReply *r = test_ask(&server, "GETRANGE theirs 10 10");
    assert_string_equal(r->str, "x");
    freeReplyObject(r);
    seen_close(set);
    freeReplyObject(test_ask(&server, "SETRANGE larger 5000 x"));
    assert_int_equal(make("larger", o, &set, &error), SEEN_ERR_MISMATCH);
    assert_non_null(strstr(error.message, "5001 bytes"));
    freeReplyObject(test_ask(&server, "LPUSH list x"));
    assert_int_equal(make("list", o, &set, &error), SEEN_ERR_FORMAT);
    assert_int_equal(test_number(&server, "LLEN list"), 1);
}

/* SEEN_REPLACE does not delete what is not a bitmap: a list, or the hash of another filter. */
static void test_spared(void **state)
{
    (void)state;
    seen_set *set;
    seen_error error = {0};
    seen_options o = SMALL, shards = {.size = sizeof shards, .capacity = 100};
    char here[128], other[128];
    snprintf(other, sizeof other, "%s/other", server.url);
    door_must(seen_create(other, &shards, 0, &set, &error), &error);
    seen_close(set);
    snprintf(here, sizeof here, "%s/seen:other", server.url);
    assert_int_equal(seen_create(here, &o, SEEN_REPLACE, &set, &error), SEEN_ERR_FORMAT);
    assert_non_null(strstr(error.message, "belongs to something else"));
    door_must(seen_open(other, NULL, 0, &set, &error), &error);
    freeReplyObject(test_ask(&server, "LPUSH letters x"));
    snprintf(here, sizeof here, "%s/letters", server.url);
    assert_int_equal(seen_copy(set, here, SEEN_REPLACE, &o, &error), SEEN_ERR_FORMAT);
    seen_close(set);
    assert_int_equal(test_number(&server, "LLEN letters"), 1);
    assert_int_equal(test_number(&server, "EXISTS seen:letters"), 0);
}

/* The old filter is removed before the copy begins: under any address, it is not the source of the
 * copy. */
static void test_onto_itself(void **state)
{
    (void)state;
    seen_set *set;
    seen_error error = {0};
    seen_options o = SMALL, shards = {.size = sizeof shards};
    char here[128];
    snprintf(here, sizeof here, "%s/fence", server.url);
    door_must(seen_create(here, &o, 0, &set, &error), &error);
    door_add(set, 0, 20, SEEN_NEW);
    assert_int_equal(seen_copy(set, here, SEEN_REPLACE, &o, &error), SEEN_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "onto itself"));
    assert_int_equal(seen_copy(set, where, SEEN_REPLACE, &o, &error), SEEN_ERR_ARGUMENT);
    door_add(set, 0, 20, SEEN_BEFORE);
    /* Shards have names of their own. */
    door_must(seen_copy(set, where, SEEN_REPLACE, &shards, &error), &error);
    seen_close(set);
    door_must(seen_open(where, NULL, 0, &set, &error), &error);
    door_add(set, 0, 20, SEEN_BEFORE);
    door_must(seen_copy(set, here, SEEN_REPLACE, &o, &error), &error);
    seen_close(set);
    door_must(seen_open(here, NULL, 0, &set, &error), &error);
    door_add(set, 0, 20, SEEN_BEFORE);
    seen_close(set);
}

/* A replaced bitmap is empty and has its new size; nothing of the old one remains. */
static void test_replaced(void **state)
{
    (void)state;
    seen_set *set;
    seen_error error = {0};
    seen_answer answer;
    char here[128];
    seen_options o = SMALL;
    snprintf(here, sizeof here, "%s/again", server.url);
    assert_int_equal(seen_create(here, &o, 0, &set, &error), SEEN_OK);
    assert_int_equal(seen_add(set, "a", 1, &answer, &error), SEEN_OK);
    seen_close(set);
    long long keys = test_number(&server, "DBSIZE");
    o.bits = 4096;
    if (seen_create(here, &o, SEEN_REPLACE, &set, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    assert_int_equal(test_number(&server, "STRLEN again"), 513);
    assert_int_equal(test_number(&server, "BITCOUNT again"), 0);
    assert_int_equal(seen_check(set, "a", 1, &answer, &error), SEEN_OK);
    assert_int_equal(answer, SEEN_NEW);
    seen_close(set);
    assert_int_equal(test_number(&server, "DBSIZE"), keys);
}

/* Clients of the old one get an error, and do not modify the new one. */
static void test_replaced_under(void **state)
{
    (void)state;
    seen_set *old, *set;
    seen_error error = {0};
    seen_answer answer;
    char here[128];
    seen_options o = SMALL;
    snprintf(here, sizeof here, "%s/under", server.url);
    assert_int_equal(seen_create(here, &o, 0, &old, &error), SEEN_OK);
    assert_int_equal(seen_add(old, "a", 1, &answer, &error), SEEN_OK);
    long long keys = test_number(&server, "DBSIZE");
    assert_int_equal(seen_create(here, &o, SEEN_REPLACE, &set, &error), SEEN_OK);
    assert_int_equal(seen_add(set, "b", 1, &answer, &error), SEEN_OK);
    test_sleep_ms(250);
    assert_int_equal(seen_add(old, "c", 1, &answer, &error), SEEN_ERR_CHANGED);
    assert_int_equal(seen_sync(old, &error), SEEN_ERR_CHANGED);
    seen_close(old);
    assert_int_equal(test_number(&server, "DBSIZE"), keys);
    assert_int_equal(test_number(&server, "STRLEN under"), 1025);
    assert_int_equal(seen_check(set, "b", 1, &answer, &error), SEEN_OK);
    assert_int_equal(answer, SEEN_BEFORE);
    seen_close(set);
}

/* A copy does not overwrite a key of another program, and an incomplete copy is not a filter. */
static void test_copied(void **state)
{
    (void)state;
    seen_set *set, *half;
    seen_error error = {0};
    char source[128];
    seen_options o = SMALL;
    snprintf(source, sizeof source, "%s/source", server.url);
    assert_int_equal(seen_create(source, &o, 0, &set, &error), SEEN_OK);
    door_add(set, 0, 20, SEEN_NEW);
    freeReplyObject(test_ask(&server, "SETRANGE fence 10 x"));
    assert_int_equal(seen_copy(set, where, 0, &o, &error), SEEN_ERR_EXISTS);
    assert_int_equal(test_number(&server, "STRLEN fence"), 11);
    door_must(seen_copy(set, where, SEEN_REPLACE, &o, &error), &error);
    /* The server runs out of memory in the middle of the next one. */
    meddle_set(&door, 0, (meddle_rule){.match = "SETRANGE", .reply = "-OOM too much\r\n"});
    assert_int_equal(seen_copy(set, where, SEEN_REPLACE, &o, &error), SEEN_ERR_SPACE);
    assert_int_equal(meddle_hits(&door, 0), 1);
    assert_int_equal(seen_open(where, NULL, 0, &half, &error), SEEN_ERR_NOT_FOUND);
    meddle_set(&door, 0, (meddle_rule){0});
    door_must(seen_copy(set, where, SEEN_REPLACE, &o, &error), &error);
    door_must(seen_open(where, NULL, 0, &half, &error), &error);
    door_add(half, 0, 20, SEEN_BEFORE);
    seen_close(half);
    seen_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_taken_over),
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_replaced_under),
        cmocka_unit_test(test_spared),
        DOOR_TEST(test_copied),
        DOOR_TEST(test_onto_itself),
    };
    return RIG_RUN(tests);
}
