/* The engine of common and except compared with a model, with every strategy, also if the plan was
 * wrong. */
#include "set/store.h"
#include "stream/join/join.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { KEYS = 16000, LINES = 20000 };

static char folder[] = "/tmp/seen-sets.XXXXXX";
static char path_a[64], path_b[3][64], path_out[64];
static unsigned list_a[LINES], list_b[3][LINES];
static unsigned char in_b[3][KEYS];

static unsigned draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33);
}

static void write_list(const char *path, const unsigned *list)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < LINES; i++)
        fprintf(file, "https://example.org/%u%s", list[i], i + 1 < LINES ? "\n" : "");
    assert_int_equal(fclose(file), 0);
}

static int make_files(void **unused)
{
    (void)unused;
    uint64_t state = 42;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path_a, sizeof path_a, "%s/a", folder);
    snprintf(path_out, sizeof path_out, "%s/out", folder);
    for (size_t i = 0; i < LINES; i++)
        list_a[i] = draw(&state) % KEYS;
    write_list(path_a, list_a);
    for (unsigned b = 0; b < 3; b++) {
        snprintf(path_b[b], sizeof path_b[b], "%s/b%u", folder, b);
        for (size_t i = 0; i < LINES; i++) {
            list_b[b][i] = draw(&state) % (KEYS / 2) + (b * KEYS) / 5;
            in_b[b][list_b[b][i]] = 1;
        }
        write_list(path_b[b], list_b[b]);
    }
    return 0;
}

static int remove_files(void **unused)
{
    (void)unused;
    unlink(path_a);
    unlink(path_out);
    for (unsigned b = 0; b < 3; b++)
        unlink(path_b[b]);
    return rmdir(folder);
}

typedef struct trial {
    sn_join_options options;
    unsigned b_count;
    double slices; /* not 0: overrides the plan */
    uint64_t map, table, budget;
    bool piped; /* A comes through a pipe */
    sn_join_result result;
    seen_error error;
} trial;

static void *feed_a(void *end)
{
    FILE *from = fopen(path_a, "r"), *to = fdopen(*(int *)end, "w");
    for (int c; from && to && (c = getc(from)) != EOF;)
        putc(c, to);
    if (from)
        fclose(from);
    if (to)
        fclose(to);
    return NULL;
}

static seen_status run_trial(trial *t)
{
    const char *names[3] = {path_b[0], path_b[1], path_b[2]};
    const char *a_name = path_a;
    sn_input *a = NULL, *b[3] = {NULL};
    pthread_t feeder;
    int ends[2];
    char by_end[32];
    if (t->piped) {
        assert_int_equal(pipe(ends), 0);
        snprintf(by_end, sizeof by_end, "/dev/fd/%d", ends[0]);
        a_name = by_end;
        assert_int_equal(pthread_create(&feeder, NULL, feed_a, &ends[1]), 0);
    }
    size_t inputs = t->options.all ? t->b_count : 1;
    assert_int_equal(sn_input_open(&a_name, 1, NULL, &a, NULL), SEEN_OK);
    for (size_t i = 0; i < inputs; i++)
        assert_int_equal(
            sn_input_open(names + i, t->options.all ? 1 : t->b_count, NULL, &b[i], NULL), SEEN_OK);
    sn_join_parameters parameters;
    sn_join_plan plan;
    sn_output *output = NULL;
    t->options.pipeline.terminator = '\n';
    if (!t->options.memory)
        t->options.memory = 64 << 20;
    assert_int_equal(sn_join_measure(&t->options, a, b, inputs, &parameters, NULL), SEEN_OK);
    seen_status status = sn_join_plan_make(
        &parameters, t->options.approx ? SN_JOIN_APPROX : t->options.strategy, &plan, &t->error);
    if (status == SEEN_OK) {
        plan.slices = t->slices > 0 ? t->slices : plan.slices;
        plan.map = t->map ? t->map : plan.map;
        plan.table = t->table ? t->table : plan.table;
        plan.budget = t->budget ? t->budget : plan.budget;
        assert_int_equal(sn_output_open(path_out, '\n', NULL, &output, NULL), SEEN_OK);
        status = sn_join_run(&t->options, &plan, &parameters, a, b, inputs, output, &t->result,
                             &t->error);
    }
    sn_input_close(a);
    for (size_t i = 0; i < inputs; i++)
        sn_input_close(b[i]);
    if (t->piped) {
        close(ends[0]);
        pthread_join(feeder, NULL);
    }
    return status;
}

