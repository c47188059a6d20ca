/* XXH3 of keys of 17 to 128 bytes for x86-64 with AVX2: two keys at a time.
 *
 * A key is hashed in one to four steps, the innermost first. Step k takes 16 bytes from either end,
 * as words (a, b) and (c, d), and 32 bytes of the secret, to which the seed has been added:
 *
 *     |a b|   |a b|  ...           ...  |c d|   |c d|
 *      k=0     k=1                       k=1     k=0
 *
 *     low  += fold((a ^ s0) * (b ^ s1)),  low  ^= c + d      fold: the upper half of the product
 *     high += fold((c ^ s2) * (d ^ s3)),  high ^= a + b            xor the lower one
 *
 * A vector holds (low, high) of two keys, so all of this runs in four lanes without moving data
 * between the keys. The finalization is a separate loop: included in the first, the dependency
 * chain would exceed the reorder window of the CPU. 4.4 ns for a key of 64 bytes, compared to 7
 * with libxxhash. */
#include "hash/ranges.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 4")
#endif

/* The primes of the specification. */
#define PRIME_1 0x9e3779b185ebca87u
#define PRIME_2 0xc2b2ae3d27d4eb4fu
#define PRIME_4 0x85ebca77c2b2ae63u
#define PRIME_MX 0x165667919e3779f9u

#define FIRST(n) ((n)*PRIME_1)
#define LAST(n) ((n)*PRIME_2)
#define EIGHT(f, n)                                                                                \
    f((n) + 0u), f((n) + 1u), f((n) + 2u), f((n) + 3u), f((n) + 4u), f((n) + 5u), f((n) + 6u),     \
        f((n) + 7u)
#define ALL(f)                                                                                     \
    {                                                                                              \
        EIGHT(f, 0), EIGHT(f, 8), EIGHT(f, 16), EIGHT(f, 24), EIGHT(f, 32), EIGHT(f, 40),          \
            EIGHT(f, 48), EIGHT(f, 56), EIGHT(f, 64), EIGHT(f, 72), EIGHT(f, 80), EIGHT(f, 88),    \
            EIGHT(f, 96), EIGHT(f, 104), EIGHT(f, 112), EIGHT(f, 120), f(128u)                     \
    }

/* The contribution of the length: table lookups leave the multipliers to the key's bytes. */
static const uint64_t first_of[129] = ALL(FIRST), last_of[129] = ALL(LAST);

enum { ODD_WORDS = 0xcc, HIGH_HALVES = 0xaa, LOW_HALVES = 0x55, KEY_1 = 0xf0, KEY_0 = 0x0f };

typedef __m256i vec;

INLINE vec add(vec a, vec b)
{
    return _mm256_add_epi64(a, b);
}

INLINE vec exor(vec a, vec b)
{
    return _mm256_xor_si256(a, b);
}

/* ---- loading ---- */

INLINE vec load_half(const char *p)
{
    return _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)p));
}

INLINE vec load_twice(const char *p)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)p));
}

