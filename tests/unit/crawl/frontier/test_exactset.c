/* Exact keys: every hash new once, through several growths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "crawl/frontier/exactset.h"

static seen_hash hash_of(uint64_t i)
{
    /* Many share their low bits, so that probing is exercised. */
    return (seen_hash){i / 4 * UINT64_C(0x9e3779b97f4a7c15), i};
}

static void is_new_once(void **state)
{
    enum { N = 200000 };
    sn_exactset *exact;
    seen_error error;
    (void)state;
    assert_int_equal(sn_exactset_create(-1, &exact, &error), SEEN_OK);
    for (uint64_t i = 0; i < N; i += 2) {
        seen_hash both[3] = {hash_of(i), hash_of(i + 1), hash_of(i)};
        seen_answer answers[3];
        sn_exactset_check(exact, both, 3, answers);
        for (int k = 0; k < 3; k++)
            assert_int_equal(answers[k], SEEN_NEW);
        assert_int_equal(sn_exactset_add(exact, both, 3, answers, &error), SEEN_OK);
        assert_int_equal(answers[0], SEEN_NEW);
        assert_int_equal(answers[1], SEEN_NEW);
        assert_int_equal(answers[2], SEEN_BEFORE);
    }
    assert_int_equal(sn_exactset_count(exact), N);
    assert_true(sn_exactset_bytes(exact) >= N * 16 && sn_exactset_bytes(exact) <= N * 64);
    for (uint64_t i = 0; i < 2 * N; i++) {
        seen_hash hash = hash_of(i);
        seen_answer answer;
        sn_exactset_check(exact, &hash, 1, &answer);
        assert_int_equal(answer, i < N ? SEEN_BEFORE : SEEN_NEW);
    }
    sn_exactset_destroy(exact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_new_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
