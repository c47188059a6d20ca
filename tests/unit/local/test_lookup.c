/* One batch in the layers of a set: which layers are checked, and which one keys are added to. */
#include "test_trust.h"

#include "base/clock.h"
#include "local/lookup.h"
#include "set/layers.h"

static uint64_t clock_now = 1000;

static uint64_t fake_clock(void)
{
    return clock_now;
}

/* A view over plain memory. */
static sn_view *view_new(seen_kind kind, seen_growth growth, uint32_t layers)
{
    sn_view *view = calloc(1, sizeof *view);
    seen_options options = plain_options(kind, growth, 1000, 1e-9);
    options.generations = growth == SEEN_WINDOW ? layers : 0;
    options.window_seconds = growth == SEEN_WINDOW ? 60 : 0;
    OK(sn_layers_begin(&options, &view->image, error));
    sn_image *image = &view->image;
    while (growth == SEEN_GROWING && image->layers < layers) {
        OK(sn_layers_next(image, &image->layer[image->layers], error));
        image->current = image->layers++;
    }
    for (uint32_t i = 0; i < image->layers; i++) {
        size_t bytes = sn_geometry_bytes(&image->layer[i].geometry);
        view->bits[i] = aligned_alloc(64, bytes);
        memset(view->bits[i], 0, bytes);
    }
    return view;
}

static void view_free(sn_view *view)
{
    for (uint32_t i = 0; i < view->image.layers; i++)
        free(view->bits[i]);
    free(view);
}

/* The layers that have a key, as bits. */
static unsigned layers_with(const sn_view *view, seen_hash h)
{
    const sn_kernel *k = sn_kernel_for(view->image.kind);
    unsigned set = 0;
    for (uint32_t i = 0; i < view->image.layers; i++) {
        seen_answer answer = SEEN_NEW;
        k->check(&view->image.layer[i].geometry, view->bits[i], &h, 1, &answer);
        set |= (unsigned)answer << i;
    }
    return set;
}

static seen_answer add(const sn_view *view, uint64_t key, uint64_t *new_keys)
{
    seen_hash h = hash_of(key);
    seen_answer answer = 9;
    *new_keys = sn_lookup_add(sn_kernel_for(view->image.kind), view, &h, 1, &answer);
    return answer;
}

static void test_growing(void **state)
{
    (void)state;
    sn_view *view = view_new(SEEN_BLOOM, SEEN_GROWING, 4);
    uint64_t new_keys;
    assert_int_equal(add(view, 1, &new_keys), SEEN_NEW);
    assert_int_equal(new_keys, 1);
    assert_int_equal(layers_with(view, hash_of(1)), 8);
    /* Keys of an older layer are not added again. */
    view->image.current = 1;
    assert_int_equal(add(view, 2, &new_keys), SEEN_NEW);
    view->image.current = 3;
    assert_int_equal(add(view, 2, &new_keys), SEEN_BEFORE);
    assert_int_equal(new_keys, 0);
    assert_int_equal(layers_with(view, hash_of(2)), 2);
    /* A mixed batch keeps its order; a key that occurs twice is new once. */
    seen_hash h[7] = {hash_of(2), hash_of(5), hash_of(5), hash_of(1),
                      hash_of(6), hash_of(2), hash_of(6)};
    seen_answer answers[7];
    assert_int_equal(sn_lookup_add(sn_kernel_for(SEEN_BLOOM), view, h, 7, answers), 2);
    static const seen_answer WANT[7] = {1, 0, 1, 1, 0, 1, 1};
    assert_memory_equal(answers, WANT, 7);
    memset(answers, 0, 7);
    sn_lookup_check(sn_kernel_for(SEEN_BLOOM), view, h, 7, answers);
    for (int i = 0; i < 7; i++)
        assert_int_equal(answers[i], SEEN_BEFORE);
    assert_int_equal(sn_lookup_add(sn_kernel_for(SEEN_BLOOM), view, h, 0, answers), 0);
    view_free(view);
}