static bool is_in(const trial *t, unsigned key)
{
    unsigned count = 0;
    for (unsigned b = 0; b < t->b_count; b++)
        count += in_b[b][key];
    return t->options.all ? count == t->b_count : count > 0;
}

static void compare(const trial *t)
{
    static unsigned char printed[KEYS];
    memset(printed, 0, sizeof printed);
    FILE *file = fopen(path_out, "r");
    assert_non_null(file);
    char line[100], want[100];
    uint64_t written = 0;
    for (size_t i = 0; i < LINES; i++) {
        unsigned key = list_a[i];
        if (is_in(t, key) == t->options.except || (t->options.unique && printed[key]))
            continue;
        printed[key] = 1;
        snprintf(want, sizeof want, "https://example.org/%u", key);
        assert_non_null(fgets(line, sizeof line, file));
        line[strcspn(line, "\n")] = 0;
        assert_string_equal(line, want);
        written++;
    }
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
    assert_int_equal(t->result.written, written);
    assert_int_equal(t->result.lines_a, LINES);
}

static trial trial_of(unsigned flags, unsigned b_count, sn_join_strategy strategy)
{
    return (trial){
        .options = {.except = flags & 1,
                    .unique = flags & 2,
                    .all = flags & 4,
                    .strategy = strategy,
                    .pipeline = {.threads = (flags + strategy) % 3 + 1, .block_size = 16 << 10}},
        .b_count = b_count};
}

static void every_strategy(void **unused)
{
    (void)unused;
    for (unsigned flags = 0; flags < 8; flags++)
        for (unsigned b_count = 1; b_count <= 3; b_count += 2)
            for (sn_join_strategy strategy = SN_JOIN_ANY; strategy <= SN_JOIN_SPILL_FILTERED;
                 strategy++) {
                trial t = trial_of(flags, b_count, strategy);
                if ((flags & 3) == 3 &&
                    (strategy == SN_JOIN_FILTER || strategy == SN_JOIN_SPILL_FILTERED)) {
                    assert_int_equal(run_trial(&t), SEEN_ERR_ARGUMENT);
                    continue;
                }
                assert_int_equal(run_trial(&t), SEEN_OK);
                compare(&t);
                if (strategy != SN_JOIN_ANY)
                    assert_int_equal(t.result.strategy, strategy);
                assert_int_equal(t.result.changes, 0);
            }
}

/* Parts that are too large for the table are split further; several parts work too. */
static void wrong_slices(void **unused)
{
    (void)unused;
    const sn_join_strategy strategies[] = {SN_JOIN_SPILL, SN_JOIN_SPILL_FILTERED};
    for (unsigned flags = 0; flags < 8; flags++)
        for (size_t i = 0; i < 2; i++)
            for (unsigned j = 0; j < 3; j++) {
                trial t = trial_of(flags, 1 + flags % 3, strategies[i]);
                if ((flags & 3) == 3 && strategies[i] == SN_JOIN_SPILL_FILTERED)
                    continue;
                t.slices = j == 0 ? 1 : 7;
                t.map = j == 1 ? 0 : 4096;
                t.budget = j == 2 ? 0 : 90 << 10;
                assert_int_equal(run_trial(&t), SEEN_OK);
                compare(&t);
                assert_int_equal(t.result.changes, 0);
            }
}

/* A table with less room than planned: the strategy changes, and nothing is printed twice. */
static void changes_strategy(void **unused)
{
    (void)unused;
    const sn_join_strategy strategies[] = {SN_JOIN_TABLE_B, SN_JOIN_TABLE_A, SN_JOIN_FILTER};
    for (unsigned flags = 0; flags < 8; flags++)
        for (size_t i = 0; i < 3; i++) {
            trial t = trial_of(flags, 1 + flags % 3, strategies[i]);
            if ((flags & 3) == 3 && strategies[i] == SN_JOIN_FILTER)
                continue;
            t.table = strategies[i] == SN_JOIN_TABLE_B ? 150 << 10 : 70 << 10;
            assert_int_equal(run_trial(&t), SEEN_OK);
            compare(&t);
            /* A table of this size may hold all of B alone. */
            if (strategies[i] != SN_JOIN_TABLE_B)
                assert_int_equal(t.result.changes, 1);
        }
}

