/* Faults: connections that break at any byte, servers that send wrong data, do not answer, refuse
 * or disappear. */
#include "seen.h"
#include "tests/redis/proxy.h"
#include "tests/redis/rig.h"

static uint64_t ms_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static seen_options impatient(void)
{
    return (seen_options){.size = sizeof(seen_options),
                          .connect_ms = 300,
                          .command_ms = 300,
                          .retry_ms = 500,
                          .capacity = 50000,
                          .error_rate = 1e-7};
}

static seen_options patient(void)
{
    seen_options o = impatient();
    o.connect_ms = o.command_ms = 20000;
    return o;
}

/* Every key is new and this is the only client: each must be reported as new, however often the
 * connection breaks, and be present afterwards. */
static void add_through_cuts(const char *name, seen_options o, unsigned cut_after)
{
    char where[128], direct[128];
    seen_set *set;
    seen_error error = {0};
    test_proxy proxy = {.upstream = server.port, .cut_after = cut_after, .seed = cut_after};
    assert_true(test_proxy_start(&proxy));
    snprintf(where, sizeof where, "redis://127.0.0.1:%d/%s", proxy.port, name);
    snprintf(direct, sizeof direct, "%s/%s", server.url, name);
    o.retry_ms = 20000;
    if (seen_create(where, &o, 0, &set, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    enum { KEYS = 5000, BATCH = 50 };
    seen_key key[BATCH];
    char text[BATCH][16];
    seen_answer answers[BATCH];
    for (int at = 0; at < KEYS; at += BATCH) {
        for (int i = 0; i < BATCH; i++) {
            snprintf(text[i], sizeof text[i], "%s%d", name, at + i);
            key[i] = (seen_key){text[i], strlen(text[i])};
        }
        /* One key twice: the second time it is present, with or without broken connections. */
        key[BATCH - 1] = key[0];
        if (seen_add_many(set, key, BATCH, answers, &error) != SEEN_OK)
            fail_msg("%s", error.message);
        for (int i = 0; i < BATCH; i++)
            if (answers[i] != (i == BATCH - 1 ? SEEN_BEFORE : SEEN_NEW))
                fail_msg("key %d: %d", at + i, answers[i]);
    }
    assert_true(proxy.cuts > 5);
    seen_close(set);
    proxy.cut_after = 0;
    test_proxy_stop(&proxy);
    assert_int_equal(seen_open(direct, NULL, 0, &set, &error), SEEN_OK);
    for (int at = 0; at < KEYS; at++) {
        seen_answer answer;
        char one[16];
        if (at % BATCH == BATCH - 1)
            continue;
        snprintf(one, sizeof one, "%s%d", name, at);
        assert_int_equal(seen_check(set, one, strlen(one), &answer, &error), SEEN_OK);
        assert_int_equal(answer, SEEN_BEFORE);
    }
    seen_close(set);
}

static void test_cuts(void **state)
{
    (void)state;
    seen_options o = impatient();
    add_through_cuts("cut-a", o, 60000);
    o.kind = SEEN_COUNTING;
    add_through_cuts("cut-b", o, 100000);
    o.kind = SEEN_BLOOM;
    o.growth = SEEN_GROWING;
    o.capacity = 2000;
    add_through_cuts("cut-c", o, 100000);
}

/* Answers of checks through broken connections are correct. */
static void test_cut_checks(void **state)
{
    (void)state;
    char where[128], direct[128];
    seen_set *set;
    seen_error error = {0};
    seen_options o = impatient();
    test_proxy proxy = {.upstream = server.port, .cut_after = 20000, .seed = 5};
    o.retry_ms = 20000;
    assert_true(test_proxy_start(&proxy));
    snprintf(where, sizeof where, "redis://127.0.0.1:%d/looks", proxy.port);
    snprintf(direct, sizeof direct, "%s/looks", server.url);
    assert_int_equal(seen_create(direct, &o, 0, &set, &error), SEEN_OK);
    seen_hash h[4000];
    seen_answer answers[4000];
    for (uint64_t i = 0; i < 4000; i++)
        h[i] = (seen_hash){i * 0x9e3779b97f4a7c15u, i * 0xbf58476d1ce4e5b9u + 77};
    assert_int_equal(seen_add_hashes(set, h, 2000, answers, &error), SEEN_OK);
    seen_close(set);
    assert_int_equal(seen_open(where, &o, 0, &set, &error), SEEN_OK);
    for (int at = 0; at < 4000; at += 100) {
        if (seen_check_hashes(set, h + at, 100, answers, &error) != SEEN_OK)
            fail_msg("%s", error.message);
        for (int i = 0; i < 100; i++)
            assert_int_equal(answers[i], at + i < 2000 ? SEEN_BEFORE : SEEN_NEW);
    }
    assert_true(proxy.cuts > 5);
    seen_close(set);
    test_proxy_stop(&proxy);
}

/* A server that answers everything with the same bytes: refused with the right status, in time. */
static void liar(const char *reply, seen_status expected, const char *advice)
{
    char where[64];
    seen_set *set = NULL;
    seen_error error = {0};
    test_proxy proxy = {.reply = reply, .reply_len = reply ? strlen(reply) : 0};
    assert_true(test_proxy_start(&proxy));
    snprintf(where, sizeof where, "redis://127.0.0.1:%d/liar", proxy.port);
    /* Without a sentence to expect it may also be a reply that never ends. */
    seen_options o = reply && *advice ? patient() : impatient();
    uint64_t start = ms_now();
    seen_status status = seen_open(where, &o, 0, &set, &error);
    if (status != expected || !strstr(error.message, advice))
        fail_msg("%s: status %d: %s", reply ? reply : "silence", status, error.message);
    assert_non_null(strstr(error.message, where));
    seen_create(where, &o, 0, &set, &error);
    assert_true(ms_now() - start < 60000);
    test_proxy_stop(&proxy);
}

static void test_liars(void **state)
{
    (void)state;
    liar(NULL, SEEN_ERR_NETWORK, "no answer in time");
    liar("nonsense\r\n", SEEN_ERR_NETWORK, "Protocol error");
    liar("-OOM command not allowed\r\n", SEEN_ERR_SPACE, "maxmemory");
    liar("-READONLY You can't write\r\n", SEEN_ERR_SERVER, "master");
    liar("-NOPERM this user\r\n", SEEN_ERR_PERMISSION, "docs/redis.md");
    liar("-NOAUTH Authentication required.\r\n", SEEN_ERR_PERMISSION,
         "REDISCLI_AUTH, --redis-password-file");
    liar("-MISCONF Redis is configured to\r\n", SEEN_ERR_SPACE, "disk");
    liar("-WRONGTYPE Operation\r\n", SEEN_ERR_FORMAT, "another name");
    liar("-MOVED 1 127.0.0.1:1\r\n", SEEN_ERR_SERVER, "redis-cluster://");
    liar("-LOADING Redis is loading\r\n", SEEN_ERR_SERVER, "try again later");
    liar("-ERR unknown command 'HGETALL'\r\n", SEEN_ERR_SERVER, "Redis 6");
    liar(":5\r\n", SEEN_ERR_SERVER, "is it Redis?");
    liar("*-1\r\n", SEEN_ERR_SERVER, "is it Redis?");
    liar("*2\r\n$6\r\nformat\r\n$1\r\n1\r\n", SEEN_ERR_FORMAT, "damaged");
    /* A later hiredis accepts replies of any depth; they are then rejected because of their
     * content. */
    liar("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
         HIREDIS_MAJOR < 1 ? SEEN_ERR_NETWORK : SEEN_ERR_FORMAT, "");
    liar("*0\r\n", SEEN_ERR_NOT_FOUND, "create it first");
    liar("$99999999999\r\n", SEEN_ERR_NETWORK, "");
    liar("*2147483647\r\n", SEEN_ERR_NETWORK, "");
}

/* A redirection to an invalid slot or port is reported, not followed. */
static void test_absurd_moves(void **state)
{
    (void)state;
    static const char *const absurd[] = {
        "MOVED 16384 127.0.0.1:1",
        "MOVED 65536 127.0.0.1:1",
        "MOVED 4294967297 127.0.0.1:1",
        "MOVED 18446744073709551617 127.0.0.1:1",
        "MOVED -1 127.0.0.1:1",
        "MOVED x 127.0.0.1:1",
        "MOVED 1 127.0.0.1:0",
        "MOVED 1 127.0.0.1:65536",
        "MOVED 1 127.0.0.1:4294967297",
        "MOVED 1 127.0.0.1",
        "MOVED 1",
        "MOVED",
        "ASK 99999999999999999999 127.0.0.1:1",
        "ASK 5 :99999",
    };
    for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
        char reply[80], where[128];
        snprintf(reply, sizeof reply, "-%s\r\n", absurd[i]);
        test_proxy proxy = {.reply = reply, .reply_len = strlen(reply), .cluster = true};
        assert_true(test_proxy_start(&proxy));
        snprintf(where, sizeof where, "redis-cluster://127.0.0.1:%d/liar", proxy.port);
        seen_set *set;
        seen_error error = {0};
        seen_options o = {.size = sizeof o, .retry_ms = 500};
        seen_status status = seen_open(where, &o, 0, &set, &error);
        if (status != SEEN_ERR_SERVER || !strstr(error.message, absurd[i]))
            fail_msg("%s: status %d: %s", absurd[i], status, error.message);
        test_proxy_stop(&proxy);
    }
}

/* A server that is killed and restarted with its data. */
static void test_restart(void **state)
{
    (void)state;
    static const char *const extra[] = {"--appendonly", "yes", "--appendfsync", "always", NULL};
    test_server own = {0};
    seen_set *set;
    seen_error error = {0};
    seen_answer answer;
    assert_true(test_server_start(&own, extra));
    char where[128];
    snprintf(where, sizeof where, "%s/restart", own.url);
    seen_options o = patient();
    o.retry_ms = 60000;
    assert_int_equal(seen_create(where, &o, 0, &set, &error), SEEN_OK);
    assert_int_equal(seen_add(set, "a", 1, &answer, &error), SEEN_OK);
    assert_int_equal(seen_sync(set, &error), SEEN_OK);
    test_server_kill(&own);
    assert_true(test_server_launch(&own, extra));
    if (seen_add(set, "b", 1, &answer, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    assert_int_equal(answer, SEEN_NEW);
    assert_int_equal(seen_check(set, "a", 1, &answer, &error), SEEN_OK);
    assert_int_equal(answer, SEEN_BEFORE);
    /* Gone for good: an error within the time limit, and no answers. */
    test_server_kill(&own);
    seen_close(set);
    assert_true(test_server_launch(&own, extra));
    o.retry_ms = 400;
    assert_int_equal(seen_open(where, &o, 0, &set, &error), SEEN_OK);
    test_server_kill(&own);
    seen_answer answers[3] = {SEEN_NEW, SEEN_NEW, SEEN_NEW};
    seen_key keys[3] = {{"x", 1}, {"y", 1}, {"z", 1}};
    uint64_t start = ms_now();
    assert_int_equal(seen_add_many(set, keys, 3, answers, &error), SEEN_ERR_NETWORK);
    assert_true(ms_now() - start < 20000);
    for (int i = 0; i < 3; i++)
        assert_int_equal(answers[i], SEEN_UNKNOWN);
    seen_close(set);
    test_server_stop(&own);
}

static void test_log_in(void **state)
{
    (void)state;
    static const char *const extra[] = {"--user", "default",   "off", "--user", "ann",
                                        "on",     ">s3cr:t@/", "~*",  "+@all",  NULL};
    test_server own = {0};
    seen_set *set;
    seen_error error = {0};
    assert_true(test_server_start(&own, extra));
    char where[256];
    seen_options o = patient();
    snprintf(where, sizeof where, "redis://ann:s3cr%%3At%%40%%2F@127.0.0.1:%d/2/box", own.port);
    if (seen_create(where, &o, 0, &set, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    seen_close(set);
    snprintf(where, sizeof where, "redis://ann:s3cr%%3At%%40%%2F@127.0.0.1:%d/3/box", own.port);
    assert_int_equal(seen_open(where, &o, 0, &set, &error), SEEN_ERR_NOT_FOUND);
    snprintf(where, sizeof where, "redis://ann:wrong@127.0.0.1:%d/2/box", own.port);
    assert_int_equal(seen_open(where, &o, 0, &set, &error), SEEN_ERR_PERMISSION);
    /* No message contains the password. */
    assert_null(strstr(error.message, "wrong@"));
    snprintf(where, sizeof where, "redis://127.0.0.1:%d/2/box", own.port);
    assert_int_equal(seen_open(where, &o, 0, &set, &error), SEEN_ERR_PERMISSION);
    snprintf(where, sizeof where, "redis+unix://ann:s3cr%%3At%%40%%2F@%s/socket/2/box", own.folder);
    if (seen_open(where, &o, 0, &set, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    seen_answer answer;
    assert_int_equal(seen_add(set, "a", 1, &answer, NULL), SEEN_OK);
    seen_close(set);
    snprintf(where, sizeof where, "redis://ann:s3cr%%3At%%40%%2F@127.0.0.1:%d/99/box", own.port);
    assert_int_equal(seen_open(where, &o, 0, &set, &error), SEEN_ERR_SERVER);
    test_server_stop(&own);
}

/* The list of commands and keys in docs/redis.md is sufficient; with fewer permissions the error
 * has advice. */
static void test_permissions(void **state)
{
    (void)state;
    static const char *const extra[] = {
        "--user",   "seen",    "on",        ">secret",   "~seen:*",   "resetchannels",  "-@all",
        "+hgetall", "+hmget",  "+hget",     "+hset",     "+hexists",  "+hincrby",       "+hdel",
        "+del",     "+exists", "+type",     "+renamenx", "+rpush",    "+expire",        "+persist",
        "+unlink",  "+strlen", "+getrange", "+setrange", "+bitfield", "+bitfield_ro",   "+bitop",
        "+eval",    "+wait",   "+role",     "+auth",     "+select",   "+cluster|slots", "--user",
        "poor",     "on",      ">secret",   "~seen:*",   "-@all",     "+hgetall",       "+auth",
        NULL};
    test_server own = {0};
    seen_error error = {0};
    assert_true(test_server_start(&own, extra));
    const seen_options kinds[] = {
        {.capacity = 1000, .error_rate = 0.01},
        {.growth = SEEN_GROWING, .capacity = 100, .error_rate = 0.01},
        {.growth = SEEN_WINDOW, .capacity = 400, .error_rate = 0.01, .window_seconds = 50},
        {.growth = SEEN_GROWING, .kind = SEEN_COUNTING, .capacity = 100, .error_rate = 0.01},
        {.bits = 65536, .hashes = 7, .ttl_seconds = 100},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        seen_options o = kinds[k];
        seen_set *set, *other = NULL;
        char where[128], second[128];
        o.size = sizeof o;
        snprintf(where, sizeof where, "redis://seen:secret@127.0.0.1:%d/k%zu", own.port, k);
        snprintf(second, sizeof second, "redis://seen:secret@127.0.0.1:%d/like%zu", own.port, k);
        if (seen_create(where, &o, 0, &set, &error) != SEEN_OK)
            fail_msg("%s", error.message);
        for (int i = 0; i < 300; i++) {
            char key[16];
            snprintf(key, sizeof key, "%d", i);
            if (seen_add(set, key, strlen(key), NULL, &error) != SEEN_OK)
                fail_msg("%s", error.message);
            if (i % 2 == 0 && o.kind == SEEN_COUNTING &&
                seen_remove(set, key, strlen(key), NULL, &error) != SEEN_OK)
                fail_msg("%s", error.message);
        }
        seen_info info = {.size = sizeof info};
        if (seen_get_info(set, &info, &error) != SEEN_OK ||
            seen_create_like(second, set, NULL, 0, &other, &error) != SEEN_OK)
            fail_msg("%s", error.message);
        seen_status status = seen_merge(other, set, &error);
        if (status != SEEN_OK && status != SEEN_ERR_KIND)
            fail_msg("%s", error.message);
        seen_close(other);
        if (o.growth == SEEN_WINDOW && seen_rotate(set, &error) != SEEN_OK)
            fail_msg("%s", error.message);
        if (seen_close_checked(set, &error) != SEEN_OK || seen_drop(where, NULL, &error) != SEEN_OK)
            fail_msg("%s", error.message);
        snprintf(where, sizeof where, "redis://poor:secret@127.0.0.1:%d/k%zu", own.port, k);
        o = impatient();
        assert_int_equal(seen_create(where, &o, 0, &set, &error), SEEN_ERR_PERMISSION);
        assert_non_null(strstr(error.message, "docs/redis.md"));
    }
    test_server_stop(&own);
}

/* A server without memory refuses, or evicts the first shards of a filter while the last are
 * created: in both cases there is no filter, and nothing is left behind. */
static void test_no_memory(void **state)
{
    (void)state;
    static const char *const policies[] = {"noeviction", "allkeys-lru", "volatile-ttl"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        const char *const extra[] = {"--maxmemory", "4mb", "--maxmemory-policy", policies[i], NULL};
        test_server own = {0};
        seen_set *set, *copy;
        seen_error error = {0};
        assert_true(test_server_start(&own, extra));
        char where[128];
        snprintf(where, sizeof where, "%s/big", own.url);
        seen_options o = impatient();
        o.capacity = 10000000;
        assert_int_equal(seen_create(where, &o, 0, &set, &error), SEEN_ERR_SPACE);
        assert_non_null(strstr(error.message, "maxmemory"));
        assert_int_equal(test_number(&own, "DBSIZE"), 0);
        o.ttl_seconds = 1000;
        assert_int_equal(seen_create(where, &o, 0, &set, &error), SEEN_ERR_SPACE);
        assert_int_equal(seen_create(NULL, &o, 0, &copy, &error), SEEN_OK);
        assert_int_equal(seen_copy(copy, where, 0, &o, &error), SEEN_ERR_SPACE);
        seen_close(copy);
        assert_int_equal(test_number(&own, "DBSIZE"), 0);
        test_server_stop(&own);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuts),        cmocka_unit_test(test_cut_checks),
        cmocka_unit_test(test_liars),       cmocka_unit_test(test_absurd_moves),
        cmocka_unit_test(test_restart),     cmocka_unit_test(test_log_in),
        cmocka_unit_test(test_permissions), cmocka_unit_test(test_no_memory),
    };
    return RIG_RUN(tests);
}
