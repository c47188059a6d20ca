/* Pace: delays, round-robin, retries, limits on hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crawl/frontier/pace.h"

static int freed;

static void count_free(void *rules)
{
    freed++;
    free(rules);
}

static sn_queues *queues;

static sn_pace *make(uint64_t delay, uint32_t per_host)
{
    queues = sn_queues_create(-1);
    return sn_pace_create(&(sn_pace_options){.queues = queues,
                                             .per_host = per_host,
                                             .delay = delay,
                                             .max_live = 3,
                                             .max_hosts = 5,
                                             .max_rules_bytes = 1000,
                                             .max_retries = 2,
                                             .free_rules = count_free});
}

static void end(sn_pace *pace)
{
    sn_pace_destroy(pace);
    sn_queues_destroy(queues);
}

static sn_host *host_at(sn_pace *pace, const char *origin, int64_t now)
{
    seen_error error;
    sn_host *found = NULL;
    return sn_pace_host(pace, origin, strlen(origin), now, &found, &error) == SEEN_OK ? found
                                                                                      : NULL;
}

static sn_host *host(sn_pace *pace, const char *origin)
{
    return host_at(pace, origin, 0);
}

static void push(sn_pace *pace, sn_host *to, uint64_t at)
{
    seen_error error;
    assert_int_equal(sn_pace_push(pace, to, (sn_frontier_place){at, at}, &error), SEEN_OK);
}

/* The URL returned by pop, or -1. */
static long pop(sn_pace *pace, sn_host *from, int64_t now)
{
    seen_error error;
    sn_try what = {.tries = 0};
    bool got = false;
    assert_int_equal(sn_pace_pop(pace, from, now, &what, &got, &error), SEEN_OK);
    return got ? (long)what.place.at : -1;
}

static bool retry(sn_pace *pace, sn_host *from, uint64_t at, int64_t due)
{
    return sn_pace_retry(pace, from, (sn_try){.place = {at, at}, .tries = 1, .again = true}, due);
}

static void waits_between_requests(void **state)
{
    sn_pace *pace = make(100, 2);
    (void)state;
    sn_host *a = host(pace, "http://a");
    push(pace, a, 1);
    push(pace, a, 2);
    assert_ptr_equal(sn_pace_take(pace, 1000), a);
    assert_int_equal(pop(pace, a, 1000), 1);
    sn_pace_begin(pace, a);
    assert_null(sn_pace_take(pace, 1099));
    assert_int_equal(sn_pace_wait(pace, 1040), 60);
    assert_ptr_equal(sn_pace_take(pace, 1100), a);
    assert_int_equal(pop(pace, a, 1100), 2);
    sn_pace_begin(pace, a);
    push(pace, a, 3);
    assert_null(sn_pace_take(pace, 5000)); /* two transfers at a time is the limit */
    assert_int_equal(sn_pace_wait(pace, 5000), -1);
    sn_pace_end(pace, a);
    assert_ptr_equal(sn_pace_take(pace, 5000), a);
    sn_pace_hold(pace, a, 9000);
    assert_null(sn_pace_take(pace, 8999));
    assert_false(sn_pace_ready(a, 8999));
    assert_true(sn_pace_ready(a, 9000));
    /* A turn that is left to another request does not keep that one back. */
    sn_pace_reserve(pace, a, 10000);
    assert_null(sn_pace_take(pace, 9999));
    assert_true(sn_pace_ready(a, 9000));
    assert_ptr_equal(sn_pace_take(pace, 10000), a);
    end(pace);
}

/* The delay runs from the send; until then the host gets no turn, however long it takes. */
static void counts_from_the_send(void **state)
{
    sn_pace *pace = make(100, 2);
    (void)state;
    sn_host *a = host(pace, "http://a");
    for (uint64_t i = 1; i < 5; i++)
        push(pace, a, i);
    assert_ptr_equal(sn_pace_take(pace, 1000), a);
    assert_int_equal(pop(pace, a, 1000), 1);
    sn_pace_begin(pace, a);
    assert_true(sn_pace_start(pace, a, 1000));
    assert_null(sn_pace_take(pace, 1500));
    assert_int_equal(sn_pace_wait(pace, 1500), -1);
    assert_false(sn_pace_ready(a, 1500));
    sn_pace_sent(pace, a, 1500);
    assert_false(sn_pace_ready(a, 1599));
    assert_null(sn_pace_take(pace, 1599));
    assert_true(sn_pace_ready(a, 1600));
    assert_ptr_equal(sn_pace_take(pace, 1600), a);
    assert_int_equal(pop(pace, a, 1600), 2);
    /* One that cannot be sent counts from its start, and a longer hold stays. */
    sn_pace_begin(pace, a);
    assert_true(sn_pace_start(pace, a, 1600));
    sn_pace_hold(pace, a, 3000);
    sn_pace_unsent(pace, a);
    sn_pace_end(pace, a);
    assert_null(sn_pace_take(pace, 2999));
    assert_ptr_equal(sn_pace_take(pace, 3000), a);
    a->delay = 0;
    assert_false(sn_pace_start(pace, a, 3000));
    end(pace);
}

