/* The views of a window: a held view does not change, others are reused, and a window that rotates
 * during a lookup does not lose recent keys. */
#include "test_trust.h"

#include "local/local.h"
#include "local/lookup.h"

enum { GENERATIONS = 4, PLENTY = 1000 };

static seen_set *make(bool file)
{
    seen_options options = plain_options(SEEN_BLOOM, SEEN_WINDOW, 300, 1e-9);
    options.renew = true;
    options.generations = GENERATIONS;
    seen_set *set = NULL;
    OK(seen_create(file ? at("w") : NULL, &options, 0, &set, error));
    return set;
}

static unsigned views_of(seen_set *set)
{
    unsigned count = 0;
    for (const sn_view *view = atomic_load(&((sn_local *)set)->view); view; view = view->older)
        count++;
    return count;
}

static void test_bounded(void **state)
{
    (void)state;
    for (int file = 0; file < 2; file++) {
        seen_set *set = make(file), *other = NULL;
        if (file)
            OK(seen_open(at("w"), NULL, 0, &other, error));
        for (uint64_t i = 0; i < (file ? PLENTY / 10 : PLENTY); i++) {
            OK(seen_rotate(set, error));
            assert_int_equal(add_key(set, i), SEEN_NEW);
            assert_true(is_there(file ? other : set, hash_of(i)));
        }
        assert_in_range(views_of(set), 1, 3);
        if (file)
            assert_in_range(views_of(other), 1, 3);
        seen_close(other);
        seen_close(set);
    }
    OK(seen_drop(at("w"), NULL, error));
}

static void test_held(void **state)
{
    (void)state;
    seen_set *set = make(false);
    sn_local *l = (sn_local *)set;
    sn_view *held[3];
    sn_image image[3];
    for (int i = 0; i < 3; i++) {
        held[i] = sn_view_acquire(l);
        image[i] = held[i]->image;
        for (int turns = 0; turns < 5; turns++)
            OK(seen_rotate(set, error));
    }
    for (int i = 0; i < 3; i++) {
        assert_memory_equal(&held[i]->image, &image[i], sizeof image[i]);
        sn_view_release(l, held[i]);
    }
    unsigned before = views_of(set);
    for (int turns = 0; turns < 20; turns++)
        OK(seen_rotate(set, error));
    assert_int_equal(views_of(set), before);
    assert_in_range(before, 4, 6);
    seen_close(set);
}

/* ---- a window that rotates during a lookup ---- */

enum { KEYS = 10 };

static const sn_kernel *real;
static sn_kernel spy;
static sn_local_backing stuck;
static seen_set *asked, *writer;
static int before_rotation, turns;
static bool half;

static seen_status fail_to_sync(sn_local *l, seen_error *e)
{
    (void)l;
    (void)e;
    return SEEN_ERR_IO;
}

/* After this many generations were checked the keys are added again and the window rotates, this
 * often. Half a rotation has cleared the oldest generation but not published it yet. */
static void check_and_rotate(const sn_geometry *g, const void *bits, const seen_hash *h,
                             size_t count, seen_answer *answers)
{
    real->check(g, bits, h, count, answers);
    if (before_rotation-- != 0)
        return;
    for (; turns > 0; turns--) {
        OK(seen_add_hashes(writer, h, count, NULL, error));
        OK(seen_rotate(writer, error));
    }
    if (!half)
        return;
    sn_local *l = (sn_local *)writer;
    const sn_local_backing *backing = l->backing;
    OK(seen_add_hashes(writer, h, count, NULL, error));
    stuck = *backing;
    stuck.sync = fail_to_sync;
    l->backing = &stuck;
    assert_int_equal(seen_rotate(writer, NULL), SEEN_ERR_IO);
    l->backing = backing;
}

static void look_up_and_rotate(bool file, int age, int first, int often)
{
    seen_hash h[KEYS];
    seen_answer answers[KEYS];
    hashes_from(0, KEYS, h);
    asked = writer = make(file);
    for (int i = 0; i < GENERATIONS; i++) /* all are in use */
        OK(seen_rotate(writer, error));
    if (file)
        OK(seen_open(at("w"), NULL, 0, &asked, error));
    sn_local *l = (sn_local *)asked;
    OK(seen_add_hashes(writer, h, KEYS, NULL, error));
    for (int i = 0; i < age; i++)
        OK(seen_rotate(writer, error));
    real = l->kernel;
    spy = *real;
    spy.check = check_and_rotate;
    before_rotation = first;
    turns = often;
    l->kernel = &spy;
    OK(seen_check_hashes(asked, h, KEYS, answers, error));
    for (int i = 0; i < KEYS; i++)
        if (answers[i] != SEEN_BEFORE)
            fail_msg("forgot a key of age %d: %d turns%s after %d generations", age, often,
                     half ? " and a half" : "", first + 1);
    assert_true(before_rotation < 0);
    if (file)
        seen_close(asked);
    seen_close(writer);
    if (file)
        OK(seen_drop(at("w"), NULL, error));
}

static void test_rotates_while_checked(void **state)
{
    (void)state;
    for (int file = 0; file < 2; file++)
        for (int age = 0; age < GENERATIONS; age++)
            for (int first = 0; first < GENERATIONS; first++)
                for (int halves = 0; halves < 4 * GENERATIONS; halves++) {
                    half = halves % 2;
                    look_up_and_rotate(file, age, first, halves / 2);
                }
}

/* A window is checked in pieces. */
static void test_many_at_once(void **state)
{
    (void)state;
    enum { MANY = 3 * SN_LOOKUP_MAX + 5 };
    static seen_hash h[MANY];
    static seen_answer answers[MANY];
    seen_options options = plain_options(SEEN_BLOOM, SEEN_WINDOW, MANY, 1e-9);
    options.renew = true;
    seen_set *set = NULL;
    OK(seen_create(NULL, &options, 0, &set, error));
    hashes_from(0, MANY, h);
    OK(seen_add_hashes(set, h + 1, MANY - 1, NULL, error));
    OK(seen_check_hashes(set, h, MANY, answers, error));
    assert_int_equal(answers[0], SEEN_NEW);
    for (size_t i = 1; i < MANY; i++)
        assert_int_equal(answers[i], SEEN_BEFORE);
    seen_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_held),
        cmocka_unit_test(test_rotates_while_checked),
        cmocka_unit_test(test_many_at_once),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
