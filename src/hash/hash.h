/* Hashes a key to 128 bits. Code above sees keys; code below sees only hashes. */
#ifndef SN_HASH_HASH_H
#define SN_HASH_HASH_H

#include "seen.h"

/* Whether this build supports the hash. */
bool sn_hash_supported(seen_hash_kind kind);

/* Two random words from the system. */
seen_status sn_hash_seed(uint64_t seed[2], seen_error *error);

/* XXH3-64 with seed 0: the checksum of stored data. */
uint64_t sn_hash_checksum(const void *data, size_t len);

#endif
