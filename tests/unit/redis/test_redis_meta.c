/* Several clients concurrently replace or drop the filter of one name: what remains is one filter,
 * or none, and no keys of another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "redis/client/slot.h"
#include "redis/names.h"
#include "seen.h"
#include "tests/redis/relay.h"
#include "tests/redis/rig.h"

static const char PUBLISH[] = "redis.call('HSET',k,unpack(ARGV,";

static void must(seen_status status, const seen_error *error)
{
    if (status != SEEN_OK)
        fail_msg("%s", error->message);
}

/* What another client does just before a certain command of ours, once. */
typedef struct other {
    const char *match;
    enum { REPLACES, DROPS, GROWS } does;
    seen_options options;
    char where[96];
    seen_set *set;
    bool done, failed;
} other;

static bool act(other *o)
{
    seen_set *made;
    seen_status status = SEEN_OK;
    if (o->does == DROPS)
        return seen_drop(o->where, NULL, NULL) == SEEN_OK;
    if (o->does == REPLACES) {
        status = seen_create(o->where, &o->options, SEEN_REPLACE, &made, NULL);
        if (status == SEEN_OK)
            seen_close(made);
    }
    for (int i = 0; o->does == GROWS && i < 300 && status == SEEN_OK; i++)
        status = seen_add(o->set, &i, sizeof i, NULL, NULL);
    return status == SEEN_OK;
}

static bool act_at(void *context, const char *command, size_t len, int client, int upstream)
{
    other *o = context;
    if (!o->done && memmem(command, len, o->match, strlen(o->match))) {
        o->done = true;
        o->failed = !act(o);
    }
    return test_send_all(upstream, command, len) && relay_answer(upstream, client);
}

/* Every key belongs to the filter that has the name, if there is one. */
static void assert_no_strays(bool there)
{
    redisReply *id = test_ask(&server, "HGET seen:x id");
    assert_int_equal(id->type == REDIS_REPLY_STRING, there);
    redisReply *keys = test_ask(&server, "KEYS seen:*");
    assert_int_equal(keys->elements > 2, there);
    for (size_t i = 0; i < keys->elements; i++)
        if (strcmp(keys->element[i]->str, "seen:x") != 0 &&
            (!there || !strstr(keys->element[i]->str, id->str)))
            fail_msg("%s is of no filter", keys->element[i]->str);
    freeReplyObject(keys);
    freeReplyObject(id);
}

static void race(other o, bool drop, bool there)
{
    seen_set *set = NULL;
    seen_error error = {0};
    char where[96];
    o.options = (seen_options){.size = sizeof o.options, .growth = SEEN_GROWING, .capacity = 100};
    snprintf(o.where, sizeof o.where, "%s/x", server.url);
    freeReplyObject(test_ask(&server, "FLUSHALL"));
    must(seen_create(o.where, &o.options, 0, &o.set, &error), &error);
    test_relay relay = {.hook = act_at, .context = &o, .upstream = server.port};
    assert_true(test_relay_start(&relay));
    snprintf(where, sizeof where, "redis://127.0.0.1:%d/x", relay.port);
    if (drop)
        must(seen_drop(where, NULL, &error), &error);
    else
        must(seen_create(where, &o.options, SEEN_REPLACE, &set, &error), &error);
    test_relay_stop(&relay);
    assert_true(o.done && !o.failed);
    seen_close(set);
    seen_close(o.set);
    assert_no_strays(there);
}

static void test_replace(void **state)
{
    (void)state;
    race((other){.match = PUBLISH, .does = REPLACES}, false, true);
    race((other){.match = PUBLISH, .does = DROPS}, false, true);
    race((other){.match = PUBLISH, .does = GROWS}, false, true);
}

static void test_drop(void **state)
{
    (void)state;
    race((other){.match = "UNLINK", .does = REPLACES}, true, false);
    race((other){.match = "UNLINK", .does = DROPS}, true, false);
    race((other){.match = "UNLINK", .does = GROWS}, true, false);
}

static int run_redis_meta(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replace),
        cmocka_unit_test(test_drop),
    };
    return RIG_RUN(tests);
}

/* ---- redis_names ---- */

/* Names of keys, and slots. */

/* From the specification of Redis Cluster. */
static void test_slots(void **state)
{
    (void)state;
    assert_int_equal(sn_slot_of("123456789", 9), 0x31c3);
    assert_int_equal(sn_slot_of("foo", 3), 12182);
    assert_int_equal(sn_slot_of("{foo}bar", 8), 12182);
    assert_int_equal(sn_slot_of("x{foo}{bar}", 11), 12182);
    assert_int_equal(sn_slot_of("{foo", 4), sn_slot_of("{foo", 4));
    assert_int_not_equal(sn_slot_of("{}foo", 5), sn_slot_of("{}bar", 5));
}

static void expect(const sn_redis_key *key, const char *text)
{
    assert_int_equal(key->len, strlen(text));
    assert_memory_equal(key->text, text, key->len);
    assert_int_equal(key->slot, sn_slot_of(text, strlen(text)));
}

static void test_names(void **state)
{
    (void)state;
    sn_redis_address a = {.name = "a{b}%", .name_len = 5};
    sn_redis_view view = {.id = "0123456789abcdef"};
    view.image.layers = 2;
    view.image.layer[1].generation = 7;
    sn_redis_key key;
    sn_redis_key_meta(&a, &key);
    expect(&key, "seen:a%7Bb%7D%25");
    sn_redis_key_added(&a, &view, &key);
    expect(&key, "seen:{a%7Bb%7D%25:0123456789abcdef}:added");
    sn_redis_namer open, closed;
    sn_redis_namer_begin(&open, &a, &view, 1, false);
    sn_redis_namer_begin(&closed, &a, &view, 1, true);
    expect(sn_redis_namer_shard(&open, 120), "seen:{a%7Bb%7D%25:0123456789abcdef:1.7:120}");
    expect(sn_redis_namer_shard(&open, 0), "seen:{a%7Bb%7D%25:0123456789abcdef:1.7:0}");
    expect(sn_redis_namer_shard(&closed, 0), "seen:{a%7Bb%7D%25:0123456789abcdef:1.7:0}:closed");
    assert_int_equal(open.key.slot, closed.key.slot);
    view.layout = SEEN_LAYOUT_BITMAP;
    sn_redis_namer_begin(&open, &a, &view, 0, false);
    expect(sn_redis_namer_shard(&open, 0), "a{b}%");
}

/* A temporary piece has the slot of its shard and a name of ours. */
static void test_pieces(void **state)
{
    (void)state;
    const char *const names[][2] = {
        {"seen:{x:0123:0.1:5}", "seen:{x:0123:0.1:5}:merge"},
        {"seen:{x:0123:0.1:5}:closed", "seen:{x:0123:0.1:5}:closed:merge"},
        {"plain", "seen:{plain}:merge"},
        {"seen:plain", "seen:{seen:plain}:merge"},
        {"a{tag}b", "seen:a{tag}b:merge"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sn_redis_key shard = {.len = strlen(names[i][0])}, piece;
        memcpy(shard.text, names[i][0], shard.len);
        shard.slot = sn_slot_of(shard.text, shard.len);
        sn_redis_key_piece(&shard, &piece);
        expect(&piece, names[i][1]);
        assert_int_equal(piece.slot, shard.slot);
    }
}

static int run_redis_names(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    int status[] = {run_redis_meta(), run_redis_names()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
