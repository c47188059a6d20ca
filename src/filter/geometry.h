/* The geometry of a filter, and the mapping from a hash to its cells.
 *
 *   filter   = `shards` equal parts; a key is in exactly one of them
 *   shard    = shard_lines lines of 64 bytes
 *   line     = eight 64-bit little-endian words; one key sets one cell in each of `probes` adjacent
 *              words (cyclic: word 7 is followed by word 0)
 *   cell     = one bit (bloom: 64 per word) or four (counting: 16 per word)
 *
 *   hi * shards               -> shard (high half), f (low half)
 *   line j of the key         -> part j of the shard, at f_j * part_lines (high half)
 *   cells of line j           -> from w_j: bits 48..50 the first word, bits 6i..6i+5 the cell in
 *                                word i (counting: the lowest four of the six)
 *   f_0 = f, w_0 = lo; f_j and w_j for j > 0 are f and lo mixed with j
 *
 * With probes > 1 a shard is divided into `spread` equal parts, one for each line of a key, so that
 * the lines of a key are always distinct. With probes = 1 (the classic filter) every line is chosen
 * from the whole shard. */
#ifndef SN_FILTER_GEOMETRY_H
#define SN_FILTER_GEOMETRY_H

#include "base/bytes.h"
#include "seen.h"

enum {
    SN_LINE_BYTES = 64,
    SN_LINE_WORDS = 8,
    SN_SPREAD_MAX = 64, /* the largest k of a classic filter */
};

typedef struct sn_geometry {
    seen_kind kind;
    uint32_t spread; /* g: lines per key */
    uint32_t probes; /* q: cells per line, 1 to 8 */
    uint64_t shards;
    uint64_t shard_lines;
} sn_geometry;

static inline uint64_t sn_geometry_lines(const sn_geometry *g)
{
    return g->shards * g->shard_lines;
}

static inline uint64_t sn_geometry_bytes(const sn_geometry *g)
{
    return sn_geometry_lines(g) * SN_LINE_BYTES;
}

/* Cells in a line. */
static inline unsigned sn_geometry_cells(const sn_geometry *g)
{
    return g->kind == SEEN_COUNTING ? 128 : 512;
}

static inline uint64_t sn_geometry_part_lines(const sn_geometry *g)
{
    return g->probes == 1 ? g->shard_lines : g->shard_lines / g->spread;
}

static inline uint64_t sn_geometry_part_step(const sn_geometry *g)
{
    return g->probes == 1 ? 0 : g->shard_lines / g->spread;
}

/* One 64 x 64 -> 128 bit product, folded: every bit of the result depends on every bit of x. */
static inline uint64_t sn_stir(uint64_t x, uint64_t salt)
{
    sn_u128 p = (sn_u128)(x + salt) * 0x9e6c63d0876a9a47u;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static inline uint64_t sn_place_line_seed(uint64_t f, unsigned j)
{
    return j == 0 ? f : sn_stir(f, j * 0x9e3779b97f4a7c15u);
}

static inline uint64_t sn_place_cells(uint64_t lo, unsigned j)
{
    return j == 0 ? lo : sn_stir(lo, j * 0xd1b54a32d192ed03u);
}

/* The shard of a key; *f is the rest of the hash, for its lines. */
static inline uint64_t sn_place_shard(const sn_geometry *g, seen_hash h, uint64_t *f)
{
    sn_u128 p = (sn_u128)h.hi * g->shards;
    *f = (uint64_t)p;
    return (uint64_t)(p >> 64);
}

/* Line j of a key, relative to its shard. */
static inline uint64_t sn_place_line(const sn_geometry *g, uint64_t f, unsigned j)
{
    return j * sn_geometry_part_step(g) +
           sn_mulhi(sn_place_line_seed(f, j), sn_geometry_part_lines(g));
}

/* The line of a key that has only one, relative to the start of the filter: equal to shard *
 * shard_lines + mulhi(f, shard_lines), because shard and f are the halves of hi * shards. */
static inline uint64_t sn_place_only(const sn_geometry *g, seen_hash h)
{
    return sn_mulhi(h.hi, sn_geometry_lines(g));
}

/* The word of probe i, and the cell within that word. */
static inline unsigned sn_place_word(uint64_t cells, unsigned i)
{
    return ((unsigned)(cells >> 48) + i) & 7;
}

static inline unsigned sn_place_bit(uint64_t cells, unsigned word)
{
    return (unsigned)(cells >> (6 * word)) & 63;
}

static inline unsigned sn_place_nibble(uint64_t cells, unsigned word)
{
    return (unsigned)(cells >> (6 * word)) & 15;
}

#endif
