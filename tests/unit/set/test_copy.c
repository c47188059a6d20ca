/* Merging and copying: merge = union, errors with a reason, copies bit for bit, create_like. */
#include "test_trust.h"

#include "base/clock.h"
#include "local/local.h"

#include <math.h>

enum { MANY = 3000 };

static seen_hash h[3 * MANY];
static seen_answer answers[3 * MANY];
static uint64_t clock_now = 1000000;

static uint64_t fake_clock(void)
{
    return clock_now;
}

static seen_set *create(const char *where, const seen_options *options)
{
    seen_set *set = NULL;
    OK(seen_create(where, options, 0, &set, error));
    return set;
}

static size_t count_there(seen_set *set, size_t first, size_t count)
{
    size_t n = 0;
    OK(seen_check_hashes(set, h + first, count, answers, error));
    for (size_t i = 0; i < count; i++)
        n += answers[i] == SEEN_BEFORE;
    return n;
}

/* Every line of every layer, and their metadata. */
static void same_lines(seen_set *a, seen_set *b)
{
    sn_image one, two;
    OK(a->ops->image(a, &one, error));
    OK(b->ops->image(b, &two, error));
    assert_int_equal(one.layers, two.layers);
    static char left[64 * 4096], right[64 * 4096];
    for (uint32_t i = 0; i < one.layers; i++)
        for (uint64_t line = 0, n; line < sn_geometry_lines(&one.layer[i].geometry); line += n) {
            uint64_t rest = sn_geometry_lines(&one.layer[i].geometry) - line;
            n = rest < 4096 ? rest : 4096;
            OK(a->ops->read(a, i, line, n, left, error));
            OK(b->ops->read(b, i, line, n, right, error));
            assert_memory_equal(left, right, n * 64);
        }
}

static void test_merge_is_union(void **state)
{
    (void)state;
    hashes_from(0, 3 * MANY, h);
    for (int kind = 0; kind < 2; kind++)
        for (int growth = 0; growth < (kind ? 1 : 3); growth++)
            for (int file = 0; file < 2; file++) {
                seen_options options = plain_options((seen_kind)kind, (seen_growth)growth,
                                                     growth == 1 ? 700 : 10 * MANY, 1e-4);
                options.when_full = growth == SEEN_GROWING ? SEEN_FULL_GO_ON : SEEN_FULL_REFUSE;
                seen_set *a = create(file ? at("a") : NULL, &options), *b = NULL;
                OK(seen_create_like(file ? NULL : at("b"), a, NULL, 0, &b, error));
                OK(seen_add_hashes(a, h, 2 * MANY, NULL, error));
                OK(seen_add_hashes(b, h + MANY, 2 * MANY, NULL, error));
                OK(seen_merge(a, b, error));
                assert_int_equal(count_there(a, 0, 3 * MANY), 3 * MANY);
                assert_int_equal(count_there(b, MANY, 2 * MANY), 2 * MANY);
                assert_true(count_there(b, 0, MANY) < 20);
                if (growth == SEEN_FIXED) {
                    seen_set *both = create(NULL, &options);
                    OK(seen_add_hashes(both, h, 2 * MANY, NULL, error));
                    OK(seen_add_hashes(both, h + MANY, 2 * MANY, NULL, error));
                    same_lines(a, both);
                    seen_close(both);
                }
                if (kind == SEEN_BLOOM) { /* merging again changes nothing */
                    OK(seen_merge(a, b, error));
                    OK(seen_merge(a, a, error));
                    assert_int_equal(count_there(a, 0, 3 * MANY), 3 * MANY);
                }
                seen_close(a);
                seen_close(b);
                unlink(at("a"));
                unlink(at("b"));
            }
}

