/* A direct-mapped cache of hashes. */
#include "crawl/links/link_cache.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 65536 }; /* 1 MiB */

struct sn_link_cache {
    seen_hash slot[SLOTS];
    bool used; /* not all slots are empty */
};

sn_link_cache *sn_link_cache_create(void)
{
    return calloc(1, sizeof(sn_link_cache));
}

void sn_link_cache_destroy(sn_link_cache *cache)
{
    free(cache);
}

bool sn_link_cache_add(sn_link_cache *cache, seen_hash hash)
{
    seen_hash *slot = &cache->slot[hash.hi % SLOTS];
    if (slot->lo == hash.lo && slot->hi == hash.hi)
        return true;
    *slot = hash;
    cache->used = true;
    return false;
}

void sn_link_cache_prefetch(const sn_link_cache *cache, seen_hash hash)
{
    __builtin_prefetch(&cache->slot[hash.hi % SLOTS], 1);
}

void sn_link_cache_clear(sn_link_cache *cache)
{
    if (cache->used)
        memset(cache->slot, 0, sizeof cache->slot);
    cache->used = false;
}
