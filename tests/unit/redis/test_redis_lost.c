/* A reply that was lost or came too late: the command may have been executed, and the filter may
 * have changed before it is sent again. */
#include "tests/redis/door.h"

static const char FENCE[] =
    "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";

/* The server executes it, and the connection breaks. */
static void lose_answer(const char *match)
{
    meddle_set(&door, 0, (meddle_rule){.match = match, .times = 1, .done = true});
}

/* A key was added, its reply was lost, and the layer was closed before it was sent again. No other
 * client got NEW for it, so this client must. */
static void lose_and_fence(seen_options o)
{
    seen_set *set = door_make(o);
    door_add(set, 0, 10, SEEN_NEW);
    lose_answer("BITFIELD\r\n");
    meddle_set(&door, 1, (meddle_rule){.match = "BITFIELD\r\n", .times = 1, .reply = FENCE});
    door_add(set, 10, 11, SEEN_NEW);
    assert_int_equal(meddle_hits(&door, 0), 1);
    assert_int_equal(meddle_hits(&door, 1), 1);
    door_add(set, 0, 11, SEEN_BEFORE);
    seen_close(set);
    freeReplyObject(test_ask(&server, "FLUSHALL"));
}

static void test_fenced(void **state)
{
    (void)state;
    lose_and_fence((seen_options){.growth = SEEN_GROWING, .capacity = 1000});
    lose_and_fence((seen_options){.growth = SEEN_WINDOW, .capacity = 1000, .generations = 3});
    lose_and_fence((seen_options){.growth = SEEN_GROWING, .kind = SEEN_COUNTING, .capacity = 1000});
}

/* One key several times in a call: one of them is new, whichever replies were lost before the layer
 * was closed. */
static void test_fenced_twins(void **state)
{
    (void)state;
    enum { KEYS = 6 };
    static const int NUMBERS[KEYS] = {50, 50, 51, 50, 51, 52};
    for (unsigned first = 0; first < KEYS; first++) {
        seen_set *set = door_make((seen_options){.growth = SEEN_GROWING, .capacity = 1000});
        seen_error error = {0};
        seen_key keys[KEYS];
        seen_answer answers[KEYS];
        unsigned fresh[3] = {0};
        door_add(set, 0, 10, SEEN_NEW);
        for (int i = 0; i < KEYS; i++)
            keys[i] = (seen_key){&NUMBERS[i], sizeof NUMBERS[i]};
        meddle_set(&door, 0,
                   (meddle_rule){.match = "BITFIELD\r\n", .skip = first, .times = 1, .done = true});
        meddle_set(
            &door, 1,
            (meddle_rule){
                .match = "BITFIELD\r\n", .skip = first, .times = KEYS - first, .reply = FENCE});
        door_must(seen_add_many(set, keys, KEYS, answers, &error), &error);
        assert_int_equal(meddle_hits(&door, 1), KEYS - first);
        for (int i = 0; i < KEYS; i++)
            fresh[NUMBERS[i] - 50] += answers[i] == SEEN_NEW;
        for (int i = 0; i < 3; i++)
            assert_int_equal(fresh[i], 1);
        seen_close(set);
        meddle_set(&door, 0, (meddle_rule){0});
        meddle_set(&door, 1, (meddle_rule){0});
        freeReplyObject(test_ask(&server, "FLUSHALL"));
    }
}

/* The last key that a set accepts, sent twice because some of its cells may have been lost with the
 * connection: the second time there is no room, but the key is present. */
static void test_last(void **state)
{
    (void)state;
    enum { CAPACITY = 300 };
    seen_set *set = door_make((seen_options){.capacity = CAPACITY});
    door_add(set, 0, CAPACITY - 1, SEEN_NEW);
    lose_answer("BITFIELD\r\n");
    door_add(set, CAPACITY - 1, CAPACITY, SEEN_NEW);
    assert_int_equal(meddle_hits(&door, 0), 1);
    door_add(set, 0, CAPACITY, SEEN_BEFORE);
    seen_close(set);
}

/* A connection breaks repeatedly, each time after a key was added: its answer is unknown, and it
 * takes up room. A key that was never sent does not. */
