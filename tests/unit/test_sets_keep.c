/* The map of lines: in one piece, and range by range. */
#include "stream/sets_keep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static bool chosen(uint64_t line)
{
    return line * 0x9e3779b97f4a7c15u >> 62 == 1;
}

/* Sets bits in several rising runs, as slices of the hashes do, and asks in blocks. */
static void there_and_back(uint64_t lines, uint64_t memory, size_t block)
{
    sn_keep keep;
    seen_answer *answers = malloc(block);
    assert_non_null(answers);
    assert_int_equal(sn_keep_open(&keep, lines, memory, NULL, NULL), SEEN_OK);
    assert_true(keep.bytes <= (memory < 4096 ? 4096 : memory));
    for (uint64_t run = 0; run < 5; run++)
        for (uint64_t line = run; line < lines; line += 5)
            if (chosen(line))
                assert_int_equal(sn_keep_set(&keep, line, NULL), SEEN_OK);
    assert_int_equal(sn_keep_finish(&keep, NULL), SEEN_OK);
    for (uint64_t at = 0; at < lines; at += block) {
        size_t n = lines - at < block ? (size_t)(lines - at) : block;
        assert_int_equal(sn_keep_ask(&keep, at, n, answers, NULL), SEEN_OK);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(answers[i], chosen(at + i) ? SEEN_BEFORE : SEEN_NEW);
    }
    assert_int_equal(sn_keep_temporary(&keep) > 0, keep.ranges > 1);
    sn_keep_close(&keep);
    free(answers);
}

static void one_piece(void **unused)
{
    (void)unused;
    there_and_back(1, 1 << 20, 10);
    there_and_back(64, 1 << 20, 64);
    there_and_back(100001, 1 << 20, 777);
    sn_keep none;
    assert_int_equal(sn_keep_open(&none, 0, 1 << 20, NULL, NULL), SEEN_OK);
    sn_keep_close(&none);
    sn_keep_close(&none);
}

static void ranges(void **unused)
{
    (void)unused;
    there_and_back(100000, 4096, 1000);
    there_and_back(1000003, 8192, 4093);
    there_and_back(300000, 0, 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_piece), cmocka_unit_test(ranges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
