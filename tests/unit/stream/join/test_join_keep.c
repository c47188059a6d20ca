/* The map of lines: in one piece, and range by range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static bool malloc_fails;

static void *faulty_malloc(size_t bytes)
{
    return malloc_fails ? NULL : malloc(bytes);
}

/* The source itself, with an allocator that fails when told to. */
#define malloc faulty_malloc
#include "stream/join/keep.c"
#undef malloc

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

/* More ranges than a spill has parts: fewer and larger ones. */
static void most_ranges(void **unused)
{
    (void)unused;
    sn_keep keep;
    uint64_t lines = (uint64_t)1 << 33;
    assert_int_equal(sn_keep_open(&keep, lines, 0, NULL, NULL), SEEN_OK);
    assert_int_equal(keep.ranges, SN_SPILL_PARTS_MAX);
    assert_true(keep.range * keep.ranges >= lines);
    seen_answer answer = SEEN_UNKNOWN;
    assert_int_equal(sn_keep_set(&keep, lines - 1, NULL), SEEN_OK);
    assert_int_equal(sn_keep_finish(&keep, NULL), SEEN_OK);
    assert_int_equal(sn_keep_ask(&keep, lines - 1, 1, &answer, NULL), SEEN_OK);
    assert_int_equal(answer, SEEN_BEFORE);
    assert_int_equal(sn_keep_ask(&keep, lines - 2, 1, &answer, NULL), SEEN_OK);
    assert_int_equal(answer, SEEN_NEW);
    sn_keep_close(&keep);
}

static void no_memory_to_load(void **unused)
{
    (void)unused;
    sn_keep keep;
    seen_answer answer = SEEN_UNKNOWN;
    seen_error error = {0};
    assert_int_equal(sn_keep_open(&keep, 100000, 4096, NULL, NULL), SEEN_OK);
    assert_int_equal(sn_keep_set(&keep, 5, NULL), SEEN_OK);
    assert_int_equal(sn_keep_finish(&keep, NULL), SEEN_OK);
    malloc_fails = true;
    assert_int_equal(sn_keep_ask(&keep, 5, 1, &answer, &error), SEEN_ERR_MEMORY);
    malloc_fails = false;
    assert_int_equal(error.status, SEEN_ERR_MEMORY);
    assert_int_equal(sn_keep_ask(&keep, 5, 1, &answer, &error), SEEN_OK);
    assert_int_equal(answer, SEEN_BEFORE);
    sn_keep_close(&keep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_piece), cmocka_unit_test(ranges),
                                       cmocka_unit_test(most_ranges),
                                       cmocka_unit_test(no_memory_to_load)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
