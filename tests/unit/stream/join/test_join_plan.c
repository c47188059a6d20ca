/* The planner: plausible values for every size, and the expected strategies. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stream/join/internal.h"
#include "stream/join/join.h"
#include "test_stream.h"

static sn_join_parameters numbers_of(double lines_a, double lines_b, double memory)
{
    return (sn_join_parameters){.lines_a = lines_a,
                                .bytes_a = lines_a * 64,
                                .text_a = lines_a * 64,
                                .lines_b = lines_b,
                                .lines_first = lines_b,
                                .bytes_b = lines_b * 64,
                                .memory = (uint64_t)memory,
                                .threads = 2,
                                .share = 0.1};
}

static sn_join_strategy strategy_of(const sn_join_parameters *parameters)
{
    sn_join_plan plan;
    assert_int_equal(sn_join_plan_make(parameters, SN_JOIN_ANY, &plan, NULL), SEEN_OK);
    return plan.strategy;
}

/* For any parameters the plan stays within the memory and its totals are correct. */
static void check_plan(const sn_join_parameters *n, const sn_join_plan *plan)
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
                    sn_join_parameters n = numbers_of(a, b, memory);
                    n.except = flags & 1;
                    n.unique = flags & 2;
                    n.pipe_a = flags & 4;
                    sn_join_plan plan;
                    assert_int_equal(sn_join_plan_make(&n, SN_JOIN_ANY, &plan, NULL), SEEN_OK);
                    check_plan(&n, &plan);
                }
}

static void expected_strategies(void **unused)
{
    (void)unused;
    sn_join_parameters n = numbers_of(5e7, 5e7, 256 << 20);
    assert_int_equal(strategy_of(&n), SN_JOIN_FILTER);
    n = numbers_of(5e7, 1e5, 256 << 20);
    assert_int_equal(strategy_of(&n), SN_JOIN_TABLE_B);
    n = numbers_of(1e4, 5e9, 256 << 20);
    assert_int_equal(strategy_of(&n), SN_JOIN_TABLE_A);
    n = numbers_of(1e4, 5e9, 256 << 20);
    n.pipe_a = true;
    assert_int_not_equal(strategy_of(&n), SN_JOIN_TABLE_B);
    /* Nearly everything in common: all of A would be candidates. */
    n = numbers_of(5e7, 5e7, 128 << 20);
    n.share = 1;
    sn_join_strategy strategy = strategy_of(&n);
    assert_int_equal(strategy, SN_JOIN_SPILL);
    /* No space for temporary files: refused, with advice. */
    n.room = 1 << 20;
    sn_join_plan plan;
    seen_error error = {0};
    assert_int_equal(sn_join_plan_make(&n, SN_JOIN_ANY, &plan, &error), SEEN_ERR_SPACE);
    assert_non_null(strstr(error.message, "-T"));
    /* Distinct lines that are not in B: a filter is not sufficient. */
    n = numbers_of(5e7, 5e7, 256 << 20);
    n.except = n.unique = true;
    strategy = strategy_of(&n);
    assert_true(strategy != SN_JOIN_FILTER && strategy != SN_JOIN_SPILL_FILTERED);
    n = numbers_of(5e7, 5e7, 256 << 20);
    strategy = strategy_of(&n);
    n.excluded = 1u << strategy;
    assert_int_not_equal(strategy_of(&n), strategy);
}

/* Files in the page cache: reading them again costs less than a large table. With a slow disk it is
 * the reverse. */