/* Common keys are not counted twice: the union of two equal sets is as full as one. */
static void test_merge_counts(void **state)
{
    (void)state;
    hashes_from(0, 3 * MANY, h);
    seen_options options = plain_options(SEEN_BLOOM, SEEN_FIXED, 3 * MANY, 1e-6);
    seen_set *a = create(NULL, &options), *b = create(NULL, &options);
    OK(seen_add_hashes(a, h, 2 * MANY, NULL, error));
    OK(seen_add_hashes(b, h, 2 * MANY, NULL, error));
    OK(seen_merge(a, b, error));
    OK(seen_add_hashes(a, h + 2 * MANY, MANY - 300, NULL, error));
    FAILS(SEEN_ERR_FULL, seen_add_hashes(a, h + 2 * MANY, MANY, answers, error));
    seen_close(a);
    seen_close(b);
}

/* Also with few keys in many lines. */
static void test_merge_counts_few(void **state)
{
    (void)state;
    hashes_from(0, 3 * MANY, h);
    seen_options options = plain_options(SEEN_BLOOM, SEEN_FIXED, 1000, 0);
    options.bits = 16 << 23;
    seen_set *a = create(NULL, &options), *b = create(NULL, &options);
    OK(seen_add_hashes(a, h, 500, NULL, error));
    OK(seen_add_hashes(b, h + 400, 500, NULL, error));
    OK(seen_merge(a, b, error));
    sn_image image;
    OK(a->ops->image(a, &image, error));
    assert_in_range(image.layer[0].added, 900, 940);
    seen_close(a);
    seen_close(b);
}

/* A merge that would exceed the error rate is refused and changes nothing; if the set may exceed
 * its capacity the merge is done, and info reports the resulting rate. */
static void test_merge_full(void **state)
{
    (void)state;
    hashes_from(0, 3 * MANY, h);
    for (int growth = 0; growth < 2; growth++)
        for (int go_on = 0; go_on < 2; go_on++) {
            seen_options options =
                plain_options(SEEN_BLOOM, (seen_growth)growth, growth == 1 ? 1000 : MANY, 0.01);
            options.when_full = (seen_when_full)go_on;
            seen_set *a = layered_create(NULL, &options), *b = layered_create(NULL, &options);
            OK(seen_add_hashes(a, h, MANY, NULL, error));
            OK(seen_add_hashes(b, h + MANY, MANY, NULL, error));
            if (go_on) {
                OK(seen_merge(a, b, error));
                assert_int_equal(count_there(a, 0, 2 * MANY), 2 * MANY);
                seen_info info = {.size = sizeof info};
                OK(seen_get_info(a, &info, error));
                assert_true(info.error_rate_now > 0.02);
            } else {
                FAILS(SEEN_ERR_FULL, seen_merge(a, b, error));
                assert_true(count_there(a, MANY, MANY) < MANY / 20);
                seen_set *twin = layered_create(NULL, &options); /* all keys in common: allowed */
                OK(seen_add_hashes(twin, h, MANY, NULL, error));
                OK(seen_merge(a, twin, error));
                seen_close(twin);
            }
            seen_close(a);
            seen_close(b);
        }
}

static double rate_of(seen_set *set)
{
    seen_info info = {.size = sizeof info};
    OK(seen_get_info(set, &info, error));
    return info.error_rate_now;
}

/* A merge that would slightly exceed the error rate (at most 1.05 times) is refused too; but not
 * one that adds nothing, even if the rate is exceeded by chance. */
