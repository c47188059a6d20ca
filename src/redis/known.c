/* Bits that are known to be set.
 *
 * A bit never goes back: what this client once saw set, or set itself, need not be asked for again.
 * So a filter that is not too large gets a copy here, all zero in the beginning, which fills with
 * what the answers tell. A key whose cells are all known was seen before, without a word to the
 * server; of a key that is new only the cells that are not known travel.
 *
 * The server may lose bits after all: when it crashes, or a replica takes its place. Its clients
 * then lose their connections, or are sent elsewhere; the channels count such events (the epoch).
 * With the epoch the copy is emptied, and keys that were added while it changed, with some of their
 * cells left out, are added again in full (redis_ops.c, doubt): a key that is acknowledged lies
 * whole in the server that acknowledged it.
 *
 * Not for windows, which forget, nor counters, nor plain bitmaps, which other programs may change.
 */
#include "base/memory.h"
#include "redis/batch.h"

/* Keys, and lines of a key, that are fetched from memory in advance. */
enum { AHEAD = 8, AHEAD_LINES = 3 };
/* Bytes, all layers together. */
#define KNOWN_MAX (UINT64_C(32) << 20)

static bool can_know(const sn_redis_set *set, const sn_redis_view *view)
{
    return set->base.kind == SEEN_BLOOM && set->base.growth != SEEN_WINDOW &&
           view->layout == SEEN_LAYOUT_SHARDS;
}

/* The words of line j of a key; shard and f are those of sn_place_shard. */
static uint64_t *words_of(uint64_t *known, const sn_geometry *g, uint64_t shard, uint64_t f,
                          unsigned j)
{
    return known + (shard * g->shard_lines + sn_place_line(g, f, j)) * SN_LINE_WORDS;
}

/* The cells of a key that are known in a layer; bit n is cell n, as in sn_batch_key. */
static uint64_t cells_known(uint64_t *known, const sn_geometry *g, seen_hash h)
{
    uint64_t set = 0, f, shard = sn_place_shard(g, h, &f);
    for (unsigned j = 0, n = 0; j < g->spread; j++) {
        const uint64_t *words = words_of(known, g, shard, f, j);
        uint64_t cells = sn_place_cells(h.lo, j);
        for (unsigned i = 0; i < g->probes; i++, n++) {
            unsigned word = sn_place_word(cells, i);
            set |= (words[word] >> sn_place_bit(cells, word) & 1) << n;
        }
    }
    return set;
}

static void learn_cells(uint64_t *known, const sn_geometry *g, seen_hash h, uint64_t set)
{
    uint64_t f, shard = sn_place_shard(g, h, &f);
    for (unsigned j = 0, n = 0; j < g->spread; j++) {
        uint64_t *words = words_of(known, g, shard, f, j), cells = sn_place_cells(h.lo, j);
        for (unsigned i = 0; i < g->probes; i++, n++) {
            unsigned word = sn_place_word(cells, i);
            words[word] |= (set >> n & 1) << sn_place_bit(cells, word);
        }
    }
}

static void fetch_lines(uint64_t *known, const sn_geometry *g, seen_hash h)
{
    uint64_t f, shard = sn_place_shard(g, h, &f);
    for (unsigned j = 0; j < g->spread && j < AHEAD_LINES; j++)
        __builtin_prefetch(words_of(known, g, shard, f, j));
}

static uint64_t all_cells(const sn_geometry *g)
{
    unsigned cells = g->spread * g->probes;
    return cells < 64 ? (UINT64_C(1) << cells) - 1 : UINT64_MAX;
}

/* Room for a layer, where there is any left. */
static uint64_t *room_for(sn_redis_set *set, const sn_geometry *g, uint32_t layer)
{
    uint64_t bytes = sn_geometry_bytes(g);
    if (!set->known[layer] && g->spread * g->probes <= SN_BATCH_CELLS &&
        bytes <= KNOWN_MAX - set->known_bytes) {
        set->known[layer] = sn_memory_map(bytes);
        set->known_size[layer] = bytes;
        set->known_bytes += set->known[layer] ? bytes : 0;
    }
    return set->known[layer];
}

void sn_known_forget(sn_redis_set *set)
{
    for (uint32_t i = 0; i < SN_IMAGE_LAYERS; i++) {
        if (set->known[i])
            sn_memory_unmap(set->known[i], set->known_size[i]);
        set->known[i] = NULL;
    }
    set->known_bytes = 0;
}

/* With the lock held: forgets all if the server may have. */
static void keep_up(sn_redis_set *set)
{
    unsigned epoch = sn_client_epoch(set->redis);
    if (set->known_epoch != epoch)
        sn_known_forget(set);
    set->known_epoch = epoch;
}

void sn_known_recall(sn_redis_set *set, const sn_redis_view *view, sn_batch *b)
{
    const sn_image *image = &view->image;
    if (!can_know(set, view))
        return;
    pthread_mutex_lock(&set->known_lock);
    keep_up(set);
    b->known_epoch = set->known_epoch;
    b->known_sequence = image->sequence;
    for (uint32_t layer = 0; layer < image->layers; layer++) {
        const sn_geometry *g = &image->layer[layer].geometry;
        uint64_t *known = set->known[layer];
        for (size_t i = 0; known && i < b->keys; i++) {
            sn_batch_key *k = &b->key[i];
            if (i + AHEAD < b->keys)
                fetch_lines(known, g, b->key[i + AHEAD].hash);
            if (k->answer != SEEN_UNKNOWN)
                continue;
            uint64_t cells = cells_known(known, g, k->hash);
            if (cells == all_cells(g)) {
                k->answer = sn_batch_found(k);
                k->recalled = true;
            }
            if (layer == image->current)
                k->cells = cells;
        }
    }
    pthread_mutex_unlock(&set->known_lock);
}

void sn_known_learn(sn_redis_set *set, const sn_batch *b, uint64_t looked)
{
    const sn_image *image = &b->view.image;
    if (!can_know(set, &b->view))
        return;
    pthread_mutex_lock(&set->known_lock);
    keep_up(set);
    for (uint32_t layer = 0; layer < image->layers && set->known_epoch == b->epoch; layer++) {
        const sn_geometry *g = &image->layer[layer].geometry;
        uint64_t *known = room_for(set, g, layer);
        for (size_t i = 0; known && i < b->keys; i++) {
            const sn_batch_key *k = &b->key[i];
            bool there = looked >> layer & ~k->miss >> layer & 1;
            if (k->answer == SEEN_UNKNOWN || k->recalled)
                continue;
            if (there || (k->put && k->target == layer))
                learn_cells(known, g, k->hash, all_cells(g));
            else if (looked >> layer & 1 && layer == image->current)
                learn_cells(known, g, k->hash, k->cells);
        }
    }
    pthread_mutex_unlock(&set->known_lock);
}
