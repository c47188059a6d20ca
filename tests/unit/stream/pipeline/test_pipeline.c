/* The pipeline: any number of threads, any block size and any split of the input give the same
 * result. */
#include "stream/pipeline/pipeline.h"
#include "stream/pipeline/turn.h"
#include "test_stream.h"

#include <pthread.h>

/* Collects what is emitted, and checks the order of the steps. */
typedef struct gather {
    char *bytes;
    size_t length, room;
    uint64_t lines, decided, emitted;
    uint64_t offset; /* in the file */
    size_t file;
    int fail_step; /* 1 prepare, 2 decide, 3 render, 4 emit, 5 lookup */
    _Atomic unsigned inside;
    unsigned lanes;
    uint64_t asked[SN_PIPELINE_LANES]; /* blocks; not atomic: protected by the lane's turnstile */
    sn_stop *stop;
    uint64_t stop_at;
    int tell; /* written to after each emit, or -1 */
} gather;

static seen_status maybe_fail(gather *g, sn_block *block, int step, seen_error *error)
{
    for (size_t i = 0; g->fail_step == step && i < block->lines; i++) {
        size_t len;
        const char *line = sn_block_line(block, i, &len);
        if (len == 4 && memcmp(line, "fail", 4) == 0) {
            error->status = SEEN_ERR_SERVER;
            strcpy(error->message, "as told");
            return SEEN_ERR_SERVER;
        }
    }
    return SEEN_OK;
}

static seen_status prepare(void *context, sn_block *block, seen_error *error)
{
    return maybe_fail(context, block, 1, error);
}

/* In each lane blocks arrive in input order, and have passed the previous lanes. */
static seen_status lookup(void *context, sn_block *block, unsigned lane, seen_error *error)
{
    gather *g = context;
    assert_true(lane < g->lanes);
    assert_int_equal(maybe_fail(g, block, 1, error), SEEN_OK); /* `prepare` is done */
    assert_int_equal(block->number, g->asked[lane]);
    if (block->number % 16 == lane)
        usleep(100); /* lets the others wait */
    if (lane == 0)
        block->number_out = 0;
    assert_int_equal(block->number_out++, lane);
    assert_int_equal(block->number, g->asked[lane]++);
    return lane == 1 ? maybe_fail(g, block, 5, error) : SEEN_OK;
}

static seen_status decide(void *context, sn_block *block, seen_error *error)
{
    gather *g = context;
    assert_int_equal(atomic_fetch_add(&g->inside, 1), 0);
    if (g->lanes)
        assert_int_equal(block->number_out, g->lanes);
    assert_int_equal(block->number, g->decided++);
    assert_int_equal(block->first_line, g->lines);
    g->lines += block->lines;
    atomic_fetch_sub(&g->inside, 1);
    return maybe_fail(g, block, 2, error);
}

static seen_status render(void *context, sn_block *block, seen_error *error)
{
    return maybe_fail(context, block, 3, error);
}

static seen_status emit(void *context, sn_block *block, seen_error *error)
{
    gather *g = context;
    assert_int_equal(block->number, g->emitted++);
    assert_int_equal(block->start[block->lines], block->length);
    if (block->file != g->file)
        g->offset = 0;
    assert_int_equal(block->offset, g->offset);
    g->file = block->file;
    g->offset += block->length;
    seen_status status = maybe_fail(g, block, 4, error);
    if (status != SEEN_OK)
        return status;
    if (g->length + block->length + 1 > g->room) {
        g->room = 2 * (g->length + block->length + 1);
        g->bytes = realloc(g->bytes, g->room);
        assert_non_null(g->bytes);
    }
    memcpy(g->bytes + g->length, block->bytes, block->length);
    g->length += block->length;
    if (block->unfinished)
        g->bytes[g->length++] = '|'; /* a file ends without a newline */
    if (g->stop && g->emitted == g->stop_at)
        sn_stop_set(g->stop, SN_STOP_REQUESTED);
    if (g->tell >= 0)
        assert_int_equal(write(g->tell, "x", 1), 1);
    return SEEN_OK;
}

static seen_status run(const char *const *paths, size_t count, const sn_pipeline_options *options,
                       gather *g, bool *stopped, seen_error *error)
{
    sn_input *input;
    sn_pipeline_steps steps = {.context = g,
                               .prepare = prepare,
                               .decide = decide,
                               .render = render,
                               .emit = emit,
                               .lookup = lookup,
                               .lanes = g->lanes};
    assert_int_equal(sn_input_open(paths, count, options->stop, &input, error), SEEN_OK);
    seen_status status = sn_pipeline_run(input, options, &steps, stopped, error);
    sn_input_close(input);
    return status;
}

static const size_t sizes[] = {1, 2, 7, 64, 1000, 65536, 1 << 20};
static const unsigned threads[] = {1, 2, 3, 8};