static void test_merge_nearly(void **state)
{
    (void)state;
    enum { STEP = 20 };
    hashes_from(0, 3 * MANY, h);
    seen_options options = plain_options(SEEN_BLOOM, SEEN_FIXED, 2 * MANY, 0.01);
    options.when_full = SEEN_FULL_GO_ON;
    seen_set *all = create(NULL, &options);
    size_t n = 0;
    for (; rate_of(all) < 0.0106; n += STEP)
        OK(seen_add_hashes(all, h + n, STEP, NULL, error));
    assert_true(rate_of(all) < 0.0109 && n < 3 * MANY);
    options.when_full = SEEN_FULL_REFUSE;
    seen_set *a = create(NULL, &options), *b = create(NULL, &options);
    OK(seen_add_hashes(a, h, n / 2, NULL, error));
    OK(seen_add_hashes(b, h + n / 2, n - n / 2, NULL, error));
    FAILS(SEEN_ERR_FULL, seen_merge(a, b, error));
    static char lines[64 * 1024];
    sn_image image;
    OK(all->ops->image(all, &image, error));
    uint64_t count = sn_geometry_lines(&image.layer[0].geometry);
    assert_true(count <= 1024);
    OK(all->ops->read(all, 0, 0, count, lines, error));
    OK(a->ops->merge_lines(a, 0, 0, count, lines, error));
    ((sn_local *)a)->added[0] = 2 * MANY;
    OK(seen_merge(a, b, error));
    seen_close(a);
    seen_close(b);
    seen_close(all);
}

/* Merging windows by count increases the counter of the newest generation. */
static void test_merge_window_counters(void **state)
{
    (void)state;
    seen_options options = plain_options(SEEN_BLOOM, SEEN_WINDOW, 3000, 1e-6);
    options.renew = true;
    options.generations = 4;
    seen_set *a = create(NULL, &options), *b = create(NULL, &options);
    OK(seen_rotate(a, error));
    OK(seen_rotate(a, error)); /* the rings have different positions */
    hashes_from(0, MANY, h);
    OK(seen_add_hashes(a, h, 500, NULL, error));
    OK(seen_add_hashes(b, h + 500, 400, NULL, error));
    OK(seen_merge(a, b, error));
    sn_image image;
    OK(a->ops->image(a, &image, error));
    assert_true(fabs((double)image.layer[image.current].added - 900) < 60);
    assert_int_equal(count_there(a, 0, 900), 900);
    seen_close(a);
    seen_close(b);
    /* Common keys are not counted twice: otherwise the window would rotate early and drop recent
     * keys. */
    a = create(NULL, &options), b = create(NULL, &options);
    OK(seen_add_hashes(a, h, 900, NULL, error));
    OK(seen_add_hashes(b, h, 900, NULL, error));
    OK(seen_merge(a, b, error));
    OK(a->ops->image(a, &image, error));
    assert_int_equal(image.layer[image.current].added, 900);
    seen_close(a);
    seen_close(b);
}

static sn_store_ops rotating_ops;
static seen_status (*real_read)(seen_set *, uint32_t, uint64_t, uint64_t, void *, seen_error *);
static seen_set *turned;
static int rotations_left;

static seen_status read_and_rotate(seen_set *set, uint32_t layer, uint64_t line, uint64_t lines,
                                   void *out, seen_error *e)
{
    seen_status status = real_read(set, layer, line, lines, out, e);
    if (status == SEEN_OK && rotations_left > 0 && rotations_left--)
        return seen_rotate(turned, e);
    return status;
}

/* A window that rotates during a merge keeps the newest keys for a whole window. */
static void test_merge_window_rotates(void **state)
{
    (void)state;
    enum { GENERATIONS = 4 };
    seen_options options = plain_options(SEEN_BLOOM, SEEN_WINDOW, 3000, 1e-9);
    options.renew = true;
    options.generations = GENERATIONS;
    hashes_from(0, MANY, h);
    for (int turns = 0; turns < 2 * GENERATIONS; turns++) {
        seen_set *a = create(NULL, &options), *b = create(NULL, &options);
        OK(seen_add_hashes(b, h, 10, NULL, error));
        OK(seen_rotate(b, error));
        OK(seen_add_hashes(b, h + 10, 10, NULL, error));
        rotating_ops = *b->ops;
        real_read = rotating_ops.read;
        rotating_ops.read = read_and_rotate;
        b->ops = &rotating_ops;
        turned = a;
        rotations_left = turns;
        OK(seen_merge(a, b, error));
        for (int i = 1; i < GENERATIONS; i++) {
            assert_int_equal(count_there(a, 10, 10), 10);
            OK(seen_rotate(a, error));
        }
        assert_int_equal(count_there(a, 0, 10), 0);
        rotations_left = 1000;
        FAILS(SEEN_ERR_CHANGED, seen_merge(a, b, error));
        rotations_left = 0;
        seen_close(a);
        seen_close(b);
    }
}

