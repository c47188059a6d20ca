/* Queues of a shared crawl on a real server: several workers without their threads, so that every
 * step happens when the test says so. Skipped without redis-server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../../../redis/server.h"
#include "crawl/fleet/internal.h"

#include <pthread.h>

#define SITE "http://a.example"

static test_server server;
static redisContext *redis;
static char where[128];
static seen_error error;

/* ---- Redis ---- */

/* The number that a script returns; it gets all keys that end in `what`. */
static long long eval(const char *what, const char *script)
{
    redisReply *r = redisCommand(redis, "KEYS seencrawl:*}:%s", what);
    assert_true(r && r->type == REDIS_REPLY_ARRAY && r->elements < 16);
    const char *argv[20] = {"EVAL", script, "0"};
    for (size_t i = 0; i < r->elements; i++)
        argv[3 + i] = r->element[i]->str;
    char count[8];
    snprintf(count, sizeof count, "%zu", r->elements);
    argv[2] = count;
    redisReply *n = redisCommandArgv(redis, 3 + (int)r->elements, argv, NULL);
    if (!n || n->type != REDIS_REPLY_INTEGER)
        fail_msg("%s: %s", what, n && n->str ? n->str : "no number");
    long long number = n->integer;
    freeReplyObject(n);
    freeReplyObject(r);
    return number;
}

static long long count_meta(const char *field)
{
    char script[300];
    snprintf(script, sizeof script,
             "local n = 0 for _, k in ipairs(KEYS) do local h = redis.call('HGETALL', k) "
             "for i = 1, #h, 2 do if string.match(h[i], '^%s:') then n = n + h[i + 1] end end end "
             "return n",
             field);
    return eval("meta", script);
}

/* How long the next owner of the only host has to wait; 0: not stored. */
static long long stored_hold(void)
{
    return eval("tired",
                "for _, k in ipairs(KEYS) do for _, v in ipairs(redis.call('HVALS', k)) do "
                "local ms = string.match(v, ':(%d+)') if ms then return tonumber(ms) end "
                "end end return 0");
}

/* ---- A worker ---- */

