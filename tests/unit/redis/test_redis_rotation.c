/* A window that rotates during lookups, copies and additions: a key that was added again is found
 * in one generation or the other, and one that is renewed is not reported as new. */
#include "base/clock.h"
#include "tests/redis/relay.h"
#include "tests/redis/rig.h"

#include "seen.h"

#include <stdatomic.h>

static uint64_t fake_now = 1000000;

static uint64_t read_fake(void)
{
    return fake_now;
}

static void must(seen_status status, const seen_error *error)
{
    if (status != SEEN_OK)
        fail_msg("%s", error->message);
}

static seen_set *make(const char *name, seen_options o)
{
    char where[96];
    seen_set *set;
    seen_error error = {0};
    o.size = sizeof o;
    o.growth = SEEN_WINDOW;
    o.renew = true;
    o.error_rate = 0.001;
    o.seed_given = true;
    snprintf(where, sizeof where, "%s/%s", server.url, name);
    must(seen_create(where, &o, 0, &set, &error), &error);
    return set;
}

static seen_set *open_at(int port, const char *name, unsigned flags)
{
    char where[96];
    seen_set *set;
    seen_error error = {0};
    snprintf(where, sizeof where, "redis://127.0.0.1:%d/%s", port, name);
    must(seen_open(where, NULL, flags, &set, &error), &error);
    return set;
}

static void add(seen_set *set, int key, seen_answer expected)
{
    seen_answer answer = SEEN_UNKNOWN;
    seen_error error = {0};
    must(seen_add(set, &key, sizeof key, &answer, &error), &error);
    assert_int_equal(answer, expected);
}

static seen_answer check(seen_set *set, int key)
{
    seen_answer answer = SEEN_UNKNOWN;
    seen_error error = {0};
    must(seen_check(set, &key, sizeof key, &answer, &error), &error);
    return answer;
}

/* Between two commands of a check another client adds the key again and rotates the window. */
typedef struct rotator {
    seen_set *set;
    int key;
    unsigned countdown; /* commands until then; 0: never */
    bool failed;
} rotator;

static bool rotate_at(void *context, const char *command, size_t len, int client, int upstream)
{
    rotator *t = context;
    bool looks_up = memmem(command, len, "GETRANGE", 8) || memmem(command, len, "BITFIELD_RO", 11);
    if (looks_up && t->countdown && --t->countdown == 0)
        t->failed = seen_add(t->set, &t->key, sizeof t->key, NULL, NULL) != SEEN_OK ||
                    seen_rotate(t->set, NULL) != SEEN_OK;
    return test_send_all(upstream, command, len) && relay_answer(upstream, client);
}

/* Before each command of a check in turn; with a key that is only in the oldest generation, and a
 * client that has cached the state of the ring. */
static void rotate_during_check(rotator *t, seen_set *checker)
{
    enum { GENERATIONS = 3 };
    seen_error error = {0};
    unsigned at = 0;
    do {
        add(t->set, ++t->key, SEEN_NEW);
        for (int i = 1; i < GENERATIONS; i++)
            must(seen_rotate(t->set, &error), &error);
        assert_int_equal(check(checker, t->key), SEEN_BEFORE);
        t->countdown = ++at;
        seen_answer answer = check(checker, t->key);
        assert_false(t->failed);
        if (answer != SEEN_BEFORE)
            fail_msg("not seen: rotated before command %u", at);
    } while (t->countdown == 0);
    t->countdown = 0;
    assert_true(at > GENERATIONS);
}

/* From each position of the ring, by count and by time, with small filters, whose lines are read by
 * BITFIELD_RO, and larger ones. */
static void test_rotated_during_check(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 4; round++) {
        char name[16];
        snprintf(name, sizeof name, "check%u", round);
        rotator t = {.set = make(name, (seen_options){.generations = 3,
                                                      .capacity = round & 1 ? 1000 : 100000,
                                                      .window_seconds = round & 2 ? 100000 : 0})};
        test_relay relay = {.hook = rotate_at, .context = &t, .upstream = server.port};
        assert_true(test_relay_start(&relay));
        seen_set *checker = open_at(relay.port, name, SEEN_READ_ONLY);
        for (int position = 0; position < 4; position++)
            rotate_during_check(&t, checker);
        seen_close(checker);
        test_relay_stop(&relay);
        seen_close(t.set);
    }
}

