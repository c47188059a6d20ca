/* One connection: servers that are slow to accept, to authenticate, to read and to reply. */
#include "tests/redis/door.h"

static int open_door(void **state)
{
    if (door_open(state) != 0)
        return -1;
    snprintf(where, sizeof where, "redis://ann:secret@127.0.0.1:%d/1/link", door.relay.port);
    meddle_set(&door, 0, (meddle_rule){.match = "AUTH", .reply = "+OK\r\n"});
    return 0;
}

static seen_options quick(void)
{
    return (seen_options){.size = sizeof(seen_options),
                          .capacity = 1000,
                          .connect_ms = 4000,
                          .command_ms = 4000,
                          .retry_ms = 500};
}

static void refused(const char *at, seen_status expected, const char *words)
{
    seen_set *set;
    seen_error error = {0};
    seen_options o = quick();
    seen_status status = seen_create(at, &o, 0, &set, &error);
    if (status != expected || !strstr(error.message, words))
        fail_msg("%s: %d: %s", at, status, error.message);
    /* No message contains the password. */
    assert_null(strstr(error.message, "secret"));
}

static void test_log_in(void **state)
{
    (void)state;
    meddle_set(&door, 0, (meddle_rule){.match = "AUTH", .reply = "-LOADING soon\r\n"});
    refused(where, SEEN_ERR_NETWORK, "loading");
    meddle_set(&door, 0, (meddle_rule){.match = "AUTH", .reply = "-WRONGPASS no\r\n"});
    refused(where, SEEN_ERR_PERMISSION, "the user and the password");
    meddle_set(&door, 0, (meddle_rule){.match = "AUTH"});
    refused(where, SEEN_ERR_NETWORK, "closed the connection");
    meddle_set(&door, 0, (meddle_rule){.match = "AUTH", .reply = "+O"});
    refused(where, SEEN_ERR_NETWORK, "no answer in time");
    meddle_set(&door, 0, (meddle_rule){.match = "AUTH", .reply = "+OK\r\n"});
    meddle_set(&door, 1, (meddle_rule){.match = "SELECT", .reply = "-ERR out of range\r\n"});
    refused(where, SEEN_ERR_SERVER, "the number of the database");
}

static void test_no_server(void **state)
{
    (void)state;
    char at[160];
    refused("redis://127.0.0.1:1/x", SEEN_ERR_NETWORK, "refused");
    refused("redis://no.such.host.invalid/x", SEEN_ERR_NETWORK, "no.such.host.invalid");
    refused("redis+unix:///nowhere/socket/x", SEEN_ERR_NETWORK, "No such file");
    /* No process accepts, and the queue is full: connect blocks. */
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;
    int full = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), waiting[8];
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(full, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(full, 0), 0);
    assert_int_equal(getsockname(full, (struct sockaddr *)&a, &len), 0);
    for (int i = 0; i < 8; i++) {
        waiting[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void)!connect(waiting[i], (struct sockaddr *)&a, sizeof a);
    }
    snprintf(at, sizeof at, "redis://127.0.0.1:%d/x", ntohs(a.sin_port));
    refused(at, SEEN_ERR_NETWORK, "timed out");
    for (int i = 0; i < 8; i++)
        close(waiting[i]);
    close(full);
}

