/* What other parts use of the client: scripts by digest, run_id, the first connection. */
#include "redis/client/client.h"
#include "tests/redis/rig.h"

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

/* A script that the server does not have is sent once with its text, each in its order; after a
 * SCRIPT FLUSH again. */
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
    sn_client_give(client, ch);
    sn_client_disconnect(client);
}

static void test_run_id(void **state)
{
    (void)state;
    seen_error error;
    sn_client_options options = {.run_id = true};
    sn_client *client = connect_to(server.port, &options, &error);
    assert_non_null(client);
    sn_channel *ch;
    assert_int_equal(sn_client_take(client, &ch, &error), SEEN_OK);
    redisReply *info = test_ask(&server, "INFO server");
    assert_int_equal(strlen(sn_channel_run_id(ch, 0)), SN_RUN_ID);
    assert_non_null(strstr(info->str, sn_channel_run_id(ch, 0)));
    freeReplyObject(info);
    sn_client_give(client, ch);
    sn_client_disconnect(client);
}

/* A server that comes up a moment later is found if a time to retry was given, and only then. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digest),
        cmocka_unit_test(test_script),
        cmocka_unit_test(test_run_id),
        cmocka_unit_test(test_late_server),
    };
    return RIG_RUN(tests);
}
