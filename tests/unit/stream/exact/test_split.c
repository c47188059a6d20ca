/* A block cut into lanes: every line in one lane, equal hashes in the same, each lane in the order
 * of the lines, and the answers back where they belong. */
#include "stream/exact/split.h"

#include "stream/pipeline/pipeline.h"
#include "test_stream.h"

enum { LINES = 1000, DIFFERENT = 300 };

static void fill(sn_block *block, size_t lines)
{
    assert_int_equal(sn_block_columns(block, lines, NULL), SEEN_OK);
    block->lines = lines;
    for (size_t i = 0; i < lines; i++) {
        uint64_t key = random_below(DIFFERENT) + 1;
        block->hash[i] = (seen_hash){key * 0x9e3779b97f4a7c15u, key};
        block->answer[i] = SEEN_UNKNOWN;
    }
}

static void check_split(size_t lines, unsigned lanes)
{
    sn_block block;
    unsigned lane_of[DIFFERENT + 1] = {0}, taken = 0;
    bool asked[LINES] = {false};
    sn_block_init(&block, '\n');
    fill(&block, lines);
    assert_int_equal(sn_split_block(&block, lanes, NULL), SEEN_OK);
    for (unsigned lane = 0; lane < lanes; lane++) {
        sn_share share = sn_split_share(&block, lanes, lane);
        assert_true(lanes > 1 || !share.line);
        for (size_t i = 0; i < share.count; i++) {
            size_t line = share.line ? share.line[i] : i;
            assert_true(line < lines && !asked[line]);
            asked[line] = true;
            assert_true(i == 0 || !share.line || share.line[i - 1] < line);
            assert_memory_equal(&share.hash[i], &block.hash[line], sizeof(seen_hash));
            unsigned *before = &lane_of[share.hash[i].hi];
            assert_true(*before == 0 || *before == lane + 1);
            *before = lane + 1;
            share.answer[i] = line % 3 ? SEEN_NEW : SEEN_BEFORE;
        }
        taken += share.count > 0;
        sn_split_hand_back(&share, &block);
    }
    for (size_t i = 0; i < lines; i++)
        assert_int_equal(block.answer[i], i % 3 ? SEEN_NEW : SEEN_BEFORE);
    assert_true(lines < LINES || taken == lanes);
    sn_block_free(&block);
}

static void test_split(void **state)
{
    (void)state;
    for (unsigned lanes = 1; lanes <= SN_PIPELINE_LANES; lanes++) {
        check_split(0, lanes);
        check_split(1, lanes);
        check_split(LINES, lanes);
    }
}

int main(void)
{
    seed_from_environment();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_split)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
