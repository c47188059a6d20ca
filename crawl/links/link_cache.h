/* A small cache of links that were offered to the frontier.
 *
 * Most links of a page were also on the page before it. They never reach the seen-set, which
 * matters if that is across a network. */
#ifndef SN_CRAWL_LINKS_LINK_CACHE_H
#define SN_CRAWL_LINKS_LINK_CACHE_H

#include "seen.h"

#include <stdbool.h>

typedef struct sn_link_cache sn_link_cache;

/* NULL: out of memory. */
sn_link_cache *sn_link_cache_create(void);
void sn_link_cache_destroy(sn_link_cache *cache);

/* Adds this hash; true if it was in the cache. */
bool sn_link_cache_add(sn_link_cache *cache, seen_hash hash);
/* Prefetches the memory that sn_link_cache_add will need. */
void sn_link_cache_prefetch(const sn_link_cache *cache, seen_hash hash);
/* Clears it: links that were out of scope may now be in scope. */
void sn_link_cache_clear(sn_link_cache *cache);

#endif