static int reads_left, rotates_then;

/* The oldest generation is cleared, but the image does not declare it the newest yet. */
static void begin_rotation(seen_set *set)
{
    const sn_view *view = atomic_load(&((sn_local *)set)->view);
    uint32_t next = (view->image.current + 1) % view->image.layers;
    memset(view->bits[next], 0, (size_t)sn_geometry_bytes(&view->image.layer[next].geometry));
}

/* Before one of the reads: h[0], which is always in the window, is added again and the window
 * rotates this many times; or it begins to. */
static seen_status rotate_and_read(seen_set *set, uint32_t layer, uint64_t line, uint64_t lines,
                                   void *out, seen_error *e)
{
    for (int i = 0; reads_left == 0 && i < rotates_then; i++) {
        OK(seen_add_hashes(set, h, 1, NULL, error));
        OK(seen_rotate(set, error));
    }
    if (reads_left == 0 && rotates_then == 0) {
        OK(seen_add_hashes(set, h, 1, NULL, error));
        begin_rotation(set);
    }
    reads_left -= reads_left >= 0;
    return real_read(set, layer, line, lines, out, e);
}

/* A window with h[0] at one position of its ring; the position before it is the current one. */
static seen_set *turning_window(uint32_t generations, uint32_t place)
{
    seen_options options = plain_options(SEEN_BLOOM, SEEN_WINDOW, 3000, 1e-9);
    options.renew = true;
    options.generations = generations;
    seen_set *set = create(NULL, &options);
    for (uint32_t i = 0; i < place; i++)
        OK(seen_rotate(set, error));
    OK(seen_add_hashes(set, h, 1, NULL, error));
    for (uint32_t i = 1; i < generations; i++)
        OK(seen_rotate(set, error));
    rotating_ops = *set->ops;
    real_read = rotating_ops.read;
    rotating_ops.read = rotate_and_read;
    set->ops = &rotating_ops;
    return set;
}

/* Copies of a window that rotates while it is read, and merges with it, have every key that was
 * present all the time; a copy corresponds to one moment. */
static void test_rotates_while_read(void **state)
{
    (void)state;
    enum { GENERATIONS = 3 };
    hashes_from(0, MANY, h);
    for (int turns = 0; turns < 5; turns++)
        for (int reads = 0; reads < GENERATIONS; reads++)
            for (uint32_t place = 0; place < GENERATIONS; place++) {
                rotates_then = turns;
                seen_set *set = turning_window(GENERATIONS, place), *into = NULL;
                reads_left = reads;
                OK(seen_create_like(NULL, set, NULL, 0, &into, error));
                OK(seen_merge(into, set, error));
                assert_int_equal(reads_left, -1);
                for (int i = 1; i < GENERATIONS; i++) {
                    assert_int_equal(count_there(into, 0, 1), 1);
                    OK(seen_rotate(into, error));
                }
                seen_close(into);
                seen_close(set);
                set = turning_window(GENERATIONS, place);
                reads_left = reads;
                OK(seen_copy(set, at("copy"), 0, NULL, error));
                OK(seen_open(at("copy"), NULL, 0, &into, error));
                assert_int_equal(count_there(into, 0, 1), 1);
                if (turns > 0)
                    same_lines(set, into);
                sn_image a, b;
                OK(set->ops->image(set, &a, error));
                OK(into->ops->image(into, &b, error));
                assert_true(a.current == b.current && a.sequence == b.sequence);
                for (uint32_t i = 0; i < GENERATIONS; i++)
                    assert_int_equal(a.layer[i].generation, b.layer[i].generation);
                seen_close(into);
                seen_close(set);
                OK(seen_drop(at("copy"), NULL, error));
            }
}

