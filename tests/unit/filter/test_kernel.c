/* Kernels: all produce the same bits; batches and single keys agree; counters; statistics;
 * merging. */
#include "test_trust.h"

#include "filter/kernel.h"
#include "filter/plan.h"
#include "test_kernel_avx512.h"

#include <math.h>

enum { KEYS_MAX = 4200 };

static seen_hash keys[KEYS_MAX];
static seen_answer got[KEYS_MAX], want[KEYS_MAX];

static void *lines_new(const sn_geometry *g)
{
    void *bits = aligned_alloc(64, sn_geometry_bytes(g));
    assert_non_null(bits);
    memset(bits, 0, sn_geometry_bytes(g));
    return bits;
}

static sn_geometry random_geometry(rng *r, seen_kind kind)
{
    sn_geometry g = {.kind = kind};
    g.probes = 1 + (uint32_t)rng_below(r, 8);
    g.spread = 1 + (uint32_t)rng_below(r, rng_below(r, 4) ? 3 : 20);
    g.shards = rng_below(r, 2) ? 1 : 1 + rng_below(r, 17);
    g.shard_lines = (1 + rng_below(r, 12)) * (g.probes == 1 ? 1 : g.spread);
    assert_true(sn_geometry_valid(&g));
    return g;
}

/* A slow reference implementation: the position of every cell, as documented in geometry.h. */
__extension__ typedef unsigned __int128 u128;

static u128 wide(uint64_t x)
{
    return x;
}

static uint64_t stir_again(uint64_t x)
{
    u128 p = wide(x) * 0x9e6c63d0876a9a47u;
    return (uint64_t)(p >> 64) ^ (uint64_t)p;
}

static uint64_t cell_again(const sn_geometry *g, seen_hash h, unsigned j, unsigned i)
{
    u128 p = wide(h.hi) * g->shards;
    uint64_t shard = (uint64_t)(p >> 64), f = (uint64_t)p, w = h.lo;
    if (j > 0) {
        f = stir_again(f + j * 0x9e3779b97f4a7c15u);
        w = stir_again(w + j * 0xd1b54a32d192ed03u);
    }
    uint64_t part = g->probes == 1 ? g->shard_lines : g->shard_lines / g->spread;
    uint64_t line = shard * g->shard_lines + (uint64_t)(wide(f) * part >> 64);
    if (g->probes > 1)
        line += j * part;
    uint64_t word = ((w >> 48) + i) % 8, cell = w >> (6 * word) & 63;
    if (g->kind == SEEN_COUNTING)
        return (line * 8 + word) * 16 + cell % 16;
    return (line * 8 + word) * 64 + cell;
}

static void test_places(void **state)
{
    (void)state;
    rng r = {test_seed()};
    for (int round = 0; round < 300; round++) {
        for (int kind = 0; kind < 2; kind++) {
            sn_geometry g = random_geometry(&r, (seen_kind)kind);
            const sn_kernel *list[4];
            sn_kernel_list(g.kind, list);
            unsigned char *bits = lines_new(&g);
            seen_hash h = {rng_next(&r), rng_next(&r)};
            list[0]->add(&g, bits, &h, 1, got);
            assert_int_equal(got[0], SEEN_NEW);
            /* Every cell of the key is set, and clearing these cells leaves nothing. */
            for (unsigned pass = 0; pass < 2; pass++)
                for (unsigned cell = 0; cell < g.spread * g.probes; cell++) {
                    uint64_t c = cell_again(&g, h, cell / g.probes, cell % g.probes);
                    assert_true(c < sn_geometry_lines(&g) * sn_geometry_cells(&g));
                    unsigned char *b = bits + (kind ? c / 2 : c / 8);
                    unsigned mask = kind ? 15u << c % 2 * 4 : 1u << c % 8;
                    assert_true(pass == 1 || (*b & mask));
                    if (pass == 1)
                        *b = (unsigned char)(*b & ~mask);
                }
            for (uint64_t i = 0; i < sn_geometry_bytes(&g); i++)
                assert_int_equal(bits[i], 0);
            free(bits);
        }
    }
}

