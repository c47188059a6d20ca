/* What a sync reports about replicas of one master, also if the writing connection was lost. */
#include <pthread.h>

#include "redis/client/channel.h"
#include "redis/client/client.h"
#include "seen.h"
#include "tests/redis/meddle.h"
#include "tests/redis/rig.h"

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

/* A stopped replica has nothing, however often the sync is repeated. */
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

/* The same if the writing connection was lost: a new one does not know what it wrote. */
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
    /* After that it is like any connection. */
    assert_int_equal(seen_add(set, "b", 1, NULL, NULL), SEEN_OK);
    must_sync(set);
    seen_close(set);
}

/* Redis 8 and Valkey: WAIT returns at once on a connection that has not written. */
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

static int run_redis_sync(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unconfirmed),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_fresh_connection),
    };
    return test_have_redis() ? cmocka_run_group_tests(tests, start, stop) : 77;
}

/* ---- redis_pool ---- */

/* More concurrent calls than connections, and a sync among them. */

enum { THREADS = 2 * SN_CHANNELS_MAX, ROUNDS = 20 };

static seen_set *set;
static unsigned reported_new, failures;

static void *work(void *context)
{
    int number = *(int *)context;
    seen_error error = {0};
    for (int i = 0; i < ROUNDS; i++) {
        seen_answer answer = SEEN_UNKNOWN;
        /* Each key is added by two threads. */
        int key = number / 2 * ROUNDS + i;
        bool good = seen_add(set, &key, sizeof key, &answer, &error) == SEEN_OK;
        if (good && number % 8 == 0)
            good = seen_sync(set, &error) == SEEN_OK;
        __atomic_fetch_add(&failures, !good, __ATOMIC_SEQ_CST);
        __atomic_fetch_add(&reported_new, answer == SEEN_NEW, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

static void test_many(void **state)
{
    (void)state;
    pthread_t thread[THREADS];
    int number[THREADS];
    char where[128];
    seen_error error = {0};
    seen_options o = {
        .size = sizeof o, .capacity = 100000, .error_rate = 1e-9, .command_ms = 60000};
    snprintf(where, sizeof where, "%s/pool", server.url);
    assert_int_equal(seen_create(where, &o, 0, &set, &error), SEEN_OK);
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        assert_int_equal(pthread_create(&thread[i], NULL, work, &number[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(failures, 0);
    assert_int_equal(reported_new, THREADS / 2 * ROUNDS);
    seen_close(set);
}

static int run_redis_pool(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_many)};
    return RIG_RUN(tests);
}

/* ---- redis_client ---- */

/* The client as used by other modules: scripts by digest, the first connection. */

static sn_client *connect_to(int port, const sn_client_options *options, seen_error *error)
{
    sn_redis_address address;
    sn_client *client = NULL;
    char where[64];
    snprintf(where, sizeof where, "redis://127.0.0.1:%d/x", port);
    assert_int_equal(sn_redis_address_parse(where, &address, error), SEEN_OK);
    return sn_client_connect(&address, options, &client, error) == SEEN_OK ? client : NULL;
}

static void test_digest(void **state)
{
    (void)state;
    static const char *const VECTOR[][2] = {
        {"", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
        {"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "84983e441c3bd26ebaae4aa1f95129e5e54670f1"},
    };
    for (size_t i = 0; i < sizeof VECTOR / sizeof *VECTOR; i++) {
        sn_script script;
        sn_script_init(&script, VECTOR[i][0]);
        assert_string_equal(script.sha, VECTOR[i][1]);
    }
}

/* A script that the server does not have is sent once with its text, in order; again after a SCRIPT
 * FLUSH. */
static void test_script(void **state)
{
    (void)state;
    seen_error error;
    sn_client_options options = {0};
    sn_client *client = connect_to(server.port, &options, &error);
    assert_non_null(client);
    sn_channel *ch;
    assert_int_equal(sn_client_take(client, &ch, &error), SEEN_OK);
    sn_script script;
    sn_script_init(&script, "return redis.call('INCRBY',KEYS[1],ARGV[1])");
    int64_t total = 0;
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 1; i <= 10; i++) {
            sn_script_begin(ch, 0, sn_slot_of("n", 1), &script, 1, 1);
            sn_command_text(ch, "n");
            sn_command_number(ch, i);
            if (i % 2)
                sn_command_once(ch);
        }
        assert_int_equal(sn_channel_pending(ch), 10);
        assert_int_equal(sn_channel_run(ch, sn_reply_take_integer, &total, &error), SEEN_OK);
        assert_int_equal(total, 55 * (round + 1));
        if (round == 1)
            freeReplyObject(test_ask(&server, "SCRIPT FLUSH"));
    }
    sn_client_return(client, ch);
    sn_client_disconnect(client);
}

/* A server that starts a moment later is found if a retry time was given, and only then. */
static void test_late_server(void **state)
{
    (void)state;
    seen_error error;
    test_server late;
    assert_true(test_server_start(&late, NULL));
    test_server_kill(&late);
    sn_client_options at_once = {0}, patient = {.retry_ms = 60000};
    assert_null(connect_to(late.port, &at_once, &error));
    assert_non_null(strstr(error.message, "cannot connect"));
    int done[2];
    char byte;
    assert_int_equal(pipe(done), 0);
    pid_t starter = fork();
    if (starter == 0) {
        close(done[1]);
        test_sleep_ms(400);
        if (!test_server_launch(&late, NULL))
            _exit(1);
        /* The server ends with the process that started it: when the client has found it. */
        (void)!read(done[0], &byte, 1);
        test_server_kill(&late);
        _exit(0);
    }
    sn_client *client = connect_to(late.port, &patient, &error);
    if (!client)
        fail_msg("%s", error.message);
    sn_client_disconnect(client);
    close(done[1]);
    close(done[0]);
    int status;
    waitpid(starter, &status, 0);
    assert_int_equal(status, 0);
    test_server_stop(&late);
}

static int run_redis_client(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digest),
        cmocka_unit_test(test_script),
        cmocka_unit_test(test_late_server),
    };
    return RIG_RUN(tests);
}

int main(void)
{
    int status[] = {run_redis_sync(), run_redis_pool(), run_redis_client()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
