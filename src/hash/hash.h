/* key -> 128 bits: the narrow waist. Everything above sees keys, everything below only this. */
#ifndef SN_HASH_HASH_H
#define SN_HASH_HASH_H

#include "seen.h"

/* Whether this build has the hash. */
bool sn_hash_supported(seen_hash_kind kind);

/* Two random words from the system. */
seen_status sn_hash_seed(uint64_t seed[2], seen_error *error);

/* XXH3-64 with seed 0: the checksum of what is stored. */
uint64_t sn_hash_checksum(const void *data, size_t len);

#endif
