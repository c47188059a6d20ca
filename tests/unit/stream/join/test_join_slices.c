/* Spill when no table is ever large enough: it cuts its parts into smaller pieces, and reports an
 * error when that does not help. */
#include "stream/join/internal.h"
#include "test_stream.h"

static bool nothing_fits;

static bool judge(sn_join *s, const seen_hash *hashes, size_t count, seen_answer *answers)
{
    return !nothing_fits && sn_join_judge(s, hashes, count, answers);
}

/* The source itself, with tables that have no room when told so. */
#define sn_join_judge judge
#include "stream/join/slices.c"
#undef sn_join_judge

static seen_status run_way(sn_join_strategy strategy, sn_join_result *result, seen_error *error)
{
    const char *path_a = scratch("a"), *path_b = scratch("b");
    sn_input *a, *b;
    sn_join_options options = {.strategy = strategy,
                               .memory = 64 << 20,
                               .temp_dir = scratch_dir,
                               .pipeline = {.threads = 2, .terminator = '\n'}};
    sn_join_numbers numbers;
    sn_join_plan plan;
    sn_output *output;
    write_file(path_a, "1\n2\n3\n4\n", 8);
    write_file(path_b, "3\n4\n5\n", 6);
    assert_int_equal(sn_input_open(&path_a, 1, NULL, &a, NULL), SEEN_OK);
    assert_int_equal(sn_input_open(&path_b, 1, NULL, &b, NULL), SEEN_OK);
    assert_int_equal(sn_join_measure(&options, a, &b, 1, &numbers, NULL), SEEN_OK);
    assert_int_equal(sn_join_plan_make(&numbers, strategy, &plan, NULL), SEEN_OK);
    assert_int_equal(sn_output_open(scratch("out"), '\n', NULL, &output, NULL), SEEN_OK);
    seen_status status = sn_join_run(&options, &plan, &numbers, a, &b, 1, output, result, error);
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
        assert_int_equal(run_way(STRATEGIES[i], &result, &error), SEEN_OK);
        assert_int_equal(result.strategy, STRATEGIES[i]);
        assert_file_is(scratch("out"), "3\n4\n", 4);
        nothing_fits = true;
        assert_int_equal(run_way(STRATEGIES[i], &result, &error), SEEN_ERR_MEMORY);
        assert_non_null(strstr(error.message, "the memory is not enough"));
        assert_file_is(scratch("out"), "3\n4\n", 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gives_up)};
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