/* Another host's robots.txt is about to be requested here: there is no work, but a delay to come.
 */
static void keeps_hosts_with_a_request_to_send(void **state)
{
    sn_pace *pace = make(100, 2);
    seen_error error;
    (void)state;
    sn_host *a = NULL, *b = NULL;
    assert_int_equal(sn_pace_find(pace, "http://a", 8, 0, &a, &error), SEEN_OK);
    assert_true(sn_pace_start(pace, a, 0));
    for (char name[] = "http://0"; name[7] < '9'; name[7]++)
        assert_int_equal(sn_pace_find(pace, name, 8, 5000, &b, &error), SEEN_OK);
    sn_pace_sent(pace, a, 5000);
    assert_int_equal(sn_pace_find(pace, "http://a", 8, 5000, &b, &error), SEEN_OK);
    assert_ptr_equal(a, b);
    assert_int_equal(b->next, 5100);
    end(pace);
}

static void takes_turns(void **state)
{
    sn_pace *pace = make(0, 100);
    sn_host *hosts[3];
    int turns[3] = {0};
    (void)state;
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "http://%d", i);
        hosts[i] = host(pace, name);
        for (uint64_t n = 0; n < 100; n++)
            push(pace, hosts[i], n);
    }
    for (int i = 0; i < 30; i++) {
        sn_host *taken = sn_pace_take(pace, 5);
        pop(pace, taken, 5);
        for (int k = 0; k < 3; k++)
            turns[k] += taken == hosts[k];
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(turns[i], 10);
    end(pace);
}

static void limits_hosts(void **state)
{
    sn_pace *pace = make(0, 1);
    (void)state;
    push(pace, host(pace, "http://a"), 1);
    push(pace, host(pace, "http://b"), 1);
    push(pace, host(pace, "http://c"), 1);
    assert_null(host(pace, "http://d")); /* three have work */
    assert_non_null(host(pace, "http://b"));
    assert_int_equal(pop(pace, host(pace, "http://a"), 0), 1);
    sn_host *a = NULL;
    assert_int_equal(sn_pace_live(pace), 2);
    for (const char *name = "defghijkl"; *name != '\0'; name++) {
        char origin[] = "http://x";
        origin[7] = *name;
        a = host(pace, origin);
        assert_non_null(a);
    }
    assert_in_range(sn_pace_hosts(pace), 3, 5);
    assert_int_equal(pop(pace, host(pace, "http://b"), 0), 1);
    assert_int_equal(pop(pace, host(pace, "http://c"), 0), 1);
    end(pace);
}

/* Hosts are created and evicted many times; a host with work is always found again, with all of
 * it. */
static void forgets_only_idle_hosts(void **state)
{
    enum { LIVE = 20, HOSTS = 40, NAMES = 500, TURNS = 20000 };
    queues = sn_queues_create(-1);
    sn_pace *pace = sn_pace_create(&(sn_pace_options){.queues = queues,
                                                      .per_host = 1,
                                                      .max_live = LIVE,
                                                      .max_hosts = HOSTS,
                                                      .max_rules_bytes = 1000,
                                                      .max_retries = 2,
                                                      .free_rules = count_free});
    static long work[NAMES];
    size_t live = 0;
    uint32_t random = 1;
    (void)state;
    for (int i = 0; i < TURNS; i++) {
        random = random * 1664525 + 1013904223;
        unsigned which = (random >> 8) % NAMES;
        char name[32];
        snprintf(name, sizeof name, "http://h%u", which);
        sn_host *h = host(pace, name);
        if (work[which] == 0 && live == LIVE) {
            assert_null(h);
            continue;
        }
        assert_non_null(h);
        assert_string_equal(h->origin, name);
        assert_int_equal(h->queue.count, work[which]);
        if (work[which] > 0 && random >> 31) {
            for (; work[which] > 0; work[which]--)
                assert_int_equal(pop(pace, h, 0), which);
            live--;
        } else {
            live += work[which]++ == 0;
            push(pace, h, which);
        }
        assert_int_equal(sn_pace_live(pace), live);
        assert_true(sn_pace_hosts(pace) <= HOSTS);
    }
    end(pace);
}