INLINE vec load(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

/* (table[a], 0, table[b], 0) */
INLINE vec look_up(const uint64_t *table, size_t a, size_t b)
{
    return _mm256_blend_epi32(_mm256_zextsi128_si256(_mm_loadu_si64(table + a)),
                              _mm256_broadcastq_epi64(_mm_loadu_si64(table + b)), 0x30);
}

/* The 16 bytes at p0 and at p1, which are bytes `before` to `before` + 16 of keys whose last byte
 * is `after` bytes behind them. If a whole vector can be read without leaving the key, the blend
 * loads it directly. */
INLINE vec load_pair(const char *p0, const char *p1, size_t before, size_t after)
{
    if (before >= 16)
        return _mm256_blend_epi32(load_half(p0), load(p1 - 16), KEY_1);
    if (after >= 16)
        return _mm256_blend_epi32(load_twice(p1), load(p0), KEY_0);
    return _mm256_blend_epi32(load_half(p0), load_twice(p1), KEY_1);
}

typedef struct pair {
    vec head[SN_HASH_RANGES], tail[SN_HASH_RANGES], first;
} pair;

/* The data for the steps of two keys, each of more than `least` bytes. */
INLINE pair load_keys(const seen_key *k0, const seen_key *k1, size_t steps)
{
    pair p = {.first = look_up(first_of, k0->len, k1->len)};
    const char *begin0 = k0->data, *begin1 = k1->data;
    const char *end0 = begin0 + k0->len, *end1 = begin1 + k1->len;
    const size_t least = steps == 1 ? 16 : 32 * (steps - 1);
    __builtin_prefetch(begin0 + SN_HASH_PREFETCH, 0, 3);
    __builtin_prefetch(begin1 + SN_HASH_PREFETCH, 0, 3);
    UNROLL
    for (size_t k = 0; k < steps; k++) {
        size_t at = 16 * k, rest = least - 16 > at ? least - 16 - at : 0;
        p.head[k] = load_pair(begin0 + at, begin1 + at, at, rest);
        p.tail[k] = load_pair(end0 - 16 - at, end1 - 16 - at, rest, at);
    }
    return p;
}

/* ---- the hash ---- */

typedef struct secret {
    vec even[SN_HASH_RANGES], odd[SN_HASH_RANGES]; /* (s0, s2) and (s1, s3), for both keys */
    vec seed;
} secret;

INLINE secret make_secret(uint64_t seed, size_t steps)
{
    char bytes[XXH3_SECRET_DEFAULT_SIZE];
    secret s = {.seed = _mm256_setr_epi64x((long long)(0 - seed * PRIME_2), 0,
                                           (long long)(0 - seed * PRIME_2), 0)};
    XXH3_generateSecret_fromSeed(bytes, seed);
    UNROLL
    for (size_t k = 0; k < steps; k++) {
        vec a = load_twice(bytes + 32 * k), b = load_twice(bytes + 32 * k + 16);
        s.even[k] = _mm256_unpacklo_epi64(a, b);
        s.odd[k] = _mm256_unpackhi_epi64(a, b);
    }
    return s;
}

/* a * b, the upper half xor the lower half: schoolbook multiplication with four products of 32
 * bits. */
INLINE vec fold(vec a, vec b)
{
    vec a_high = _mm256_srli_epi64(a, 32), b_high = _mm256_srli_epi64(b, 32);
    vec low = _mm256_mul_epu32(a, b), high = _mm256_mul_epu32(a_high, b_high);
    vec t = add(_mm256_srli_epi64(low, 32), _mm256_mul_epu32(a_high, b));
    vec u = add(_mm256_blend_epi32(t, _mm256_setzero_si256(), HIGH_HALVES),
                _mm256_mul_epu32(a, b_high));
    high = add(add(high, _mm256_srli_epi64(t, 32)), _mm256_srli_epi64(u, 32));
    low = _mm256_blend_epi32(low, _mm256_slli_epi64(u, 32), HIGH_HALVES);
    return exor(low, high);
}

INLINE vec mix(pair p, const secret *s, size_t steps)
{
    vec sums = p.first;
    UNROLL
    for (size_t k = steps; k-- > 0;) {
        vec even = _mm256_unpacklo_epi64(p.head[k], p.tail[k]);
        vec odd = _mm256_unpackhi_epi64(p.head[k], p.tail[k]);
        sums = add(sums, fold(exor(even, s->even[k]), exor(odd, s->odd[k])));
        sums = exor(sums, _mm256_shuffle_epi32(add(even, odd), 0x4e));
    }
    return sums;
}

/* a * c, the lower half. */
INLINE vec times(vec a, uint64_t even, uint64_t odd)
{
    const vec c =
        _mm256_setr_epi64x((long long)even, (long long)odd, (long long)even, (long long)odd);
    vec cross = _mm256_mullo_epi32(a, _mm256_shuffle_epi32(c, 0xb1));
    vec sum = add(_mm256_mul_epu32(a, c), _mm256_slli_epi64(cross, 32));
    return add(sum, _mm256_blend_epi32(cross, _mm256_setzero_si256(), LOW_HALVES));
}

INLINE vec avalanche(vec x)
{
    x = times(exor(x, _mm256_srli_epi64(x, 37)), PRIME_MX, PRIME_MX);
    return exor(x, _mm256_srli_epi64(x, 32));
}

/* lo = avalanche(low + high)
 * hi = -avalanche(low * PRIME_1 + high * PRIME_4 + (length - seed) * PRIME_2) */
INLINE vec finish(vec sums, size_t len0, size_t len1, vec seed)
{
    vec products = add(times(sums, PRIME_1, PRIME_4), add(look_up(last_of, len0, len1), seed));
    vec x = avalanche(
        add(_mm256_unpacklo_epi64(sums, products), _mm256_unpackhi_epi64(sums, products)));
    return _mm256_blend_epi32(x, _mm256_sub_epi64(_mm256_setzero_si256(), x), ODD_WORDS);
}

/* ---- the loops ---- */

INLINE bool in_range(const seen_key *key, size_t steps)
{
    return steps == 1 ? key->len - 17 < 16 : key->len - 32 * (steps - 1) - 1 < 32;
}

INLINE seen_hash hash_one(uint64_t seed, const seen_key *key, size_t steps)
{
    if (!in_range(key, steps))
        __builtin_unreachable();
    XXH128_hash_t h = XXH3_128bits_withSeed(key->data, key->len, seed);
    return (seen_hash){.lo = h.low64, .hi = h.high64};
}

enum { RUN = 1024 }; /* keys per pass: their sums are still in the cache */

INLINE size_t run(uint64_t seed, const seen_key *keys, size_t count, seen_hash *hashes,
                  size_t steps)
{
    const secret s = make_secret(seed, steps);
    const seen_key *key = keys, *end = keys + (count < RUN ? count : RUN);
    seen_hash *out = hashes;
    for (; end - key >= 2 && in_range(key, steps) && in_range(key + 1, steps); key += 2, out += 2)
        _mm256_storeu_si256((__m256i *)(void *)out, mix(load_keys(key, key + 1, steps), &s, steps));
    for (const seen_key *k = keys; k < key; k += 2, hashes += 2)
        _mm256_storeu_si256((__m256i *)(void *)hashes,
                            finish(load(hashes), k[0].len, k[1].len, s.seed));
    if (key < end && in_range(key, steps))
        *out = hash_one(seed, key++, steps);
    return (size_t)(key - keys);
}

INLINE void pick(uint64_t seed, const seen_key *keys, const uint8_t *order, size_t count,
                 seen_hash *hashes, size_t steps)
{
    const secret s = make_secret(seed, steps);
    vec sums[SN_HASH_PICK / 2];
    for (size_t i = 0; i + 2 <= count; i += 2) {
        pair p = load_keys(&keys[order[i]], &keys[order[i + 1]], steps);
        sums[i / 2] = mix(p, &s, steps);
    }
    for (size_t i = 0; i + 2 <= count; i += 2) {
        uint8_t k0 = order[i], k1 = order[i + 1];
        vec h = finish(sums[i / 2], keys[k0].len, keys[k1].len, s.seed);
        _mm_storeu_si128((__m128i *)(void *)&hashes[k0], _mm256_castsi256_si128(h));
        _mm_storeu_si128((__m128i *)(void *)&hashes[k1], _mm256_extracti128_si256(h, 1));
    }
    if (count % 2)
        hashes[order[count - 1]] = hash_one(seed, &keys[order[count - 1]], steps);
}

#define RANGE(steps)                                                                               \
    static size_t run_##steps(uint64_t seed, const seen_key *keys, size_t count,                   \
                              seen_hash *hashes)                                                   \
    {                                                                                              \
        return run(seed, keys, count, hashes, steps);                                              \
    }                                                                                              \
    static void pick_##steps(uint64_t seed, const seen_key *keys, const uint8_t *order,            \
                             size_t count, seen_hash *hashes)                                      \
    {                                                                                              \
        pick(seed, keys, order, count, hashes, steps);                                             \
    }

RANGE(1)
RANGE(2)
RANGE(3)
RANGE(4)

const sn_hash_ranges sn_hash_avx2 = {
    .name = "avx2", .run = {run_1, run_2, run_3, run_4}, .pick = {pick_1, pick_2, pick_3, pick_4}};
#else
typedef int sn_hash_avx2_unused;
#endif
