/* A simulated cluster: two proxies to one server, which reply as the test requires. */
#include "tests/redis/door.h"

static test_meddle other; /* the second proxy */
static char slots[128];

static seen_options quick(void)
{
    return (seen_options){.size = sizeof(seen_options),
                          .capacity = 1000,
                          .error_rate = 0.001,
                          .command_ms = 20000,
                          .retry_ms = 1000};
}

/* The reply of CLUSTER SLOTS: a range of slots is at this port. */
static const char *slots_at(const char *host, int from, int to, int port)
{
    snprintf(slots, sizeof slots, "*1\r\n*3\r\n:%d\r\n:%d\r\n*2\r\n$%zu\r\n%s\r\n:%d\r\n", from, to,
             strlen(host), host, port);
    return slots;
}

static int open_doors(void **state)
{
    if (door_open(state) != 0 || !test_meddle_start(&other, server.port))
        return -1;
    meddle_set(
        &door, 0,
        (meddle_rule){.match = "SLOTS", .reply = slots_at("127.0.0.1", 0, 16383, door.relay.port)});
    meddle_set(&other, 0, door.rule[0]);
    snprintf(where, sizeof where, "redis-cluster://127.0.0.1:%d/moves", door.relay.port);
    return 0;
}

static int close_doors(void **state)
{
    test_meddle_stop(&other);
    return door_close(state);
}