static seen_status rotate_at_every_read(seen_set *set, uint32_t layer, uint64_t line,
                                        uint64_t lines, void *out, seen_error *e)
{
    OK(seen_rotate(set, error));
    return real_read(set, layer, line, lines, out, e);
}

/* A window that never stops rotating cannot be copied: an error, and nothing is left behind. */
static void test_never_stops(void **state)
{
    (void)state;
    seen_set *set = turning_window(3, 0), *into = NULL;
    rotating_ops.read = rotate_at_every_read;
    FAILS(SEEN_ERR_CHANGED, seen_copy(set, at("copy"), 0, NULL, error));
    assert_int_equal(scratch_count(), 0);
    OK(seen_create_like(NULL, set, NULL, 0, &into, error));
    FAILS(SEEN_ERR_CHANGED, seen_merge(into, set, error));
    seen_close(into);
    seen_close(set);
}

static seen_status (*real_finish_merge)(seen_set *, const sn_image *, seen_error *);

static seen_status rotate_and_count(seen_set *set, const sn_image *from, seen_error *e)
{
    seen_status status = seen_rotate(set, e);
    return status == SEEN_OK ? real_finish_merge(set, from, e) : status;
}

/* A window that rotates after the last line was merged counts no keys in the cleared generation:
 * otherwise it would rotate early and drop recent keys. */
static void test_merge_window_rotates_late(void **state)
{
    (void)state;
    enum { GENERATIONS = 4 };
    seen_options options = plain_options(SEEN_BLOOM, SEEN_WINDOW, 3000, 1e-9);
    options.renew = true;
    options.generations = GENERATIONS;
    hashes_from(0, 3 * MANY, h);
    seen_set *a = create(NULL, &options), *b = create(NULL, &options);
    for (size_t i = 0; i < GENERATIONS; i++) {
        OK(seen_rotate(a, error));
        OK(seen_rotate(b, error));
        OK(seen_add_hashes(b, h + 900 * i, 900, NULL, error));
    }
    rotating_ops = *a->ops;
    real_finish_merge = rotating_ops.finish_merge;
    rotating_ops.finish_merge = rotate_and_count;
    a->ops = &rotating_ops;
    OK(seen_merge(a, b, error));
    sn_image image;
    OK(a->ops->image(a, &image, error));
    assert_in_range(image.layer[image.current].added, 0, 20);
    seen_close(a);
    seen_close(b);
}

/* Keys of a window by time live as long in the union as they would have. */
static void test_merge_window_ages(void **state)
{
    (void)state;
    uint64_t (*real)(void) = sn_clock_now;
    sn_clock_now = fake_clock;
    seen_options options = plain_options(SEEN_BLOOM, SEEN_WINDOW, 3000, 1e-9);
    options.renew = true;
    options.generations = 5;
    options.window_seconds = 100;
    hashes_from(0, MANY, h);
    seen_set *old = create(NULL, &options), *busy = create(NULL, &options);
    OK(seen_add_hashes(old, h, 10, NULL, error));
    uint64_t start = clock_now;
    for (size_t i = 100; i < 200; i++) { /* one key every four seconds, for 400 seconds */
        clock_now += 4;
        OK(seen_add_hashes(busy, h + i, 1, NULL, error));
    }
    /* `old` was not used in all that time: its keys have expired, those of `busy` must be
     * present. */
    seen_set *back;
    OK(seen_create_like(NULL, busy, NULL, 0, &back, error));
    OK(seen_merge(back, busy, error));
    OK(seen_merge(busy, old, error));
    OK(seen_merge(old, back, error));
    for (int later = 0; later < 100; later += 9, clock_now += 9)
        for (size_t i = 100; i < 200; i++) {
            uint64_t when = start + 4 * (i - 99);
            if (clock_now - when <= 100) {
                assert_true(is_there(old, h[i]));
                assert_true(is_there(busy, h[i]));
            }
        }
    assert_false(is_there(busy, h[3]));
    assert_false(is_there(old, h[3]));
    clock_now += 300;
    for (size_t i = 0; i < 200; i++)
        assert_false(is_there(old, h[i]) || is_there(busy, h[i]));
    seen_close(old);
    seen_close(busy);
    seen_close(back);
    sn_clock_now = real;
}

