/* XXH3 of many keys, one range of lengths at a time; one implementation per CPU level.
 *
 * libxxhash is the reference: other implementations must return the same bits for all lengths and
 * seeds. */
#ifndef SN_HASH_RANGES_H
#define SN_HASH_RANGES_H

#include "seen.h"

enum {
    SN_HASH_RANGES = 4,     /* 17 to 32 bytes, to 64, to 96, to 128 */
    SN_HASH_PICK = 256,     /* maximum keys per pick call */
    SN_HASH_PREFETCH = 1024 /* keys are mostly adjacent in memory; the hardware prefetcher stops at
                             * page boundaries, so data this many bytes ahead is prefetched */
};

typedef struct sn_hash_ranges {
    const char *name;
    /* Hashes keys while their lengths are in the range, at least one; returns how many. It may stop
     * before the first key out of range. */
    size_t (*run[SN_HASH_RANGES])(uint64_t seed, const seen_key *keys, size_t count,
                                  seen_hash *hashes);
    /* Hashes keys[order[i]], all with lengths in the range, to hashes[order[i]]. */
    void (*pick[SN_HASH_RANGES])(uint64_t seed, const seen_key *keys, const uint8_t *order,
                                 size_t count, seen_hash *hashes);
} sn_hash_ranges;

/* All implementations that this CPU supports, the fastest last; the first is libxxhash. */
size_t sn_hash_list(const sn_hash_ranges *list[2]);

extern const sn_hash_ranges sn_hash_plain;
#if defined(__x86_64__)
extern const sn_hash_ranges sn_hash_avx2;
#endif

#endif
