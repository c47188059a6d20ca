/* Hashes a key to 128 bits.
 *
 * XXH3 (128 bits, seeded by seed[0]) is fast. SipHash-2-4 (128 bits, keyed by both words,
 * little-endian) is for keys an attacker may choose: without the key collisions cannot be found.
 * The results of both are fixed by tests/unit/hash/test_hash.c. */
#include "hash/hash.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/io.h"
#include "hash/ranges.h"

#include <errno.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#ifdef SEEN_WITH_SIPHASH
#include <sodium/crypto_shorthash_siphash24.h>
#endif

bool sn_hash_supported(seen_hash_kind kind)
{
#ifdef SEEN_WITH_SIPHASH
    return kind == SEEN_XXH3 || kind == SEEN_SIPHASH;
#else
    return kind == SEEN_XXH3;
#endif
}

static inline seen_hash hash_xxh3(uint64_t seed, const void *key, size_t len)
{
    XXH128_hash_t h = XXH3_128bits_withSeed(key, len, seed);
    return (seen_hash){.lo = h.low64, .hi = h.high64};
}

#ifdef SEEN_WITH_SIPHASH
/* Not inlined: its buffers would make every XXH3 hash pay for a stack guard. */
__attribute__((noinline)) static seen_hash hash_sip(const uint64_t seed[2], const void *key,
                                                    size_t len)
{
    unsigned char secret[16], out[16];
    sn_store64(secret, seed[0]);
    sn_store64(secret + 8, seed[1]);
    crypto_shorthash_siphashx24(out, key, len, secret);
    return (seen_hash){.lo = sn_load64(out), .hi = sn_load64(out + 8)};
}
#endif

__attribute__((flatten)) seen_hash seen_hash_key(const seen_hasher *hasher, const void *key,
                                                 size_t len)
{
#ifdef SEEN_WITH_SIPHASH
    if (hasher->kind == SEEN_SIPHASH)
        return hash_sip(hasher->seed, len ? key : "", len);
#endif
    return hash_xxh3(hasher->seed[0], len ? key : "", len);
}

/* ---- XXH3 of many keys ----
 *
 * If the range of the length is known, the hash has no branches, and what depends only on the seed
 * moves out of the loop. If the lengths of the keys alternate between ranges, half of the branches
 * are mispredicted, and a key takes twice the time: then the keys of a block are sorted by range
 * first. The ranges are separate functions, because in a single function the compiler runs out of
 * registers. */

enum {
    BLOCK = SN_HASH_PICK, /* keys sorted at a time */
    SHORT = 16,           /* shorter runs indicate mixed lengths */
    RANGES = SN_HASH_RANGES,
};

#define HASH_RANGE(high, low)                                                                      \
    __attribute__((noinline, flatten)) static size_t run_##high(                                   \
        uint64_t seed, const seen_key *keys, size_t count, seen_hash *hashes)                      \
    {                                                                                              \
        const seen_key *key = keys, *end = keys + count;                                           \
        for (; key < end && key->len > (low) && key->len <= (high); key++) {                       \
            __builtin_prefetch((const char *)key->data + SN_HASH_PREFETCH, 0, 3);                  \
            *hashes++ = hash_xxh3(seed, key->data, key->len);                                      \
        }                                                                                          \
        return (size_t)(key - keys);                                                               \
    }                                                                                              \
    __attribute__((noinline, flatten)) static void pick_##high(                                    \
        uint64_t seed, const seen_key *keys, const uint8_t *order, size_t count,                   \
        seen_hash *hashes)                                                                         \
    {                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            const seen_key *key = &keys[order[i]];                                                 \
            __builtin_prefetch((const char *)key->data + SN_HASH_PREFETCH, 0, 3);                  \
            if (key->len <= (low) || key->len > (high))                                            \
                __builtin_unreachable();                                                           \
            hashes[order[i]] = hash_xxh3(seed, key->data, key->len);                               \
        }                                                                                          \
    }

HASH_RANGE(32, 16)
HASH_RANGE(64, 32)
HASH_RANGE(96, 64)
HASH_RANGE(128, 96)

