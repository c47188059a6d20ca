/* Many keys by XXH3, one range of lengths at a time; one body for each CPU level.
 *
 * libxxhash is the definition: a body that is not made from its functions must give the same bits,
 * for all lengths and seeds. */
#ifndef SN_HASH_RANGES_H
#define SN_HASH_RANGES_H

#include "seen.h"

enum {
    SN_HASH_RANGES = 4,  /* 17 to 32 bytes, to 64, to 96, to 128 */
    SN_HASH_PICK = 256,  /* the most keys that one call picks */
    SN_HASH_AHEAD = 1024 /* keys mostly lie behind each other; the CPU's prefetcher stops at each
                            page, and so these bytes further on are asked for */
};

typedef struct sn_hash_ranges {
    const char *name;
    /* Hashes keys while they are of the range's lengths, one at least; returns how many. It may
     * stop before the first that is not. */
    size_t (*run[SN_HASH_RANGES])(uint64_t seed, const seen_key *keys, size_t count,
                                  seen_hash *hashes);
    /* Hashes keys[order[i]], all of the range's lengths, to hashes[order[i]]. */
    void (*pick[SN_HASH_RANGES])(uint64_t seed, const seen_key *keys, const uint8_t *order,
                                 size_t count, seen_hash *hashes);
} sn_hash_ranges;

/* All bodies that this CPU can run, the fastest last; the first is libxxhash's own. */
size_t sn_hash_list(const sn_hash_ranges *list[2]);

extern const sn_hash_ranges sn_hash_plain;
#if defined(__x86_64__)
extern const sn_hash_ranges sn_hash_avx2;
#endif

#endif
