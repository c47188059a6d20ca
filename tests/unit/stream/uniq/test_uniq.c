/* uniq: every strategy and every output mode, compared with a simple list of lines. */
#include "stream/apply.h"
#include "stream/uniq/uniq.h"
#include "test_stream.h"

#include <pthread.h>

/* ---- The model ---- */

typedef struct line {
    const char *text;
    size_t length;
    size_t count, first;
} line;

typedef struct model {
    line *lines; /* in input order */
    size_t count;
} model;

static int by_text(const void *a, const void *b)
{
    const line *x = a, *y = b;
    size_t shorter = x->length < y->length ? x->length : y->length;
    int order = shorter ? memcmp(x->text, y->text, shorter) : 0;
    if (!order)
        order = x->length < y->length ? -1 : x->length > y->length;
    return order ? order : x->first < y->first ? -1 : x->first > y->first;
}

static int by_place(const void *a, const void *b)
{
    const line *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Splits the text, counts the occurrences of each line, and stores in `count` which occurrence this
 * is: the first has bit 0, a line that occurs once has bit 1. */
static model make_model(const char *text, size_t length)
{
    model m = {malloc((length + 1) * sizeof *m.lines), 0};
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t len = end ? (size_t)(end - text) - at : length - at;
        m.lines[m.count] = (line){text + at, len, 0, m.count};
        m.count++;
        at += len + 1;
    }
    qsort(m.lines, m.count, sizeof *m.lines, by_text);
    for (size_t i = 0, next; i < m.count; i = next) {
        for (next = i + 1; next < m.count && m.lines[next].length == m.lines[i].length &&
                           memcmp(m.lines[next].text, m.lines[i].text, m.lines[i].length) == 0;)
            next++;
        m.lines[i].count = next - i == 1 ? 3 : 1;
    }
    qsort(m.lines, m.count, sizeof *m.lines, by_place);
    return m;
}

static bool wanted(sn_uniq_what what, const line *l)
{
    if (what == SN_UNIQ_FIRST)
        return l->count & 1;
    return what == SN_UNIQ_DUPLICATES ? !(l->count & 1) : (l->count & 2) != 0;
}

/* The expected output, or the dropped lines; a last line without a newline has none. */
static char *expect(const model *m, sn_uniq_what what, bool dropped, size_t *length)
{
    size_t room = 1;
    for (size_t i = 0; i < m->count; i++)
        room += m->lines[i].length + 1;
    char *out = malloc(room);
    size_t at = 0;
    for (size_t i = 0; i < m->count; i++) {
        if (wanted(what, &m->lines[i]) == dropped)
            continue;
        memcpy(out + at, m->lines[i].text, m->lines[i].length);
        at += m->lines[i].length;
        out[at++] = '\n';
    }
    *length = at;
    return out;
}

/* ---- Running ---- */

typedef struct feeder {
    const char *bytes;
    size_t length;
    int fd;
} feeder;

static void *feed(void *argument)
{
    feeder *f = argument;
    for (size_t at = 0; at < f->length;) {
        size_t part = f->length - at < 3000 ? f->length - at : 3000;
        ssize_t put = write(f->fd, f->bytes + at, part);
        assert_true(put > 0);
        at += (size_t)put;
    }
    close(f->fd);
    return NULL;
}

