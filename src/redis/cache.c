/* The client's cache, which avoids requests.
 *
 * A bit is never cleared: bits that this client saw set, or set itself, are known. The cache has
 * two parts. Bits: a copy of each layer of a filter that is not too large, initially zero, filled
 * from replies. A key whose cells are all known is present; for other keys only the unknown cells
 * are sent. Keys: the hashes of the most recent keys that were present or added, for larger
 * filters.
 *
 * A server may lose bits: when it crashes, or at a failover. Its clients then lose their
 * connections, or are redirected; the client counts such events (the epoch). When the epoch changes
 * the cache is cleared, and keys that were added during the change with some of their cells omitted
 * are added again completely (ops.c, reopen_incomplete).
 *
 * Not used for windows, which drop keys, nor for counters; no bits are cached for plain bitmaps,
 * which other programs may change. */
#include "redis/cache.h"

#include "base/memory.h"

/* Prefetch distance, in keys and in lines of a key. */
enum { DISTANCE = 8, PREFETCH_LINES = 3 };
/* Maximum bytes of bits, for all layers together. */
#define BITS_MAX (UINT64_C(32) << 20)

static bool caches_keys(const sn_redis_set *set)
{
    return set->base.kind == SEEN_BLOOM && set->base.growth != SEEN_WINDOW;
}

static bool caches_bits(const sn_redis_set *set, const sn_redis_view *view)
{
    return caches_keys(set) && view->layout == SEEN_LAYOUT_SHARDS;
}

static void clear(sn_cache *cache)
{
    for (uint32_t i = 0; i < SN_IMAGE_LAYERS; i++) {
        if (cache->bits[i])
            sn_memory_unmap(cache->bits[i], cache->size[i]);
        cache->bits[i] = NULL;
    }
    cache->bytes = 0;
    /* Every slot holds a hash that can never be looked up there: one that belongs to the next
     * slot. */
    for (uint64_t i = 0; i < SN_CACHE_KEYS; i++)
        cache->key[i].lo = i + 1;
}

void sn_cache_open(sn_cache *cache)
{
    pthread_mutex_init(&cache->lock, NULL);
    clear(cache);
}

void sn_cache_close(sn_cache *cache)
{
    clear(cache);
    pthread_mutex_destroy(&cache->lock);
}

/* Takes the lock; clears the cache if the server may have lost data. */
static sn_cache *lock_cache(sn_redis_set *set)
{
    sn_cache *cache = &set->cache;
    pthread_mutex_lock(&cache->lock);
    unsigned epoch = sn_client_epoch(set->redis);
    if (cache->epoch != epoch)
        clear(cache);
    cache->epoch = epoch;
    return cache;
}

/* ---- keys ---- */

static seen_hash *place_of(sn_cache *cache, seen_hash h)
{
    return &cache->key[h.lo % SN_CACHE_KEYS];
}

static void lookup_keys(sn_cache *cache, sn_batch *b)
{
    for (size_t i = 0; i < b->keys; i++) {
        sn_batch_key *k = &b->key[i];
        const seen_hash *at = place_of(cache, k->hash);
        if (at->lo == k->hash.lo && at->hi == k->hash.hi)
            sn_batch_move(k, SN_KEY_CACHED);
    }
}

static void store_keys(sn_cache *cache, const sn_batch *b)
{
    for (size_t i = 0; i < b->keys; i++) {
        const sn_batch_key *k = &b->key[i];
        if (sn_batch_present(k))
            *place_of(cache, k->hash) = k->hash;
    }
}

/* ---- bits ---- */

/* The words of line j of a key; shard and f are those of sn_place_shard. */
static uint64_t *words_of(uint64_t *bits, const sn_geometry *g, uint64_t shard, uint64_t f,
                          unsigned j)
{
    return bits + (shard * g->shard_lines + sn_place_line(g, f, j)) * SN_LINE_WORDS;
}

/* The cells of a key that are known to be set in a layer; bit n is cell n, as in sn_batch_key. */
static uint64_t cells_set(uint64_t *bits, const sn_geometry *g, seen_hash h)
{
    uint64_t set = 0, f, shard = sn_place_shard(g, h, &f);
    for (unsigned j = 0, n = 0; j < g->spread; j++) {
        const uint64_t *words = words_of(bits, g, shard, f, j);
        uint64_t cells = sn_place_cells(h.lo, j);
        for (unsigned i = 0; i < g->probes; i++, n++) {
            unsigned word = sn_place_word(cells, i);
            set |= (words[word] >> sn_place_bit(cells, word) & 1) << n;
        }
    }
    return set;
}

