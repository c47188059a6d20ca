/* A session on a real server, step by step. Skipped without redis-server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../../../redis/server.h"
#include "crawl/fleet/internal.h"

enum { OTHERS = 40, LEASE_MS = 60000 };

static test_server server;
static redisContext *redis;
static seen_error error;

static void command(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    redisReply *r = redisvCommand(redis, format, list);
    va_end(list);
    assert_non_null(r);
    if (r->type == REDIS_REPLY_ERROR)
        fail_msg("%s: %s", format, r->str);
    freeReplyObject(r);
}

static sn_fleet *begin(const char *name)
{
    char where[128];
    sn_fleet *f = NULL;
    snprintf(where, sizeof where, "%s/%s", server.url, name);
    sn_fleet_options options = {.where = where,
                                .error_rate = 1e-6,
                                .connections = 4,
                                .delay_ms = 1000,
                                .lease_ms = LEASE_MS};
    if (sn_fleet_begin(&options, &f, NULL, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    f->options.where = NULL;
    f->clerk_error = &error;
    return f;
}

/* Heartbeats, as if one were due. */
static void look(sn_fleet *f, bool all)
{
    f->beat_at = 0;
    f->watches = all ? 0 : 1;
    assert_int_equal(sn_session_beat(f), SEEN_OK);
}

static void set_pages(const sn_fleet *f, unsigned other, unsigned pages)
{
    command("HSET seencrawl:{%s:s:%012x} state live beat 1 pages %u", f->conn.id, other, pages);
}

/* When hosts last answered another worker is known as well as that one was read. */
static void answers(void **state)
{
    (void)state;
    sn_fleet *f = begin("answers");
    for (unsigned i = 0; i < OTHERS; i++) {
        command("HSET seencrawl:{%s}:workers %012x name", f->conn.id, i);
        set_pages(f, i, 100);
    }
    look(f, true); /* lists them */
    look(f, true);
    assert_int_equal(f->observed_count, OTHERS);
    assert_true(f->observed[0].answers == 100);
    assert_int_equal(f->answered_at, 0); /* those pages may be old */

    /* One that was not read for long: they may have come right after that. */
    f->live_count = OTHERS;
    for (unsigned i = 0; i < OTHERS; i++)
        f->observed[i].read_at -= LEASE_MS;
    for (unsigned i = 0; i < OTHERS; i++)
        set_pages(f, i, 101);
    look(f, true);
    assert_true(f->answered_at <= sn_fleet_now() - LEASE_MS / 2);

    /* One that is read with each heartbeat. */
    int64_t before = sn_fleet_now();
    for (unsigned i = 0; i < OTHERS; i++)
        set_pages(f, i, 102);
    look(f, false);
    assert_true(f->answered_at >= before);
    f->base.class->close(&f->base);
}

/* A seed is valid until the next call, also if the list of them grows. */
static void seeds(void **state)
{
    (void)state;
    static const char first[] = "http://a.example/";
    char more[256];
    sn_fleet *f = begin("seeds");
    sn_frontier_updates updates;
    sn_buffer_put(&f->seeds, first, strlen(first));
    sn_buffer_byte(&f->seeds, '\n');
    assert_int_equal(f->base.class->poll(&f->base, &updates, &error), SEEN_OK);
    assert_non_null(updates.seed);
    const char *list = f->seeds.data;
    assert_true(updates.seed < list || updates.seed >= list + f->seeds.room);
    memset(more, 'x', sizeof more);
    for (int i = 0; i < 1000; i++)
        sn_buffer_put(&f->seeds, more, sizeof more);
    assert_int_equal(updates.seed_len, strlen(first));
    assert_memory_equal(updates.seed, first, strlen(first));
    f->base.class->close(&f->base);
}

int main(void)
{
    if (!test_server_start(&server, NULL))
        return 77;
    redis = redisConnect("127.0.0.1", server.port);
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers), cmocka_unit_test(seeds)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    redisFree(redis);
    test_server_kill(&server);
    return failed;
}
