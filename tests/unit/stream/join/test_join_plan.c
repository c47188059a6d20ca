/* The planner: sane numbers for every size, and the strategies that a person would choose. */
#include "stream/join/join.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static sn_join_numbers numbers_of(double lines_a, double lines_b, double memory)
{
    return (sn_join_numbers){.lines_a = lines_a,
                             .bytes_a = lines_a * 64,
                             .text_a = lines_a * 64,
                             .lines_b = lines_b,
                             .lines_first = lines_b,
                             .bytes_b = lines_b * 64,
                             .memory = (uint64_t)memory,
                             .threads = 2,
                             .share = 0.1};
}

static sn_join_strategy strategy_of(const sn_join_numbers *numbers)
{
    sn_join_plan plan;
    assert_int_equal(sn_join_plan_make(numbers, SN_JOIN_ANY, &plan, NULL), SEEN_OK);
    return plan.strategy;
}

/* Whatever the numbers, the plan stays within the memory and its sums are right. */
static void check_plan(const sn_join_numbers *n, const sn_join_plan *plan)
{
    double read = 0, written = 0, seconds = 0;
    assert_true(plan->budget < n->memory);
    assert_true(plan->filter + plan->map <= plan->budget);
    assert_true(plan->table <= plan->budget);
    assert_true(plan->filter_rate >= 0 && plan->filter_rate <= 1);
    assert_true(plan->candidates >= 0 && plan->candidates <= n->lines_a);
    assert_true(plan->survivors >= 0 && plan->survivors <= n->lines_b);
    assert_true(plan->step_count > 0 && plan->step_count <= SN_JOIN_STEPS);
    for (size_t i = 0; i < plan->step_count; i++) {
        assert_non_null(plan->step[i].what);
        read += plan->step[i].read;
        written += plan->step[i].written;
        seconds += plan->step[i].seconds;
    }
    assert_true(fabs(read - plan->read) <= 1e-9 * read);
    assert_true(fabs(written - plan->written) <= 1e-9 * written);
    assert_true(fabs(seconds - plan->seconds) <= 1e-9 * seconds);
    assert_true(plan->read >= n->bytes_a + n->bytes_b);
}

static void every_size(void **unused)
{
    (void)unused;
    for (double a = 0; a < 1e12; a = a * 500 + 7)
        for (double b = 0; b < 1e12; b = b * 500 + 7)
            for (double memory = 16 << 20; memory < 1e11; memory *= 25)
                for (unsigned flags = 0; flags < 8; flags++) {
                    sn_join_numbers n = numbers_of(a, b, memory);
                    n.except = flags & 1;
                    n.unique = flags & 2;
                    n.pipe_a = flags & 4;
                    sn_join_plan plan;
                    assert_int_equal(sn_join_plan_make(&n, SN_JOIN_ANY, &plan, NULL), SEEN_OK);
                    check_plan(&n, &plan);
                }
}

static void expected_ways(void **unused)
{
    (void)unused;
    sn_join_numbers n = numbers_of(5e7, 5e7, 256 << 20);
    assert_int_equal(strategy_of(&n), SN_JOIN_FILTER);
    n = numbers_of(5e7, 1e5, 256 << 20);
    assert_int_equal(strategy_of(&n), SN_JOIN_TABLE_B);
    n = numbers_of(1e4, 5e9, 256 << 20);
    assert_int_equal(strategy_of(&n), SN_JOIN_TABLE_A);
    n = numbers_of(1e4, 5e9, 256 << 20);
    n.pipe_a = true;
    assert_int_not_equal(strategy_of(&n), SN_JOIN_TABLE_B);
    /* Nearly everything in common: candidates would be all of A. */
    n = numbers_of(5e7, 5e7, 128 << 20);
    n.share = 1;
    sn_join_strategy strategy = strategy_of(&n);
    assert_int_equal(strategy, SN_JOIN_SPILL);
    /* No room for temporary files: refused, with what to do. */
    n.room = 1 << 20;
    sn_join_plan plan;
    seen_error error = {0};
    assert_int_equal(sn_join_plan_make(&n, SN_JOIN_ANY, &plan, &error), SEEN_ERR_SPACE);
    assert_non_null(strstr(error.message, "-T"));
    /* Each line once, of those that are not in B: a filter cannot tell. */
    n = numbers_of(5e7, 5e7, 256 << 20);
    n.except = n.unique = true;
    strategy = strategy_of(&n);
    assert_true(strategy != SN_JOIN_FILTER && strategy != SN_JOIN_SPILL_FILTERED);
    n = numbers_of(5e7, 5e7, 256 << 20);
    strategy = strategy_of(&n);
    n.excluded = 1u << strategy;
    assert_int_not_equal(strategy_of(&n), strategy);
}

