/* Every implementation of hashing many keys returns the bits of libxxhash, for all lengths and
 * seeds, and accesses nothing but its keys and their hashes. */
#include "test_trust.h"

#include "hash/ranges.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static const uint64_t SEEDS[] = {0, 1, 0x8000000000000000u, UINT64_MAX, 0x9e3779b97f4a7c15u};
enum { SEED_COUNT = sizeof SEEDS / sizeof *SEEDS, MOST = 300 };

static seen_key keys[MOST];
static seen_hash hashes[MOST];

static size_t shortest(size_t range)
{
    return range == 0 ? 17 : 32 * range + 1;
}

static size_t longest(size_t range)
{
    return 32 * range + 32;
}

/* Each key in a separate allocation, so that a sanitizer detects overruns. */
static void give_key(rng *r, size_t i, size_t len)
{
    unsigned char *data = malloc(len);
    assert_non_null(data);
    for (size_t b = 0; b < len; b++)
        data[b] = (unsigned char)rng_next(r);
    /* Words of zeros and of ones produce products that carry, or vanish. */
    if (rng_below(r, 4) == 0)
        memset(data, rng_below(r, 2) ? 0xff : 0, len - rng_below(r, len));
    keys[i] = (seen_key){data, len};
}

static void take_keys(size_t count)
{
    for (size_t i = 0; i < count; i++)
        free((void *)(uintptr_t)keys[i].data);
}

static void expect(size_t i, uint64_t seed, bool hashed)
{
    XXH128_hash_t h = XXH3_128bits_withSeed(keys[i].data, keys[i].len, seed);
    if (hashes[i].lo != (hashed ? h.low64 : 0) || hashes[i].hi != (hashed ? h.high64 : 0))
        fail_msg("key %zu of %zu bytes, seed %llx", i, keys[i].len, (unsigned long long)seed);
}

static void run_all(const sn_hash_ranges *body, size_t range, uint64_t seed, size_t count)
{
    memset(hashes, 0, sizeof hashes);
    for (size_t done = 0; done < count;) {
        size_t n = body->run[range](seed, keys + done, count - done, hashes + done);
        assert_true(n > 0 && n <= count - done);
        done += n;
    }
    for (size_t i = 0; i < MOST; i++)
        expect(i, seed, i < count);
}

/* All lengths, in each position of a pair, and all small counts. */
static void test_lengths(void **state)
{
    (void)state;
    const sn_hash_ranges *list[2];
    size_t bodies = sn_hash_list(list);
    rng r = {11};
    for (size_t range = 0; range < SN_HASH_RANGES; range++) {
        size_t low = shortest(range), span = longest(range) - low + 1;
        for (size_t i = 0; i < MOST; i++)
            give_key(&r, i, low + (i < 2 * span ? i / 2 : rng_below(&r, span)));
        for (size_t b = 0; b < bodies; b++)
            for (size_t s = 0; s < SEED_COUNT; s++)
                for (size_t count = 0; count <= MOST; count += count < 9 ? 1 : 97)
                    run_all(list[b], range, SEEDS[s], count);
        take_keys(MOST);
    }
}

/* A run ends before the first key of another length, at any position. */
static void test_ends(void **state)
{
    (void)state;
    const sn_hash_ranges *list[2];
    size_t bodies = sn_hash_list(list);
    rng r = {12};
    for (size_t range = 0; range < SN_HASH_RANGES; range++)
        for (size_t at = 1; at < 12; at++) {
            size_t other = at % 2 ? shortest(range) - 1 : longest(range) + 1;
            for (size_t i = 0; i < 16; i++)
                give_key(&r, i, i == at ? other : longest(range) - i % 8);
            for (size_t b = 0; b < bodies; b++) {
                memset(hashes, 0, sizeof hashes);
                assert_int_equal(list[b]->run[range](7, keys, 16, hashes), at);
                for (size_t i = 0; i < 16; i++)
                    expect(i, 7, i < at);
            }
            take_keys(16);
        }
}

static void test_picks(void **state)
{
    (void)state;
    const sn_hash_ranges *list[2];
    size_t bodies = sn_hash_list(list);
    rng r = {13};
    for (size_t range = 0; range < SN_HASH_RANGES; range++) {
        size_t low = shortest(range), span = longest(range) - low + 1;
        for (size_t i = 0; i < SN_HASH_PICK; i++)
            give_key(&r, i, low + rng_below(&r, span));
        for (size_t b = 0; b < bodies; b++)
            for (size_t step = 1; step < 9; step++) {
                uint8_t order[SN_HASH_PICK];
                size_t count = 0;
                memset(hashes, 0, sizeof hashes);
                for (size_t i = step - 1; i < SN_HASH_PICK; i += step)
                    order[count++] = (uint8_t)i;
                list[b]->pick[range](SEEDS[step % SEED_COUNT], keys, order, count, hashes);
                for (size_t i = 0; i < SN_HASH_PICK; i++)
                    expect(i, SEEDS[step % SEED_COUNT], i % step == step - 1);
            }
        take_keys(SN_HASH_PICK);
    }
}

/* If the CPU supports it, the fast implementation is used. */
static void test_list(void **state)
{
    (void)state;
    const sn_hash_ranges *list[2];
    size_t bodies = sn_hash_list(list);
    assert_string_equal(list[0]->name, "plain");
#if defined(__x86_64__)
    assert_int_equal(bodies, __builtin_cpu_supports("avx2") ? 2 : 1);
#else
    assert_int_equal(bodies, 1);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_picks),
        cmocka_unit_test(test_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