/* Before a command of an addition another client rotates the window. */
static bool rotate_before(void *context, const char *command, size_t len, int client, int upstream)
{
    rotator *t = context;
    if (t->countdown && --t->countdown == 0)
        t->failed = seen_rotate(t->set, NULL) != SEEN_OK;
    return test_send_all(upstream, command, len) && relay_answer(upstream, client);
}

/* Before each command of an addition in turn. The key is one generation old, so one rotation does
 * not drop it: it was seen before, and the addition renews it. */
static void rotate_during_add(rotator *t, seen_set *adder)
{
    enum { GENERATIONS = 3 };
    seen_error error = {0};
    unsigned at = 0;
    do {
        add(t->set, ++t->key, SEEN_NEW);
        must(seen_rotate(t->set, &error), &error);
        assert_int_equal(check(adder, t->key), SEEN_BEFORE);
        t->countdown = ++at;
        seen_answer answer = SEEN_UNKNOWN;
        must(seen_add(adder, &t->key, sizeof t->key, &answer, &error), &error);
        assert_false(t->failed);
        if (answer != SEEN_BEFORE)
            fail_msg("reported as new: rotated before command %u", at);
        /* Without the addition it would be dropped by now. */
        for (int i = t->countdown ? 0 : 1; i < GENERATIONS - 1; i++)
            must(seen_rotate(t->set, &error), &error);
        if (check(t->set, t->key) != SEEN_BEFORE)
            fail_msg("not renewed: rotated before command %u", at);
    } while (t->countdown == 0);
    t->countdown = 0;
    assert_true(at > GENERATIONS);
}

static void test_rotated_during_add(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 4; round++) {
        char name[16];
        snprintf(name, sizeof name, "add%u", round);
        rotator t = {.set = make(name, (seen_options){.generations = 3,
                                                      .capacity = round & 1 ? 1000 : 100000,
                                                      .window_seconds = round & 2 ? 100000 : 0})};
        test_relay relay = {.hook = rotate_before, .context = &t, .upstream = server.port};
        assert_true(test_relay_start(&relay));
        seen_set *adder = open_at(relay.port, name, 0);
        for (int position = 0; position < 3; position++)
            rotate_during_add(&t, adder);
        seen_close(adder);
        test_relay_stop(&relay);
        seen_close(t.set);
    }
}

static bool cut_at_add(void *context, const char *command, size_t len, int client, int upstream)
{
    atomic_int *cuts = context;
    if (memmem(command, len, "BITFIELD\r\n", 10) && atomic_load(cuts) > 0) {
        atomic_fetch_sub(cuts, 1);
        return false;
    }
    return test_send_all(upstream, command, len) && relay_answer(upstream, client);
}

static void add_many(seen_set *set, int from, int to, seen_answer expected)
{
    enum { MOST = 400 };
    int number[MOST];
    seen_key keys[MOST] = {{0}};
    seen_answer answers[MOST];
    seen_error error = {0};
    size_t count = (size_t)(to - from);
    for (size_t i = 0; i < count; i++) {
        number[i] = from + (int)i;
        keys[i] = (seen_key){&number[i], sizeof number[i]};
    }
    must(seen_add_many(set, keys, count, answers, &error), &error);
    for (size_t i = 0; i < count; i++)
        if (answers[i] != expected)
            fail_msg("key %d: %d, not %d", number[i], answers[i], expected);
}

/* The connection breaks while keys of an older generation are renewed. A lookup has found some of
 * their cells in the current one, which are omitted: such keys are added again, and were seen
 * before nevertheless. */
