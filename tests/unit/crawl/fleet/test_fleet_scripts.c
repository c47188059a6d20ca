/* Each script of a shared crawl on a real server: its effect, its errors, and that it is
 * idempotent. Skipped without redis-server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../../../redis/server.h"
#include "crawl/fleet/internal.h"

static test_server server;
static redisContext *redis;

static redisReply *command(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    redisReply *r = redisvCommand(redis, format, list);
    va_end(list);
    assert_non_null(r);
    if (r->type == REDIS_REPLY_ERROR)
        fail_msg("%s: %s", format, r->str);
    return r;
}

static long long number(redisReply *r)
{
    long long n =
        r->type == REDIS_REPLY_INTEGER ? r->integer : strtoll(r->str ? r->str : "0", NULL, 10);
    freeReplyObject(r);
    return n;
}

/* EVAL with words separated by spaces: KEYS | ARGV; _ is an empty argument. */
static redisReply *call(sn_fleet_script script, const char *keys, const char *args)
{
    char text[1000];
    const char *argv[64] = {"EVAL", sn_fleet_lua[script], NULL};
    int argc = 3, count = 0;
    snprintf(text, sizeof text, "%s %s", keys, args);
    size_t keys_end = strlen(keys);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        count += (size_t)(word - text) < keys_end;
        argv[argc++] = strcmp(word, "_") == 0 ? "" : word;
    }
    char keys_text[16];
    snprintf(keys_text, sizeof keys_text, "%d", count);
    argv[2] = keys_text;
    redisReply *r = redisCommandArgv(redis, argc, argv, NULL);
    assert_non_null(r);
    if (r->type == REDIS_REPLY_ERROR)
        fail_msg("script %d: %s", (int)script, r->str);
    return r;
}

static long long run(sn_fleet_script script, const char *keys, const char *args)
{
    return number(call(script, keys, args));
}

static void expect_text(redisReply *r, const char *text)
{
    assert_string_equal(r->str ? r->str : "(nil)", text);
    freeReplyObject(r);
}

#define Q "0123456789abcdef"
#define BUCKET "ready owner meta applied"
#define PUSH BUCKET " q"
#define ACK "ready owner meta tired applied pages q state"
#define PICK "ready owner applied tired"

static void registry(void **state)
{
    (void)state;
    assert_int_equal(run(SN_LUA_CREATE, "reg", "state run sequence 1 limit 10"), 1);
    assert_int_equal(run(SN_LUA_CREATE, "reg", "state stop"), 0);
    expect_text(command("HGET reg state"), "run");
    assert_int_equal(run(SN_LUA_CHANGE, "reg", "state run 7 state done"), 0);
    assert_int_equal(run(SN_LUA_CHANGE, "reg", "state run 1 state done"), 1);
    assert_int_equal(number(command("HGET reg sequence")), 2);
    assert_int_equal(run(SN_LUA_CHANGE, "reg", "state run _ state stop"), 0);
    assert_int_equal(run(SN_LUA_PERMIT, "reg", "one 10 6 0"), 6);
    assert_int_equal(run(SN_LUA_PERMIT, "reg", "one 10 6 0"), 6); /* sent again */
    assert_int_equal(run(SN_LUA_PERMIT, "reg", "two 10 6 0"), 4);
    assert_int_equal(run(SN_LUA_PERMIT, "reg", "two 10 1 4"), 0);
    assert_int_equal(run(SN_LUA_REFUND, "reg", "one 2"), 4);
    assert_int_equal(run(SN_LUA_REFUND, "reg", "one 2"), 0);
    assert_int_equal(run(SN_LUA_PERMIT, "reg", "two 10 9 4"), 4);
    assert_int_equal(run(SN_LUA_REFUND, "reg", "two 8"), 0); /* all were bound */
    /* A call that was delayed until its session was over; also the first one of a session. */
    assert_int_equal(run(SN_LUA_PERMIT, "reg", "one 11 6 6"), 0);
    assert_int_equal(run(SN_LUA_REFUND, "reg", "three 0"), 0);
    assert_int_equal(run(SN_LUA_PERMIT, "reg", "three 11 6 0"), 0);
    assert_int_equal(number(command("HGET reg started")), 10);
}