static void test_room(void **state)
{
    (void)state;
    enum { CAPACITY = 30, ROUNDS = 50 };
    seen_error error = {0};
    seen_answer answer;
    seen_set *set = door_make((seen_options){.capacity = CAPACITY, .retry_ms = 1}), *other;
    int full = 0, in = 0;
    meddle_set(&door, 0, (meddle_rule){.match = "local have=tonumber"});
    for (int key = 1000; key < 1000 + ROUNDS; key++)
        assert_int_equal(seen_add(set, &key, sizeof key, &answer, &error), SEEN_ERR_NETWORK);
    meddle_set(&door, 0, (meddle_rule){.match = "BITFIELD\r\n", .done = true});
    for (int key = 2000; key < 2000 + ROUNDS; key++) {
        seen_status status = seen_add(set, &key, sizeof key, &answer, &error);
        assert_true(status == SEEN_ERR_NETWORK || status == SEEN_ERR_FULL);
        full += status == SEEN_ERR_FULL;
    }
    assert_int_equal(full, ROUNDS - CAPACITY);
    meddle_set(&door, 0, (meddle_rule){0});
    seen_close(set);
    door_must(seen_open(where, NULL, 0, &other, &error), &error);
    for (int key = 2000; key < 2000 + ROUNDS; key++) {
        door_must(seen_check(other, &key, sizeof key, &answer, &error), &error);
        in += answer == SEEN_BEFORE;
    }
    for (int key = 0; key < CAPACITY; key++)
        in += seen_add(other, &key, sizeof key, &answer, &error) == SEEN_OK;
    assert_int_equal(in, CAPACITY);
    seen_close(other);
}

/* A window is rotated once, also if the reply was lost. */
static void test_rotate(void **state)
{
    (void)state;
    enum { GENERATIONS = 4 };
    seen_error error = {0};
    seen_set *set = door_make(
        (seen_options){.growth = SEEN_WINDOW, .capacity = 1000, .generations = GENERATIONS});
    door_add(set, 0, 10, SEEN_NEW);
    lose_answer("local now=redis.call('HMGET'");
    for (int i = 1; i < GENERATIONS; i++) {
        door_must(seen_rotate(set, &error), &error);
        for (int key = 0; key < 10; key++) {
            seen_answer answer;
            door_must(seen_check(set, &key, sizeof key, &answer, &error), &error);
            assert_int_equal(answer, SEEN_BEFORE);
        }
    }
    assert_int_equal(meddle_hits(&door, 0), 1);
    seen_close(set);
}

/* ---- a client that is stopped for longer than the command timeout ---- */

/* A server or relay that gets no processor for WAITS_MS would be taken for one that does not
 * answer. */
enum { WAITS_MS = 2000, STOPPED_MS = 2300, STOPS = 3 };

typedef struct stopper {
    test_relay relay;
    pid_t client;
    bool late; /* the server was stopped too: its reply arrives after the client continues */
    int stops;
} stopper;

static bool stop_hook(void *context, const char *command, size_t len, int client, int upstream)
{
    stopper *s = context;
    bool now = s->stops < STOPS && memmem(command, len, "BITFIELD\r\n", 10);
    if (!test_send_all(upstream, command, len))
        return false;
    if (!now)
        return relay_answer(upstream, client);
    s->stops++;
    kill(s->client, SIGSTOP);
    bool good = s->late || relay_answer(upstream, client);
    test_sleep_ms(STOPPED_MS);
    kill(s->client, SIGCONT);
    if (s->late)
        test_sleep_ms(50);
    return good && (!s->late || relay_answer(upstream, client));
}

/* Adds keys that are all present; returns how many are reported as new. */
static int add_again(const char *address)
{
    seen_set *set;
    seen_answer answer;
    int fresh = 0;
    seen_options o = {.size = sizeof o, .command_ms = WAITS_MS, .retry_ms = 60000};
    if (seen_open(address, &o, 0, &set, NULL) != SEEN_OK)
        return 100;
    for (int i = 0; i < 2 * STOPS; i++) {
        if (seen_add(set, &i, sizeof i, &answer, NULL) != SEEN_OK)
            return 101;
        fresh += answer == SEEN_NEW;
    }
    seen_close(set);
    return fresh;
}

/* The time during which a client was stopped does not count towards timeouts. Without a proxy: no
 * thread may run when this one forks. */
static void stop_client(bool late)
{
    char address[96];
    int status;
    snprintf(where, sizeof where, "redis://127.0.0.1:%d/fence", server.port);
    stopper s = {.relay = {.hook = stop_hook, .context = &s, .upstream = server.port},
                 .late = late};
    seen_set *set = door_make((seen_options){.capacity = 1000});
    door_add(set, 0, 2 * STOPS, SEEN_NEW);
    seen_close(set);
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    fflush(NULL);
    s.client = fork();
    if (s.client == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int port;
        if (read(ready[0], &port, sizeof port) != sizeof port)
            _exit(102);
        snprintf(address, sizeof address, "redis://127.0.0.1:%d/fence", port);
        _exit(add_again(address));
    }
    assert_true(test_relay_start(&s.relay));
    assert_int_equal(write(ready[1], &s.relay.port, sizeof s.relay.port), sizeof s.relay.port);
    assert_int_equal(waitpid(s.client, &status, 0), s.client);
    test_relay_stop(&s.relay);
    close(ready[0]);
    close(ready[1]);
    assert_int_equal(s.stops, STOPS);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    freeReplyObject(test_ask(&server, "FLUSHALL"));
}