static void test_cut_while_renewed(void **state)
{
    (void)state;
    enum { KEYS = 100, OTHERS = 300 };
    atomic_int cuts = 0;
    seen_error error = {0};
    test_relay relay = {.hook = cut_at_add, .context = &cuts, .upstream = server.port};
    assert_true(test_relay_start(&relay));
    seen_set *maker = make("renewed", (seen_options){.generations = 3, .capacity = 1000});
    seen_set *set = open_at(relay.port, "renewed", 0);
    add_many(set, 0, KEYS, SEEN_NEW);
    /* From now on the client expects keys that are present, and looks them up first. */
    for (int i = 0; i < 4; i++)
        add_many(set, 0, KEYS, SEEN_BEFORE);
    must(seen_rotate(set, &error), &error);
    add_many(set, KEYS, KEYS + OTHERS, SEEN_NEW);
    atomic_store(&cuts, 1);
    add_many(set, 0, KEYS, SEEN_BEFORE);
    assert_int_equal(atomic_load(&cuts), 0);
    for (int i = 0; i < 2; i++)
        must(seen_rotate(maker, &error), &error);
    for (int key = 0; key < KEYS; key++)
        assert_int_equal(check(maker, key), SEEN_BEFORE);
    seen_close(set);
    seen_close(maker);
    test_relay_stop(&relay);
}

enum { TO_FILE, TO_SERVER, INTO_MEMORY, TARGETS };

/* The window, read elsewhere by a client that is interrupted. */
static seen_set *take_out(seen_set *from, int target, seen_error *error)
{
    char to[128];
    seen_set *copy;
    seen_options o = {.size = sizeof o};
    if (target == INTO_MEMORY) {
        must(seen_create_like(NULL, from, NULL, 0, &copy, error), error);
        must(seen_merge(copy, from, error), error);
        return copy;
    }
    if (target == TO_FILE)
        snprintf(to, sizeof to, "%s/rotated.seen", server.folder);
    else
        snprintf(to, sizeof to, "%s/rotated", server.url);
    must(seen_copy(from, to, SEEN_REPLACE, &o, error), error);
    must(seen_open(to, NULL, 0, &copy, error), error);
    return copy;
}

/* The only key is in the oldest generation; before each command of a copy in turn another client
 * adds it again and rotates the window. The copy contains it, and keeps it as long as it should. */
static void rotate_during_copy(rotator *t, seen_set *reader, int target, int rotations)
{
    enum { GENERATIONS = 3 };
    seen_error error = {0};
    unsigned at = 0;
    do {
        add(t->set, ++t->key, SEEN_NEW);
        for (int i = 1; i < rotations; i++)
            must(seen_rotate(t->set, &error), &error);
        t->countdown = ++at;
        seen_set *copy = take_out(reader, target, &error);
        assert_false(t->failed);
        if (check(copy, t->key) != SEEN_BEFORE)
            fail_msg("target %d: lost, rotated before command %u", target, at);
        if (!t->countdown && rotations == GENERATIONS) {
            must(seen_rotate(copy, &error), &error);
            assert_int_equal(check(copy, t->key), SEEN_BEFORE);
        }
        seen_close(copy);
    } while (t->countdown == 0);
    t->countdown = 0;
    assert_true(at > 1);
}

static void test_rotated_during_copy(void **state)
{
    (void)state;
    for (int target = 0; target < TARGETS; target++)
        for (int seconds = 0; seconds <= 100000; seconds += 100000) {
            char name[16];
            snprintf(name, sizeof name, "copy%d-%d", target, seconds);
            rotator t = {.set = make(name, (seen_options){.generations = 3,
                                                          .capacity = 3000,
                                                          .window_seconds = (uint64_t)seconds})};
            test_relay relay = {.hook = rotate_at, .context = &t, .upstream = server.port};
            assert_true(test_relay_start(&relay));
            seen_set *reader = open_at(relay.port, name, SEEN_READ_ONLY);
            /* First in a window that has not used all of its generations. */
            rotate_during_copy(&t, reader, target, 1);
            for (int position = 0; position < 3; position++)
                rotate_during_copy(&t, reader, target, 3);
            seen_close(reader);
            test_relay_stop(&relay);
            seen_close(t.set);
        }
}

/* A client died while closing the shards of a layer: a reader finds all keys, does not wait, and
 * changes nothing; also if it has no write permission. */
