/* The client's cache, which avoids requests. */
#ifndef SN_REDIS_CACHE_H
#define SN_REDIS_CACHE_H

#include "redis/batch.h"

void sn_cache_open(sn_cache *cache);
void sn_cache_close(sn_cache *cache);

/* Answers the keys that are known to be present, and fills in the known cells of others. */
void sn_cache_lookup(sn_redis_set *set, const sn_redis_view *view, sn_batch *b);
/* The same for cells only, with another view. */
void sn_cache_lookup_cells(sn_redis_set *set, const sn_redis_view *view, sn_batch *b);

/* Learns from the answers of a batch. */
void sn_cache_store(sn_redis_set *set, const sn_batch *b);

#endif