static void failures(void **state)
{
    (void)state;
    assert_int_equal(number(command("RPUSH failed a b c d e")), 5);
    assert_int_equal(run(SN_LUA_TRIM, "failed meta", "0 2"), 2);
    assert_int_equal(run(SN_LUA_TRIM, "failed meta", "0 2"), 0); /* sent again */
    assert_int_equal(run(SN_LUA_TRIM, "failed meta", "2 2"), 2);
    expect_text(command("LINDEX failed 0"), "e");
    assert_int_equal(number(command("LLEN failed")), 1);
}

static void given(void **state)
{
    (void)state;
    assert_int_equal(run(SN_LUA_GIVEN, "none", "id s1 begin"), -1);
    run(SN_LUA_CREATE, "g", "id x state done sequence 1");
    assert_int_equal(run(SN_LUA_GIVEN, "g", "y s1 begin"), -1); /* of another crawl */
    assert_int_equal(run(SN_LUA_GIVEN, "g", "x s1 end"), 1);    /* all were seen before */
    expect_text(command("HGET g state"), "done");
    assert_int_equal(number(command("HGET g given")), 1);
    assert_int_equal(run(SN_LUA_GIVEN, "g", "x s1 begin"), 1);
    assert_int_equal(run(SN_LUA_GIVEN, "g", "x s1 begin"), 1); /* sent again */
    expect_text(command("HGET g state"), "run");
    expect_text(command("HGET g giving"), "s1 ");
    /* A worker that read the sequence before cannot end the crawl. */
    assert_int_equal(run(SN_LUA_CHANGE, "g", "state run 2 state done"), 0);
    assert_int_equal(run(SN_LUA_GIVEN, "g", "x s2 begin"), 1);
    assert_int_equal(run(SN_LUA_GIVEN, "g", "x s3 seed"), 1);
    expect_text(command("HGET g giving"), "s1 s2 ");
    assert_int_equal(run(SN_LUA_GIVEN, "g", "x s1 over"), 1);
    assert_int_equal(run(SN_LUA_CHANGE, "g", "state run 7 state stop"), 1);
    assert_int_equal(run(SN_LUA_GIVEN, "g", "x s1 begin"), 1);
    expect_text(command("HGET g state"), "stop");
    expect_text(command("HGET g giving"), "s2 s1 ");
}

/* A session that lives on for a moment creates no registry again. */
static void dropped(void **state)
{
    (void)state;
    assert_int_equal(run(SN_LUA_PERMIT, "reg", "one 10 6 0"), 0);
    assert_int_equal(run(SN_LUA_REFUND, "reg", "one 0"), 0);
    assert_int_equal(run(SN_LUA_CHANGE, "reg", "state run _ state stop"), 0);
    assert_int_equal(run(SN_LUA_GIVEN, "reg", "id s1 end"), -1);
    assert_int_equal(number(command("EXISTS reg")), 0);
}

