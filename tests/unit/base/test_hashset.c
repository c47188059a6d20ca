/* The set of hashes: every hash is new once, through growing, clearing and moving. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/hashset.h"

/* Many share the bits that choose the slot, so that probing is exercised; one is {0, 0}. */
static seen_hash hash_of(uint64_t i)
{
    return (seen_hash){i / 4 * UINT64_C(0x9e3779b97f4a7c15), i};
}

static void fill(sn_hashset *set, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        assert_false(sn_hashset_has(set, hash_of(i)));
        assert_true(sn_hashset_reserve(set, 1));
        assert_true(sn_hashset_add(set, hash_of(i)));
        assert_true(sn_hashset_has(set, hash_of(i)));
        assert_false(sn_hashset_add(set, hash_of(i)));
    }
    assert_int_equal(set->count, n);
    for (uint64_t i = 0; i < 2 * n; i++)
        assert_int_equal(sn_hashset_has(set, hash_of(i)), i < n);
}

static void test_new_once(void **state)
{
    (void)state;
    sn_hashset set = {0};
    for (int round = 0; round < 3; round++) {
        fill(&set, 20000);
        assert_in_range(set.mask + 1, 40000, 65536);
        sn_hashset_clear(&set);
        assert_int_equal(set.count, 0);
        assert_false(sn_hashset_has(&set, hash_of(0)) || sn_hashset_has(&set, hash_of(5)));
    }
    sn_hashset_free(&set);
}

/* One large use is not paid for by every small one after it. */
static void test_gives_memory_back(void **state)
{
    (void)state;
    sn_hashset set = {0};
    fill(&set, 20000);
    sn_hashset_clear(&set);
    assert_non_null(set.slots);
    assert_true(sn_hashset_reserve(&set, 10));
    assert_true(sn_hashset_add(&set, hash_of(1)));
    sn_hashset_clear(&set);
    assert_null(set.slots);
    fill(&set, 10);
    sn_hashset_free(&set);
}

static void test_moves(void **state)
{
    (void)state;
    enum { N = 3000, SLOTS = 4096 };
    sn_hashset set = {0};
    seen_hash *memory = calloc(SLOTS, sizeof *memory), *old;
    assert_non_null(memory);
    fill(&set, N);
    old = set.slots;
    sn_hashset_move(&set, memory, SLOTS);
    free(old);
    assert_int_equal(set.mask, SLOTS - 1);
    for (uint64_t i = 0; i < 2 * (uint64_t)N; i++)
        assert_int_equal(sn_hashset_has(&set, hash_of(i)), i < N);
    assert_false(sn_hashset_reserve(&set, SIZE_MAX / 2));
    sn_hashset_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_new_once),
                                       cmocka_unit_test(test_gives_memory_back),
                                       cmocka_unit_test(test_moves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
