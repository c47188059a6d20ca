/* Spilled records are read back: every record once, in its part, in order. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "stream/exact/spill.h"
#include "stream/exact/split.h"
#include "stream/exact/table.h"
#include "stream/pipeline/pipeline.h"
#include "test_stream.h"

static uint64_t stir(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

static seen_hash hash_of(uint64_t key)
{
    return (seen_hash){.lo = stir(key * 2 + 1), .hi = stir(~key)};
}

/* Writes the keys 0 to count - 1 with number key * step and reads them back. */
static void there_and_back(unsigned parts, uint64_t memory, uint64_t count, uint64_t step)
{
    sn_spill *spill = NULL;
    assert_int_equal(sn_spill_open(NULL, parts, memory, 0, &spill, NULL), SEEN_OK);
    for (uint64_t key = 0; key < count; key++)
        assert_int_equal(sn_spill_add(spill, hash_of(key), key * step, NULL), SEEN_OK);
    assert_int_equal(sn_spill_finish(spill, NULL), SEEN_OK);
    assert_int_equal(sn_spill_bytes(spill), count * SN_SPILL_RECORD_BYTES);
    seen_hash *hashes = calloc(sn_spill_chunk_records(spill), sizeof *hashes);
    unsigned char *met = calloc(count + 1, 1);
    assert_non_null(hashes);
    assert_non_null(met);
    uint64_t total = 0;
    for (unsigned part = 0; part < parts; part++) {
        uint64_t last = 0, in_part = 0;
        for (size_t chunk = 0; chunk < sn_spill_chunks(spill, part); chunk++) {
            size_t got = 0;
            uint64_t base = 0;
            assert_int_equal(sn_spill_read(spill, part, chunk, hashes, &got, &base, NULL), SEEN_OK);
            assert_true(got > 0 && got <= sn_spill_chunk_records(spill));
            for (size_t i = 0; i < got; i++) {
                uint64_t number = base + (uint32_t)hashes[i].lo, key = step ? number / step : i;
                seen_hash whole = hash_of(key);
                if (step) {
                    assert_true(key < count && number % step == 0 && !met[key]);
                    assert_true(in_part == 0 || number > last);
                    assert_int_equal(hashes[i].hi, whole.hi);
                    assert_int_equal(hashes[i].lo >> 32, whole.lo >> 32);
                    assert_int_equal((uint64_t)sn_table_unused(whole) * parts >> 32, part);
                    met[key] = 1;
                }
                last = number;
                in_part++;
            }
        }
        assert_int_equal(in_part, sn_spill_count(spill, part));
        total += in_part;
    }
    assert_int_equal(total, count);
    free(hashes);
    free(met);
    sn_spill_close(spill);
}

static void comes_back(void **unused)
{
    (void)unused;
    there_and_back(1, 1 << 20, 0, 1);
    there_and_back(1, 1 << 20, 1, 1);
    there_and_back(1, 0, 100000, 1);
    there_and_back(7, 1 << 16, 100000, 3);
    there_and_back(256, 1 << 20, 200000, 1);
    there_and_back(4096, 1 << 20, 20000, 1);
    there_and_back(16, 1 << 20, 50000, 0);
    sn_spill_close(NULL);
}

/* Numbers above 32 bits, with gaps that are wider than that. */
static void wide_numbers(void **unused)
{
    (void)unused;
    there_and_back(4, 1 << 20, 10000, (uint64_t)1 << 21);
    there_and_back(4, 1 << 20, 1000, ((uint64_t)1 << 33) + 12345);
}

static void no_such_folder(void **unused)
{
    (void)unused;
    seen_error error = {0};
    sn_spill *spill = NULL;
    seen_status status = sn_spill_open("/nonexistent/folder", 1, 1 << 20, 0, &spill, &error);
    assert_int_not_equal(status, SEEN_OK);
    assert_non_null(strstr(error.message, "/nonexistent/folder"));
}

/* A full disk: the message contains the size needed. */
static void full_disk(void **unused)
{
    (void)unused;
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1 << 20;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    seen_error error = {0};
    sn_spill *spill = NULL;
    assert_int_equal(sn_spill_open(NULL, 4, 1 << 20, 77 << 20, &spill, &error), SEEN_OK);
    seen_status status = SEEN_OK;
    for (uint64_t key = 0; key < 1000000 && status == SEEN_OK; key++)
        status = sn_spill_add(spill, hash_of(key), key, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_not_equal(status, SEEN_OK);
    assert_int_equal(status, error.status);
    sn_spill_close(spill);
}

/* Another process truncates the temporary file. */
static void made_shorter(void **unused)
{
    (void)unused;
    seen_error error = {0};
    sn_spill *spill = NULL;
    seen_hash hashes[100];
    size_t count;
    uint64_t base;
    int next = dup(STDIN_FILENO); /* the number that the file will get */
    assert_true(next >= 0);
    close(next);
    assert_int_equal(sn_spill_open(NULL, 1, 1 << 20, 0, &spill, &error), SEEN_OK);
    for (uint64_t key = 0; key < 100; key++)
        assert_int_equal(sn_spill_add(spill, hash_of(key), key, &error), SEEN_OK);
    assert_int_equal(sn_spill_finish(spill, &error), SEEN_OK);
    assert_int_equal(sn_spill_read(spill, 0, 0, hashes, &count, &base, &error), SEEN_OK);
    assert_int_equal(count, 100);
    assert_int_equal(ftruncate(next, 50 * sizeof *hashes), 0);
    assert_int_equal(sn_spill_read(spill, 0, 0, hashes, &count, &base, &error), SEEN_ERR_IO);
    assert_non_null(strstr(error.message, "became shorter"));
    sn_spill_close(spill);
}

static int run_spill(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),   cmocka_unit_test(made_shorter),
        cmocka_unit_test(wide_numbers), cmocka_unit_test(no_such_folder),
        cmocka_unit_test(full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- split ---- */

/* A block split into lanes: every line in one lane, equal hashes in the same, each lane in line
 * order, and the answers copied back to their lines. */

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
        sn_split_return(&share, &block);
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

static int run_split(void)
{
    seed_from_environment();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_split)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    int status[] = {run_spill(), run_split()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
