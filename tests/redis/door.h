/* For a test program with one server, behind a proxy that can intercept commands. */
#ifndef TEST_REDIS_DOOR_H
#define TEST_REDIS_DOOR_H

#include "seen.h"
#include "tests/redis/meddle.h"
#include "tests/redis/rig.h"

static test_meddle door;
static char where[96]; /* a filter behind it; its hash is seen:fence */

static inline int door_open(void **state)
{
    (void)state;
    if (!test_meddle_start(&door, server.port))
        return -1;
    snprintf(where, sizeof where, "redis://127.0.0.1:%d/fence", door.relay.port);
    return 0;
}

static inline int door_close(void **state)
{
    (void)state;
    test_meddle_stop(&door);
    freeReplyObject(test_ask(&server, "FLUSHALL"));
    return 0;
}

#define DOOR_TEST(f) cmocka_unit_test_setup_teardown(f, door_open, door_close)

/* Fails the test with the library's message. */
static inline void door_must(seen_status status, const seen_error *error)
{
    if (status != SEEN_OK)
        fail_msg("%s", error->message);
}

static inline seen_set *door_make(seen_options o)
{
    seen_set *set;
    seen_error error = {0};
    o.size = sizeof o;
    o.error_rate = 0.001;
    o.command_ms = 20000;
    /* A fixed seed, so that each run has the same false positives: none. */
    o.seed_given = true;
    o.seed[0] = 1;
    door_must(seen_create(where, &o, 0, &set, &error), &error);
    return set;
}

static inline void door_add(seen_set *set, int from, int to, seen_answer expected)
{
    for (int i = from; i < to; i++) {
        seen_answer answer = SEEN_UNKNOWN;
        seen_error error = {0};
        door_must(seen_add(set, &i, sizeof i, &answer, &error), &error);
        assert_int_equal(answer, expected);
    }
}

#endif