/* With a geometry near the numeric limits the lines are still inside. */
static void test_places_large(void **state)
{
    (void)state;
    rng r = {test_seed()};
    for (int i = 0; i < 100000; i++) {
        sn_geometry g = {SEEN_BLOOM, 3, 5, 1 + rng_below(&r, UINT32_MAX), 0};
        g.shard_lines = 3 * (1 + rng_below(&r, 20000));
        seen_hash h = {rng_next(&r), i % 3 ? rng_next(&r) : UINT64_MAX};
        uint64_t f, shard = sn_place_shard(&g, h, &f);
        assert_true(shard < g.shards);
        for (unsigned j = 0; j < 3; j++) {
            uint64_t line = sn_place_line(&g, i % 5 ? f : UINT64_MAX, j);
            assert_true(line >= j * g.shard_lines / 3 && line < (j + 1) * g.shard_lines / 3);
        }
    }
}

static void test_same_bits(void **state)
{
    (void)state;
    static const size_t BATCHES[] = {0,  1,  2,   7,   8,   9,   15,  63,  64,   65,   71,
                                     72, 73, 127, 128, 129, 191, 192, 193, 1000, 2048, 4200};
    const sn_kernel *list[4];
    size_t kernels = all_kernels(list);
    for (size_t k = 0; k < kernels; k++)
        printf("kernel %s\n", list[k]->name);
    rng r = {test_seed()};
    for (int round = 0; round < 150; round++) {
        sn_geometry g = random_geometry(&r, SEEN_BLOOM);
        size_t count = BATCHES[rng_below(&r, sizeof BATCHES / sizeof *BATCHES)];
        for (size_t i = 0; i < count; i++)
            keys[i] = i && rng_below(&r, 4) == 0 ? keys[rng_below(&r, i)]
                                                 : (seen_hash){rng_next(&r), rng_next(&r)};
        void *bits[4];
        for (size_t k = 0; k < kernels; k++) {
            bits[k] = lines_new(&g);
            memset(got, 7, sizeof got);
            list[k]->add(&g, bits[k], keys, count, got);
            for (size_t i = count; i < KEYS_MAX; i++)
                assert_int_equal(got[i], 7);
            if (k == 0)
                memcpy(want, got, sizeof want);
            assert_memory_equal(got, want, sizeof want);
            assert_memory_equal(bits[k], bits[0], sn_geometry_bytes(&g));
        }
        /* One key at a time gives the same bits and the same answers. */
        void *single = lines_new(&g);
        for (size_t i = 0; i < count; i++) {
            seen_answer one = 9;
            list[kernels - 1]->add(&g, single, keys + i, 1, &one);
            assert_int_equal(one, want[i]);
        }
        assert_memory_equal(single, bits[0], sn_geometry_bytes(&g));
        /* Checks: everything added is present; answers are only ever raised. */
        for (size_t i = 0; i < count; i += 2)
            keys[i] = (seen_hash){rng_next(&r), rng_next(&r)};
        for (size_t k = 0; k < kernels; k++) {
            memset(got, SEEN_NEW, sizeof got);
            if (count)
                got[0] = SEEN_BEFORE;
            list[k]->check(&g, bits[k], keys, count, got);
            if (k == 0)
                memcpy(want, got, sizeof want);
            assert_memory_equal(got, want, sizeof want);
            for (size_t i = 1; i < count; i += 2)
                assert_int_equal(got[i], SEEN_BEFORE);
            assert_true(count == 0 || got[0] == SEEN_BEFORE);
            assert_memory_equal(bits[k], bits[0], sn_geometry_bytes(&g));
        }
        for (size_t k = 0; k < kernels; k++)
            free(bits[k]);
        free(single);
    }
    assert_ptr_equal(sn_kernel_for(SEEN_BLOOM), list[sn_kernel_list(SEEN_BLOOM, list) - 1]);
}

