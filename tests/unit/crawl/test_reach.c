/* A worker that no host answers: when its own network is to blame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "crawl/engine.h"

static sn_frontier_blame verdict;
static int asked;
static int64_t silent;

static sn_frontier_blame blame(sn_frontier *f, int64_t silent_ms)
{
    (void)f;
    asked++;
    silent = silent_ms;
    return verdict;
}

static const sn_frontier_class shared = {.blame = blame}, alone = {.blame = NULL};

typedef struct world {
    sn_frontier frontier;
    sn_engine engine;
    sn_crawl_result result;
    seen_error error;
} world;

static void begin(world *w, const sn_frontier_class *class)
{
    memset(w, 0, sizeof *w);
    w->frontier.class = class;
    w->engine.intake.frontier = &w->frontier;
    w->engine.result = &w->result;
    w->engine.error = &w->error;
    asked = 0;
}

static seen_status note(world *w, uint64_t host, sn_fetch_error error, int status)
{
    sn_host about = {.origin = (char *)(uintptr_t) "http://a.example", .hash = host};
    sn_transfer t = {.error = error, .status = status, .began = sn_fetch_now() - 2000};
    return sn_reach_note(&w->engine, &about, &t);
}

static bool is_doubtful(const world *w, sn_fetch_error error)
{
    return sn_reach_doubtful(&w->engine, &(sn_transfer){.error = error});
}

static void three_hosts_in_a_row(void **state)
{
    world w;
    (void)state;
    begin(&w, &shared);
    verdict = SN_BLAME_UNKNOWN;
    assert_int_equal(note(&w, 1, SN_FETCH_CONNECT, 0), SEEN_OK);
    assert_int_equal(note(&w, 2, SN_FETCH_DNS, 0), SEEN_OK);
    assert_int_equal(note(&w, 1, SN_FETCH_TIMEOUT, 0), SEEN_OK);
    assert_int_equal(asked, 0);
    assert_false(is_doubtful(&w, SN_FETCH_CONNECT));
    assert_int_equal(note(&w, 3, SN_FETCH_CONNECT, 0), SEEN_OK);
    assert_int_equal(asked, 1);
    assert_true(silent >= 2000);
    assert_true(is_doubtful(&w, SN_FETCH_CONNECT));
    assert_false(is_doubtful(&w, SN_FETCH_TLS)); /* that is an answer */

    /* One that does not count as a try says nothing; an answer ends it. */
    assert_int_equal(note(&w, 4, SN_FETCH_STALE, 0), SEEN_OK);
    assert_true(is_doubtful(&w, SN_FETCH_CONNECT));
    assert_int_equal(note(&w, 4, SN_FETCH_OK, 500), SEEN_OK);
    assert_false(is_doubtful(&w, SN_FETCH_CONNECT));
    /* The silence begins after the answer, even if the request was sent before. */
    for (uint64_t host = 1; host <= 3; host++)
        assert_int_equal(note(&w, host, SN_FETCH_TIMEOUT, 0), SEEN_OK);
    assert_true(silent < 2000);
}

static void leaves_the_hosts_to_others(void **state)
{
    world w;
    (void)state;
    begin(&w, &shared);
    verdict = SN_BLAME_SELF;
    note(&w, 1, SN_FETCH_CONNECT, 0);
    note(&w, 2, SN_FETCH_CONNECT, 0);
    assert_int_equal(note(&w, 3, SN_FETCH_CONNECT, 0), SEEN_ERR_NETWORK);
    assert_true(w.result.cut_off);
    assert_non_null(strstr(w.error.message, "check the network of this machine"));

    begin(&w, &shared);
    verdict = SN_BLAME_HOST;
    for (uint64_t host = 1; host <= 5; host++)
        assert_int_equal(note(&w, host, SN_FETCH_CONNECT, 0), SEEN_OK);
    assert_false(is_doubtful(&w, SN_FETCH_CONNECT) || w.result.cut_off);
}

static void a_single_process_blames_the_hosts(void **state)
{
    world w;
    (void)state;
    begin(&w, &alone);
    for (uint64_t host = 1; host <= 5; host++)
        assert_int_equal(note(&w, host, SN_FETCH_CONNECT, 0), SEEN_OK);
    assert_false(is_doubtful(&w, SN_FETCH_CONNECT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_hosts_in_a_row),
        cmocka_unit_test(leaves_the_hosts_to_others),
        cmocka_unit_test(a_single_process_blames_the_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