static void by_speed(void **unused)
{
    (void)unused;
    sn_join_parameters n = numbers_of(5e7, 5e7, 2e9);
    n.disk = 8e9;
    n.random_ns = 20;
    assert_int_equal(strategy_of(&n), SN_JOIN_FILTER);
    n.disk = 2e8;
    assert_int_equal(strategy_of(&n), SN_JOIN_TABLE_B);
    n.disk = 8e9;
    n.random_ns = 0.5; /* as if everything were cached */
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
    sn_join_parameters n = numbers_of(1e6, 1e6, 15 << 20);
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

/* A slower disk never makes a plan faster; larger inputs never cost less. */
static void monotone(void **unused)
{
    (void)unused;
    for (int strategy = SN_JOIN_TABLE_B; strategy <= SN_JOIN_APPROX; strategy++) {
        double before = 0;
        for (double lines = 1e6; lines < 1e11; lines *= 10) {
            sn_join_parameters n = numbers_of(lines, lines, 1 << 30);
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

static int run_join_plan(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size), cmocka_unit_test(expected_strategies),
        cmocka_unit_test(by_speed),   cmocka_unit_test(refusals),
        cmocka_unit_test(monotone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- join_calibrate ---- */

/* The speed of the machine: measured once, and plausible. */

static void test_random(void **state)
{
    (void)state;
    double ns = sn_join_random_ns();
    assert_true(ns > 0.1 && ns < 100000);
    assert_true(sn_join_random_ns() == ns);
}

static void test_read_speed(void **state)
{
    (void)state;
    assert_true(sn_join_read_speed(1) > sn_join_read_speed(0.5));
    assert_true(sn_join_read_speed(0.5) > sn_join_read_speed(0));
}

static int run_join_calibrate(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_read_speed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- join_slices ---- */

/* Spill if no table is ever large enough: it splits its parts further, and reports an error when
 * that does not help. */

static bool nothing_fits;

static bool judge(sn_join *s, const seen_hash *hashes, size_t count, seen_answer *answers)
{
    return !nothing_fits && sn_join_decide(s, hashes, count, answers);
}

/* Includes the source, with tables that are full on demand. */
#define sn_join_decide judge
#include "stream/join/slices.c"
#undef sn_join_decide

static seen_status run_strategy(sn_join_strategy strategy, sn_join_result *result,
                                seen_error *error)
{
    const char *path_a = scratch("a"), *path_b = scratch("b");
    sn_input *a, *b;
    sn_join_options options = {.strategy = strategy,
                               .memory = 64 << 20,
                               .temp_dir = scratch_dir,
                               .pipeline = {.threads = 2, .terminator = '\n'}};
    sn_join_parameters parameters;
    sn_join_plan plan;
    sn_output *output;
    write_file(path_a, "1\n2\n3\n4\n", 8);
    write_file(path_b, "3\n4\n5\n", 6);
    assert_int_equal(sn_input_open(&path_a, 1, NULL, &a, NULL), SEEN_OK);
    assert_int_equal(sn_input_open(&path_b, 1, NULL, &b, NULL), SEEN_OK);
    assert_int_equal(sn_join_measure(&options, a, &b, 1, &parameters, NULL), SEEN_OK);
    assert_int_equal(sn_join_plan_make(&parameters, strategy, &plan, NULL), SEEN_OK);
    assert_int_equal(sn_output_open(scratch("out"), '\n', NULL, &output, NULL), SEEN_OK);
    seen_status status = sn_join_run(&options, &plan, &parameters, a, &b, 1, output, result, error);
    sn_input_close(a);
    sn_input_close(b);
    return status;
}

static void test_gives_up(void **state)
{
    (void)state;
    static const sn_join_strategy STRATEGIES[] = {SN_JOIN_SPILL};
    for (size_t i = 0; i < sizeof STRATEGIES / sizeof *STRATEGIES; i++) {
        sn_join_result result = {0};
        seen_error error = {0};
        nothing_fits = false;
        assert_int_equal(run_strategy(STRATEGIES[i], &result, &error), SEEN_OK);
        assert_int_equal(result.strategy, STRATEGIES[i]);
        assert_file_is(scratch("out"), "3\n4\n", 4);
        nothing_fits = true;
        assert_int_equal(run_strategy(STRATEGIES[i], &result, &error), SEEN_ERR_MEMORY);
        assert_non_null(strstr(error.message, "the memory is not enough"));
        assert_file_is(scratch("out"), "3\n4\n", 4);
    }
}

static int run_join_slices(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gives_up)};
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}

/* ---- join_keep ---- */

/* The bitmap of lines: in one piece, and range by range. */

static bool malloc_fails;

static void *faulty_malloc(size_t bytes)
{
    return malloc_fails ? NULL : malloc(bytes);
}

/* Includes the source, with an allocator that fails on demand. */
#define malloc faulty_malloc
#include "stream/join/keep.c"
#undef malloc

static bool chosen(uint64_t line)
{
    return line * 0x9e3779b97f4a7c15u >> 62 == 1;
}

/* Sets bits in several ascending runs, like slices of the hashes, and queries them in blocks. */
static void there_and_back(uint64_t lines, uint64_t memory, size_t block)
{
    sn_keep keep;
    seen_answer *answers = malloc(block);
    assert_non_null(answers);
    assert_int_equal(sn_keep_open(&keep, lines, memory, NULL, NULL), SEEN_OK);
    assert_true(keep.bytes <= (memory < 4096 ? 4096 : memory));
    for (uint64_t run = 0; run < 5; run++)
        for (uint64_t line = run; line < lines; line += 5)
            if (chosen(line))
                assert_int_equal(sn_keep_set(&keep, line, NULL), SEEN_OK);
    assert_int_equal(sn_keep_finish(&keep, NULL), SEEN_OK);
    for (uint64_t at = 0; at < lines; at += block) {
        size_t n = lines - at < block ? (size_t)(lines - at) : block;
        assert_int_equal(sn_keep_get(&keep, at, n, answers, NULL), SEEN_OK);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(answers[i], chosen(at + i) ? SEEN_BEFORE : SEEN_NEW);
    }
    assert_int_equal(sn_keep_temporary(&keep) > 0, keep.ranges > 1);
    sn_keep_close(&keep);
    free(answers);
}

static void one_piece(void **unused)
{
    (void)unused;
    there_and_back(1, 1 << 20, 10);
    there_and_back(64, 1 << 20, 64);
    there_and_back(100001, 1 << 20, 777);
    sn_keep none;
    assert_int_equal(sn_keep_open(&none, 0, 1 << 20, NULL, NULL), SEEN_OK);
    sn_keep_close(&none);
    sn_keep_close(&none);
}

static void ranges(void **unused)
{
    (void)unused;
    there_and_back(100000, 4096, 1000);
    there_and_back(1000003, 8192, 4093);
    there_and_back(300000, 0, 100000);
}

/* More ranges than a spill has parts: fewer and larger ones are used. */
static void most_ranges(void **unused)
{
    (void)unused;
    sn_keep keep;
    uint64_t lines = (uint64_t)1 << 33;
    assert_int_equal(sn_keep_open(&keep, lines, 0, NULL, NULL), SEEN_OK);
    assert_int_equal(keep.ranges, SN_SPILL_PARTS_MAX);
    assert_true(keep.range * keep.ranges >= lines);
    seen_answer answer = SEEN_UNKNOWN;
    assert_int_equal(sn_keep_set(&keep, lines - 1, NULL), SEEN_OK);
    assert_int_equal(sn_keep_finish(&keep, NULL), SEEN_OK);
    assert_int_equal(sn_keep_get(&keep, lines - 1, 1, &answer, NULL), SEEN_OK);
    assert_int_equal(answer, SEEN_BEFORE);
    assert_int_equal(sn_keep_get(&keep, lines - 2, 1, &answer, NULL), SEEN_OK);
    assert_int_equal(answer, SEEN_NEW);
    sn_keep_close(&keep);
}

static void no_memory_to_load(void **unused)
{
    (void)unused;
    sn_keep keep;
    seen_answer answer = SEEN_UNKNOWN;
    seen_error error = {0};
    assert_int_equal(sn_keep_open(&keep, 100000, 4096, NULL, NULL), SEEN_OK);
    assert_int_equal(sn_keep_set(&keep, 5, NULL), SEEN_OK);
    assert_int_equal(sn_keep_finish(&keep, NULL), SEEN_OK);
    malloc_fails = true;
    assert_int_equal(sn_keep_get(&keep, 5, 1, &answer, &error), SEEN_ERR_MEMORY);
    malloc_fails = false;
    assert_int_equal(error.status, SEEN_ERR_MEMORY);
    assert_int_equal(sn_keep_get(&keep, 5, 1, &answer, &error), SEEN_OK);
    assert_int_equal(answer, SEEN_BEFORE);
    sn_keep_close(&keep);
}

static int run_join_keep(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_piece), cmocka_unit_test(ranges),
                                       cmocka_unit_test(most_ranges),
                                       cmocka_unit_test(no_memory_to_load)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    int status[] = {run_join_plan(), run_join_calibrate(), run_join_slices(), run_join_keep()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
