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

/* ---- Tests ---- */

/* Empty queues are released after they were read once more. */
static void release_empty(sn_fleet *f)
{
    for (int i = 0; i < 3; i++) {
        ack(f, false);
        ok(sn_lane_read(f));
    }
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
    f->level = 0;
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
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(two_queues_of_a_host, clear)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    redisFree(redis);
    test_server_kill(&server);
    return failed;
}
