/* Several clients that replace or drop the filter of one name at once: what is left is one filter,
 * or none, and nothing that belongs to another. */
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

/* Every key is of the filter that has the name, if one has. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replace),
        cmocka_unit_test(test_drop),
    };
    return RIG_RUN(tests);
}