static seen_set *create(void)
{
    seen_set *set;
    seen_error error = {0};
    seen_options o = quick();
    if (seen_create(where, &o, 0, &set, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    return set;
}

static void add_one(seen_set *set, const char *key, seen_answer expected)
{
    seen_answer answer = SEEN_UNKNOWN;
    seen_error error = {0};
    if (seen_add(set, key, strlen(key), &answer, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    assert_int_equal(answer, expected);
}

/* "-WORD SLOT HOST:PORT" for the slot of the shard; any slot works for ASK. */
static const char *sent_to(const char *word, const char *host, int port)
{
    static char text[80];
    snprintf(text, sizeof text, "-%s 100 %s:%d\r\n", word, host, port);
    return text;
}

/* A slot that is being migrated: ASKING precedes the command at the other node, once. */
static void test_asked(void **state)
{
    (void)state;
    seen_set *set = create();
    meddle_set(&door, 1,
               (meddle_rule){.match = "BITFIELD",
                             .times = 1,
                             .reply = sent_to("ASK", "127.0.0.1", other.relay.port)});
    meddle_set(&other, 1, (meddle_rule){.match = "ASKING", .times = 1, .reply = "+OK\r\n"});
    add_one(set, "asked", SEEN_NEW);
    assert_int_equal(meddle_hits(&door, 1), 1);
    assert_int_equal(meddle_hits(&other, 1), 1);
    add_one(set, "asked", SEEN_BEFORE);
    /* Half of the keys of a batch are redirected. */
    seen_key keys[40];
    seen_answer answers[40];
    char text[40][8];
    for (int i = 0; i < 40; i++) {
        snprintf(text[i], sizeof text[i], "k%d", i);
        keys[i] = (seen_key){text[i], strlen(text[i])};
    }
    meddle_set(&door, 1,
               (meddle_rule){.match = "BITFIELD",
                             .skip = 20,
                             .times = 20,
                             .reply = sent_to("ASK", "127.0.0.1", other.relay.port)});
    meddle_set(&other, 1, (meddle_rule){.match = "ASKING", .reply = "+OK\r\n"});
    seen_error error = {0};
    if (seen_add_many(set, keys, 40, answers, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    for (int i = 0; i < 40; i++)
        assert_int_equal(answers[i], SEEN_NEW);
    assert_int_equal(meddle_hits(&other, 1), 20);
    seen_close(set);
}

/* A slot that has moved: the command goes to the new node, and the slots are read again. */
static void test_moved(void **state)
{
    (void)state;
    seen_set *set = create();
    char old[128];
    snprintf(old, sizeof old, "%s", slots);
    meddle_set(&door, 1,
               (meddle_rule){.match = "BITFIELD",
                             .times = 1,
                             .reply = sent_to("MOVED", "127.0.0.1", other.relay.port)});
    meddle_set(&door, 0,
               (meddle_rule){.match = "SLOTS", .times = 1, .reply = "-ERR not today\r\n"});
    meddle_set(&door, 2, (meddle_rule){.match = "SLOTS", .reply = old});
    add_one(set, "moved", SEEN_NEW);
    assert_int_equal(meddle_hits(&door, 1), 1);
    /* An empty host means the node that sent the redirection. */
    meddle_set(&door, 1,
               (meddle_rule){.match = "BITFIELD",
                             .times = 1,
                             .reply = sent_to("MOVED", "", other.relay.port)});
    add_one(set, "moved too", SEEN_NEW);
    add_one(set, "moved", SEEN_BEFORE);
    seen_close(set);
}

/* An endless redirection loop: reported as an error, in time. */
static void test_circles(void **state)
{
    (void)state;
    seen_set *set = create();
    seen_answer answer;
    seen_error error = {0};
    meddle_set(
        &door, 1,
        (meddle_rule){.match = "BITFIELD", .reply = sent_to("ASK", "127.0.0.1", door.relay.port)});
    meddle_set(&door, 2, (meddle_rule){.match = "ASKING", .reply = "+OK\r\n"});
    assert_int_equal(seen_add(set, "x", 1, &answer, &error), SEEN_ERR_SERVER);
    assert_non_null(strstr(error.message, "redirection loop"));
    seen_close(set);
}

/* A slot without an owner: any node is used. */
static void test_no_server(void **state)
{
    (void)state;
    meddle_set(
        &door, 0,
        (meddle_rule){.match = "SLOTS", .reply = slots_at("127.0.0.1", 5, 5, door.relay.port)});
    seen_set *set = create();
    add_one(set, "x", SEEN_NEW);
    seen_close(set);
}

/* Invalid CLUSTER SLOTS replies are refused; so is a node that does not answer. */
static void test_odd_slots(void **state)
{
    (void)state;
    static const char *const odd[] = {
        ":1\r\n",
        "*0\r\n",
        "*1\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\nh\r\n:1\r\n",
        "*1\r\n*3\r\n:9\r\n:8\r\n*2\r\n$1\r\nh\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:8\r\n*2\r\n$1\r\nh\r\n:0\r\n",
        "*1\r\n*3\r\n:0\r\n:8\r\n*2\r\n$1\r\nh\r\n:65536\r\n",
        "*1\r\n*3\r\n:0\r\n:8\r\n*1\r\n$1\r\nh\r\n",
        "*1\r\n*3\r\n:0\r\n:8\r\n*2\r\n$1\r\nh\r\n$1\r\nh\r\n",
        "-ERR This instance has cluster support disabled\r\n",
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        seen_set *set;
        seen_error error = {0};
        seen_options o = quick();
        meddle_set(&door, 0, (meddle_rule){.match = "SLOTS", .reply = odd[i]});
        if (seen_open(where, &o, 0, &set, &error) != SEEN_ERR_SERVER)
            fail_msg("%s: %s", odd[i], error.message);
        /* A server that is not in cluster mode is used as plain Redis. */
        bool none = strstr(error.message, "knows of no slots");
        if (none != (strcmp(odd[i], "*0\r\n") == 0))
            fail_msg("%s: %s", odd[i], error.message);
    }
    seen_set *set;
    seen_error error = {0};
    seen_options o = quick();
    meddle_set(&door, 0, (meddle_rule){.match = "SLOTS"});
    assert_int_equal(seen_open(where, &o, 0, &set, &error), SEEN_ERR_NETWORK);
    assert_non_null(strstr(error.message, "does not answer"));
    /* A host name that exceeds the limit. */
    static char host[400], reply[600]; /* static: a proxy may still be sending when the test ends */
    memset(host, 'h', sizeof host - 1);
    host[sizeof host - 1] = '\0';
    snprintf(reply, sizeof reply, "*1\r\n*3\r\n:0\r\n:8\r\n*2\r\n$%zu\r\n%s\r\n:1\r\n",
             strlen(host), host);
    meddle_set(&door, 0, (meddle_rule){.match = "SLOTS", .reply = reply});
    assert_int_equal(seen_open(where, &o, 0, &set, &error), SEEN_ERR_SERVER);
}

/* The first seed is gone: the second is used. When all are gone, that is reported. */
static void test_seeds(void **state)
{
    (void)state;
    seen_set *set = create();
    seen_close(set);
    seen_error error = {0};
    seen_options o = quick();
    char two[96];
    snprintf(two, sizeof two, "redis-cluster://127.0.0.1:1,127.0.0.1:%d/moves", door.relay.port);
    if (seen_open(two, &o, 0, &set, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    add_one(set, "x", SEEN_NEW);
    /* Every connection breaks, and no node returns the slots. */
    meddle_set(&door, 1, (meddle_rule){.match = "BITFIELD"});
    meddle_set(&door, 0, (meddle_rule){.match = "SLOTS"});
    seen_answer answer;
    assert_int_equal(seen_add(set, "y", 1, &answer, &error), SEEN_ERR_NETWORK);
    seen_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_asked, open_doors, close_doors),
        cmocka_unit_test_setup_teardown(test_moved, open_doors, close_doors),
        cmocka_unit_test_setup_teardown(test_circles, open_doors, close_doors),
        cmocka_unit_test_setup_teardown(test_no_server, open_doors, close_doors),
        cmocka_unit_test_setup_teardown(test_odd_slots, open_doors, close_doors),
        cmocka_unit_test_setup_teardown(test_seeds, open_doors, close_doors),
    };
    return RIG_RUN(tests);
}