/* With every value of spread and probes, so that no special loop is left out. */
static void test_every_shape(void **state)
{
    (void)state;
    const sn_kernel *list[4];
    size_t kernels = all_kernels(list);
    for (uint32_t spread = 1; spread <= 10; spread++)
        for (uint32_t probes = 1; probes <= 8; probes++) {
            sn_geometry g = {SEEN_BLOOM, spread, probes, 3, 2 * spread};
            hashes_from(spread * 1000 + probes, 200, keys);
            void *first = lines_new(&g);
            for (size_t k = 0; k < kernels; k++) {
                void *bits = lines_new(&g);
                list[k]->add(&g, bits, keys, 100, got);
                if (k == 0)
                    memcpy(first, bits, sn_geometry_bytes(&g));
                assert_memory_equal(bits, first, sn_geometry_bytes(&g));
                memset(got, 0, sizeof got);
                list[k]->check(&g, bits, keys, 200, got);
                if (k == 0)
                    memcpy(want, got, sizeof want);
                assert_memory_equal(got, want, 200);
                for (size_t i = 0; i < 100; i++)
                    assert_int_equal(got[i], SEEN_BEFORE);
                void *single = lines_new(&g); /* one key at a time: the same */
                for (size_t i = 0; i < 100; i++) {
                    bool had = list[k]->check_one(&g, single, keys[i]);
                    assert_int_equal(list[k]->add_one(&g, single, keys[i]), had);
                }
                assert_memory_equal(single, first, sn_geometry_bytes(&g));
                for (size_t i = 0; i < 200; i++)
                    assert_int_equal(list[k]->check_one(&g, single, keys[i]), want[i]);
                free(single);
                free(bits);
            }
            free(first);
        }
}

/* Larger than the L2 cache, where one line per key has another loop; the batches have different
 * lengths. */
static void test_far(void **state)
{
    (void)state;
    const sn_kernel *list[4];
    size_t kernels = all_kernels(list);
    for (uint32_t probes = 1; probes <= 8; probes++) {
        sn_geometry g = {SEEN_BLOOM, 1, probes, 3, 2000};
        unsigned char *bits[4];
        for (size_t k = 0; k < kernels; k++)
            bits[k] = lines_new(&g);
        for (size_t count = 0; count < 170; count += count < 80 ? 1 : 13) {
            hashes_from(probes * 1000 + count / 2, count, keys);
            for (size_t i = 3; i < count; i += 3)
                keys[i] = keys[i / 2]; /* twice in a batch, near and far */
            for (size_t k = 0; k < kernels; k++) {
                memset(got, 7, sizeof got);
                list[k]->add(&g, bits[k], keys, count, got);
                if (k == 0)
                    memcpy(want, got, sizeof want);
                assert_memory_equal(got, want, sizeof want);
                assert_memory_equal(bits[k], bits[0], sn_geometry_bytes(&g));
            }
            for (size_t i = 0; i < count; i += 2)
                keys[i].lo ^= 1u << i % 30; /* an absent key in the same line */
            for (size_t k = 0; k < kernels; k++) {
                memset(got, SEEN_NEW, sizeof got);
                list[k]->check(&g, bits[k], keys, count, got);
                if (k == 0)
                    memcpy(want, got, sizeof want);
                assert_memory_equal(got, want, sizeof want);
            }
        }
        for (size_t k = 0; k < kernels; k++)
            free(bits[k]);
    }
}

/* Keys picked from a batch: the same bits and answers as for those keys alone; the others are
 * unchanged. */
