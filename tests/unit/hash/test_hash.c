/* Stable hashes: vectors from another implementation, and the properties of seeds. */
#include "test_trust.h"

#include "hash/hash.h"

struct vector {
    size_t length;
    int seed;
    uint64_t lo, hi;
};

#include "test_hash_vectors.h"

static void fill_key(unsigned char *key, size_t length)
{
    uint64_t x = 0x2545f4914f6cdd1du ^ length;
    for (size_t i = 0; i < length; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        key[i] = (unsigned char)(x >> 56);
    }
}

static void check_vectors(seen_hash_kind kind, const struct vector *v, size_t count)
{
    static unsigned char key[4096 + 1];
    unsigned high = 0;
    for (size_t i = 0; i < count; i++) {
        seen_hasher hasher = {kind, {SEEDS[v[i].seed][0], SEEDS[v[i].seed][1]}};
        /* Aligned and unaligned. */
        for (size_t shift = 0; shift < 2; shift++) {
            fill_key(key + shift, v[i].length);
            seen_hash got = seen_hash_key(&hasher, key + shift, v[i].length);
            if (got.lo != v[i].lo || got.hi != v[i].hi)
                fail_msg("length %zu, seed %d", v[i].length, v[i].seed);
        }
        for (size_t b = 0; b < v[i].length; b++)
            high += key[b + 1] > 0x7f;
    }
    assert_true(high > 10000);
}

static void test_xxh3(void **state)
{
    (void)state;
    check_vectors(SEEN_XXH3, XXH3_VECTORS, sizeof XXH3_VECTORS / sizeof *XXH3_VECTORS);
}

static void test_siphash(void **state)
{
    (void)state;
    if (!sn_hash_supported(SEEN_SIPHASH))
        skip();
    check_vectors(SEEN_SIPHASH, SIP_VECTORS, sizeof SIP_VECTORS / sizeof *SIP_VECTORS);
    /* From the vectors of the reference implementation: key 00..0f, no input; and input 00..0e. */
    seen_hasher hasher = {SEEN_SIPHASH, {0x0706050403020100u, 0x0f0e0d0c0b0a0908u}};
    seen_hash h = seen_hash_key(&hasher, "", 0);
    assert_int_equal(h.lo, 0xe6a825ba047f81a3u);
    assert_int_equal(h.hi, 0x930255c71472f66du);
}

static void test_many(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    static unsigned char data[COUNT * COUNT];
    seen_key keys[COUNT];
    seen_hash hashes[COUNT];
    fill_key(data, sizeof data);
    for (size_t i = 0; i < COUNT; i++)
        keys[i] = (seen_key){data + i * i, i};
    keys[0].data = NULL;
    for (int kind = 0; kind < 2; kind++) {
        seen_hasher hasher = {(seen_hash_kind)kind, {77, 88}};
        if (!sn_hash_supported(hasher.kind))
            continue;
        for (size_t count = 0; count <= COUNT; count += count < 20 ? 1 : 70) {
            memset(hashes, 0, sizeof hashes);
            seen_hash_many(&hasher, keys, count, hashes);
            for (size_t i = 0; i < COUNT; i++) {
                seen_hash one = seen_hash_key(&hasher, keys[i].data, keys[i].len);
                assert_int_equal(hashes[i].lo, i < count ? one.lo : 0);
                assert_int_equal(hashes[i].hi, i < count ? one.hi : 0);
            }
        }
    }
}

/* Lengths in random order, and in runs: a batch is processed in a different order than given. */
static void test_many_mixed(void **state)
{
    (void)state;
    enum { COUNT = 3000, LONGEST = 300 };
    static unsigned char data[COUNT + LONGEST];
    static seen_key keys[COUNT];
    static seen_hash hashes[COUNT];
    seen_hasher hasher = {SEEN_XXH3, {77, 88}};
    fill_key(data, sizeof data);
    uint64_t x = 1;
    for (size_t run = 1; run < 100; run += 7) {
        for (size_t i = 0, len = 0; i < COUNT; i++) {
            if (i % run == 0)
                len = (x = x * 6364136223846793005u + 1) >> 33;
            keys[i] = (seen_key){data + i, len % LONGEST};
        }
        memset(hashes, 0, sizeof hashes);
        seen_hash_many(&hasher, keys, COUNT, hashes);
        for (size_t i = 0; i < COUNT; i++) {
            seen_hash one = seen_hash_key(&hasher, keys[i].data, keys[i].len);
            assert_int_equal(hashes[i].lo, one.lo);
            assert_int_equal(hashes[i].hi, one.hi);
        }
    }
}

static void test_seeds(void **state)
{
    (void)state;
    seen_hasher a, b;
    OK(seen_hasher_random(SEEN_XXH3, &a, error));
    OK(seen_hasher_random(SEEN_XXH3, &b, error));
    assert_true(a.seed[0] != b.seed[0] && a.seed[1] != b.seed[1] && a.seed[0] != a.seed[1]);
    for (int kind = 0; kind < 2; kind++) {
        a.kind = b.kind = (seen_hash_kind)kind;
        if (!sn_hash_supported(a.kind))
            continue;
        seen_hash x = seen_hash_key(&a, "key", 3), y = seen_hash_key(&b, "key", 3);
        assert_true(x.lo != y.lo && x.hi != y.hi);
    }
    FAILS(SEEN_ERR_UNSUPPORTED, seen_hasher_random((seen_hash_kind)7, &a, error));
}

/* Sets hash with their own seed, which seen_hasher_of returns. */
static void test_set_seed(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        if (!sn_hash_supported((seen_hash_kind)kind))
            continue;
        seen_options options = plain_options(SEEN_BLOOM, SEEN_FIXED, 1000, 1e-9);
        options.hash = (seen_hash_kind)kind;
        options.seed_given = false;
        seen_set *one, *two;
        OK(seen_create(NULL, &options, 0, &one, error));
        OK(seen_create(NULL, &options, 0, &two, error));
        seen_hasher a = seen_hasher_of(one), b = seen_hasher_of(two);
        assert_int_equal(a.kind, kind);
        assert_true(a.seed[0] != b.seed[0]);
        seen_answer answer;
        OK(seen_add(one, "\xff\x80", 2, NULL, error));
        seen_hash h = seen_hash_key(&a, "\xff\x80", 2);
        assert_true(is_there(one, h));
        OK(seen_check(one, "\xff\x80", 2, &answer, error));
        assert_int_equal(answer, SEEN_BEFORE);
        OK(seen_add_hashes(two, &h, 1, &answer, error));
        OK(seen_check(two, "\xff\x80", 2, &answer, error));
        assert_int_equal(answer, SEEN_NEW);
        seen_close(one);
        seen_close(two);
    }
}

static void test_checksum(void **state)
{
    (void)state;
    /* XXH3-64 with seed 0 of the empty input, from its specification. */
    assert_int_equal(sn_hash_checksum("", 0), 0x2d06800538d394c2u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_xxh3),     cmocka_unit_test(test_siphash),
        cmocka_unit_test(test_many),     cmocka_unit_test(test_many_mixed),
        cmocka_unit_test(test_seeds),    cmocka_unit_test(test_set_seed),
        cmocka_unit_test(test_checksum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