static void session(void **state)
{
    (void)state;
    assert_int_equal(run(SN_LUA_OPEN, "s", "name a"), 1);
    assert_int_equal(run(SN_LUA_OPEN, "s", "name b"), 1); /* sent again */
    expect_text(command("HGET s name"), "a");
    assert_int_equal(run(SN_LUA_BEAT, "s f", "_"), 1); /* no counter changed */
    assert_int_equal(number(command("EXISTS f")), 0);
    assert_int_equal(run(SN_LUA_BEAT, "s f", "5 pages 5 ok 4"), 2);
    assert_int_equal(number(command("HGET s ok")), 4);
    assert_int_equal(number(command("HGET s beat")), 2);
    assert_int_equal(number(command("HLEN f")), 2); /* 0 pages before, and 5 */
    assert_int_equal(run(SN_LUA_INTENT, "s j", "1 links"), 1);
    assert_int_equal(run(SN_LUA_SETTLE, "s j p", "1 8 pushed01"), 1);
    assert_int_equal(number(command("HLEN j")), 0);
    expect_text(command("GETRANGE p 8 -1"), "pushed01");
    assert_int_equal(run(SN_LUA_INTENT, "s j", "2 links"), 1);
    assert_int_equal(number(command("HGET s intent")), 2);
    assert_int_equal(run(SN_LUA_DEAD, "s", "1"), 0); /* it was active in between */
    assert_int_equal(run(SN_LUA_GONE, "s j p", "gone 60000"), 0);
    assert_int_equal(run(SN_LUA_DEAD, "s", "2"), 1);
    assert_int_equal(run(SN_LUA_DEAD, "s", "2"), 1);
    /* Dead: no beat, no intent, and the journal and the record are frozen. */
    assert_int_equal(run(SN_LUA_BEAT, "s f", "6 pages 6"), -1);
    assert_int_equal(run(SN_LUA_INTENT, "s j", "3 links"), -1);
    assert_int_equal(run(SN_LUA_SETTLE, "s j p", "2 16 pushed02"), -1);
    assert_int_equal(number(command("HLEN j")), 1);
    assert_int_equal(number(command("STRLEN p")), 16);
    assert_int_equal(run(SN_LUA_GONE, "s j p", "gone 60000"), 1);
    assert_int_equal(number(command("EXISTS j")), 0);
    assert_in_range(number(command("PTTL p")), 1, 60000);
    /* A session that was never opened cannot be opened after it was declared dead. */
    assert_int_equal(run(SN_LUA_DEAD, "never", "0"), 1);
    assert_int_equal(run(SN_LUA_OPEN, "never", "name a"), 0);
}

/* The heartbeats of a pause write nothing; the first new page adds when the last of them was. */
static void pauses(void **state)
{
    (void)state;
    assert_int_equal(run(SN_LUA_OPEN, "z", "name a"), 1);
    assert_int_equal(run(SN_LUA_BEAT, "z g", "3 pages 3"), 1);
    assert_int_equal(number(command("HGET z pages")), 3);
    number(command("DEL g"));
    /* 10 pages by 1001 s; the last heartbeat, without any, at 1050.7 s. */
    number(command("HSET z at 1050700 pages 10"));
    number(command("HSET g t:1001 10"));
    assert_int_equal(run(SN_LUA_BEAT, "z g", "12 pages 12"), 2);
    assert_int_equal(number(command("HGET g t:1050")), 10);
    assert_int_equal(number(command("HLEN g")), 3);
    /* No pause: the last heartbeat had pages. */
    number(command("DEL g"));
    number(command("HSET g t:2001 12"));
    number(command("HSET z at 2000900 pages 12"));
    assert_int_equal(run(SN_LUA_BEAT, "z g", "14 pages 14"), 3);
    assert_int_equal(number(command("HLEN g")), 2);
    /* Points of ten seconds. */
    number(command("DEL g"));
    number(command("HSET z at 3059000 pages 14 beat 500"));
    number(command("HSET g t:3010 14"));
    assert_int_equal(run(SN_LUA_BEAT, "z g", "15 pages 15"), 501);
    assert_int_equal(number(command("HGET g t:3050")), 14);
    assert_int_equal(number(command("HLEN g")), 3);
}