const sn_hash_ranges sn_hash_plain = {.name = "plain",
                                      .run = {run_32, run_64, run_96, run_128},
                                      .pick = {pick_32, pick_64, pick_96, pick_128}};

size_t sn_hash_list(const sn_hash_ranges *list[2])
{
    size_t count = 0;
    list[count++] = &sn_hash_plain;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2"))
        list[count++] = &sn_hash_avx2;
#endif
    return count;
}

static const sn_hash_ranges *best_ranges(void)
{
    const sn_hash_ranges *list[2];
    return list[sn_hash_list(list) - 1];
}

static size_t range_of(size_t len)
{
    return len - 17 < 112 ? (len - 1) >> 5 : RANGES;
}

static void hash_any(uint64_t seed, const seen_key *key, seen_hash *hash)
{
    *hash = hash_xxh3(seed, key->len ? key->data : "", key->len);
}

static void hash_sorted(const sn_hash_ranges *ranges, uint64_t seed, const seen_key *keys,
                        size_t count, seen_hash *hashes)
{
    enum { BITS = 12 }; /* of a counter; all five are in one word, which is faster than memory */
    uint8_t order[RANGES + 1][BLOCK];
    size_t held[RANGES + 1];
    uint64_t counts = 0;
    for (size_t i = 0; i < count; i++) {
        size_t range = range_of(keys[i].len), shift = BITS * range;
        order[range][counts >> shift & ((1 << BITS) - 1)] = (uint8_t)i;
        counts += UINT64_C(1) << shift;
    }
    for (size_t i = 0; i <= RANGES; i++)
        held[i] = counts >> BITS * i & ((1 << BITS) - 1);
    for (size_t i = 0; i < RANGES; i++)
        if (held[i])
            ranges->pick[i](seed, keys, order[i], held[i], hashes);
    for (size_t i = 0; i < held[RANGES]; i++)
        hash_any(seed, &keys[order[RANGES][i]], &hashes[order[RANGES][i]]);
}

static void hash_many_xxh3(uint64_t seed, const seen_key *keys, size_t count, seen_hash *hashes)
{
    enum { FEW = 3 }; /* below this the setup of the vector code does not pay off */
    const sn_hash_ranges *ranges = count > FEW ? best_ranges() : &sn_hash_plain;
    for (size_t i = 0; i < count;) {
        size_t range = range_of(keys[i].len), n = 1;
        if (range < RANGES)
            n = ranges->run[range](seed, keys + i, count - i, hashes + i);
        else
            hash_any(seed, keys + i, hashes + i);
        i += n;
        if (n < SHORT && i < count) {
            n = count - i < BLOCK ? count - i : BLOCK;
            hash_sorted(ranges, seed, keys + i, n, hashes + i);
            i += n;
        }
    }
}

void seen_hash_many(const seen_hasher *hasher, const seen_key *keys, size_t count,
                    seen_hash *hashes)
{
    if (hasher->kind == SEEN_XXH3) {
        hash_many_xxh3(hasher->seed[0], keys, count, hashes);
        return;
    }
    for (size_t i = 0; i < count; i++)
        hashes[i] = seen_hash_key(hasher, keys[i].data, keys[i].len);
}

seen_status sn_hash_seed(uint64_t seed[2], seen_error *error)
{
    return sn_io_random(seed, 16, error);
}

seen_status seen_hasher_random(seen_hash_kind kind, seen_hasher *hasher, seen_error *error)
{
    if (!sn_hash_supported(kind))
        return sn_error_set(error, SEEN_ERR_UNSUPPORTED,
                            "this build has no such hash; build with SEEN_WITH_SIPHASH=ON");
    uint64_t seed[2];
    seen_status status = sn_hash_seed(seed, error);
    if (status == SEEN_OK)
        *hasher = (seen_hasher){.kind = kind, .seed = {seed[0], seed[1]}};
    return status;
}

uint64_t sn_hash_checksum(const void *data, size_t len)
{
    return XXH3_64bits(data, len);
}