static void run(const sn_uniq_options *options, bool by_pipe, const char *text, size_t length,
                sn_uniq_result *result)
{
    const char *path = scratch("in"), *out = scratch("out"), *drop = scratch("drop");
    feeder f = {text, length, -1};
    pthread_t thread;
    int saved = -1, ends[2];
    sn_input *input;
    if (by_pipe) {
        assert_int_equal(pipe(ends), 0);
        saved = dup(STDIN_FILENO);
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        f.fd = ends[1];
        pthread_create(&thread, NULL, feed, &f);
        assert_int_equal(sn_input_open(NULL, 0, NULL, &input, NULL), SEEN_OK);
    } else {
        write_file(path, text, length);
        assert_int_equal(sn_input_open(&path, 1, NULL, &input, NULL), SEEN_OK);
    }
    seen_error error = {0};
    sn_uniq_plan plan;
    sn_output *output, *dropped;
    assert_int_equal(sn_uniq_plan_make(options, input, &plan, &error), SEEN_OK);
    assert_int_equal(sn_output_open(out, '\n', NULL, &output, NULL), SEEN_OK);
    assert_int_equal(sn_output_open(drop, '\n', NULL, &dropped, NULL), SEEN_OK);
    seen_status status = sn_uniq_run(options, &plan, input, output, dropped, result, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, SEEN_OK);
    sn_input_close(input);
    if (by_pipe) {
        pthread_join(thread, NULL);
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
}

static void check_all_strategies(const char *text, size_t length)
{
    model m = make_model(text, length);
    for (int what = 0; what < 3; what++) {
        size_t kept_length, rest_length;
        char *kept = expect(&m, (sn_uniq_what)what, false, &kept_length);
        char *rest = expect(&m, (sn_uniq_what)what, true, &rest_length);
        for (int way = 0; way < 8; way++) {
            sn_uniq_options options = {
                .pipeline = {.threads = 1 + (unsigned)way % 3,
                             .block_size = way & 1 ? 100 : 0,
                             .terminator = '\n'},
                .what = (sn_uniq_what)what,
                .approx = (way & 2) == 0 && what < SN_UNIQ_ONCE,
                .error_rate = way & 2 ? 0 : 1e-12, /* no false positives in this test */
                .temp_dir = scratch_dir,
            };
            sn_uniq_result result;
            run(&options, (way & 4) != 0, text, length, &result);
            assert_int_equal(result.lines, m.count);
            assert_file_is(scratch("out"), kept, kept_length);
            assert_file_is(scratch("drop"), rest, rest_length);
            options.count_only = true;
            uint64_t written = result.written;
            sn_uniq_plan plan;
            sn_input *input;
            const char *path = scratch("in");
            write_file(path, text, length);
            assert_int_equal(sn_input_open(&path, 1, NULL, &input, NULL), SEEN_OK);
            assert_int_equal(sn_uniq_plan_make(&options, input, &plan, NULL), SEEN_OK);
            assert_int_equal(sn_uniq_run(&options, &plan, input, NULL, NULL, &result, NULL),
                             SEEN_OK);
            assert_int_equal(result.written, written);
            sn_input_close(input);
        }
        free(kept);
        free(rest);
    }
    free(m.lines);
}

static void test_shapes(void **state)
{
    (void)state;
    static const char *const shapes[] = {
        "",       "\n",         "a",        "a\n",     "a\na",    "a\na\n",
        "\n\n\n", "a\n\na\n\n", "a\r\na\n", "a\nb\nc", "b\na\nb",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        check_all_strategies(shapes[i], strlen(shapes[i]));
}

static void test_random(void **state)
{
    (void)state;
    for (int round = 0; round < 4; round++) {
        size_t length;
        char *text = random_text(random_below(3000) + 1, 400, &length);
        check_all_strategies(text, length);
        free(text);
    }
}

/* So many lines that the smallest table must spill. */
static void test_exact_spills(void **state)
{
    (void)state;
    enum { LINES = 300000 };
    char *text = malloc(LINES * 16);
    size_t length = 0;
    for (int i = 0; i < LINES; i++)
        length += (size_t)sprintf(text + length, "%x\n", (unsigned)random_below(LINES));
    length--;
    model m = make_model(text, length);
    for (int what = 0; what < 3; what++) {
        size_t kept_length, rest_length;
        char *kept = expect(&m, (sn_uniq_what)what, false, &kept_length);
        char *rest = expect(&m, (sn_uniq_what)what, true, &rest_length);
        for (int way = 0; way < 2; way++) {
            sn_uniq_options options = {.pipeline = {.threads = 2, .terminator = '\n'},
                                       .what = (sn_uniq_what)what,
                                       .memory = 1 << 20,
                                       .temp_dir = scratch_dir};
            sn_uniq_result result;
            run(&options, way, text, length, &result);
            assert_true(result.temporary > 0);
            assert_int_equal(result.lines, LINES);
            assert_file_is(scratch("out"), kept, kept_length);
            assert_file_is(scratch("drop"), rest, rest_length);
        }
        free(kept);
        free(rest);
    }
    free(m.lines);
    free(text);
}

/* A given or estimated number of lines is the initial size of a set with a memory limit. */
static void test_memory_grows(void **state)
{
    (void)state;
    enum { LINES = 100000, MEMORY = 64 << 20 };
    char *text = malloc(LINES * 16);
    size_t length = 0;
    for (int i = 0; i < LINES; i++)
        length += (size_t)sprintf(text + length, "%x\n", (unsigned)i);
    for (int what = 0; what < SN_UNIQ_ONCE; what++) {
        sn_uniq_options options = {.pipeline = {.threads = 2, .terminator = '\n'},
                                   .what = (sn_uniq_what)what,
                                   .approx = true,
                                   .capacity = 100,
                                   .error_rate = 1e-12,
                                   .memory = MEMORY,
                                   .temp_dir = scratch_dir};
        sn_uniq_result result;
        run(&options, false, text, length, &result);
        assert_int_equal(result.written, what == SN_UNIQ_DUPLICATES ? 0 : LINES);
        assert_in_range(result.memory, 1, MEMORY);
    }
    free(text);
}

/* ---- Filters ---- */

static seen_set *make_filter(const char *path)
{
    seen_options options = {.size = sizeof options, .capacity = 100000, .error_rate = 1e-9};
    seen_set *set;
    assert_int_equal(seen_create(path, &options, SEEN_REPLACE, &set, NULL), SEEN_OK);
    return set;
}

/* Two runs with one filter together print every line once, with a deferred file or unbuffered. */
static void check_filter(bool deferred, bool first, bool waits)
{
    size_t length, more;
    char *text = random_text(3000, 50, &length), *other = random_text(3000, 50, &more);
    char *both = malloc(length + more + 1);
    bool open_end = length && text[length - 1] != '\n';
    memcpy(both, text, length);
    both[length] = '\n';
    memcpy(both + length + open_end, other, more);
    const char *in[2] = {scratch("in0"), scratch("in1")};
    write_file(in[0], text, length);
    write_file(in[1], other, more);
    seen_set *set = make_filter(scratch("filter"));
    const char *out[2] = {"/dev/stdout", "/dev/stdout"};
    char name[2][64];
    int fds[2];
    char *got[2];
    size_t got_length[2];
    for (int i = 0; i < 2; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/out%d", scratch_dir, i);
        fds[i] = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        snprintf(name[i], sizeof name[i], "/dev/fd/%d", fds[i]);
        out[i] = deferred ? path : NULL;
        int saved = dup(STDOUT_FILENO);
        if (!deferred) {
            fflush(stdout);
            dup2(fds[i], STDOUT_FILENO);
        }
        sn_uniq_options options = {.pipeline = {.threads = waits ? 0 : 2,
                                                .waits = waits,
                                                .block_size = 300,
                                                .terminator = '\n'},
                                   .filter = set,
                                   .remember_first = first,
                                   .temp_dir = scratch_dir};
        sn_uniq_plan plan;
        sn_uniq_result result;
        sn_input *input;
        sn_output *output, *dropped = NULL;
        seen_error error = {0};
        assert_int_equal(sn_input_open(&in[i], 1, NULL, &input, NULL), SEEN_OK);
        assert_int_equal(sn_uniq_plan_make(&options, input, &plan, NULL), SEEN_OK);
        assert_int_equal(sn_output_open(out[i], '\n', NULL, &output, NULL), SEEN_OK);
        /* Nor anything else that does not wait for the end. */
        if (!deferred)
            assert_int_equal(sn_output_open("/dev/null", '\n', NULL, &dropped, NULL), SEEN_OK);
        assert_int_equal(sn_uniq_run(&options, &plan, input, output, dropped, &result, &error),
                         SEEN_OK);
        sn_input_close(input);
        dup2(saved, STDOUT_FILENO);
        close(saved);
        got[i] = read_file(path, &got_length[i]);
        close(fds[i]);
    }
    model m = make_model(both, length + open_end + more);
    size_t kept_length;
    char *kept = expect(&m, SN_UNIQ_FIRST, false, &kept_length);
    char *joined = malloc(got_length[0] + got_length[1] + 1);
    memcpy(joined, got[0], got_length[0]);
    memcpy(joined + got_length[0], got[1], got_length[1]);
    assert_int_equal(got_length[0] + got_length[1], kept_length);
    assert_memory_equal(joined, kept, kept_length);
    seen_close(set);
    free(m.lines);
    free(kept);
    free(joined);
    free(both);
    free(text);
    free(other);
    free(got[0]);
    free(got[1]);
}

static void test_filter(void **state)
{
    (void)state;
    for (int round = 0; round < 4; round++) {
        check_filter(false, false, false);
        check_filter(true, false, false);
        check_filter(false, true, false);
        check_filter(false, true, true);
    }
}

/* A run that fails while writing has added nothing that was not written. */
static void test_filter_after_failure(void **state)
{
    (void)state;
    const char *path = scratch("in");
    write_file(path, "a\nb\nc\n", 6);
    for (int i = 0; i < 2; i++) {
        seen_set *set = make_filter(scratch("filter"));
        sn_uniq_options options = {.pipeline = {.threads = 2, .terminator = '\n'}, .filter = set};
        sn_uniq_plan plan;
        sn_uniq_result result;
        sn_input *input;
        sn_output *output;
        seen_error error;
        assert_int_equal(sn_input_open(&path, 1, NULL, &input, NULL), SEEN_OK);
        assert_int_equal(sn_uniq_plan_make(&options, input, &plan, NULL), SEEN_OK);
        assert_int_equal(sn_output_open("/dev/full", '\n', NULL, &output, NULL), SEEN_OK);
        assert_int_equal(sn_uniq_run(&options, &plan, input, output, NULL, &result, &error),
                         SEEN_ERR_SPACE);
        sn_input_close(input);
        seen_answer answer;
        assert_int_equal(seen_check(set, "a", 1, &answer, NULL), SEEN_OK);
        assert_int_equal(answer, SEEN_NEW);
        seen_close(set);
    }
}

static void stop_leaves_the_file(bool singles)
{
    const char *path = scratch("in"), *out = scratch("kept");
    write_file(path, "a\nb\n", 4);
    write_file(out, "old\n", 4);
    sn_stop stop;
    assert_int_equal(sn_stop_init(&stop, NULL), SEEN_OK);
    sn_stop_set(&stop, SN_STOP_REQUESTED);
    sn_uniq_options options = {.pipeline = {.threads = 2, .terminator = '\n', .stop = &stop}};
    if (singles)
        options.what = SN_UNIQ_ONCE;
    sn_uniq_plan plan;
    sn_uniq_result result;
    sn_input *input;
    sn_output *output;
    assert_int_equal(sn_input_open(&path, 1, &stop, &input, NULL), SEEN_OK);
    assert_int_equal(sn_uniq_plan_make(&options, input, &plan, NULL), SEEN_OK);
    assert_int_equal(sn_output_open(out, '\n', &stop, &output, NULL), SEEN_OK);
    assert_int_equal(sn_uniq_run(&options, &plan, input, output, NULL, &result, NULL), SEEN_OK);
    assert_true(result.stopped);
    assert_file_is(out, "old\n", 4);
    sn_input_close(input);
    sn_stop_free(&stop);
}

static void test_stop_leaves_the_file(void **state)
{
    (void)state;
    stop_leaves_the_file(false);
    stop_leaves_the_file(true);
}

static void test_refused(void **state)
{
    (void)state;
    seen_set *set = make_filter(scratch("filter"));
    const char *path = scratch("in");
    write_file(path, "a\n", 2);
    sn_uniq_options both[] = {{.approx = true, .what = SN_UNIQ_LAST, .pipeline.terminator = '\n'},
                              {.filter = set, .what = SN_UNIQ_ONCE, .pipeline.terminator = '\n'}};
    for (size_t i = 0; i < 2; i++) {
        sn_uniq_plan plan = {0};
        sn_uniq_result result;
        sn_input *input;
        seen_error error;
        assert_int_equal(sn_input_open(&path, 1, NULL, &input, NULL), SEEN_OK);
        assert_int_equal(sn_uniq_run(&both[i], &plan, input, NULL, NULL, &result, &error),
                         SEEN_ERR_ARGUMENT);
        sn_input_close(input);
    }
    seen_close(set);
}

/* ---- add, check, remove ---- */

static void test_apply(void **state)
{
    (void)state;
    const char *path = scratch("in"), *out = scratch("out");
    seen_options options = {
        .size = sizeof options, .kind = SEEN_COUNTING, .capacity = 1000, .error_rate = 1e-9};
    seen_set *set;
    assert_int_equal(seen_create(NULL, &options, 0, &set, NULL), SEEN_OK);
    sn_apply_options apply = {.pipeline = {.threads = 2, .block_size = 5, .terminator = '\n'},
                              .set = set};
    static const struct {
        sn_apply_what what;
        const char *text;
        seen_answer print;
        unsigned fresh, before;
        const char *printed;
    } steps[] = {
        {SN_APPLY_ADD, "a\nb\na\n", SEEN_NEW, 2, 1, "a\nb\n"},
        {SN_APPLY_CHECK, "b\nc\na", SEEN_BEFORE, 1, 2, "b\na\n"},
        {SN_APPLY_CHECK, "b\nc\na", SEEN_NEW, 1, 2, "c\n"},
        {SN_APPLY_REMOVE, "b\nx\n", SEEN_BEFORE, 1, 1, "b\n"},
        {SN_APPLY_CHECK, "b\nc\na", SEEN_BEFORE, 2, 1, "a\n"},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        sn_input *input;
        sn_output *output;
        sn_apply_result result;
        write_file(path, steps[i].text, strlen(steps[i].text));
        apply.what = steps[i].what;
        apply.print = steps[i].print;
        assert_int_equal(sn_input_open(&path, 1, NULL, &input, NULL), SEEN_OK);
        assert_int_equal(sn_output_open(out, '\n', NULL, &output, NULL), SEEN_OK);
        assert_int_equal(sn_apply_run(&apply, input, output, &result, NULL), SEEN_OK);
        assert_int_equal(result.fresh, steps[i].fresh);
        assert_int_equal(result.before, steps[i].before);
        assert_file_is(out, steps[i].printed, strlen(steps[i].printed));
        sn_input_close(input);
    }
    seen_close(set);
}

int main(void)
{
    seed_from_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_memory_grows),
        cmocka_unit_test(test_exact_spills),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_filter_after_failure),
        cmocka_unit_test(test_stop_leaves_the_file),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_apply),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
