/* Counts of lines deferred to files: keys of a file that do not fit into the counter are processed
 * in another round. */
#include <stdatomic.h>

#include "test_stream.h"

#include "stream/exact/counter.h"
#include "stream/uniq/deferred.h"

static bool tight;
static atomic_size_t refused_hashes;

static void raise_some(sn_counter *counter, const seen_hash *hashes, size_t count,
                       seen_answer *answers);
static seen_status each_waiting(sn_records *records, sn_deferred_batch *batch, void *context,
                                seen_error *error);

/* Includes the source, with counters of files that refuse half of the keys on demand. */
#define sn_counter_raise raise_some
#define sn_deferred_each each_waiting
#define run run_tally
#include "stream/uniq/count.c"
#undef run
#undef sn_deferred_each
#undef sn_counter_raise

static _Thread_local bool in_file;
static _Thread_local unsigned turn;

static seen_status each_waiting(sn_records *records, sn_deferred_batch *batch_of, void *context,
                                seen_error *error)
{
    in_file = true;
    turn += batch_of == count_batch;
    seen_status status = sn_deferred_each(records, batch_of, context, error);
    in_file = false;
    return status;
}

/* By a bit of the hash, which is the same for all records of a key; the next time all are
 * accepted. */
static void raise_some(sn_counter *counter, const seen_hash *hashes, size_t count,
                       seen_answer *answers)
{
    if (!tight || !in_file) {
        sn_counter_raise(counter, hashes, count, answers);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (turn % 2 && hashes[i].hi >> 20 & 1) {
            answers[i] = SEEN_UNKNOWN;
            refused_hashes++;
        } else
            sn_counter_raise(counter, &hashes[i], 1, &answers[i]);
    }
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
                               .min = 1,
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
static void test_counts_again(void **state)
{
    (void)state;
    char *text = malloc(LINES * 8);
    size_t length = 0;
    for (int i = 0; i < LINES; i++)
        length += (size_t)sprintf(text + length, "%x\n", (unsigned)random_below(2 * LINES));
    for (int what = SN_UNIQ_ONCE; what <= SN_UNIQ_COUNTED; what++) {
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts_again)};
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
