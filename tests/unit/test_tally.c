/* Tallies: counted, stored, loaded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "crawl/tally.h"

static void counts_and_comes_back(void **state)
{
    sn_tally *tally = sn_tally_create();
    (void)state;
    for (uint64_t i = 0; i < 5000; i++)
        for (uint64_t k = 0; k < i % 3; k++)
            assert_true(sn_tally_add(tally, i << 32, k + 1));
    size_t size = sn_tally_size(tally);
    assert_int_equal(size, 16 * (5000 - 1667));
    uint8_t *bytes = malloc(size);
    sn_tally_store(tally, bytes);
    sn_tally *other = sn_tally_create();
    assert_true(sn_tally_load(other, bytes, size));
    for (uint64_t i = 0; i < 6000; i++) {
        uint64_t want = i >= 5000 ? 0 : i % 3 == 2 ? 3 : i % 3;
        assert_int_equal(sn_tally_get(tally, i << 32), want);
        assert_int_equal(sn_tally_get(other, i << 32), want);
    }
    free(bytes);
    sn_tally_destroy(tally);
    sn_tally_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_and_comes_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