static void test_stopped(void **state)
{
    (void)state;
    stop_client(false);
    stop_client(true);
}

static void add_batch(seen_set *set, int from, int to, seen_answer expected)
{
    enum { MOST = 1000 };
    static int number[MOST];
    static seen_key keys[MOST];
    static seen_answer answers[MOST];
    seen_error error = {0};
    int n = to - from;
    assert_in_range(n, 1, MOST);
    for (int i = 0; i < n; i++) {
        number[i] = from + i;
        keys[i] = (seen_key){&number[i], sizeof number[i]};
    }
    door_must(seen_add_many(set, keys, (size_t)n, answers, &error), &error);
    for (int i = 0; i < n; i++)
        if (answers[i] != expected)
            fail_msg("key %d: %d", from + i, answers[i]);
}

/* Keys of a past generation are added again. Their cells that are already set are omitted, and the
 * connection breaks: they are sent again, completely, and are still reported as seen. */
static void test_refreshed(void **state)
{
    (void)state;
    seen_set *set = door_make(
        (seen_options){.growth = SEEN_WINDOW, .capacity = 1000, .generations = 2, .renew = true});
    seen_error error = {0};
    for (int i = 0; i < 200; i += 100)
        add_batch(set, i, i + 100, SEEN_NEW);
    door_must(seen_rotate(set, &error), &error);
    for (int i = 1000; i < 1500; i += 20) {
        add_batch(set, i, i + 20, SEEN_NEW);
        add_batch(set, i, i + 20, SEEN_BEFORE);
        add_batch(set, i, i + 20, SEEN_BEFORE);
    }
    meddle_set(&door, 0,
               (meddle_rule){.match = "BITFIELD\r\n", .skip = 50, .times = 1, .done = true});
    add_batch(set, 0, 200, SEEN_BEFORE);
    assert_int_equal(meddle_hits(&door, 0), 1);
    seen_close(set);
}

static int run_redis_lost(void)
{
    const struct CMUnitTest tests[] = {
        DOOR_TEST(test_fenced),         DOOR_TEST(test_fenced_twins), DOOR_TEST(test_last),
        DOOR_TEST(test_room),           DOOR_TEST(test_rotate),       DOOR_TEST(test_refreshed),
        cmocka_unit_test(test_stopped),
    };
    return RIG_RUN(tests);
}

/* ---- redis_call ---- */

/* A filter that lost data: clients get the error again on every call, and no keys are accepted
 * until it is restored. */

static void reported(seen_status (*call)(seen_set *, const void *, size_t, seen_answer *,
                                         seen_error *),
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

/* Every call fails from now on, also with cached keys. */
static void refuses(seen_set *set, seen_status expected)
{
    reported(seen_add, set, 20, expected);
    reported(seen_add, set, 1, expected);
    reported(seen_check, set, 2, expected);
    reported(seen_check, set, 21, expected);
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
    /* Detected by a sync, so early that no batch would have checked. */
    assert_int_equal(seen_sync(set, &error), SEEN_ERR_CHANGED);
    refuses(set, SEEN_ERR_CHANGED);
    door_add(other, 0, 30, SEEN_NEW);
    seen_close(other);
    seen_close(set);
}

static void test_missing(void **state)
{
    (void)state;
    seen_set *set = make();
    redisReply *keys = test_ask(&server, "KEYS seen:*:0}");
    assert_int_equal(keys->elements, 1);
    assert_int_equal(test_number(&server, "RENAMENX %s kept", keys->element[0]->str), 1);
    test_sleep_ms(250);
    reported(seen_check, set, 20, SEEN_ERR_FORMAT);
    refuses(set, SEEN_ERR_FORMAT);
    /* It is back. */
    freeReplyObject(test_ask(&server, "RENAME kept %s", keys->element[0]->str));
    freeReplyObject(keys);
    door_add(set, 0, 10, SEEN_BEFORE);
    door_add(set, 10, 30, SEEN_NEW);
    seen_close(set);
}

static int run_redis_call(void)
{
    const struct CMUnitTest tests[] = {
        DOOR_TEST(test_gone),
        DOOR_TEST(test_replaced),
        DOOR_TEST(test_missing),
    };
    return RIG_RUN(tests);
}

int main(void)
{
    int status[] = {run_redis_lost(), run_redis_call()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