static void test_picked(void **state)
{
    (void)state;
    static const size_t COUNTS[] = {0, 1, 3, 4, 7, 8, 9, 63, 64, 65, 71, 72, 73, 136, 500, 1400};
    static uint16_t picks[KEYS_MAX];
    static seen_hash alone[KEYS_MAX];
    const sn_kernel *list[4];
    size_t kernels = all_kernels(list);
    rng r = {test_seed()};
    for (int round = 0; round < 300; round++) {
        sn_geometry g = random_geometry(&r, SEEN_BLOOM);
        if (round % 3 == 0) /* more than fits into the L2 cache */
            g = (sn_geometry){SEEN_BLOOM, 1 + (uint32_t)round / 3 % 2, 1 + (uint32_t)round % 8, 3,
                              2000};
        hashes_from((uint64_t)round << 32, KEYS_MAX, keys);
        size_t count = COUNTS[rng_below(&r, sizeof COUNTS / sizeof *COUNTS)];
        for (size_t i = 0, from = 0; i < count; i++) {
            picks[i] = (uint16_t)(from += 1 + rng_below(&r, 3));
            if (i && rng_below(&r, 5) == 0)
                keys[picks[i]] = keys[picks[rng_below(&r, i)]];
            alone[i] = keys[picks[i]];
        }
        void *bits = lines_new(&g);
        list[0]->add(&g, bits, alone, count, want);
        for (size_t k = 0; k < kernels; k++) {
            void *picked = lines_new(&g);
            memset(got, 7, sizeof got);
            list[k]->add_picked(&g, picked, keys, picks, count, got);
            assert_memory_equal(picked, bits, sn_geometry_bytes(&g));
            for (size_t i = 0, next = 0; i < KEYS_MAX; i++) {
                bool one = next < count && picks[next] == i;
                assert_int_equal(got[i], one ? want[next] : 7);
                next += one;
            }
            free(picked);
        }
        free(bits);
    }
}

/* ---- counting ---- */

static unsigned nibble(const void *bits, uint64_t cell)
{
    return ((const unsigned char *)bits)[cell / 2] >> (cell % 2 ? 4 : 0) & 15;
}

static void test_counting_steps(void **state)
{
    (void)state;
    const sn_kernel *k = sn_kernel_for(SEEN_COUNTING);
    sn_geometry g = {SEEN_COUNTING, 2, 4, 1, 8};
    unsigned char *bits = lines_new(&g), *before = lines_new(&g);
    seen_hash a = hash_of(1), b = hash_of(2);
    seen_answer answer;
    k->remove(&g, bits, &b, 1, &answer);
    assert_int_equal(answer, SEEN_NEW);
    for (unsigned i = 0; i < 14; i++) {
        k->add(&g, bits, &a, 1, &answer);
        assert_int_equal(answer, i ? SEEN_BEFORE : SEEN_NEW);
        assert_int_equal(nibble(bits, cell_again(&g, a, 1, 3)), i + 1);
    }
    /* Absent: refused, and nothing changed. */
    memcpy(before, bits, sn_geometry_bytes(&g));
    k->remove(&g, bits, &b, 1, &answer);
    assert_int_equal(answer, SEEN_NEW);
    assert_memory_equal(bits, before, sn_geometry_bytes(&g));
    for (unsigned i = 14; i > 0; i--) {
        k->remove(&g, bits, &a, 1, &answer);
        assert_int_equal(answer, SEEN_BEFORE);
        assert_int_equal(nibble(bits, cell_again(&g, a, 0, 0)), i - 1);
    }
    k->remove(&g, bits, &a, 1, &answer);
    assert_int_equal(answer, SEEN_NEW);
    for (uint64_t i = 0; i < sn_geometry_bytes(&g); i++)
        assert_int_equal(bits[i], 0);
    /* Saturated: stays, and does not overflow into its neighbours. */
    for (unsigned i = 0; i < 40; i++)
        k->add(&g, bits, &a, 1, &answer);
    uint64_t total = 0;
    for (uint64_t c = 0; c < 8 * 128; c++)
        total += nibble(bits, c);
    assert_int_equal(total, 8 * 15);
    for (unsigned i = 0; i < 100; i++) {
        k->remove(&g, bits, &a, 1, &answer);
        assert_int_equal(answer, SEEN_BEFORE);
    }
    assert_int_equal(nibble(bits, cell_again(&g, a, 1, 0)), 15);
    free(bits);
    free(before);
}