static void test_counting(void **state)
{
    (void)state;
    sn_view *view = view_new(SEEN_COUNTING, SEEN_GROWING, 3);
    const sn_kernel *k = sn_kernel_for(SEEN_COUNTING);
    uint64_t new_keys, added[3] = {0};
    view->image.current = 0;
    add(view, 1, &new_keys);
    added[0] += new_keys;
    view->image.current = 2;
    /* Counted in its layer; an absent key in the current layer. */
    assert_int_equal(add(view, 1, &new_keys), SEEN_BEFORE);
    assert_int_equal(new_keys, 0);
    assert_int_equal(layers_with(view, hash_of(1)), 1);
    assert_int_equal(add(view, 2, &new_keys), SEEN_NEW);
    added[2] += new_keys;
    assert_int_equal(layers_with(view, hash_of(2)), 4);
    seen_hash h[3] = {hash_of(1), hash_of(2), hash_of(3)};
    seen_answer answers[3];
    sn_lookup_remove(k, view, h, 3, answers, added);
    assert_int_equal(answers[0], SEEN_BEFORE);
    assert_int_equal(answers[1], SEEN_BEFORE);
    assert_int_equal(answers[2], SEEN_NEW);
    assert_int_equal(layers_with(view, hash_of(1)), 1); /* one of two additions is left */
    assert_int_equal(layers_with(view, hash_of(2)), 0);
    assert_int_equal(added[0], 1);
    assert_int_equal(added[2], 0);
    sn_lookup_remove(k, view, h, 1, answers, added);
    assert_int_equal(layers_with(view, hash_of(1)), 0);
    assert_int_equal(added[0], 0);
    view_free(view);
}

static void test_window(void **state)
{
    (void)state;
    sn_clock_now = fake_clock;
    sn_view *view = view_new(SEEN_BLOOM, SEEN_WINDOW, 4); /* 20 seconds each */
    sn_image *image = &view->image;
    uint64_t new_keys;
    image->renew = true;
    assert_int_equal(add(view, 1, &new_keys), SEEN_NEW);
    assert_false(sn_layers_live(image, 1)); /* not in use yet */
    image->current = 1;
    image->layer[1].generation = 2;
    clock_now = image->layer[1].born = 1015; /* rotated early */
    /* Seen before, and added again nevertheless: its age starts again. */
    assert_int_equal(add(view, 1, &new_keys), SEEN_BEFORE);
    assert_int_equal(new_keys, 1);
    assert_int_equal(layers_with(view, hash_of(1)), 3);
    clock_now = 1015 + 60;
    assert_true(sn_layers_live(image, 0));
    clock_now++;
    assert_false(sn_layers_live(image, 0));
    clock_now = 1015 + 20 + 60;
    assert_true(sn_layers_live(image, 1));
    clock_now++;
    assert_false(sn_layers_live(image, 1)); /* the current one expires too if nothing is added */
    seen_hash h = hash_of(1);
    seen_answer answer = SEEN_NEW;
    sn_lookup_check(sn_kernel_for(SEEN_BLOOM), view, &h, 1, &answer);
    assert_int_equal(answer, SEEN_NEW);
    clock_now = 500; /* if the clock is set back nothing is dropped */
    sn_lookup_check(sn_kernel_for(SEEN_BLOOM), view, &h, 1, &answer);
    assert_int_equal(answer, SEEN_BEFORE);
    image->window_seconds = 0;
    clock_now = UINT64_MAX / 2;
    assert_true(sn_layers_live(image, 0) && !sn_layers_live(image, 2));
    view_free(view);
}

static void test_present(void **state)
{
    (void)state;
    sn_view *view = view_new(SEEN_BLOOM, SEEN_FIXED, 1);
    uint64_t new_keys;
    add(view, 1, &new_keys);
    add(view, 2, &new_keys);
    seen_hash h[4] = {hash_of(1), hash_of(2), hash_of(3), hash_of(1)};
    seen_answer answers[4];
    assert_int_equal(sn_lookup_present(sn_kernel_for(SEEN_BLOOM), view, h, 4, answers), 2);
    static const seen_answer WANT[4] = {SEEN_BEFORE, SEEN_BEFORE, SEEN_UNKNOWN, SEEN_BEFORE};
    assert_memory_equal(answers, WANT, 4);
    assert_int_equal(layers_with(view, hash_of(3)), 0);
    view_free(view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growing),
        cmocka_unit_test(test_counting),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_present),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