static void push_pick_ack(void **state)
{
    (void)state;
    assert_int_equal(run(SN_LUA_PUSH, PUSH, "w 1 0 0 " Q " 3 element"), 3);
    assert_int_equal(run(SN_LUA_PUSH, PUSH, "w 1 0 0 " Q " 3 element"), 0);
    assert_int_equal(number(command("LLEN q")), 1);
    assert_int_equal(number(command("HGET meta pushed:0")), 3);
    assert_int_equal(number(command("HGET meta bytes")), 7);
    redisReply *r = call(SN_LUA_PICK, PICK, "w 5 0 1000 1");
    assert_int_equal(r->elements, 2);
    assert_string_equal(r->element[0]->str, Q);
    assert_string_equal(r->element[1]->str, "");
    freeReplyObject(r);
    assert_int_equal(number(command("ZCARD ready")), 0);
    /* The reply was lost: repeating the call reports that it was executed. */
    assert_int_equal(run(SN_LUA_PICK, PICK, "w 5 0 1000 1"), -2);
    /* Owned: a push does not make it ready. */
    assert_int_equal(run(SN_LUA_PUSH, PUSH, "w 2 0 0 " Q " 1 second"), 1);
    assert_int_equal(number(command("ZCARD ready")), 0);
    /* Two of three done, then all of the first element; the same call again changes nothing. */
    assert_int_equal(run(SN_LUA_ACK, ACK, "w 2 1 1 0 0 0 0:2 " Q " 0 bits _ 0 0 _ 0"), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run(SN_LUA_ACK, ACK, "w 3 1 1 7 1 0 0:1 " Q " 1 _ 9 0 0 _ 0"), 0);
        assert_int_equal(number(command("LLEN q")), 1);
        assert_int_equal(number(command("HGET meta done:0")), 3);
        assert_int_equal(number(command("HGET meta bytes")), 6);
        assert_int_equal(number(command("HGET meta pages")), 1);
        assert_int_equal(number(command("HGET pages " Q)), 9);
    }
    assert_int_equal(number(command("EXISTS state")), 0);
    assert_int_equal(run(SN_LUA_ACK, ACK, "x 1 1 0 6 1 0 0:1 " Q " 1"), 1);
    assert_int_equal(number(command("LLEN q")), 1);
    /* A write between the last one and this one was lost: nothing is changed by any script. */
    assert_int_equal(run(SN_LUA_ACK, ACK, "w 5 1 0 6 1 0 0:1 " Q " 1"), -1);
    assert_int_equal(run(SN_LUA_PICK, PICK, "w 5 0 1000 5"), -3);
    assert_int_equal(run(SN_LUA_GRANT, "owner applied state", "w 5 2 " Q " 2"), -1);
    assert_int_equal(number(command("LLEN q")), 1);
    assert_int_equal(number(command("HGET applied m:w")), 3);
    /* Released before its delay has passed: the next owner learns who asked last. */
    assert_int_equal(run(SN_LUA_ACK, ACK, "w 4 1 1 0 0 0 _ " Q " 0 _ _ 1 0 0 _"), 0);
    assert_int_equal(number(command("EXISTS state")), 0);
    assert_int_equal(number(command("ZCARD ready")), 1);
    r = call(SN_LUA_PICK, PICK, "x 5 0 1000 1");
    assert_int_equal(r->elements, 2);
    assert_string_equal(r->element[1]->str, "w");
    freeReplyObject(r);
    /* Done and rested: nothing is left of it. */
    assert_int_equal(run(SN_LUA_ACK, ACK, "x 2 1 1 6 0 0 0:1 " Q " 1 _ _ 1 1 0 _"), 0);
    assert_int_equal(number(command("EXISTS q state tired owner ready")), 0);
    assert_int_equal(number(command("HGET meta done:0")), 4);
    assert_int_equal(number(command("HGET meta bytes")), 0);
}

/* Several lists in one call: those that were empty and have no owner become ready, once. */
static void push_many(void **state)
{
    (void)state;
    freeReplyObject(command("HSET owner " Q " other"));
    assert_int_equal(run(SN_LUA_PUSH, BUCKET " q q1 q2 q1",
                         "w 1 0 0 " Q " 2 aa 1111111111111111 1 bb 2222222222222222:3 4 cc "
                         "1111111111111111 1 dd"),
                     8);
    assert_int_equal(number(command("ZCARD ready")), 2);
    assert_int_equal(number(command("LLEN q1")), 2);
    assert_int_equal(number(command("HGET meta pushed:0")), 4);
    assert_int_equal(number(command("HGET meta pushed:3")), 4);
    redisReply *r = call(SN_LUA_PICK, PICK, "w 5 3 1000 1");
    assert_int_equal(r->elements, 4);
    assert_string_equal(r->element[2]->str, "2222222222222222:3");
    freeReplyObject(r);
}