static void store_cells(uint64_t *bits, const sn_geometry *g, seen_hash h, uint64_t set)
{
    uint64_t f, shard = sn_place_shard(g, h, &f);
    for (unsigned j = 0, n = 0; j < g->spread; j++) {
        uint64_t *words = words_of(bits, g, shard, f, j), cells = sn_place_cells(h.lo, j);
        for (unsigned i = 0; i < g->probes; i++, n++) {
            unsigned word = sn_place_word(cells, i);
            words[word] |= (set >> n & 1) << sn_place_bit(cells, word);
        }
    }
}

static void fetch_lines(uint64_t *bits, const sn_geometry *g, seen_hash h)
{
    uint64_t f, shard = sn_place_shard(g, h, &f);
    for (unsigned j = 0; j < g->spread && j < PREFETCH_LINES; j++)
        __builtin_prefetch(words_of(bits, g, shard, f, j));
}

static uint64_t all_cells(const sn_geometry *g)
{
    unsigned cells = g->spread * g->probes;
    return cells < 64 ? (UINT64_C(1) << cells) - 1 : UINT64_MAX;
}

/* Allocates a layer, if the limit allows it. */
static uint64_t *room_for(sn_cache *cache, const sn_geometry *g, uint32_t layer)
{
    uint64_t bytes = sn_geometry_bytes(g);
    if (!cache->bits[layer] && g->spread * g->probes <= SN_BATCH_CELLS &&
        bytes <= BITS_MAX - cache->bytes) {
        cache->bits[layer] = sn_memory_map(bytes);
        cache->size[layer] = bytes;
        cache->bytes += cache->bits[layer] ? bytes : 0;
    }
    return cache->bits[layer];
}

static void lookup_bits(sn_cache *cache, const sn_redis_view *view, sn_batch *b)
{
    const sn_image *image = &view->image;
    b->cells_epoch = cache->epoch;
    b->cells_sequence = image->sequence;
    for (uint32_t layer = 0; layer < image->layers; layer++) {
        const sn_geometry *g = &image->layer[layer].geometry;
        uint64_t *bits = cache->bits[layer];
        for (size_t i = 0; bits && i < b->keys; i++) {
            sn_batch_key *k = &b->key[i];
            if (i + DISTANCE < b->keys)
                fetch_lines(bits, g, b->key[i + DISTANCE].hash);
            if (!sn_batch_undecided(k))
                continue;
            uint64_t cells = cells_set(bits, g, k->hash);
            if (cells == all_cells(g))
                sn_batch_move(k, SN_KEY_CACHED);
            if (layer == image->current)
                k->cells = cells;
        }
    }
}

static void store_bits(sn_cache *cache, const sn_batch *b)
{
    uint64_t lookup_layers = b->lookup_layers;
    const sn_image *image = &b->view.image;
    for (uint32_t layer = 0; layer < image->layers; layer++) {
        const sn_geometry *g = &image->layer[layer].geometry;
        uint64_t *bits = room_for(cache, g, layer);
        for (size_t i = 0; bits && i < b->keys; i++) {
            const sn_batch_key *k = &b->key[i];
            bool there = lookup_layers >> layer & ~k->miss >> layer & 1;
            if (sn_batch_undecided(k) || k->state == SN_KEY_CACHED)
                continue;
            if (there || (sn_batch_stored(k) && k->target == layer))
                store_cells(bits, g, k->hash, all_cells(g));
            else if (lookup_layers >> layer & 1 && layer == image->current)
                store_cells(bits, g, k->hash, k->cells);
        }
    }
}

/* ---- both ---- */

void sn_cache_lookup(sn_redis_set *set, const sn_redis_view *view, sn_batch *b)
{
    if (!caches_keys(set))
        return;
    sn_cache *cache = lock_cache(set);
    lookup_keys(cache, b);
    if (caches_bits(set, view))
        lookup_bits(cache, view, b);
    pthread_mutex_unlock(&cache->lock);
}

void sn_cache_lookup_cells(sn_redis_set *set, const sn_redis_view *view, sn_batch *b)
{
    if (!caches_bits(set, view))
        return;
    sn_cache *cache = lock_cache(set);
    lookup_bits(cache, view, b);
    pthread_mutex_unlock(&cache->lock);
}

void sn_cache_store(sn_redis_set *set, const sn_batch *b)
{
    if (!caches_keys(set))
        return;
    sn_cache *cache = lock_cache(set);
    /* Answers of an earlier epoch may be outdated. */
    if (cache->epoch == b->epoch) {
        store_keys(cache, b);
        if (caches_bits(set, &b->view))
            store_bits(cache, b);
    }
    pthread_mutex_unlock(&cache->lock);
}
