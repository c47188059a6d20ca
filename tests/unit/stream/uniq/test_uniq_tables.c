/* uniq --exact with several tables: the same lines in the same order as with one table, for any
 * number of threads, also if the tables are full and files are decided in parallel. */
#include "stream/uniq/uniq.h"
#include "tests/sanitized.h"

#include <math.h>

#include "test_stream.h"

enum { SPREAD = 5, LONGEST = 24 };

/* Lines with numbers below `different`, of which small ones are more frequent. */
typedef struct sample {
    unsigned *number;
    unsigned char *times; /* occurrences of each number: 0, 1, 2 for more */
    size_t lines;
    char *text;
    size_t length;
} sample;

static size_t put_line(char *to, unsigned number)
{
    return (size_t)sprintf(to, "http://%x.example/\n", number);
}

static sample make_sample(size_t lines, size_t different)
{
    sample s = {.lines = lines};
    s.number = malloc(lines * sizeof *s.number);
    s.times = calloc(different, 1);
    s.text = malloc(lines * LONGEST + 1);
    assert_true(s.number && s.times && s.text);
    for (size_t i = 0; i < lines; i++) {
        s.number[i] = (unsigned)random_below(i % SPREAD ? different : different / SPREAD);
        s.length += put_line(s.text + s.length, s.number[i]);
        if (s.times[s.number[i]] < 2)
            s.times[s.number[i]]++;
    }
    write_file(scratch("in"), s.text, s.length);
    return s;
}

static void free_sample(sample *s)
{
    free(s->number);
    free(s->times);
    free(s->text);
}

/* The expected output, to be freed by the caller. */
static char *expect(const sample *s, size_t different, sn_uniq_what what, size_t *length)
{
    char *out = malloc(s->lines * LONGEST + 1);
    bool *there = calloc(different, sizeof *there);
    assert_true(out && there);
    *length = 0;
    for (size_t i = 0; i < s->lines; i++) {
        unsigned number = s->number[i];
        if (what == SN_UNIQ_ONCE ? s->times[number] == 1
                                 : there[number] == (what == SN_UNIQ_DUPLICATES))
            *length += put_line(out + *length, number);
        there[number] = true;
    }
    free(there);
    return out;
}

static void run(const sn_uniq_options *options, bool by_pipe, sn_uniq_result *result)
{
    char command[700];
    const char *path = scratch("in");
    FILE *cat = NULL;
    int saved = dup(STDIN_FILENO);
    sn_input *input;
    if (by_pipe) {
        snprintf(command, sizeof command, "cat '%s'", path);
        cat = popen(command, "r");
        assert_non_null(cat);
        dup2(fileno(cat), STDIN_FILENO);
    }
    seen_error error = {0};
    sn_uniq_plan plan;
    sn_output *output;
    assert_int_equal(sn_input_open(by_pipe ? NULL : &path, !by_pipe, NULL, &input, NULL), SEEN_OK);
    assert_int_equal(sn_uniq_plan_make(options, input, &plan, &error), SEEN_OK);
    assert_int_equal(sn_output_open(scratch("out"), '\n', NULL, &output, NULL), SEEN_OK);
    assert_int_equal(sn_uniq_run(options, &plan, input, output, NULL, result, &error), SEEN_OK);
    sn_input_close(input);
    dup2(saved, STDIN_FILENO);
    close(saved);
    if (cat)
        pclose(cat);
}

static const sn_uniq_what ways[] = {SN_UNIQ_FIRST, SN_UNIQ_DUPLICATES, SN_UNIQ_ONCE};

static void same_for_any_threads(void **state)
{
    (void)state;
    enum { LINES = 60000, DIFFERENT = 30000 };
    sample s = make_sample(LINES, DIFFERENT);
    for (size_t w = 0; w < 3; w++) {
        size_t length;
        char *want = expect(&s, DIFFERENT, ways[w], &length);
        for (unsigned threads = 1; threads <= 4; threads *= 2) {
            sn_uniq_options options = {
                .pipeline = {.threads = threads, .block_size = 5000, .terminator = '\n'},
                .what = ways[w],
                .memory = (uint64_t)64 << 20,
                .temp_dir = scratch_dir};
            sn_uniq_result result = {0};
            run(&options, threads == 2, &result);
            assert_true(result.temporary == 0 || threads == 2); /* a copy of the pipe */
            assert_int_equal(result.lines, LINES);
            assert_file_is(scratch("out"), want, length);
        }
        free(want);
    }
    free_sample(&s);
}

/* Enough to fill two tables of two MiB: from a file and from a pipe. */
static void same_where_lines_wait(void **state)
{
    (void)state;
    enum { LINES = 600000, DIFFERENT = 500000 };
    sample s = make_sample(LINES, DIFFERENT);
    for (size_t w = 0; w < 3; w++) {
        size_t length;
        char *want = expect(&s, DIFFERENT, ways[w], &length);
        for (int by_pipe = 0; by_pipe < 2; by_pipe++) {
            sn_uniq_options options = {
                .pipeline = {.threads = 2, .block_size = 50000, .terminator = '\n'},
                .what = ways[w],
                .temp_dir = scratch_dir};
            options.memory = sn_pipeline_memory(&options.pipeline, true) + ((uint64_t)4 << 20);
            sn_uniq_result result = {0};
            run(&options, by_pipe, &result);
            assert_true(result.temporary > 0);
            assert_int_equal(result.lines, LINES);
            assert_file_is(scratch("out"), want, length);
        }
        free(want);
    }
    free_sample(&s);
}

/* A list in which new lines become rarer, and one in which they do not: the memory is that of the
 * actual lines, not of the possible ones. */
static void memory_is_expected(void **state)
{
    (void)state;
    enum { LINES = 1500000 }; /* with fewer, the smallest tables outweigh the lines */
    static const double exponents[] = {0.7, 1};
    char *text = malloc(LINES * LONGEST + 1);
    assert_non_null(text);
    for (size_t k = 0; k < 2; k++) {
        size_t length = 0;
        unsigned different = 0;
        for (unsigned i = 0; i < LINES; i++) {
            bool fresh = different < LINES / 4.0 * pow((i + 1.0) / LINES, exponents[k]);
            length +=
                put_line(text + length, fresh ? different++ : (unsigned)random_below(different));
        }
        write_file(scratch("in"), text, length);
        sn_uniq_options options = {.pipeline = {.threads = 2, .terminator = '\n'},
                                   .memory = (uint64_t)256 << 20,
                                   .temp_dir = scratch_dir};
        sn_uniq_result result = {0};
        run(&options, false, &result);
        assert_int_equal(result.distinct, different);
        assert_true((double)result.memory < 16.5 * different);
    }
    free(text);
}

int main(void)
{
    seed_from_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_for_any_threads),
        cmocka_unit_test(same_where_lines_wait),
        cmocka_unit_test(memory_is_expected),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