static void test_same_bytes(void **state)
{
    (void)state;
    const char *paths[3] = {scratch("a"), scratch("b"), scratch("c")};
    for (int round = 0; round < 6; round++) {
        char *joined = malloc(1 << 20);
        size_t at = 0;
        for (size_t i = 0; i < 3; i++) {
            size_t length;
            char *text = random_text(random_below(600) + (i != 1), 300, &length);
            write_file(paths[i], text, length);
            memcpy(joined + at, text, length);
            at += length;
            if (length && text[length - 1] != '\n')
                joined[at++] = '|';
            free(text);
        }
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
                gather g = {.tell = -1, .lanes = (unsigned)(s + t) % 4};
                sn_meter meter = {0};
                sn_pipeline_options options = {.threads = threads[t],
                                               .block_size = sizes[s],
                                               .terminator = '\n',
                                               .meter = &meter};
                bool stopped = true;
                assert_int_equal(run(paths, 3, &options, &g, &stopped, NULL), SEEN_OK);
                assert_false(stopped);
                assert_int_equal(g.length, at);
                if (at)
                    assert_memory_equal(g.bytes, joined, at);
                assert_int_equal(g.decided, g.emitted);
                for (unsigned lane = 0; lane < g.lanes; lane++)
                    assert_int_equal(g.asked[lane], g.emitted);
                assert_int_equal(atomic_load(&meter.lines), g.lines);
                free(g.bytes);
            }
        free(joined);
    }
}

/* The output is what precedes the failed block, for any step. */
static void test_failure(void **state)
{
    (void)state;
    const char *path = scratch("failing");
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 5000; i++)
        fprintf(file, i == 3000 || i == 4000 ? "fail\n" : "line %d\n", i);
    fclose(file);
    size_t length;
    char *text = read_file(path, &length);
    char *bad = strstr(text, "fail\n");
    for (int step = 1; step <= 5; step++)
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
            gather g = {.fail_step = step, .tell = -1, .lanes = 3};
            sn_pipeline_options options = {
                .threads = threads[t], .block_size = 500, .terminator = '\n'};
            seen_error error = {0};
            assert_int_equal(run(&path, 1, &options, &g, NULL, &error), SEEN_ERR_SERVER);
            assert_string_equal(error.message, "as told");
            assert_in_range(g.length, (bad - text) - 500, bad - text);
            assert_memory_equal(g.bytes, text, g.length);
            free(g.bytes);
        }
    free(text);
}

static void test_long_line(void **state)
{
    (void)state;
    const char *path = scratch("long");
    char *text = malloc(300010);
    memcpy(text, "short\n", 6);
    memset(text + 6, 'x', 300000);
    memcpy(text + 300006, "\nab\n", 4);
    write_file(path, text, 300010);
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        gather g = {.tell = -1};
        sn_pipeline_options options = {
            .threads = threads[t], .block_size = 1000, .line_max = 300000, .terminator = '\n'};
        assert_int_equal(run(&path, 1, &options, &g, NULL, NULL), SEEN_OK);
        assert_int_equal(g.length, 300010);
        assert_memory_equal(g.bytes, text, g.length);
        assert_int_equal(g.lines, 3);
        free(g.bytes);
        g = (gather){.tell = -1};
        options.line_max = 299999;
        seen_error error = {0};
        assert_int_equal(run(&path, 1, &options, &g, NULL, &error), SEEN_ERR_ARGUMENT);
        assert_non_null(strstr(error.message, path));
        assert_non_null(strstr(error.message, "offset 6 "));
        assert_int_equal(g.length, 6);
        free(g.bytes);
    }
    /* The same without its terminator. */
    write_file(path, text, 300006);
    gather g = {.tell = -1};
    sn_pipeline_options options = {.block_size = 1000, .line_max = 299999, .terminator = '\n'};
    assert_int_equal(run(&path, 1, &options, &g, NULL, NULL), SEEN_ERR_ARGUMENT);
    free(g.bytes);
    g = (gather){.tell = -1};
    options.line_max = 300000;
    assert_int_equal(run(&path, 1, &options, &g, NULL, NULL), SEEN_OK);
    assert_int_equal(g.length, 300007);
    free(g.bytes);
    free(text);
}

/* Long blocks between the first and the last step. */
typedef struct crowd {
    _Atomic int now, most;
    uint64_t lines; /* protected by the emit turn */
} crowd;

enum { LONG_BLOCK = 1 << 20 };

static seen_status come(void *context, sn_block *block, seen_error *error)
{
    crowd *c = context;
    (void)error;
    if (block->capacity > LONG_BLOCK) {
        int here = atomic_fetch_add(&c->now, 1) + 1;
        if (here > atomic_load(&c->most))
            atomic_store(&c->most, here);
        usleep(2000); /* lets others enter, if they may */
    }
    return SEEN_OK;
}

static seen_status leave(void *context, sn_block *block, seen_error *error)
{
    crowd *c = context;
    (void)error;
    c->lines += block->lines;
    if (block->capacity > LONG_BLOCK)
        atomic_fetch_sub(&c->now, 1);
    return SEEN_OK;
}

