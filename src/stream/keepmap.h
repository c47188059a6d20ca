/* One bit for each line: is it kept? In memory, or past some MiB in a mapped temporary file. */
#ifndef SN_STREAM_KEEPMAP_H
#define SN_STREAM_KEEPMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seen.h"

typedef struct sn_keepmap {
    uint64_t *words;
    size_t bytes;
} sn_keepmap;

/* All bits are clear. */
seen_status sn_keepmap_open(sn_keepmap *map, uint64_t bits, const char *temp_dir,
                            seen_error *error);
void sn_keepmap_close(sn_keepmap *map); /* a zeroed one is ignored */

static inline void sn_keepmap_set(sn_keepmap *map, uint64_t bit)
{
    map->words[bit >> 6] |= 1ull << (bit & 63);
}

static inline bool sn_keepmap_get(const sn_keepmap *map, uint64_t bit)
{
    return map->words[bit >> 6] >> (bit & 63) & 1;
}

#endif