/* A counting set that has grown could lose keys after a merge: refused. */
static void test_merge_counting_layers(void **state)
{
    (void)state;
    seen_options options = plain_options(SEEN_COUNTING, SEEN_GROWING, 500, 0.05);
    seen_set *a = create(NULL, &options), *b = create(NULL, &options);
    hashes_from(0, 3 * MANY, h);
    OK(seen_add_hashes(a, h, 200, NULL, error));
    OK(seen_add_hashes(b, h + 200, 200, NULL, error));
    OK(seen_merge(a, b, error)); /* one layer each: like fixed sets */
    assert_int_equal(count_there(a, 0, 400), 400);
    OK(seen_add_hashes(b, h, MANY, NULL, error));
    FAILS(SEEN_ERR_KIND, seen_merge(a, b, error));
    FAILS(SEEN_ERR_KIND, seen_merge(b, a, error));
    assert_int_equal(count_there(b, 0, MANY), MANY);
    seen_close(a);
    seen_close(b);
}

/* A file with itself, through another handle and another name: nothing is counted twice. */
static void test_merge_same_file(void **state)
{
    (void)state;
    seen_options options = plain_options(SEEN_COUNTING, SEEN_FIXED, 1000, 1e-6);
    seen_set *a = create(at("a"), &options), *b = NULL;
    assert_int_equal(link(at("a"), at("b")), 0);
    OK(seen_open(at("b"), NULL, 0, &b, error));
    hashes_from(0, MANY, h);
    OK(seen_add_hashes(a, h, 100, NULL, error));
    OK(seen_merge(a, b, error));
    OK(seen_remove_hashes(a, h, 100, NULL, error));
    assert_int_equal(count_there(a, 0, 100), 0);
    seen_close(a);
    seen_close(b);
    OK(seen_drop(at("b"), NULL, error));
    OK(seen_drop(at("a"), NULL, error));
}

static void test_merge_refused(void **state)
{
    (void)state;
    seen_options base = plain_options(SEEN_BLOOM, SEEN_FIXED, 1000, 0.01);
    seen_options other[8] = {base, base, base, base, base, base, base, base};
    other[0].kind = SEEN_COUNTING;
    other[1].growth = SEEN_GROWING;
    other[2].hash = SEEN_SIPHASH;
    other[3].seed[0]++;
    other[4].seed[1]++;
    other[5].capacity = 2000;
    other[6].error_rate = 0.001;
    other[7] = plain_options(SEEN_BLOOM, SEEN_FIXED, 0, 0);
    other[7].bits = 16384;
    other[7].hashes = 6;
    static const char *const WORD[] = {"kind", "growth",   "hash",     "seed",
                                       "seed", "geometry", "geometry", "geometry"};
    seen_set *into = create(at("into"), &base);
    OK(seen_add(into, "a", 1, NULL, error));
    for (size_t i = 0; i < 8; i++) {
        seen_set *from = NULL;
        seen_error e;
        if (seen_create(NULL, &other[i], 0, &from, &e) == SEEN_ERR_UNSUPPORTED)
            continue;
        assert_non_null(from);
        assert_int_equal(seen_merge(into, from, &e), SEEN_ERR_MISMATCH);
        assert_non_null(strstr(e.message, WORD[i]));
        seen_close(from);
    }
    seen_close(into);
    seen_set *same = create(NULL, &base);
    OK(seen_open(at("into"), NULL, SEEN_READ_ONLY, &into, error));
    FAILS(SEEN_ERR_PERMISSION, seen_merge(into, same, error));
    OK(seen_merge(same, into, error));
    seen_answer answer;
    OK(seen_check(same, "a", 1, &answer, error));
    assert_int_equal(answer, SEEN_BEFORE);
    seen_close(into);
    seen_close(same);
    OK(seen_drop(at("into"), NULL, error));
    /* Growing sets with different first layers have no layer in common. */
    seen_options grow = plain_options(SEEN_BLOOM, SEEN_GROWING, 1000, 0.01);
    seen_set *a = create(NULL, &grow);
    grow.error_rate = 0.02;
    seen_set *b = create(NULL, &grow);
    FAILS(SEEN_ERR_MISMATCH, seen_merge(a, b, error));
    seen_close(a);
    seen_close(b);
}

