/* A worker that no host answers: when its own network is to blame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "crawl/engine.h"

static sn_frontier_blame verdict;
static bool many;
static int64_t silent;

static sn_frontier_blame blame(sn_frontier *f, bool several, int64_t silent_ms)
{
    (void)f;
    many = several;
    silent = silent_ms;
    return verdict;
}

static const sn_frontier_class shared = {.blame = blame}, alone = {.blame = NULL};

enum { HOSTS = 6, AGO = 2000 };

typedef struct world {
    sn_frontier frontier;
    sn_engine engine;
    sn_crawl_result result;
    seen_error error;
    sn_host host[HOSTS];
} world;

static void begin(world *w, const sn_frontier_class *class)
{
    memset(w, 0, sizeof *w);
    w->frontier.class = class;
    w->engine.intake.frontier = &w->frontier;
    w->engine.result = &w->result;
    w->engine.error = &w->error;
    for (uint64_t i = 0; i < HOSTS; i++)
        w->host[i] = (sn_host){.origin = (char *)(uintptr_t) "http://a.example", .hash = i};
}

/* A request that was begun a while ago is over. */
static seen_status note(world *w, int host, sn_fetch_error error, int status)
{
    sn_transfer t = {.error = error, .status = status, .began = sn_fetch_now() - AGO};
    return sn_reach_note(&w->engine, &w->host[host], &t);
}

static bool is_doubtful(world *w, int host, sn_fetch_error error)
{
    assert_int_equal(note(w, host, error, 0), SEEN_OK);
    return w->engine.reach.doubtful;
}

/* A moment passes, so that an answer is later than a failure. */
static void wait_a_moment(void)
{
    for (int64_t now = sn_fetch_now(); sn_fetch_now() == now;)
        continue;
}

static void failures_without_an_answer_in_between(void **state)
{
    world w;
    (void)state;
    begin(&w, &shared);
    verdict = SN_BLAME_UNKNOWN;
    assert_true(is_doubtful(&w, 1, SN_FETCH_CONNECT));
    assert_false(many);
    assert_true(silent >= AGO);
    assert_true(is_doubtful(&w, 2, SN_FETCH_DNS));
    assert_true(is_doubtful(&w, 1, SN_FETCH_TIMEOUT));
    assert_false(many); /* two hosts */
    assert_true(is_doubtful(&w, 3, SN_FETCH_CONNECT));
    assert_true(many);
    assert_false(is_doubtful(&w, 4, SN_FETCH_STALE)); /* says nothing */
    assert_true(is_doubtful(&w, 4, SN_FETCH_CONNECT) && many);

    /* Another host answers: the failures of those that were silent before count. */
    wait_a_moment();
    assert_int_equal(note(&w, 5, SN_FETCH_OK, 500), SEEN_OK);
    assert_false(w.engine.reach.doubtful);
    assert_false(is_doubtful(&w, 1, SN_FETCH_CONNECT) || many);
    /* The silence begins after the answer, even if the request was sent before. */
    assert_true(silent < AGO);
    wait_a_moment();
    assert_true(is_doubtful(&w, 1, SN_FETCH_CONNECT)); /* no answer since its last failure */
    assert_false(is_doubtful(&w, 2, SN_FETCH_CONNECT));
    /* One that answered in the meantime may be silent because of this machine. */
    assert_int_equal(note(&w, 1, SN_FETCH_TLS, 0), SEEN_OK); /* that is an answer */
    wait_a_moment();
    sn_transfer late = {.error = SN_FETCH_CONNECT, .began = sn_fetch_now()};
    assert_int_equal(sn_reach_note(&w.engine, &w.host[1], &late), SEEN_OK);
    assert_true(w.engine.reach.doubtful);
}

/* It shows that the host was reached, but not when. */
static void an_answer_that_does_not_end(void **state)
{
    world w;
    (void)state;
    begin(&w, &shared);
    verdict = SN_BLAME_UNKNOWN;
    for (int host = 1; host <= SN_REACH_HOSTS; host++)
        assert_true(is_doubtful(&w, host, SN_FETCH_CONNECT));
    assert_int_equal(note(&w, 4, SN_FETCH_TIMEOUT, 200), SEEN_OK);
    assert_true(is_doubtful(&w, 1, SN_FETCH_CONNECT) && many);
}

static void leaves_the_hosts_to_others(void **state)
{
    world w;
    (void)state;
    begin(&w, &shared);
    verdict = SN_BLAME_SELF;
    assert_int_equal(note(&w, 3, SN_FETCH_CONNECT, 0), SEEN_ERR_NETWORK);
    assert_true(w.result.cut_off);
    assert_non_null(strstr(w.error.message, "check the network of this machine"));

    begin(&w, &shared);
    verdict = SN_BLAME_HOST;
    for (int host = 1; host < HOSTS; host++)
        assert_false(is_doubtful(&w, host, SN_FETCH_CONNECT));
    assert_false(w.result.cut_off);
}

static void a_single_process_blames_the_hosts(void **state)
{
    world w;
    (void)state;
    begin(&w, &alone);
    for (int host = 1; host < HOSTS; host++)
        assert_false(is_doubtful(&w, host, SN_FETCH_CONNECT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_without_an_answer_in_between),
        cmocka_unit_test(an_answer_that_does_not_end),
        cmocka_unit_test(leaves_the_hosts_to_others),
        cmocka_unit_test(a_single_process_blames_the_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
