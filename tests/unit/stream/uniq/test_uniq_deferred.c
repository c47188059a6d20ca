/* Lines deferred to files: keys of a file that do not fit into the table are processed in another
 * round. */
#include "test_stream.h"

#include "stream/uniq/tables.h"

static bool tight;
static atomic_size_t refused_hashes;

static void add_some(sn_uniq_table *lane, const seen_hash *hashes, size_t count,
                     seen_answer *answers);

/* Includes the source, with tables that are full after one batch on demand. */
#define sn_uniq_tables_add add_some
#define run run_exact
#include "stream/uniq/exact.c"
#undef run
#undef sn_uniq_tables_add

static void add_some(sn_uniq_table *lane, const seen_hash *hashes, size_t count,
                     seen_answer *answers)
{
    sn_uniq_tables_add(lane, hashes, count, answers);
    lane->full |= tight;
    for (size_t i = 0; i < count; i++)
        refused_hashes += answers[i] == SEEN_UNKNOWN;
}

enum { LINES = 260000 };

static void run(const char *text, size_t length, sn_uniq_what what)
{
    const char *path = scratch("in");
    sn_input *input;
    sn_output *output;
    sn_uniq_plan plan;
    sn_uniq_result result;
    seen_error error = {0};
    sn_uniq_options options = {.pipeline = {.threads = 2, .terminator = '\n'},
                               .what = what,
                               .memory = 1 << 20,
                               .temp_dir = scratch_dir};
    write_file(path, text, length);
    assert_int_equal(sn_input_open(&path, 1, NULL, &input, NULL), SEEN_OK);
    assert_int_equal(sn_uniq_plan_make(&options, input, &plan, &error), SEEN_OK);
    assert_int_equal(sn_output_open(scratch("out"), '\n', NULL, &output, NULL), SEEN_OK);
    assert_int_equal(sn_uniq_run(&options, &plan, input, output, NULL, &result, &error), SEEN_OK);
    assert_string_equal(error.message, "");
    assert_true(result.temporary > 0);
    sn_input_close(input);
}

/* The result is the same, whatever fits. */
static void test_round_again(void **state)
{
    (void)state;
    char *text = malloc(LINES * 8);
    size_t length = 0;
    for (int i = 0; i < LINES; i++)
        length += (size_t)sprintf(text + length, "%x\n", (unsigned)random_below(2 * LINES));
    for (int what = 0; what < SN_UNIQ_ONCE; what++) {
        size_t want_length;
        tight = false;
        run(text, length, (sn_uniq_what)what);
        char *want = read_file(scratch("out"), &want_length);
        assert_int_equal(refused_hashes, 0);
        tight = true;
        run(text, length, (sn_uniq_what)what);
        assert_true(refused_hashes > 0);
        refused_hashes = 0;
        assert_file_is(scratch("out"), want, want_length);
        free(want);
    }
    free(text);
}

int main(void)
{
    seed_from_environment();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_again)};
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
