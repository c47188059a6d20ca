/* Functions common to all frontiers. */
#include "crawl/frontier/frontier.h"

#include "base/bytes.h"

#include <string.h>

seen_hash sn_frontier_hash(const sn_frontier *f, const char *url, size_t len, uint8_t kind)
{
    seen_hash hash = seen_hash_key(&f->hasher, url, len);
    if (kind != SN_KIND_SITEMAP)
        return hash;
    char key[24] = "sitemap";
    sn_store64((uint8_t *)key + 8, hash.lo);
    sn_store64((uint8_t *)key + 16, hash.hi);
    return seen_hash_key(&f->hasher, key, sizeof key);
}

size_t sn_frontier_origin(const char *url, size_t len)
{
    const char *host = memchr(url, ':', len);
    if (!host || (size_t)(host - url) + 3 > len)
        return 0;
    size_t at = (size_t)(host - url) + 3;
    const char *slash = memchr(url + at, '/', len - at);
    return slash ? (size_t)(slash - url) : len;
}