/* If it were evicted and recreated, a host would get a request at once. */
static void keeps_hosts_that_are_held(void **state)
{
    static const char *const names[] = {"http://a", "http://b", "http://c", "http://d", "http://e"};
    sn_pace *pace = make(0, 1);
    (void)state;
    for (int i = 0; i < 5; i++)
        sn_pace_hold(pace, host(pace, names[i]), i == 0 ? 2000 : 1000);
    assert_null(host_at(pace, "http://f", 999));
    assert_non_null(host_at(pace, "http://c", 999));
    assert_non_null(host_at(pace, "http://f", 1000)); /* replaces b, the least recently used */
    assert_int_equal(sn_pace_hosts(pace), 5);
    assert_int_equal(host_at(pace, "http://a", 1000)->next, 2000);
    assert_int_equal(host_at(pace, "http://c", 1000)->next, 1000);
    assert_true(host_at(pace, "http://b", 1000)->next < 0); /* replaces d */
    end(pace);
}

static void tries_again_in_time(void **state)
{
    sn_pace *pace = make(0, 1);
    (void)state;
    sn_host *a = host(pace, "http://a");
    assert_true(retry(pace, a, 7, 500));
    assert_true(retry(pace, a, 6, 400));
    assert_false(retry(pace, a, 5, 300));
    assert_null(sn_pace_take(pace, 399));
    assert_ptr_equal(sn_pace_take(pace, 400), a);
    assert_int_equal(pop(pace, a, 400), 6);
    push(pace, a, 1);
    assert_ptr_equal(sn_pace_take(pace, 401), a);
    assert_int_equal(pop(pace, a, 401), 1);
    assert_null(sn_pace_take(pace, 499));
    assert_ptr_equal(sn_pace_take(pace, 500), a);
    assert_int_equal(pop(pace, a, 500), 7);
    assert_int_equal(sn_pace_live(pace), 0);
    end(pace);
}

static void drains(void **state)
{
    sn_pace *pace = make(0, 2);
    (void)state;
    sn_host *a = host(pace, "http://a"), *b = host(pace, "http://b");
    push(pace, a, 1);
    push(pace, b, 2);
    assert_true(retry(pace, a, 3, 500));
    sn_pace_drain(pace);
    push(pace, b, 4);
    assert_null(sn_pace_take(pace, 499));
    assert_int_equal(sn_pace_wait(pace, 499), 1);
    assert_int_equal(pop(pace, a, 499), -1);
    assert_ptr_equal(sn_pace_take(pace, 500), a);
    assert_int_equal(pop(pace, a, 500), 3);
    assert_int_equal(sn_pace_retries(pace), 0);
    assert_null(sn_pace_take(pace, 10000));
    assert_int_equal(sn_pace_wait(pace, 10000), -1);
    assert_int_equal(sn_pace_live(pace), 2);
    end(pace);
}

static void forgets_rules_that_take_too_much(void **state)
{
    sn_pace *pace = make(0, 1);
    (void)state;
    freed = 0;
    sn_host *a = host(pace, "http://a"), *b = host(pace, "http://b");
    sn_pace_set_rules(pace, a, SN_RULES_KNOWN, malloc(1), 600);
    sn_pace_set_rules(pace, b, SN_RULES_KNOWN, malloc(1), 600);
    assert_int_equal(freed, 1);
    assert_int_equal(a->rules_state, SN_RULES_UNKNOWN);
    assert_int_equal(b->rules_state, SN_RULES_KNOWN);
    sn_pace_set_rules(pace, b, SN_RULES_FETCHING, NULL, 0);
    push(pace, b, 1);
    assert_null(sn_pace_take(pace, 1));
    sn_pace_set_rules(pace, b, SN_RULES_KNOWN, NULL, 0);
    assert_ptr_equal(sn_pace_take(pace, 1), b);
    end(pace);
    assert_int_equal(freed, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_between_requests),
        cmocka_unit_test(counts_from_the_send),
        cmocka_unit_test(keeps_hosts_with_a_request_to_send),
        cmocka_unit_test(takes_turns),
        cmocka_unit_test(limits_hosts),
        cmocka_unit_test(forgets_only_idle_hosts),
        cmocka_unit_test(keeps_hosts_that_are_held),
        cmocka_unit_test(tries_again_in_time),
        cmocka_unit_test(drains),
        cmocka_unit_test(forgets_rules_that_take_too_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
