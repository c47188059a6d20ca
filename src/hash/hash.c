/* key -> 128 bits.
 *
 * XXH3 (128 bits, seeded by seed[0]) is the fast one. SipHash-2-4 (128 bits, keyed by both words,
 * little-endian) is for keys chosen by somebody who would like them to collide: without the key
 * collisions cannot be found. Both are frozen by tests/unit/test_hash.c. */
#include "hash/hash.h"

#include "base/bytes.h"
#include "base/error.h"

#include <errno.h>
#include <sys/random.h>

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
static seen_hash hash_sip(const uint64_t seed[2], const void *key, size_t len)
{
    unsigned char secret[16], out[16];
    sn_store64(secret, seed[0]);
    sn_store64(secret + 8, seed[1]);
    crypto_shorthash_siphashx24(out, key, len, secret);
    return (seen_hash){.lo = sn_load64(out), .hi = sn_load64(out + 8)};
}
#endif

seen_hash seen_hash_key(const seen_hasher *hasher, const void *key, size_t len)
{
#ifdef SEEN_WITH_SIPHASH
    if (hasher->kind == SEEN_SIPHASH)
        return hash_sip(hasher->seed, len ? key : "", len);
#endif
    return hash_xxh3(hasher->seed[0], len ? key : "", len);
}

/* The lengths of most keys have a function of their own, which hashes keys as long as they are of
 * such lengths and returns how many: with the range of the length known the hash is one straight
 * piece of code, and what depends on the seed alone moves out of the loop. Functions, and not loops
 * of one function: the compiler has registers enough for one of them. */
#define HASH_RUN(name, low, high)                                                                  \
    __attribute__((noinline, flatten)) static size_t name(uint64_t seed, const seen_key *keys,     \
                                                          size_t count, seen_hash *hashes)         \
    {                                                                                              \
        const seen_key *key = keys, *end = keys + count;                                           \
        for (; key < end && key->len > (low) && key->len <= (high); key++) {                       \
            __builtin_prefetch((const char *)key->data + AHEAD, 0, 3);                             \
            *hashes++ = hash_xxh3(seed, key->data, key->len);                                      \
        }                                                                                          \
        return (size_t)(key - keys);                                                               \
    }

/* Keys mostly lie behind each other; the system's own prefetcher stops at each page. */
enum { AHEAD = 1024 };

HASH_RUN(hash_to_32, 16, 32)
HASH_RUN(hash_to_64, 32, 64)
HASH_RUN(hash_to_96, 64, 96)
HASH_RUN(hash_to_128, 96, 128)

static void hash_many_xxh3(uint64_t seed, const seen_key *keys, size_t count, seen_hash *hashes)
{
    for (size_t i = 0, n; i < count; i += n) {
        const seen_key *key = &keys[i];
        if (key->len <= 16 || key->len > 128) {
            hashes[i] = hash_xxh3(seed, key->len ? key->data : "", key->len);
            n = 1;
        } else if (key->len <= 32) {
            n = hash_to_32(seed, key, count - i, &hashes[i]);
        } else if (key->len <= 64) {
            n = hash_to_64(seed, key, count - i, &hashes[i]);
        } else if (key->len <= 96) {
            n = hash_to_96(seed, key, count - i, &hashes[i]);
        } else {
            n = hash_to_128(seed, key, count - i, &hashes[i]);
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
    unsigned char *p = (unsigned char *)seed;
    for (size_t got = 0; got < 16;) {
        ssize_t n = getrandom(p + got, 16 - got, 0);
        if (n < 0 && errno != EINTR)
            return sn_error_system(error, errno, "random source", "read");
        if (n > 0)
            got += (size_t)n;
    }
    return SEEN_OK;
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