/* Random additions and removals of present keys: no other key ever disappears. */
static void test_counting_sequences(void **state)
{
    (void)state;
    enum { KEYS = 120, STEPS = 4000 };
    const sn_kernel *k = sn_kernel_for(SEEN_COUNTING);
    rng r = {test_seed()};
    for (int round = 0; round < 12; round++) {
        sn_geometry g = random_geometry(&r, SEEN_COUNTING);
        void *bits = lines_new(&g);
        unsigned count[KEYS] = {0};
        hashes_from(rng_next(&r), KEYS, keys);
        for (int step = 0; step < STEPS; step++) {
            size_t i = rng_below(&r, KEYS);
            seen_answer answer = 9;
            if (rng_below(&r, 100) < 55 || !count[i]) {
                k->add(&g, bits, keys + i, 1, &answer);
                assert_true(count[i] == 0 || answer == SEEN_BEFORE);
                count[i]++;
            } else {
                k->remove(&g, bits, keys + i, 1, &answer);
                assert_int_equal(answer, SEEN_BEFORE);
                count[i]--;
            }
            if (step % 50)
                continue;
            memset(got, 0, KEYS);
            k->check(&g, bits, keys, KEYS, got);
            for (size_t j = 0; j < KEYS; j++)
                assert_true(!count[j] || got[j] == SEEN_BEFORE);
        }
        free(bits);
    }
}

static void test_counting_batch(void **state)
{
    (void)state;
    const sn_kernel *k = sn_kernel_for(SEEN_COUNTING);
    rng r = {test_seed()};
    for (int round = 0; round < 60; round++) {
        sn_geometry g = random_geometry(&r, SEEN_COUNTING);
        size_t count = rng_below(&r, 130);
        unsigned char *batch = lines_new(&g), *single = lines_new(&g);
        for (size_t i = 0; i < count; i++)
            keys[i] = hash_of(rng_below(&r, 60));
        k->add(&g, batch, keys, count, got);
        for (size_t i = 0; i < count; i++) {
            k->add(&g, single, keys + i, 1, want);
            assert_int_equal(got[i], want[0]);
        }
        assert_memory_equal(batch, single, sn_geometry_bytes(&g));
        k->remove(&g, batch, keys, count / 2, got);
        for (size_t i = 0; i < count / 2; i++) {
            k->remove(&g, single, keys + i, 1, want);
            assert_int_equal(got[i], want[0]);
        }
        assert_memory_equal(batch, single, sn_geometry_bytes(&g));
        free(batch);
        free(single);
    }
}

/* ---- statistics and merging ---- */

/* The computed rate of a filter equals the share of absent keys that are false positives. */
static void test_tally(void **state)
{
    (void)state;
    enum { ABSENT_KEYS = 400000 };
    static const uint32_t SHAPES[][2] = {{1, 1}, {1, 3}, {1, 5}, {1, 8}, {2, 4}, {3, 2}, {5, 1}};
    for (size_t s = 0; s < sizeof SHAPES / sizeof *SHAPES; s++)
        for (int kind = 0; kind < 2; kind++) {
            sn_geometry g = {(seen_kind)kind, SHAPES[s][0], SHAPES[s][1], 1, 120};
            const sn_kernel *k = sn_kernel_for(g.kind);
            void *bits = lines_new(&g);
            uint64_t cells = sn_geometry_lines(&g) * sn_geometry_cells(&g);
            size_t n = (size_t)((double)cells * 0.9 / (g.spread * g.probes));
            uint64_t wrong = 0, set = 0;
            for (size_t done = 0; done < n; done += 1000) {
                size_t part = n - done < 1000 ? n - done : 1000;
                hashes_from(done, part, keys);
                k->add(&g, bits, keys, part, got);
            }
            for (uint64_t done = 0; done < ABSENT_KEYS; done += 4000) {
                hashes_from((UINT64_C(1) << 40) + done, 4000, keys);
                memset(got, 0, sizeof got);
                k->check(&g, bits, keys, 4000, got);
                for (size_t i = 0; i < 4000; i++)
                    wrong += got[i];
            }
            sn_tally tally = {0};
            sn_tally_lines(&g, bits, 50, &tally);
            sn_tally_lines(&g, (char *)bits + 50 * 64, 70, &tally);
            double rate = sn_tally_rate(&g, &tally), measured = (double)wrong / ABSENT_KEYS;
            double deviation = sqrt(rate * (1 - rate) / ABSENT_KEYS);
            if (fabs(measured - rate) > 5 * deviation + 0.003 * rate)
                fail_msg("g=%u q=%u kind %d: computed %g, measured %g", g.spread, g.probes, kind,
                         rate, measured);
            for (uint64_t c = 0; c < cells; c++)
                set += kind ? nibble(bits, c) != 0 : ((unsigned char *)bits)[c / 8] >> c % 8 & 1;
            assert_int_equal(tally.set, set);
            assert_int_equal(tally.lines, 120);
            double estimate = sn_plan_keys(&g, (double)set / (double)cells);
            assert_true(fabs(estimate - (double)n) < 0.03 * (double)n);
            free(bits);
        }
    sn_tally none = {0};
    sn_geometry g = {SEEN_BLOOM, 1, 8, 1, 1};
    assert_true(sn_tally_rate(&g, &none) == 0);
}

