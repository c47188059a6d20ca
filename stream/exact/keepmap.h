/* One bit per line: whether it is kept. In memory, or above some MiB in a mapped temporary file. */
#ifndef SN_STREAM_EXACT_KEEPMAP_H
#define SN_STREAM_EXACT_KEEPMAP_H

#include "seen.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Several threads may set bits concurrently, but not while bits are read. */
typedef struct sn_keepmap {
    _Atomic uint64_t *words;
    size_t bytes;
} sn_keepmap;

/* Initially all bits are clear. */
seen_status sn_keepmap_open(sn_keepmap *map, uint64_t bits, const char *temp_dir,
                            seen_error *error);
void sn_keepmap_close(sn_keepmap *map); /* a zeroed one is ignored */

static inline void sn_keepmap_set(sn_keepmap *map, uint64_t bit)
{
    atomic_fetch_or_explicit(&map->words[bit >> 6], (uint64_t)1 << (bit & 63),
                             memory_order_relaxed);
}

static inline bool sn_keepmap_get(const sn_keepmap *map, uint64_t bit)
{
    return atomic_load_explicit(&map->words[bit >> 6], memory_order_relaxed) >> (bit & 63) & 1;
}

#endif
