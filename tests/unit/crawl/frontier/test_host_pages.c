/* Tallies: counted, stored, loaded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "crawl/frontier/host_pages.h"

static void counts_and_comes_back(void **state)
{
    sn_host_pages *tally = sn_host_pages_create();
    (void)state;
    for (uint64_t i = 0; i < 5000; i++)
        for (uint64_t k = 0; k < i % 3; k++)
            assert_true(sn_host_pages_add(tally, i << 32, k + 1));
    size_t size = sn_host_pages_size(tally);
    assert_int_equal(size, 16 * (5000 - 1667));
    uint8_t *bytes = malloc(size);
    sn_host_pages_store(tally, bytes);
    sn_host_pages *other = sn_host_pages_create();
    assert_true(sn_host_pages_load(other, bytes, size));
    for (uint64_t i = 0; i < 6000; i++) {
        uint64_t want = i >= 5000 ? 0 : i % 3 == 2 ? 3 : i % 3;
        assert_int_equal(sn_host_pages_get(tally, i << 32), want);
        assert_int_equal(sn_host_pages_get(other, i << 32), want);
    }
    free(bytes);
    sn_host_pages_destroy(tally);
    sn_host_pages_destroy(other);
}

/* What was taken back to nothing stays where others, which came behind it, are found. */
static void takes_back(void **state)
{
    sn_host_pages *tally = sn_host_pages_create();
    (void)state;
    assert_true(sn_host_pages_add(tally, 1, 1));
    assert_true(sn_host_pages_add(tally, 1 + (UINT64_C(1) << 32), 5));
    assert_true(sn_host_pages_add(tally, 1 + (UINT64_C(2) << 32), 7));
    sn_host_pages_take(tally, 1);
    sn_host_pages_take(tally, 1);
    sn_host_pages_take(tally, 1 + (UINT64_C(1) << 32));
    sn_host_pages_take(tally, 99);
    uint8_t bytes[3 * 16];
    assert_int_equal(sn_host_pages_size(tally), sizeof bytes);
    sn_host_pages_store(tally, bytes);
    sn_host_pages *other = sn_host_pages_create();
    assert_true(sn_host_pages_load(other, bytes, sizeof bytes));
    for (int i = 0; i < 2; i++) {
        const sn_host_pages *t = i == 0 ? tally : other;
        assert_int_equal(sn_host_pages_get(t, 1), 0);
        assert_int_equal(sn_host_pages_get(t, 1 + (UINT64_C(1) << 32)), 4);
        assert_int_equal(sn_host_pages_get(t, 1 + (UINT64_C(2) << 32)), 7);
        assert_int_equal(sn_host_pages_get(t, 99), 0);
    }
    assert_true(sn_host_pages_add(tally, 1, 2));
    assert_int_equal(sn_host_pages_get(tally, 1), 2);
    sn_host_pages_destroy(tally);
    sn_host_pages_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_and_comes_back),
                                       cmocka_unit_test(takes_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