static void test_merge_lines(void **state)
{
    (void)state;
    rng r = {test_seed()};
    enum { BYTES = 64 * 100 };
    static unsigned char a[BYTES], b[BYTES], sum[BYTES] __attribute__((aligned(64)));
    for (int i = 0; i < BYTES; i++) {
        a[i] = (unsigned char)rng_next(&r);
        b[i] = (unsigned char)(i < 4096 ? (uint64_t)i / 16 : rng_next(&r));
    }
    for (int i = 0; i < 4096; i++) /* every pair of nibbles */
        a[i] = (unsigned char)(i * 17);
    memcpy(sum, a, BYTES);
    sn_kernel_merge_lines(SEEN_BLOOM, sum, b, BYTES / 64);
    for (int i = 0; i < BYTES; i++)
        assert_int_equal(sum[i], a[i] | b[i]);
    memcpy(sum, a, BYTES);
    sn_kernel_merge_lines(SEEN_COUNTING, sum, b, BYTES / 64);
    for (int i = 0; i < BYTES; i++) {
        int low = (a[i] & 15) + (b[i] & 15), high = (a[i] >> 4) + (b[i] >> 4);
        assert_int_equal(sum[i], (low > 15 ? 15 : low) | (high > 15 ? 15 : high) << 4);
    }
    memcpy(sum, a, BYTES);
    sn_kernel_merge_lines(SEEN_COUNTING, sum, b, 0);
    assert_memory_equal(sum, a, BYTES);
}

/* Merging two filters gives the filter of the union. */
static void test_union(void **state)
{
    (void)state;
    rng r = {test_seed()};
    for (int round = 0; round < 60; round++)
        for (int kind = 0; kind < 2; kind++) {
            sn_geometry g = random_geometry(&r, (seen_kind)kind);
            const sn_kernel *k = sn_kernel_for(g.kind);
            void *one = lines_new(&g), *two = lines_new(&g), *both = lines_new(&g);
            hashes_from(rng_next(&r), 200, keys);
            k->add(&g, one, keys, 130, got);
            k->add(&g, two, keys + 70, 130, got);
            k->add(&g, both, keys, 130, got);
            k->add(&g, both, keys + 70, 130, got);
            sn_kernel_merge_lines(g.kind, one, two, sn_geometry_lines(&g));
            assert_memory_equal(one, both, sn_geometry_bytes(&g));
            free(one);
            free(two);
            free(both);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_places_large),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_every_shape),
        cmocka_unit_test(test_far),
        cmocka_unit_test(test_picked),
        cmocka_unit_test(test_counting_steps),
        cmocka_unit_test(test_counting_sequences),
        cmocka_unit_test(test_counting_batch),
        cmocka_unit_test(test_tally),
        cmocka_unit_test(test_merge_lines),
        cmocka_unit_test(test_union),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