/* After a connection loss the server rejects the login: reported at once, without retries. */
static void test_locked_out(void **state)
{
    (void)state;
    seen_set *set;
    seen_error error = {0};
    seen_options o = quick();
    o.retry_ms = 60000;
    if (seen_create(where, &o, 0, &set, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    meddle_set(&door, 0, (meddle_rule){.match = "AUTH", .reply = "-WRONGPASS no\r\n"});
    meddle_set(&door, 1, (meddle_rule){.match = "BITFIELD", .times = 1});
    assert_int_equal(seen_add(set, "a", 1, NULL, &error), SEEN_ERR_PERMISSION);
    seen_close(set);
}

/* Two replies to one command, and an endless one. */
static void test_too_much(void **state)
{
    (void)state;
    static char endless[40 << 20];
    seen_set *set;
    seen_answer answer;
    seen_error error = {0};
    seen_options o = quick();
    if (seen_create(where, &o, 0, &set, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    meddle_set(&door, 1,
               (meddle_rule){.match = "BITFIELD", .times = 1, .reply = "*1\r\n:0\r\n*1\r\n:0\r\n"});
    assert_int_not_equal(seen_add(set, "a", 1, &answer, &error), SEEN_OK);
    assert_int_equal(seen_add(set, "a", 1, &answer, &error), SEEN_OK);
    o.retry_ms = 100;
    memset(endless, 'x', sizeof endless - 1);
    memcpy(endless, "$39000000\r\n", 11);
    meddle_set(&door, 1, (meddle_rule){.match = "HGETALL", .reply = endless});
    seen_set *other;
    assert_int_equal(seen_open(where, &o, 0, &other, &error), SEEN_ERR_NETWORK);
    meddle_set(&door, 1, (meddle_rule){0});
    seen_close(set);
}

/* A server that accepts the connection but reads nothing: a batch that does not fit fails in
 * time. */
static void test_deaf(void **state)
{
    (void)state;
    char at[64];
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;
    int deaf = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(deaf, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(deaf, 16), 0);
    assert_int_equal(getsockname(deaf, (struct sockaddr *)&a, &len), 0);
    snprintf(at, sizeof at, "redis://127.0.0.1:%d/x", ntohs(a.sin_port));
    refused(at, SEEN_ERR_NETWORK, "no answer in time");
    snprintf(at, sizeof at, "redis://127.0.0.1:%d/3/x", ntohs(a.sin_port));
    refused(at, SEEN_ERR_NETWORK, "no answer in time");
    close(deaf);
}

/* The commands of seen_sync to a master, and how it interprets the replies. */
static void test_sync(void **state)
{
    (void)state;
    static const char *const ROLES[] = {
        "*3\r\n$6\r\nmaster\r\n:1\r\n*1\r\n*3\r\n$1\r\nh\r\n$1\r\n1\r\n$"
        "1\r\n1\r\n"};
    seen_set *set;
    seen_error error = {0};
    seen_options o = quick();
    if (seen_create(where, &o, 0, &set, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    meddle_set(&door, 1, (meddle_rule){.match = "ROLE", .reply = "+what\r\n"});
    assert_int_equal(seen_sync(set, &error), SEEN_ERR_SERVER);
    meddle_set(&door, 1, (meddle_rule){.match = "ROLE", .reply = ROLES[0]});
    meddle_set(&door, 2, (meddle_rule){.match = "WAIT", .reply = ":0\r\n"});
    assert_int_equal(seen_add(set, "a", 1, NULL, &error), SEEN_OK);
    assert_int_equal(seen_sync(set, &error), SEEN_ERR_SERVER);
    assert_non_null(strstr(error.message, "no replica"));
    meddle_set(&door, 2, (meddle_rule){.match = "WAIT", .reply = "+odd\r\n"});
    assert_int_equal(seen_add(set, "b", 1, NULL, &error), SEEN_OK);
    assert_int_equal(seen_sync(set, &error), SEEN_ERR_SERVER);
    meddle_set(&door, 2, (meddle_rule){.match = "WAIT", .reply = ":1\r\n"});
    assert_int_equal(seen_add(set, "c", 1, NULL, &error), SEEN_OK);
    assert_int_equal(seen_sync(set, &error), SEEN_OK);
    meddle_set(&door, 2, (meddle_rule){.match = "WAIT"});
    assert_int_equal(seen_add(set, "d", 1, NULL, &error), SEEN_OK);
    assert_int_equal(seen_sync(set, &error), SEEN_ERR_NETWORK);
    assert_non_null(strstr(error.message, "before a replica confirmed"));
    seen_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_log_in, open_door, door_close),
        cmocka_unit_test_setup_teardown(test_no_server, open_door, door_close),
        cmocka_unit_test_setup_teardown(test_locked_out, open_door, door_close),
        cmocka_unit_test_setup_teardown(test_too_much, open_door, door_close),
        cmocka_unit_test_setup_teardown(test_deaf, open_door, door_close),
        cmocka_unit_test_setup_teardown(test_sync, open_door, door_close),
    };
    return RIG_RUN(tests);
}
