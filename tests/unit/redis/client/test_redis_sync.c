/* What a sync says about replicas of one master, also where the connection that wrote is gone. */
#include "tests/redis/meddle.h"
#include "tests/redis/rig.h"

#include "seen.h"

static test_server replica;

static int start(void **state)
{
    char port[16];
    const char *const extra[] = {"--replicaof", "127.0.0.1", port, "--repl-ping-replica-period",
                                 "1",           NULL};
    if (rig_start(state) != 0)
        return -1;
    snprintf(port, sizeof port, "%d", server.port);
    if (!test_server_start(&replica, extra))
        return -1;
    for (int i = 0; i < 3000 && test_number(&server, "WAIT 1 100") < 1; i++)
        test_sleep_ms(20);
    return 0;
}

static int stop(void **state)
{
    test_server_stop(&replica);
    return rig_stop(state);
}

static seen_set *make_at(int port, const char *name)
{
    char where[96];
    seen_set *set;
    seen_error error = {0};
    seen_options o = {.size = sizeof o, .capacity = 1000, .command_ms = 1000, .retry_ms = 60000};
    snprintf(where, sizeof where, "redis://127.0.0.1:%d/%s", port, name);
    if (seen_create(where, &o, 0, &set, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    return set;
}

static seen_set *make(const char *name)
{
    return make_at(server.port, name);
}

static void must_sync(seen_set *set)
{
    seen_error error = {0};
    /* On a busy machine a replica takes longer than command_ms to answer. */
    for (int i = 0; i < 100 && seen_sync(set, &error) != SEEN_OK; i++)
        if (i == 99)
            fail_msg("%s", error.message);
}

static void must_not_sync(seen_set *set)
{
    seen_error error = {0};
    assert_int_equal(seen_sync(set, &error), SEEN_ERR_SERVER);
    assert_non_null(strstr(error.message, "no replica"));
}

/* A replica that stands still has nothing, however often it is asked. */
static void test_unconfirmed(void **state)
{
    (void)state;
    seen_set *set = make("still");
    must_sync(set);
    kill(replica.pid, SIGSTOP);
    assert_int_equal(seen_add(set, "a", 1, NULL, NULL), SEEN_OK);
    must_not_sync(set);
    must_not_sync(set);
    kill(replica.pid, SIGCONT);
    must_sync(set);
    seen_close(set);
}

/* The same where the connection that wrote is gone: another one knows nothing of what it wrote. */
static void test_cut(void **state)
{
    (void)state;
    seen_set *set = make("cut");
    must_sync(set);
    kill(replica.pid, SIGSTOP);
    assert_int_equal(seen_add(set, "a", 1, NULL, NULL), SEEN_OK);
    assert_true(test_number(&server, "CLIENT KILL TYPE normal") > 0);
    must_not_sync(set);
    must_not_sync(set);
    kill(replica.pid, SIGCONT);
    must_sync(set);
    /* From then on it is as any connection. */
    assert_int_equal(seen_add(set, "b", 1, NULL, NULL), SEEN_OK);
    must_sync(set);
    seen_close(set);
}

/* Redis 8 and Valkey: WAIT answers at once on a connection that has not written. */
static void test_fresh_connection(void **state)
{
    (void)state;
    test_meddle m;
    assert_true(test_meddle_start(&m, server.port));
    seen_set *set = make_at(m.relay.port, "fresh");
    must_sync(set);
    kill(replica.pid, SIGSTOP);
    assert_int_equal(seen_add(set, "a", 1, NULL, NULL), SEEN_OK);
    assert_true(test_number(&server, "CLIENT KILL TYPE normal") > 0);
    meddle_set(&m, 0, (meddle_rule){.match = "WAIT", .reply = ":1\r\n"});
    must_not_sync(set);
    /* Reading over the new connection changes nothing. */
    seen_answer answer;
    assert_int_equal(seen_check(set, "b", 1, &answer, NULL), SEEN_OK);
    must_not_sync(set);
    kill(replica.pid, SIGCONT);
    must_sync(set);
    seen_close(set);
    test_meddle_stop(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unconfirmed),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_fresh_connection),
    };
    return test_have_redis() ? cmocka_run_group_tests(tests, start, stop) : 77;
}