static void fence_and_reap(void **state)
{
    (void)state;
    assert_int_equal(run(SN_LUA_PUSH, PUSH, "w 1 0 0 " Q " 1 e"), 1);
    freeReplyObject(call(SN_LUA_PICK, PICK, "w 5 0 1000 1"));
    assert_int_equal(run(SN_LUA_FENCE, "applied", "w"), 1);
    assert_int_equal(run(SN_LUA_FENCE, "applied", "w"), 1);
    assert_int_equal(run(SN_LUA_PUSH, PUSH, "w 2 0 0 " Q " 1 e"), -1);
    assert_int_equal(run(SN_LUA_PICK, PICK, "w 5 0 1000 2"), -1);
    /* A replay may push elements that were not pushed yet. */
    assert_int_equal(run(SN_LUA_PUSH, PUSH, "w 1 1 0 " Q " 1 e"), 0);
    assert_int_equal(run(SN_LUA_PUSH, PUSH, "w 2 1 0 " Q " 1 e"), 1);
    assert_int_equal(run(SN_LUA_PUSH, PUSH, "w 2 0 0 " Q " 1 e"), -1);
    assert_int_equal(run(SN_LUA_REAP, "ready owner tired", "x " Q), 0);
    assert_int_equal(run(SN_LUA_REAP, "ready owner tired", "w " Q), 1);
    assert_int_equal(run(SN_LUA_REAP, "ready owner tired", "w " Q), 0);
    assert_int_equal(number(command("ZCARD ready")), 1);
}