/* Memory for long lines does not depend on the number of threads. */
static void test_one_long_line_at_a_time(void **state)
{
    (void)state;
    enum { LINES = 12, LENGTH = 1500000 };
    const char *path = scratch("crowd");
    char *text = malloc(LENGTH + 5);
    memset(text, 'x', LENGTH);
    memcpy(text + LENGTH, "\nab\n\n", 5);
    FILE *file = fopen(path, "w");
    for (int i = 0; i < LINES; i++)
        assert_int_equal(fwrite(text, 1, LENGTH + 5, file), LENGTH + 5);
    assert_int_equal(fclose(file), 0);
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        crowd c = {.lines = 0};
        sn_input *input;
        sn_pipeline_steps steps = {.context = &c, .prepare = come, .emit = leave};
        sn_pipeline_options options = {.threads = threads[t], .terminator = '\n'};
        assert_int_equal(sn_input_open(&path, 1, NULL, &input, NULL), SEEN_OK);
        assert_int_equal(sn_pipeline_run(input, &options, &steps, NULL, NULL), SEEN_OK);
        sn_input_close(input);
        assert_int_equal(c.lines, 3 * LINES);
        assert_int_equal(c.most, 1);
    }
    free(text);
}

static void test_stop(void **state)
{
    (void)state;
    const char *path = scratch("stopping");
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 20000; i++)
        fprintf(file, "line %d\n", i);
    fclose(file);
    size_t length;
    char *text = read_file(path, &length);
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        sn_stop stop;
        assert_int_equal(sn_stop_init(&stop, NULL), SEEN_OK);
        gather g = {.stop = &stop, .stop_at = 5, .tell = -1};
        sn_pipeline_options options = {
            .threads = threads[t], .block_size = 500, .terminator = '\n', .stop = &stop};
        bool stopped = false;
        assert_int_equal(run(&path, 1, &options, &g, &stopped, NULL), SEEN_OK);
        assert_true(stopped);
        assert_in_range(g.emitted, 5, 5 + threads[t]);
        assert_true(g.length < length);
        assert_memory_equal(g.bytes, text, g.length);
        free(g.bytes);
        sn_stop_free(&stop);
    }
    free(text);
}

typedef struct slow_writer {
    int to, from;
} slow_writer;

/* Writes a line, and the next one only when the first was output. */
static void *write_slowly(void *argument)
{
    slow_writer *w = argument;
    char x;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(write(w->to, "lin", 3), 3);
        usleep(1000);
        assert_int_equal(write(w->to, "e\n", 2), 2);
        assert_int_equal(read(w->from, &x, 1), 1);
    }
    close(w->to);
    return NULL;
}

static void test_slow_pipe(void **state)
{
    (void)state;
    for (size_t t = 0; t < 3; t++) {
        int in[2], back[2];
        assert_int_equal(pipe(in), 0);
        assert_int_equal(pipe(back), 0);
        int saved = dup(STDIN_FILENO);
        dup2(in[0], STDIN_FILENO);
        slow_writer w = {in[1], back[0]};
        pthread_t thread;
        pthread_create(&thread, NULL, write_slowly, &w);
        gather g = {.tell = back[1]};
        sn_pipeline_options options = {.threads = threads[t], .terminator = '\n'};
        assert_int_equal(run(NULL, 0, &options, &g, NULL, NULL), SEEN_OK);
        pthread_join(thread, NULL);
        assert_int_equal(g.lines, 20);
        assert_int_equal(g.length, 100);
        free(g.bytes);
        dup2(saved, STDIN_FILENO);
        close(saved);
        close(in[0]);
        close(back[0]);
        close(back[1]);
    }
}

typedef struct turner {
    sn_turn *turn;
    uint64_t first, step;
    uint64_t *count;
} turner;

static void *take_turns(void *argument)
{
    turner *t = argument;
    for (uint64_t number = t->first; number < 3000; number += t->step) {
        sn_turn_wait(t->turn, number);
        assert_int_equal(*t->count, number); /* not atomic: protected by the turnstile */
        ++*t->count;
        if (number % 100 == 0)
            usleep(300); /* lets the others fall asleep */
        sn_turn_pass(t->turn);
    }
    return NULL;
}

static void test_turns(void **state)
{
    (void)state;
    sn_turn turn;
    uint64_t count = 0;
    pthread_t thread[5];
    turner turners[5];
    sn_turn_init(&turn);
    for (uint64_t i = 0; i < 5; i++) {
        turners[i] = (turner){&turn, i, 5, &count};
        pthread_create(&thread[i], NULL, take_turns, &turners[i]);
    }
    for (int i = 0; i < 5; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(count, 3000);
}

int main(void)
{
    seed_from_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_failure),
        cmocka_unit_test(test_long_line),  cmocka_unit_test(test_one_long_line_at_a_time),
        cmocka_unit_test(test_stop),       cmocka_unit_test(test_slow_pipe),
        cmocka_unit_test(test_turns),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