static sn_fleet *join(bool levels)
{
    const sn_fleet_options options = {.where = where,
                                      .settings = "",
                                      .error_rate = 1e-6,
                                      .capacity = 1000,
                                      .connections = 4,
                                      .delay_ms = 1000,
                                      .max_delay_ms = 60000,
                                      .max_wait_ms = 600000,
                                      .levels = levels,
                                      .lease_ms = 3600000};
    sn_fleet *f = NULL;
    if (sn_fleet_begin(&options, &f, NULL, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    return f;
}

static void ok(seen_status status)
{
    if (status != SEEN_OK)
        fail_msg("%s", error.message);
}

/* Up to 64 links of one call become one element of the list. */
static void push(sn_fleet *f, unsigned from, unsigned count, uint16_t depth)
{
    char url[64][40];
    sn_frontier_link link[64];
    for (unsigned i = 0; i < count; i++) {
        snprintf(url[i], sizeof url[i], SITE "/%u/%u", depth, from + i);
        link[i] = (sn_frontier_link){
            .url = url[i], .len = (uint32_t)strlen(url[i]), .parent = "", .depth = depth};
        link[i].hash = sn_frontier_hash(&f->base, link[i].url, link[i].len, 0);
    }
    ok(f->base.class->offer(&f->base, link, count, &error));
    ok(sn_journal_run(f, &f->offers));
    f->offers.count = f->offers.text.len = f->offers.parent_len = 0;
}

static void ack(sn_fleet *f, bool all)
{
    sn_fleet_finished_list settled = f->settled;
    f->settled = f->taken_settled;
    f->taken_settled = settled;
    ok(sn_lane_ack(f, all));
}

static void pick(sn_fleet *f)
{
    f->picked_at = 0;
    f->ready_known = false;
    ok(sn_lane_pick(f));
    ok(sn_lane_read(f));
}

/* A queue that is due in a moment. */
static void pick_later(sn_fleet *f)
{
    for (int i = 0; i < 600 && f->lane_count == 0; i++) {
        test_sleep_ms(50);
        pick(f);
    }
    assert_int_equal(f->lane_count, 1);
}

/* As far as the clerk reads them: all URLs that can be handed out now. */
static size_t take_all(sn_fleet *f, sn_frontier_record *to, size_t most)
{
    size_t n = 0;
    for (;;) {
        sn_frontier_next next;
        sn_frontier_record record;
        ok(f->base.class->peek(&f->base, false, &record, &next, &error));
        if (next == SN_NEXT_URL) {
            assert_true(n < most);
            to[n++] = record;
            f->base.class->take(&f->base);
            continue;
        }
        size_t had = 0, has = 0;
        for (size_t i = 0; i < f->lane_count; i++)
            had += f->lanes[i]->count;
        ok(sn_lane_read(f));
        for (size_t i = 0; i < f->lane_count; i++)
            has += f->lanes[i]->count;
        if (has == had)
            return n;
    }
}

static void finish(sn_fleet *f, const sn_frontier_record *record, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ok(f->base.class->done(&f->base,
                               &(sn_frontier_done){.record = &record[i],
                                                   .outcome = SN_OUTCOME_FETCHED,
                                                   .counts = true},
                               &error));
    ok(f->base.class->settle(&f->base, NULL, true, &error));
}

static void leave(sn_fleet *f)
{
    ack(f, true);
    ok(sn_session_leave(f));
    f->base.class->close(&f->base);
}

static void begin(sn_fleet *f, sn_frontier_host *host)
{
    f->base.class->host_begin(&f->base, SITE, strlen(SITE), host);
}

static void quiet(sn_fleet *f)
{
    f->base.class->host_quiet(&f->base, SITE, strlen(SITE), 0, 0);
}

static void hold(sn_fleet *f, int64_t ms)
{
    f->base.class->host_hold(&f->base, SITE, strlen(SITE), ms);
}

/* Empty queues are released after they were read once more. */
static void release_empty(sn_fleet *f)
{
    for (int i = 0; i < 3; i++) {
        ack(f, false);
        ok(sn_lane_read(f));
    }
}

/* ---- Tests ---- */

/* The page at the front of a list hangs while 50 elements behind it are done. */
static void bits_behind_the_first_read(void **state)
{
    static sn_frontier_record url[64];
    (void)state;
    sn_fleet *f = join(false);
    for (unsigned i = 0; i < 51; i++)
        push(f, i, 1, 0);
    pick(f);
    assert_int_equal(take_all(f, url, 64), 51);
    finish(f, url + 1, 50);
    leave(f);
    assert_int_equal(count_meta("done"), 50);
    /* This one leaves before it has read them all. */
    f = join(false);
    pick(f);
    leave(f);
    f = join(false);
    pick(f);
    assert_int_equal(take_all(f, url, 64), 1);
    finish(f, url, 1);
    ack(f, false);
    assert_int_equal(count_meta("done"), 51);
    assert_int_equal(count_meta("pushed"), 51);
    /* Nothing of it is left here either. */
    release_empty(f);
    assert_int_equal(f->lane_count, 0);
    leave(f);
    assert_int_equal(eval("q:*", "return #KEYS"), 0);
}

/* No more is handed out than can be stored if this worker dies. */
static void bits_of_a_long_window(void **state)
{
    enum { ELEMENTS = 6000 };
    static sn_frontier_record url[ELEMENTS + 1];
    (void)state;
    sn_fleet *f = join(false);
    push(f, 0, 1, 0);
    eval("q:*", "local e = redis.call('LRANGE', KEYS[1], 0, 0)[1] "
                "for i = 1, 6000 do redis.call('RPUSH', KEYS[1], e) end return 1");
    eval("meta", "return redis.call('HINCRBY', KEYS[1], 'pushed:0', 6000)");
    pick(f);
    size_t first = take_all(f, url, ELEMENTS + 1);
    assert_in_range(first, 1000, ELEMENTS);
    finish(f, url + 1, first - 1);
    leave(f);
    f = join(false);
    pick(f);
    assert_int_equal(take_all(f, url, ELEMENTS + 1), 1);
    finish(f, url, 1);
    ack(f, false);
    assert_int_equal(take_all(f, url, ELEMENTS + 1), ELEMENTS + 1 - first);
    finish(f, url, ELEMENTS + 1 - first);
    leave(f);
    assert_int_equal(count_meta("done"), ELEMENTS + 1);
}

/* A URL that is settled twice counts once. */
static void settled_twice(void **state)
{
    sn_frontier_record url[4];
    (void)state;
    sn_fleet *f = join(false);
    push(f, 0, 2, 0);
    pick(f);
    assert_int_equal(take_all(f, url, 4), 2);
    finish(f, url, 1);
    finish(f, url, 1);
    ack(f, false);
    assert_int_equal(count_meta("done"), 1);
    leave(f);
}

/* Never the end of a crawl, and never a very large number of URLs that wait. */
static void more_done_than_found(void **state)
{
    (void)state;
    sn_fleet *f = join(false);
    push(f, 0, 2, 0);
    ok(sn_session_count_waiting(f));
    eval("meta", "return redis.call('HSET', KEYS[1], 'done:0', 3)");
    assert_int_equal(sn_session_count_waiting(f), SEEN_ERR_FORMAT);
    assert_non_null(strstr(error.message, "2 URLs were found and 3 are done"));
    assert_int_equal(sn_session_sweep(f), SEEN_ERR_FORMAT);
    assert_false(f->ended);
    eval("meta", "return redis.call('HDEL', KEYS[1], 'done:0')");
    leave(f);
}

/* Two depths of one host: what the engine reports about it holds for both queues. */
static void two_queues_of_a_host(void **state)
{
    sn_frontier_record url[8];
    sn_frontier_host host;
    (void)state;
    sn_fleet *f = join(true);
    push(f, 0, 2, 1);
    f->level = 1;
    pick(f);
    assert_int_equal(take_all(f, url, 8), 2);
    begin(f, &host);
    push(f, 2, 1, 0);
    pick(f);
    assert_int_equal(f->lane_count, 2);
    assert_int_equal(take_all(f, url + 2, 6), 1);
    finish(f, url, 3);
    release_empty(f);
    assert_int_equal(f->lane_count, 2);
    quiet(f);
    release_empty(f);
    assert_int_equal(f->lane_count, 0);
    leave(f);
}

/* A page of an earlier depth, such as one that is put back, is fetched at the current level. */
static void earlier_depth(void **state)
{
    (void)state;
    sn_fleet *f = join(true);
    freeReplyObject(redisCommand(redis, "HSET seencrawl:web level 1"));
    f->level = 1;
    push(f, 0, 1, 1);
    push(f, 1, 1, 0);
    f->swept_at = 0;
    ok(sn_session_sweep(f));
    redisReply *r = redisCommand(redis, "HGET seencrawl:web level");
    assert_string_equal(r->str, "1");
    freeReplyObject(r);
    pick(f);
    assert_int_equal(f->lane_count, 2);
    leave(f);
}

/* Another worker takes it only when the first one has released the host. */
static void another_depth_of_a_host(void **state)
{
    sn_frontier_record url[8];
    sn_frontier_host host;
    (void)state;
    sn_fleet *a = join(true), *b = join(true);
    push(a, 0, 1, 1);
    a->level = 1;
    pick(a);
    assert_int_equal(take_all(a, url, 8), 1);
    begin(a, &host);
    push(a, 1, 1, 0);
    b->level = 1;
    pick(b);
    assert_int_equal(b->lane_count, 0);
    finish(a, url, 1);
    quiet(a);
    release_empty(a);
    assert_int_equal(a->lane_count, 0);
    pick_later(b);
    leave(b);
    leave(a);
}

/* The page that was answered with Retry-After waits for its retry when the worker leaves. */
static void retry_after_of_a_busy_host(void **state)
{
    sn_frontier_record url[4];
    sn_frontier_host host;
    (void)state;
    sn_fleet *f = join(false);
    push(f, 0, 2, 0);
    pick(f);
    assert_int_equal(take_all(f, url, 4), 2);
    begin(f, &host);
    hold(f, 200000);
    ack(f, false);
    assert_in_range(stored_hold(), 100000, 200000);
    leave(f);
    assert_in_range(stored_hold(), 100000, 200000);
    f = join(false);
    pick_later(f);
    begin(f, &host);
    assert_in_range(host.wait_ms, 100000, 200000);
    leave(f);
}

/* Two requests were in flight: the second answer asks for less, before and after the first is
 * stored. */
static void shorter_retry_after(void **state)
{
    sn_frontier_record url[4];
    sn_frontier_host host;
    (void)state;
    sn_fleet *f = join(false);
    push(f, 0, 2, 0);
    pick(f);
    assert_int_equal(take_all(f, url, 4), 2);
    begin(f, &host);
    for (int i = 0; i < 2; i++) {
        hold(f, 200000);
        if (i == 1)
            ack(f, false);
        hold(f, 1000);
        ack(f, false);
        assert_in_range(stored_hold(), 100000, 200000);
    }
    hold(f, 400000);
    ack(f, false);
    assert_in_range(stored_hold(), 300000, 400000);
    leave(f);
}

static void *change_rules(void *fleet)
{
    static const char rules[] = "user-agent: *\ncrawl-delay: 2\ndisallow: /private\n";
    sn_frontier *f = &((sn_fleet *)fleet)->base;
    for (int i = 0; i < 20000; i++)
        f->class->host_rules(f, SITE, strlen(SITE), rules, sizeof rules - 1 - (size_t)i % 20, 1000);
    return NULL;
}

/* The engine gets new rules while the clerk looks for the slowest host. */
static void rules_of_two_threads(void **state)
{
    sn_frontier_record url[4];
    pthread_t engine;
    (void)state;
    sn_fleet *f = join(false);
    push(f, 0, 2, 0);
    pick(f);
    assert_int_equal(take_all(f, url, 4), 2);
    assert_int_equal(pthread_create(&engine, NULL, change_rules, f), 0);
    for (int i = 0; i < 50; i++) {
        f->watches = 0; /* a heartbeat is due */
        ok(sn_session_beat(f));
    }
    pthread_join(engine, NULL);
    assert_in_range(f->slow_delay, 1000, 2000);
    leave(f);
}

/* Text that the engine was given stays valid until its next call, whatever the clerk does. */
static void text_for_the_engine(void **state)
{
    static char more[1 << 16];
    static const char rules[] = "user-agent: *\ncrawl-delay: 2\n";
    sn_frontier_record url[4];
    sn_frontier_host host;
    sn_frontier_updates updates;
    (void)state;
    sn_fleet *f = join(false);
    push(f, 0, 2, 0);
    eval("ready", "local k = string.gsub(KEYS[1], ':ready$', ':r:') for _, key in ipairs(KEYS) do "
                  "local q = redis.call('ZRANGE', key, 0, 0)[1] if q then redis.call('SET', "
                  "string.gsub(key, 'ready$', 'r:') .. q, 'user-agent: *\\ncrawl-delay: 2\\n', "
                  "'PX', 3600000) end end return #k");
    pick(f);
    assert_int_equal(take_all(f, url, 4), 2);
    begin(f, &host);
    assert_non_null(host.rules);
    ack(f, true);
    assert_int_equal(f->lane_count, 0);
    assert_int_equal(host.rules_len, strlen(rules));
    assert_memory_equal(host.rules, rules, host.rules_len);
    sn_buffer_put(&f->seeds, SITE "/seed\n", strlen(SITE "/seed\n"));
    ok(f->base.class->poll(&f->base, &updates, &error));
    memset(more, 'x', sizeof more);
    for (int i = 0; i < 40; i++)
        sn_buffer_put(&f->seeds, more, sizeof more);
    assert_int_equal(updates.seed_len, strlen(SITE "/seed"));
    assert_memory_equal(updates.seed, SITE "/seed", updates.seed_len);
    leave(f);
}

static void beat(sn_fleet *f)
{
    f->watches = 0;
    ok(sn_session_beat(f));
}

/* URLs of the slowest host that are left, of elements that are almost done. */
static void slowest_host(void **state)
{
    static sn_frontier_record url[2000];
    (void)state;
    sn_fleet *f = join(false);
    for (unsigned i = 0; i < 3; i++)
        push(f, 20 * i, 20, 0);
    pick(f);
    assert_int_equal(take_all(f, url, 60), 60);
    beat(f);
    assert_int_equal(f->slow_urls, 60);
    for (unsigned i = 0; i < 3; i++)
        finish(f, url + 20 * i, 19);
    ack(f, false);
    beat(f);
    assert_int_equal(f->slow_urls, 3);
    /* Elements of many URLs in front of some with few: no more than wait in the whole crawl. */
    for (unsigned i = 0; i < 20; i++)
        push(f, 1000 + 64 * i, 64, 0);
    for (unsigned i = 0; i < 40; i++)
        push(f, 5000 + i, 1, 0);
    f->lanes[0]->more = true;
    ok(sn_lane_read(f));
    assert_in_range(f->lanes[0]->count, 4, 30);
    beat(f);
    assert_in_range(f->slow_urls, 1000, 3 + 20 * 64 + 40);
    leave(f);
}

/* Another worker adds a host to the scope and its first URL. The links of that page are judged by
 * the scope: the worker that fetches it must know the host before. */
static void scope_before_urls(void **state)
{
    (void)state;
    sn_fleet *a = join(false), *b = join(false);
    sn_frontier_next next;
    sn_frontier_record record;
    sn_frontier_updates updates;
    sn_command_begin(a->conn.ch, 0, a->conn.crawl_slot, 3);
    sn_command_text(a->conn.ch, "RPUSH");
    sn_fleet_key_crawl(&a->conn, "seeds");
    sn_command_text(a->conn.ch, SITE "/");
    ok(sn_fleet_run(&a->conn, NULL, NULL, &error));
    push(a, 0, 3, 0);
    pick(b);
    assert_int_equal(b->lane_count, 1);
    ok(b->base.class->peek(&b->base, false, &record, &next, &error));
    assert_int_equal(next, SN_NEXT_WAIT);
    ok(b->base.class->poll(&b->base, &updates, &error));
    assert_int_equal(updates.seed_len, strlen(SITE "/"));
    ok(b->base.class->peek(&b->base, false, &record, &next, &error));
    assert_int_equal(next, SN_NEXT_URL);
    leave(b);
    leave(a);
}

static int clear(void **state)
{
    (void)state;
    freeReplyObject(redisCommand(redis, "FLUSHALL"));
    return 0;
}

int main(void)
{
    if (!test_server_start(&server, NULL))
        return 77;
    redis = redisConnect("127.0.0.1", server.port);
    snprintf(where, sizeof where, "%s/web", server.url);
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(bits_behind_the_first_read, clear),
                                       cmocka_unit_test_setup(bits_of_a_long_window, clear),
                                       cmocka_unit_test_setup(settled_twice, clear),
                                       cmocka_unit_test_setup(more_done_than_found, clear),
                                       cmocka_unit_test_setup(two_queues_of_a_host, clear),
                                       cmocka_unit_test_setup(earlier_depth, clear),
                                       cmocka_unit_test_setup(another_depth_of_a_host, clear),
                                       cmocka_unit_test_setup(retry_after_of_a_busy_host, clear),
                                       cmocka_unit_test_setup(shorter_retry_after, clear),
                                       cmocka_unit_test_setup(rules_of_two_threads, clear),
                                       cmocka_unit_test_setup(text_for_the_engine, clear),
                                       cmocka_unit_test_setup(slowest_host, clear),
                                       cmocka_unit_test_setup(scope_before_urls, clear)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    redisFree(redis);
    test_server_kill(&server);
    return failed;
}
