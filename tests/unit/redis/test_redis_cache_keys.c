/* Cached keys, and a server that loses them: a call that also verifies the filter detects the loss,
 * and answers nothing from the outdated cache. */
#include "tests/redis/door.h"

/* Every shard is all zero, as after a restart from an old snapshot. */
#define FORGET                                                                                     \
    "EVAL \"for _,k in ipairs(redis.call('KEYS','seen:{*')) do "                                   \
    "if redis.call('TYPE',k).ok=='string' then "                                                   \
    "redis.call('SETRANGE',k,0,string.rep('\\\\0',redis.call('STRLEN',k))) end end return 1\" "    \
    "0\r\n"

enum { KEYS = 500 };

static int number[KEYS];
static seen_key keys[KEYS];

static void ask_from(int first, seen_set *set, bool add, seen_answer expected)
{
    seen_answer answers[KEYS];
    seen_error error = {0};
    for (int i = 0; i < KEYS; i++) {
        number[i] = first + i;
        keys[i] = (seen_key){&number[i], sizeof number[i]};
    }
    door_must((add ? seen_add_many : seen_check_many)(set, keys, KEYS, answers, &error), &error);
    for (int i = 0; i < KEYS; i++)
        if (answers[i] != expected)
            fail_msg("key %d: %d", i, answers[i]);
}

static void ask(seen_set *set, bool add, seen_answer expected)
{
    ask_from(0, set, add, expected);
}

/* The connection breaks during the verification that is sent along with keys that are all
 * cached. */
static void loses_at(const char *match, bool add, seen_options o)
{
    seen_set *set = door_make(o), *other;
    seen_error error = {0};
    ask(set, true, SEEN_NEW);
    test_sleep_ms(250);
    meddle_set(&door, 0, (meddle_rule){.match = match, .times = 1, .before = FORGET});
    ask(set, add, SEEN_NEW);
    assert_int_equal(meddle_hits(&door, 0), 1);
    ask(set, add, add ? SEEN_BEFORE : SEEN_NEW);
    door_must(seen_open(where, NULL, 0, &other, &error), &error);
    ask(other, false, add ? SEEN_BEFORE : SEEN_NEW);
    seen_close(other);
    seen_close(set);
    freeReplyObject(test_ask(&server, "FLUSHALL"));
}

static void test_check(void **state)
{
    (void)state;
    loses_at("HMGET", true, (seen_options){.capacity = 4 * KEYS});
    loses_at("HMGET", false, (seen_options){.capacity = 4 * KEYS});
    loses_at("HMGET", true, (seen_options){.growth = SEEN_GROWING, .capacity = 4 * KEYS});
}

/* It breaks before that, while reserving room for keys that are cached from then on. */
static void test_claim(void **state)
{
    (void)state;
    loses_at("local have=tonumber", true, (seen_options){.capacity = 4 * KEYS});
}

/* It breaks while reserving room for new keys, and the server loses cells of theirs that are
 * cached. The room then suffices for a few of them: the others, added in the next attempt, must not
 * omit these cells either. */
static void test_room_in_parts(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_set *set = door_make((seen_options){.capacity = 4 * KEYS}), *other;
    ask(set, true, SEEN_NEW);
    meddle_set(&door, 0,
               (meddle_rule){.match = "local have=tonumber", .times = 1, .before = FORGET});
    meddle_set(&door, 1,
               (meddle_rule){.match = "local have=tonumber", .times = 1, .reply = ":5\r\n"});
    ask_from(KEYS, set, true, SEEN_NEW);
    assert_int_equal(meddle_hits(&door, 0), 1);
    assert_int_equal(meddle_hits(&door, 1), 1);
    door_must(seen_open(where, NULL, 0, &other, &error), &error);
    ask_from(KEYS, other, false, SEEN_BEFORE);
    seen_close(other);
    seen_close(set);
}

/* A server is lost for good: its contents are unknown, whatever is cached. */
static void test_gone(void **state)
{
    (void)state;
    seen_error error = {0};
    seen_answer answers[KEYS];
    seen_set *set = door_make((seen_options){.capacity = 4 * KEYS, .retry_ms = 50});
    ask(set, true, SEEN_NEW);
    for (int add = 0; add < 2; add++) {
        test_sleep_ms(250);
        meddle_set(&door, 0, (meddle_rule){.match = add ? NULL : "HMGET", .times = 1000});
        seen_status status =
            (add ? seen_add_many : seen_check_many)(set, keys, KEYS, answers, &error);
        assert_int_equal(status, SEEN_ERR_NETWORK);
        for (int i = 0; i < KEYS; i++)
            assert_int_equal(answers[i], SEEN_UNKNOWN);
        meddle_set(&door, 0, (meddle_rule){0});
        ask(set, true, SEEN_BEFORE);
    }
    seen_close(set);
}

/* A server became a replica of one with other data, and then a master again: no connection was
 * lost, but a write was refused. */
static void test_replica(void **state)
{
    (void)state;
    static const char *const WORDS[] = {
        "-READONLY You can't write against a read only replica.\r\n",
        "-ERR Error running script: @user_script:1: -READONLY You can't write\r\n",
    };
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        seen_error error = {0};
        seen_answer answer;
        int key = -1;
        seen_set *set = door_make((seen_options){.capacity = 4 * KEYS}), *other;
        ask(set, true, SEEN_NEW);
        meddle_set(&door, 0,
                   (meddle_rule){
                       .match = "BITFIELD\r\n", .times = 1, .before = FORGET, .reply = WORDS[i]});
        assert_int_equal(seen_add(set, &key, sizeof key, &answer, &error), SEEN_ERR_SERVER);
        ask(set, true, SEEN_NEW);
        door_must(seen_open(where, NULL, 0, &other, &error), &error);
        ask(other, false, SEEN_BEFORE);
        seen_close(other);
        seen_close(set);
        freeReplyObject(test_ask(&server, "FLUSHALL"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DOOR_TEST(test_check), DOOR_TEST(test_claim),   DOOR_TEST(test_room_in_parts),
        DOOR_TEST(test_gone),  DOOR_TEST(test_replica),
    };
    return RIG_RUN(tests);
}