/* Windows with different numbers of generations may have equal lines, but not equal rings: the
 * newest keys would be merged into the generation that is dropped next. */
static void test_merge_other_ring(void **state)
{
    (void)state;
    hashes_from(0, MANY, h);
    for (int more = 0; more < 2; more++) {
        seen_options options = plain_options(SEEN_BLOOM, SEEN_WINDOW, 16, 0.01);
        options.renew = true;
        options.generations = 9;
        seen_set *nine = create(NULL, &options);
        options.capacity = 14;
        options.generations = 8;
        seen_set *eight = create(NULL, &options), *into = more ? nine : eight;
        seen_info before = {.size = sizeof before}, after = before;
        OK(seen_add_hashes(nine, h, 1, NULL, error));
        OK(seen_add_hashes(eight, h + 1, 1, NULL, error));
        OK(seen_get_shape(into, &before, error));
        seen_error e = {0};
        assert_int_equal(seen_merge(into, more ? eight : nine, &e), SEEN_ERR_MISMATCH);
        assert_non_null(strstr(e.message, "generations"));
        OK(seen_get_shape(into, &after, error));
        assert_memory_equal(&before, &after, sizeof before);
        seen_close(nine);
        seen_close(eight);
    }
}

/* A file whose later layers differ from those the set would open itself, made by an attacker or by
 * another program: its lines cannot be merged. */
static void test_merge_other_layers(void **state)
{
    (void)state;
    hashes_from(0, 3 * MANY, h);
    seen_options options = plain_options(SEEN_BLOOM, SEEN_GROWING, MANY, 0.01);
    seen_set *set = layered_create(at("wide"), &options);
    OK(seen_add_hashes(set, h, 2 * MANY, NULL, error));
    sn_image image;
    OK(set->ops->image(set, &image, error));
    assert_true(image.layers > 1);
    seen_close(set);
    size_t size;
    unsigned char *bytes = file_bytes(at("wide"), &size);
    image.layers = 2;
    image.current = 1;
    image.layer[1].geometry.shards = 64;
    size_t longer = (size_t)sn_image_end(&image);
    assert_true(longer > size);
    bytes = realloc(bytes, longer);
    memset(bytes + size, 0xff, longer - size);
    sn_image_encode(&image, bytes);
    sn_image_encode(&image, bytes + SN_IMAGE_BYTES);
    file_put(at("wide"), bytes, longer);
    free(bytes);
    seen_set *into = layered_create(NULL, &options);
    OK(seen_open(at("wide"), NULL, 0, &set, error));
    FAILS(SEEN_ERR_MISMATCH, seen_merge(into, set, error));
    seen_close(into);
    seen_close(set);
    OK(seen_drop(at("wide"), NULL, error));
}

