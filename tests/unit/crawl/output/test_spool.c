/* Spools: the same bytes back, whether they fit in memory or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "crawl/output/spool.h"

static void gives_back_what_it_got(void **state)
{
    sn_spool spool;
    static const size_t sizes[] = {0, 1, 1000, SN_SPOOL_MEMORY, SN_SPOOL_MEMORY + 1, 3000000};
    (void)state;
    sn_spool_init(&spool);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        char piece[777];
        size_t put = 0;
        while (put < sizes[s]) {
            size_t n = sizes[s] - put < sizeof piece ? sizes[s] - put : sizeof piece;
            for (size_t i = 0; i < n; i++)
                piece[i] = (char)((put + i) % 251);
            assert_true(sn_spool_put(&spool, piece, n));
            put += n;
        }
        assert_int_equal(sn_spool_length(&spool), sizes[s]);
        assert_true(spool.room <= SN_SPOOL_MEMORY);
        uint64_t at = 0;
        for (long n; (n = sn_spool_read(&spool, at, piece, 500)) > 0; at += (uint64_t)n)
            for (long i = 0; i < n; i++)
                assert_int_equal((uint8_t)piece[i], (at + (uint64_t)i) % 251);
        assert_int_equal(at, sizes[s]);
        sn_spool_reset(&spool);
        assert_int_equal(sn_spool_length(&spool), 0);
    }
    sn_spool_free(&spool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gives_back_what_it_got)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
