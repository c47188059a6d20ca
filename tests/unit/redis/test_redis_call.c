/* A filter that is not what it was: whoever was told so is told again, and nothing is taken until
 * it is well. */
#include "tests/redis/door.h"

static void told(seen_status (*call)(seen_set *, const void *, size_t, seen_answer *, seen_error *),
                 seen_set *set, int key, seen_status expected)
{
    seen_error error = {0};
    seen_answer answer = SEEN_UNKNOWN;
    assert_int_equal(call(set, &key, sizeof key, &answer, &error), expected);
}

static seen_set *make(void)
{
    seen_set *set = door_make((seen_options){.capacity = 1000});
    door_add(set, 0, 10, SEEN_NEW);
    door_add(set, 0, 10, SEEN_BEFORE);
    return set;
}

/* Every call from now on, also with keys that were remembered. */
static void refuses(seen_set *set, seen_status expected)
{
    told(seen_add, set, 20, expected);
    told(seen_add, set, 1, expected);
    told(seen_check, set, 2, expected);
    told(seen_check, set, 21, expected);
}

static void test_gone(void **state)
{
    (void)state;
    seen_set *set = make();
    freeReplyObject(test_ask(&server, "FLUSHALL"));
    test_sleep_ms(250);
    refuses(set, SEEN_ERR_NOT_FOUND);
    assert_int_equal(test_number(&server, "DBSIZE"), 0);
    seen_close(set);
}

static void test_replaced(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_set *set = make(), *other;
    seen_options o = {.size = sizeof o, .capacity = 1000};
    door_must(seen_create(where, &o, SEEN_REPLACE, &other, &error), &error);
    /* By a sync, so soon that no batch would have asked. */
    assert_int_equal(seen_sync(set, &error), SEEN_ERR_CHANGED);
    refuses(set, SEEN_ERR_CHANGED);
    door_add(other, 0, 30, SEEN_NEW);
    seen_close(other);
    seen_close(set);
}

static void test_hollow(void **state)
{
    (void)state;
    seen_set *set = make();
    redisReply *keys = test_ask(&server, "KEYS seen:*:0}");
    assert_int_equal(keys->elements, 1);
    assert_int_equal(test_number(&server, "RENAMENX %s kept", keys->element[0]->str), 1);
    test_sleep_ms(250);
    told(seen_check, set, 20, SEEN_ERR_FORMAT);
    refuses(set, SEEN_ERR_FORMAT);
    /* It is back. */
    freeReplyObject(test_ask(&server, "RENAME kept %s", keys->element[0]->str));
    freeReplyObject(keys);
    door_add(set, 0, 10, SEEN_BEFORE);
    door_add(set, 10, 30, SEEN_NEW);
    seen_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DOOR_TEST(test_gone),
        DOOR_TEST(test_replaced),
        DOOR_TEST(test_hollow),
    };
    return RIG_RUN(tests);
}