/* Files in the page cache: reading them once more costs less than a large table. From a slow disk
 * it is the other way round. */
static void by_speed(void **unused)
{
    (void)unused;
    sn_join_numbers n = numbers_of(5e7, 5e7, 2e9);
    n.disk = 8e9;
    n.random_ns = 20;
    assert_int_equal(strategy_of(&n), SN_JOIN_FILTER);
    n.disk = 2e8;
    assert_int_equal(strategy_of(&n), SN_JOIN_TABLE_B);
    n.disk = 8e9;
    n.random_ns = 0.5; /* as if all of it were a cache */
    sn_join_plan fast, slow;
    assert_int_equal(sn_join_plan_make(&n, SN_JOIN_TABLE_B, &fast, NULL), SEEN_OK);
    n.random_ns = 50;
    assert_int_equal(sn_join_plan_make(&n, SN_JOIN_TABLE_B, &slow, NULL), SEEN_OK);
    assert_true(slow.seconds > 1.5 * fast.seconds);
}

static void refusals(void **unused)
{
    (void)unused;
    seen_error error = {0};
    sn_join_plan plan;
    sn_join_numbers n = numbers_of(1e6, 1e6, 15 << 20);
    assert_int_equal(sn_join_plan_make(&n, SN_JOIN_ANY, &plan, &error), SEEN_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "16 MiB"));
    n = numbers_of(1e6, 1e6, 64 << 20);
    n.except = n.unique = true;
    assert_int_equal(sn_join_plan_make(&n, SN_JOIN_FILTER, &plan, &error), SEEN_ERR_ARGUMENT);
    n = numbers_of(1e9, 1e9, 64 << 20);
    n.excluded = (1u << SN_JOIN_STRATEGIES) - 1;
    assert_int_equal(sn_join_plan_make(&n, SN_JOIN_ANY, &plan, &error), SEEN_ERR_SPACE);
    for (int strategy = 0; strategy <= SN_JOIN_STRATEGIES; strategy++)
        assert_true(strlen(sn_join_strategy_name((sn_join_strategy)strategy)) > 0);
}

/* A slower disk never makes a plan faster; more of everything never costs less. */
static void monotone(void **unused)
{
    (void)unused;
    for (int strategy = SN_JOIN_TABLE_B; strategy <= SN_JOIN_APPROX; strategy++) {
        double before = 0;
        for (double lines = 1e6; lines < 1e11; lines *= 10) {
            sn_join_numbers n = numbers_of(lines, lines, 1 << 30);
            sn_join_plan plan, slow;
            seen_status status = sn_join_plan_make(&n, (sn_join_strategy)strategy, &plan, NULL);
            n.disk = 1e8;
            assert_int_equal(sn_join_plan_make(&n, (sn_join_strategy)strategy, &slow, NULL),
                             status);
            if (status != SEEN_OK)
                continue;
            assert_true(slow.seconds >= plan.seconds);
            assert_true(plan.seconds > before);
            before = plan.seconds;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size), cmocka_unit_test(expected_ways), cmocka_unit_test(by_speed),
        cmocka_unit_test(refusals),   cmocka_unit_test(monotone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
