/* A small cache of links that were offered to the frontier.
 *
 * Most links of a page are links that the page before it had too. They never reach the seen-set,
 * which matters when that is across a network. */
#ifndef CRAWL_LINK_CACHE_H
#define CRAWL_LINK_CACHE_H

#include <stdbool.h>

#include "seen.h"

typedef struct sn_link_cache sn_link_cache;

/* NULL: no memory. */
sn_link_cache *sn_link_cache_create(void);
void sn_link_cache_destroy(sn_link_cache *cache);

/* True if this hash is in the cache; puts it there. */
bool sn_link_cache_add(sn_link_cache *cache, seen_hash hash);
/* Loads the memory that sn_link_cache_add will need. */
void sn_link_cache_prefetch(const sn_link_cache *cache, seen_hash hash);
/* Empties it: links that were out of scope may be in scope from now on. */
void sn_link_cache_clear(sn_link_cache *cache);

#endif
