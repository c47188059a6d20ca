/* An exact set of 128-bit hashes in memory: open addressing, at most half full, 32 bytes per hash.
 * One thread at a time. A zeroed struct is an empty set. */
#ifndef SN_BASE_HASHSET_H
#define SN_BASE_HASHSET_H

#include "seen.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct sn_hashset {
    seen_hash *slots; /* 2^n of them; {0, 0} is free, and the hash with that value is `zero` */
    size_t mask;
    size_t count;
    bool zero;
} sn_hashset;

void sn_hashset_free(sn_hashset *set);
/* Empties it. The memory is kept unless it is far more than was used. */
void sn_hashset_clear(sn_hashset *set);

bool sn_hashset_has(const sn_hashset *set, seen_hash hash);
/* Reserves room for this many more hashes; false: out of memory. */
bool sn_hashset_reserve(sn_hashset *set, size_t more);
/* True if the hash was absent. There must be room for it. */
bool sn_hashset_add(sn_hashset *set, seen_hash hash);

/* Moves the hashes to other memory: `slots` zeroed ones, a power of two. The caller frees the
 * memory it passes and, before the call, the previous memory. */
void sn_hashset_move(sn_hashset *set, seen_hash *memory, size_t slots);

#endif