static void grants(void **state)
{
    (void)state;
    assert_int_equal(run(SN_LUA_PUSH, PUSH, "w 1 0 0 " Q " 3 element"), 3);
    freeReplyObject(call(SN_LUA_PICK, PICK, "w 5 0 1000 1"));
    assert_int_equal(run(SN_LUA_GRANT, "owner applied state", "x 1 2 " Q " 2"), 1);
    assert_int_equal(number(command("EXISTS state")), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(run(SN_LUA_GRANT, "owner applied state", "w 2 2 " Q " 2"), 0);
    assert_int_equal(number(command("HGET applied g:w")), 2);
    /* They stay with the queue when it is released; what was not fetched is counted once. */
    for (int i = 0; i < 2; i++)
        run(SN_LUA_ACK, ACK, "w 3 1 1 0 1 1 _ " Q " 0 _ _ 1 1 0 2");
    assert_int_equal(number(command("HGET state granted")), 2);
    assert_int_equal(number(command("HGET meta pages")), 1);
    assert_int_equal(number(command("HGET meta returned")), 1);
}

static void levels(void **state)
{
    (void)state;
    assert_int_equal(run(SN_LUA_PUSH, PUSH, "w 1 0 0 " Q ":2 1 e"), 1);
    assert_int_equal(number(command("HGET meta pushed:2")), 1);
    redisReply *r = call(SN_LUA_PICK, PICK, "w 5 1 1000 1");
    assert_int_equal(r->elements, 0);
    freeReplyObject(r);
    /* An earlier depth is taken as well. */
    assert_int_equal(run(SN_LUA_PUSH, BUCKET " q0", "w 2 0 0 1111111111111111:0 1 e"), 1);
    r = call(SN_LUA_PICK, PICK, "w 5 2 1000 1");
    assert_int_equal(r->elements, 4);
    freeReplyObject(r);
    assert_int_equal(run(SN_LUA_ACK, ACK, "w 2 1 1 1 0 0 2:1 " Q ":2 1 _ _ 1 1 0 _"), 0);
    assert_int_equal(number(command("HGET meta done:2")), 1);
}

/* How many queues a session gets at level 1; those that were refused before are due again. */
static size_t picks(const char *session, int mark)
{
    char args[64];
    for (int depth = 0; depth < 2; depth++)
        freeReplyObject(command("ZADD ready XX %lld " Q ":%d", depth * 4398046511104LL + 1, depth));
    snprintf(args, sizeof args, "%s 5 1 1000 %d", session, mark);
    redisReply *r = call(SN_LUA_PICK, PICK, args);
    size_t queues = r->elements / 2;
    freeReplyObject(r);
    return queues;
}

/* Queues of one host go to one session, whatever their depths. */
static void depths_of_a_host(void **state)
{
    (void)state;
    assert_int_equal(run(SN_LUA_PUSH, BUCKET " q1", "w 1 0 0 " Q ":1 1 e"), 1);
    assert_int_equal(picks("w", 1), 1);
    assert_int_equal(run(SN_LUA_PUSH, BUCKET " q0", "w 2 0 0 " Q ":0 1 e"), 1);
    /* Refused, and not among the first that are due next time. */
    assert_int_equal(picks("x", 1), 0);
    assert_true(number(command("ZSCORE ready " Q ":0")) > 4398046511104);
    assert_int_equal(picks("w", 2), 1);
    /* Free for others when the last one is released. */
    const char *keys = "ready owner meta tired applied pages q1 s1";
    assert_int_equal(run(SN_LUA_ACK, keys, "w 3 1 1 0 0 0 _ " Q ":1 0 _ _ 1 0 0 _"), 0);
    assert_int_equal(picks("x", 1), 0);
    assert_int_equal(run(SN_LUA_ACK, keys, "w 4 1 1 0 0 0 _ " Q ":0 0 _ _ 2 0 0 _"), 0);
    assert_int_equal(picks("x", 1), 2);
    assert_int_equal(number(command("ZCARD ready")), 0);
    /* And when a dead owner is reaped. */
    assert_int_equal(run(SN_LUA_REAP, "ready owner tired", "x " Q ":1"), 1);
    assert_int_equal(picks("w", 5), 1);
}

/* More queues are due than Lua can pass to one command: none leaves the list without an owner. */
static void pick_thousands(void **state)
{
    (void)state;
    for (int levels = 0; levels < 2; levels++) {
        freeReplyObject(command("FLUSHALL"));
        freeReplyObject(
            command("EVAL %s 0 %s",
                    "for i = 1, 9000 do redis.call('ZADD', 'ready', 1, string.format('%016x', i) "
                    ".. ARGV[1]) end",
                    levels ? ":0" : ""));
        redisReply *r = call(SN_LUA_PICK, PICK, "w 9000 0 1000 1");
        size_t queues = r->elements / 2;
        freeReplyObject(r);
        assert_in_range(queues, 500, 5000);
        assert_int_equal(number(command("HLEN owner")), queues);
        assert_int_equal(number(command("ZCARD ready")), 9000 - queues);
    }
}

/* A score far in the future means that the clock was set back: the queue is due. */
static void clock_set_back(void **state)
{
    (void)state;
    freeReplyObject(command("ZADD ready 4000000000000 " Q));
    redisReply *r = call(SN_LUA_PICK, PICK, "w 5 0 3600000 1");
    assert_int_equal(r->elements, 2);
    freeReplyObject(r);
}

static int clear(void **state)
{
    (void)state;
    freeReplyObject(command("FLUSHALL"));
    return 0;
}

int main(void)
{
    if (!test_server_start(&server, NULL))
        return 77;
    redis = redisConnect("127.0.0.1", server.port);
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(registry, clear),
                                       cmocka_unit_test_setup(failures, clear),
                                       cmocka_unit_test_setup(given, clear),
                                       cmocka_unit_test_setup(dropped, clear),
                                       cmocka_unit_test_setup(session, clear),
                                       cmocka_unit_test_setup(pauses, clear),
                                       cmocka_unit_test_setup(push_pick_ack, clear),
                                       cmocka_unit_test_setup(fence_and_reap, clear),
                                       cmocka_unit_test_setup(levels, clear),
                                       cmocka_unit_test_setup(depths_of_a_host, clear),
                                       cmocka_unit_test_setup(pick_thousands, clear),
                                       cmocka_unit_test_setup(grants, clear),
                                       cmocka_unit_test_setup(clock_set_back, clear),
                                       cmocka_unit_test_setup(push_many, clear)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    redisFree(redis);
    test_server_kill(&server);
    return failed;
}
