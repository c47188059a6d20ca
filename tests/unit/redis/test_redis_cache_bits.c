/* The client's cache of bits: it sends fewer commands, and stays correct when a server loses
 * data. */
#include "seen.h"
#include "tests/redis/rig.h"

enum { KEYS = 20000 };

static seen_hash hash_of(uint64_t number)
{
    seen_hasher hasher = {.kind = SEEN_XXH3, .seed = {5, 6}};
    return seen_hash_key(&hasher, &number, sizeof number);
}

static seen_set *make(const char *name, seen_options o)
{
    char where[128];
    seen_set *set;
    seen_error error;
    o.size = sizeof o;
    o.seed_given = true;
    o.seed[0] = 5;
    o.seed[1] = 6;
    snprintf(where, sizeof where, "%s/%s", server.url, name);
    if (seen_create(where, &o, SEEN_IF_ABSENT, &set, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    return set;
}

/* Adds (or checks) keys of a range; returns how many are new. */
static unsigned run(seen_set *set, bool add, uint64_t from, uint64_t to)
{
    seen_hash h[1000];
    seen_answer answers[1000];
    seen_error error;
    unsigned fresh = 0;
    for (uint64_t at = from; at < to; at += 1000) {
        for (uint64_t i = 0; i < 1000; i++)
            h[i] = hash_of(at + i);
        if ((add ? seen_add_hashes : seen_check_hashes)(set, h, 1000, answers, &error) != SEEN_OK)
            fail_msg("%s", error.message);
        for (int i = 0; i < 1000; i++)
            fresh += answers[i] == SEEN_NEW;
    }
    return fresh;
}

/* The number of lookups on the server. */
static long long asked(void)
{
    redisReply *r = test_ask(&server, "INFO commandstats");
    assert_non_null(r);
    long long calls = 0;
    static const char *const names[] = {
        "cmdstat_bitfield:calls=", "cmdstat_bitfield_ro:calls=", "cmdstat_getrange:calls="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *at = strstr(r->str, names[i]);
        calls += at ? atoll(at + strlen(names[i])) : 0;
    }
    freeReplyObject(r);
    return calls;
}

static void asks_once(const char *name, seen_options o)
{
    seen_set *set = make(name, o), *other = make(name, o);
    assert_int_equal(run(set, true, 0, KEYS), KEYS);
    long long before = asked();
    assert_int_equal(run(set, true, 0, KEYS), 0);
    assert_int_equal(run(set, false, 0, KEYS), 0);
    assert_int_equal(asked(), before);
    /* Keys added by another client are learned by a lookup. */
    assert_int_equal(run(other, false, 0, KEYS), 0);
    assert_true(asked() > before);
    before = asked();
    assert_int_equal(run(other, true, 0, KEYS), 0);
    assert_int_equal(asked(), before);
    seen_close(other);
    seen_close(set);
}

static void test_asks_once(void **state)
{
    (void)state;
    asks_once("fixed", (seen_options){.capacity = 2 * KEYS, .error_rate = 1e-8});
    asks_once("classic", (seen_options){.bits = 4 << 20, .hashes = 25});
    asks_once("growing",
              (seen_options){.growth = SEEN_GROWING, .capacity = 3000, .error_rate = 1e-8});
}

/* A window drops keys, so they are not cached. */
static void test_windows_ask(void **state)
{
    (void)state;
    seen_set *set = make("window", (seen_options){.growth = SEEN_WINDOW,
                                                  .generations = 3,
                                                  .capacity = 3 * KEYS,
                                                  .error_rate = 1e-8});
    assert_int_equal(run(set, true, 0, 1000), 1000);
    for (int i = 0; i < 3; i++)
        assert_int_equal(seen_rotate(set, NULL), SEEN_OK);
    assert_int_equal(run(set, true, 0, 1000), 1000);
    seen_close(set);
}

/* A server restarted from an old snapshot: its bits are gone, and so are its connections. */
static void forget_bits(const char *name)
{
    redisReply *r = test_ask(&server, "EVAL %s 0 %s",
                             "for _,k in ipairs(redis.call('KEYS','seen:{'..ARGV[1]..':*')) do "
                             " if redis.call('TYPE',k).ok=='string' then "
                             "  local n=redis.call('STRLEN',k) "
                             "  redis.call('SETRANGE',k,0,string.rep('\\0',n)) "
                             " end "
                             "end return 1",
                             name);
    assert_non_null(r);
    assert_int_equal(r->type, REDIS_REPLY_INTEGER);
    freeReplyObject(r);
    assert_true(test_number(&server, "CLIENT KILL TYPE normal") >= 1);
}

/* Many cells of a new key are cached as set when the server loses them. The key must be complete on
 * the server once it is acknowledged: another client finds it. */
static void outlives(const char *name, seen_options o, uint64_t others)
{
    enum { BATCHES = 3, BATCH = 1000 };
    seen_set *set = make(name, o);
    seen_hash h[BATCH];
    seen_answer reported[BATCHES][BATCH], found[BATCH];
    seen_error error;
    assert_true(run(set, true, 0, others) > others - others / 50);
    forget_bits(name);
    /* The first batch meets the broken connection, the others an outdated cache. */
    for (uint64_t b = 0; b < BATCHES; b++) {
        for (uint64_t i = 0; i < BATCH; i++)
            h[i] = hash_of(others + b * BATCH + i);
        if (seen_add_hashes(set, h, BATCH, reported[b], &error) != SEEN_OK)
            fail_msg("%s", error.message);
    }
    seen_set *other = make(name, o);
    unsigned fresh = 0;
    for (uint64_t b = 0; b < BATCHES; b++) {
        for (uint64_t i = 0; i < BATCH; i++)
            h[i] = hash_of(others + b * BATCH + i);
        assert_int_equal(seen_check_hashes(other, h, BATCH, found, &error), SEEN_OK);
        for (uint64_t i = 0; i < BATCH; i++) {
            fresh += reported[b][i] == SEEN_NEW;
            if (reported[b][i] == SEEN_NEW && found[i] != SEEN_BEFORE)
                fail_msg("key %d of batch %d is lost", (int)i, (int)b);
        }
    }
    assert_true(fresh > BATCHES * BATCH * 95 / 100);
    seen_close(other);
    seen_close(set);
}

static void test_server_that_forgets(void **state)
{
    (void)state;
    outlives("forgets", (seen_options){.capacity = KEYS, .error_rate = 0.01}, KEYS - 4000);
    outlives("forgets-twice", (seen_options){.capacity = KEYS, .error_rate = 1e-5}, KEYS - 4000);
    outlives("forgets-layers",
             (seen_options){.growth = SEEN_GROWING, .capacity = 5000, .error_rate = 0.01}, 4000);
}

/* A client adds its last keys again after the server has lost them: they are not taken from the
 * cache. */
static void test_again(void **state)
{
    (void)state;
    enum { LAST = 5000, SIGN = 1000 };
    seen_options o = {.capacity = KEYS, .error_rate = 0.001};
    seen_set *set = make("again", o);
    run(set, true, 0, LAST);
    forget_bits("again");
    run(set, true, LAST, LAST + SIGN);
    assert_true(run(set, true, 0, LAST) > LAST * 95 / 100);
    seen_set *other = make("again", o);
    assert_int_equal(run(other, false, 0, LAST + SIGN), 0);
    seen_close(other);
    seen_close(set);
}

/* The maximum number of cells, and more than are tracked. */
static void test_many_cells(void **state)
{
    (void)state;
    asks_once("cells-64", (seen_options){.bits = 8 << 20, .hashes = 64});
    /* More than any plan has, but a hash may contain it. */
    seen_close(make("cells-many", (seen_options){.capacity = 5000, .error_rate = 0.01}));
    redisReply *keys = test_ask(&server, "KEYS seen:{cells-many:*:0}");
    assert_int_equal(keys->elements, 1);
    assert_int_equal(test_number(&server, "SETBIT %s %d 0", keys->element[0]->str, (512 << 14) + 7),
                     0);
    freeReplyObject(keys);
    assert_int_equal(test_number(&server, "HSET seen:cells-many layer:0 %s",
                                 "1 64 8 1 16384 5000 184467440737095520 7"),
                     0);
    char where[128];
    seen_set *set;
    seen_error error;
    snprintf(where, sizeof where, "%s/cells-many", server.url);
    if (seen_open(where, NULL, 0, &set, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    assert_int_equal(run(set, false, 0, 2000), 2000);
    assert_int_equal(run(set, true, 0, 2000), 2000);
    assert_int_equal(run(set, true, 0, 3000), 1000);
    assert_int_equal(run(set, false, 0, 4000), 1000);
    seen_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asks_once),           cmocka_unit_test(test_windows_ask),
        cmocka_unit_test(test_server_that_forgets), cmocka_unit_test(test_again),
        cmocka_unit_test(test_many_cells),
    };
    return RIG_RUN(tests);
}