/* The same if A can be read only once: another strategy continues with the saved lines. */
static void changes_strategy_of_pipe(void **unused)
{
    (void)unused;
    for (unsigned flags = 0; flags < 8; flags++) {
        trial t = trial_of(flags, 1 + flags % 3, SN_JOIN_FILTER);
        if ((flags & 3) == 3)
            continue;
        t.piped = true;
        t.table = 70 << 10;
        assert_int_equal(run_trial(&t), SEEN_OK);
        compare(&t);
        assert_int_equal(t.result.changes, 1);
    }
}

/* Nothing is lost, and there are few false positives. */
static void approximate(void **unused)
{
    (void)unused;
    for (unsigned flags = 0; flags < 8; flags++) {
        trial t = trial_of(flags, 1 + flags % 3, SN_JOIN_ANY);
        t.options.approx = true;
        t.options.error_rate = 0.01;
        assert_int_equal(run_trial(&t), SEEN_OK);
        assert_true(t.result.error_rate > 0 && t.result.error_rate < 0.05);
        unsigned char seen[KEYS] = {0};
        uint64_t exact = 0;
        for (size_t i = 0; i < LINES; i++) {
            unsigned key = list_a[i];
            exact += is_in(&t, key) != t.options.except && !(t.options.unique && seen[key]);
            seen[key] = 1;
        }
        double off = (double)t.result.written - (double)exact;
        assert_true(t.options.except ? off <= 0 : off >= -0.001 * LINES);
        assert_true(off > -0.06 * LINES && off < 0.06 * LINES);
    }
}

static seen_status measure_fails(seen_set *set, seen_info *info, seen_error *error)
{
    (void)set;
    (void)info;
    error->status = SEEN_ERR_IO;
    snprintf(error->message, sizeof error->message, "the server went away");
    return SEEN_ERR_IO;
}

/* A filter in place of B that cannot report its rate. */
static void given_fails(void **unused)
{
    (void)unused;
    seen_set *set;
    seen_options options = {.size = sizeof options, .capacity = 1000, .error_rate = 0.01};
    assert_int_equal(seen_create(NULL, &options, 0, &set, NULL), SEEN_OK);
    trial t = trial_of(0, 1, SN_JOIN_ANY);
    t.options.given = set;
    t.options.strategy = SN_JOIN_GIVEN;
    assert_int_equal(run_trial(&t), SEEN_OK);
    assert_int_equal(t.result.written, 0);
    const sn_store_ops *good = set->ops;
    sn_store_ops broken = *good;
    broken.measure = measure_fails;
    set->ops = &broken;
    assert_int_equal(run_trial(&t), SEEN_ERR_IO);
    assert_string_equal(t.error.message, "the server went away");
    set->ops = good;
    seen_close(set);
}

static sn_join_progress progress;

/* Waits for the second pass, and appends a line to A. */
static void *change_a(void *unused)
{
    (void)unused;
    while (atomic_load(&progress.pass) < 2)
        sched_yield();
    FILE *file = fopen(path_a, "a");
    if (file) {
        fputs("\nlate\n", file);
        fclose(file);
    }
    return NULL;
}

/* The thread may be too late, after everything was read; but not a hundred times. */
static void changed_file(void **unused)
{
    (void)unused;
    seen_status status = SEEN_OK;
    for (int tries = 0; tries < 100 && status == SEEN_OK; tries++) {
        trial t = trial_of(0, 3, SN_JOIN_TABLE_A);
        pthread_t thread;
        atomic_store(&progress.pass, 0);
        t.options.progress = &progress;
        assert_int_equal(pthread_create(&thread, NULL, change_a, NULL), 0);
        status = run_trial(&t);
        pthread_join(thread, NULL);
        assert_true(status == SEEN_OK || strstr(t.error.message, path_a));
        write_list(path_a, list_a);
    }
    assert_int_equal(status, SEEN_ERR_CHANGED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_strategy),   cmocka_unit_test(wrong_slices),
        cmocka_unit_test(changes_strategy), cmocka_unit_test(changes_strategy_of_pipe),
        cmocka_unit_test(approximate),      cmocka_unit_test(given_fails),
        cmocka_unit_test(changed_file),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