static void test_read_only(void **state)
{
    (void)state;
    seen_error error = {0};
    for (int round = 0; round < 3; round++) {
        seen_set *set, *checker, *copy;
        char name[16], to[96], half[400];
        snprintf(name, sizeof name, "half%d", round);
        seen_options o = {.generations = 3, .capacity = round == 1 ? 1000000 : 1000};
        if (round == 2) {
            o = (seen_options){.size = sizeof o, .growth = SEEN_GROWING, .capacity = 1000000};
            snprintf(to, sizeof to, "%s/%s", server.url, name);
            must(seen_create(to, &o, 0, &set, &error), &error);
        } else {
            set = make(name, o);
        }
        for (int key = 0; key < 50; key++)
            add(set, key, SEEN_NEW);
        if (round < 2)
            for (int i = 0; i < 2; i++)
                must(seen_rotate(set, &error), &error);
        for (int key = 50; key < 100; key++)
            add(set, key, SEEN_NEW);
        snprintf(half, sizeof half, "seen:{%s:*}", name);
        redisReply *keys = test_ask(&server, "KEYS %s", half);
        size_t closed = 0, open = 0;
        for (size_t i = 0; i < keys->elements; i++) {
            const char *shard = keys->element[i]->str;
            redisReply *type = test_ask(&server, "TYPE %s", shard);
            bool string = strcmp(type->str, "string") == 0;
            freeReplyObject(type);
            if (!string || (open++ % 2 && round))
                continue;
            assert_int_equal(test_number(&server, "RENAMENX %s %s:closed", shard, shard), 1);
            assert_int_equal(test_number(&server, "RPUSH %s closed", shard), 1);
            closed++;
        }
        freeReplyObject(keys);
        assert_true(closed > 0 && (closed < open) == (round > 0));
        freeReplyObject(test_ask(&server, "ACL SETUSER reader on >word ~seen:* -@all +hgetall "
                                          "+hmget +strlen +getrange +bitfield_ro +auth"));
        snprintf(to, sizeof to, "redis://reader:word@127.0.0.1:%d/%s", server.port, name);
        must(seen_open(to, NULL, SEEN_READ_ONLY, &checker, &error), &error);
        redisReply *before = test_ask(&server, "HGET seen:%s sequence", name);
        copy = take_out(checker, TO_FILE, &error);
        for (int key = 0; key < 100; key++) {
            assert_int_equal(check(checker, key), SEEN_BEFORE);
            assert_int_equal(check(copy, key), SEEN_BEFORE);
        }
        assert_int_equal(check(checker, 1000), SEEN_NEW);
        redisReply *after = test_ask(&server, "HGET seen:%s sequence", name);
        assert_string_equal(after->str, before->str);
        /* A writer continues, and the reader follows. */
        add(set, 2000, SEEN_NEW);
        assert_int_equal(check(checker, 2000), SEEN_BEFORE);
        assert_int_equal(check(checker, 99), SEEN_BEFORE);
        freeReplyObject(before);
        freeReplyObject(after);
        seen_close(copy);
        seen_close(checker);
        seen_close(set);
    }
}

/* All generations have expired, and another client rotates the window and adds: a lookup sees it,
 * however recently the client last verified the filter. */
static void test_out_of_date(void **state)
{
    (void)state;
    uint64_t (*real)(void) = sn_clock_now;
    sn_clock_now = read_fake;
    seen_set *set =
        make("asleep", (seen_options){.capacity = 1000, .generations = 3, .window_seconds = 300});
    for (int key = 0; key < 10; key++) {
        fake_now += 10000;
        seen_set *checker = open_at(server.port, "asleep", SEEN_READ_ONLY);
        assert_int_equal(check(checker, key), SEEN_NEW);
        add(set, key, SEEN_NEW);
        assert_int_equal(check(checker, key), SEEN_BEFORE);
        seen_close(checker);
    }
    /* An expired generation reports nothing as present. */
    fake_now += 10000;
    assert_int_equal(check(set, 9), SEEN_NEW);
    seen_close(set);
    sn_clock_now = real;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rotated_during_check),
        cmocka_unit_test(test_rotated_during_add),
        cmocka_unit_test(test_cut_while_renewed),
        cmocka_unit_test(test_rotated_during_copy),
        cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_out_of_date),
    };
    return RIG_RUN(tests);
}
