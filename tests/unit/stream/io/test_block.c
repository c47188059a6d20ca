/* Selecting lines of a block, against the obvious way. */
#include "stream/io/block.h"
#include "stream/io/lines.h"
#include "test_stream.h"

static void check_select(seen_answer keep, bool apart)
{
    sn_block block;
    sn_block_init(&block, '\n');
    for (int round = 0; round < 300; round++) {
        size_t length;
        char *text = random_text(random_below(300) + 1, round % 3 ? 40 : 2000, &length);
        char *kept = malloc(length + 1), *rest = malloc(length + 1);
        size_t kept_length = 0, rest_length = 0, kept_lines = 0;
        assert_int_equal(sn_block_reserve(&block, length + 1, NULL), SEEN_OK);
        memcpy(block.bytes, text, length);
        block.length = length;
        assert_int_equal(sn_lines_split(&block, NULL), SEEN_OK);
        size_t rarity = random_below(6) + 1;
        for (size_t i = 0; i < block.lines; i++) {
            seen_answer answer = random_below(rarity) ? SEEN_BEFORE : SEEN_NEW;
            if (random_below(20) == 0)
                answer = SEEN_UNKNOWN;
            block.answer[i] = answer;
            size_t len = block.start[i + 1] - block.start[i];
            if (answer == keep) {
                memcpy(kept + kept_length, text + block.start[i], len);
                kept_length += len;
                kept_lines++;
            } else if (answer != SEEN_UNKNOWN) {
                memcpy(rest + rest_length, text + block.start[i], len);
                rest_length += len;
            }
        }
        assert_int_equal(sn_block_select(&block, keep, apart, NULL), SEEN_OK);
        assert_int_equal(block.out_length, kept_length);
        assert_int_equal(block.number_out, kept_lines);
        assert_memory_equal(block.out, kept, kept_length);
        if (apart) {
            assert_int_equal(block.aside_length, rest_length);
            assert_memory_equal(block.aside, rest, rest_length);
        }
        free(text);
        free(kept);
        free(rest);
    }
    sn_block_free(&block);
}

static void test_select(void **state)
{
    (void)state;
    check_select(SEEN_NEW, false);
    check_select(SEEN_BEFORE, false);
}

static void test_select_apart(void **state)
{
    (void)state;
    check_select(SEEN_NEW, true);
    check_select(SEEN_BEFORE, true);
}

static void test_reserve_keeps_bytes(void **state)
{
    (void)state;
    sn_block block;
    sn_block_init(&block, '\n');
    assert_int_equal(sn_block_reserve(&block, 4, NULL), SEEN_OK);
    memcpy(block.bytes, "abcd", 4);
    assert_int_equal(sn_block_reserve(&block, 100000, NULL), SEEN_OK);
    assert_memory_equal(block.bytes, "abcd", 4);
    seen_error error;
    assert_int_equal(sn_block_reserve(&block, SIZE_MAX / 2, &error), SEEN_ERR_MEMORY);
    assert_memory_equal(block.bytes, "abcd", 4);
    sn_block_free(&block);
}

int main(void)
{
    seed_from_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_select),
        cmocka_unit_test(test_select_apart),
        cmocka_unit_test(test_reserve_keeps_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