static void test_copy(void **state)
{
    (void)state;
    hashes_from(0, 2 * MANY, h);
    for (int kind = 0; kind < 2; kind++)
        for (int growth = 0; growth < (kind ? 2 : 3); growth++) {
            seen_options options = plain_options((seen_kind)kind, (seen_growth)growth,
                                                 growth == 1 ? 500 : 5 * MANY, 1e-6);
            seen_set *set = layered_create(NULL, &options), *copy = NULL;
            OK(seen_add_hashes(set, h, MANY, NULL, error));
            if (growth == SEEN_WINDOW)
                OK(seen_rotate(set, error));
            OK(seen_add_hashes(set, h + 50, MANY, NULL, error));
            OK(seen_copy(set, at("one"), 0, NULL, error));
            FAILS(SEEN_ERR_EXISTS, seen_copy(set, at("one"), 0, NULL, error));
            OK(seen_copy(set, at("one"), SEEN_REPLACE, NULL, error));
            OK(seen_open(at("one"), NULL, 0, &copy, error));
            same_lines(set, copy);
            OK(seen_copy(copy, at("two"), 0, NULL, error));
            size_t one, two;
            unsigned char *x = file_bytes(at("one"), &one), *y = file_bytes(at("two"), &two);
            assert_int_equal(one, two);
            assert_memory_equal(x, y, one);
            free(x);
            free(y);
            /* The copy continues like the original. */
            seen_info a = {.size = sizeof a}, b = {.size = sizeof b};
            OK(seen_add_hashes(set, h, 2 * MANY, NULL, error));
            OK(seen_add_hashes(copy, h, 2 * MANY, NULL, error));
            OK(seen_get_info(set, &a, error));
            OK(seen_get_info(copy, &b, error));
            assert_true(a.keys_estimated == b.keys_estimated && a.layers == b.layers);
            same_lines(set, copy);
            assert_int_equal(scratch_count(), 2);
            seen_close(set);
            seen_close(copy);
            OK(seen_drop(at("one"), NULL, error));
            OK(seen_drop(at("two"), NULL, error));
        }
    seen_options options = plain_options(SEEN_BLOOM, SEEN_FIXED, 100, 0.01);
    seen_set *set = create(NULL, &options);
    FAILS(SEEN_ERR_ARGUMENT, seen_copy(set, NULL, 0, NULL, error));
    FAILS(SEEN_ERR_NOT_FOUND, seen_copy(set, at("no/such/folder"), 0, NULL, error));
    FAILS(SEEN_ERR_NOT_FOUND, seen_drop(at("one"), NULL, error));
    file_put(at("text"), "not a filter", 12);
    FAILS(SEEN_ERR_FORMAT, seen_drop(at("text"), NULL, error));
    assert_int_equal(scratch_count(), 1);
    seen_close(set);
}

static void test_like(void **state)
{
    (void)state;
    hashes_from(0, MANY, h);
    for (int growth = 0; growth < 3; growth++) {
        seen_options options =
            plain_options(SEEN_BLOOM, (seen_growth)growth, growth == 1 ? 100 : 5 * MANY, 1e-4);
        options.seed_given = false;
        seen_set *set = create(NULL, &options), *like = NULL;
        OK(seen_add_hashes(set, h, MANY, NULL, error));
        OK(seen_create_like(NULL, set, NULL, 0, &like, error));
        assert_int_equal(count_there(like, 0, MANY), 0);
        seen_info info = {.size = sizeof info};
        OK(seen_get_info(like, &info, error));
        assert_int_equal(info.layers, 1);
        assert_true(seen_hasher_of(like).seed[0] == seen_hasher_of(set).seed[0]);
        OK(seen_merge(like, set, error));
        assert_int_equal(count_there(like, 0, MANY), MANY);
        seen_close(set);
        seen_close(like);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge_is_union),
        cmocka_unit_test(test_merge_counts),
        cmocka_unit_test(test_merge_counts_few),
        cmocka_unit_test(test_merge_full),
        cmocka_unit_test(test_merge_nearly),
        cmocka_unit_test(test_merge_window_counters),
        cmocka_unit_test(test_merge_window_ages),
        cmocka_unit_test(test_merge_window_rotates),
        cmocka_unit_test(test_merge_window_rotates_late),
        cmocka_unit_test(test_rotates_while_read),
        cmocka_unit_test(test_never_stops),
        cmocka_unit_test(test_merge_counting_layers),
        cmocka_unit_test(test_merge_same_file),
        cmocka_unit_test(test_merge_refused),
        cmocka_unit_test(test_merge_other_ring),
        cmocka_unit_test(test_merge_other_layers),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_like),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
