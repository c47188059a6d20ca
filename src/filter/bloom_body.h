/* The body of a bloom kernel, compiled once per CPU level.
 *
 * The including file defines, for lines of eight 64-bit words,
 *     line_mask            a type that holds the bits of one key in one line
 *     make_mask(cells, q)  the bits: one in each of q neighbouring words
 *     line_has(line, m)    whether all of them are set
 *     line_set(line, m)    sets them
 * and BODY_NAME. Everything else is the same for all: a batch goes through in chunks; the lines of
 * a chunk are found and prefetched before the chunk before it is probed, so that the cache misses
 * of many keys overlap. The prefetch goes to the second level cache: the first level has too few
 * miss buffers to keep enough of them in flight. */

#include <stdbool.h>

enum { CHUNK = 64 };

#define PREFETCH(p) __builtin_prefetch((p), 0, 2)

/* One line per key: the whole geometry folds into two multiplications. */
static inline __attribute__((always_inline)) void
locate_one(const sn_geometry *g, const char *bits, const seen_hash *h, size_t n, const char **line)
{
    uint64_t shards = g->shards, lines = g->shard_lines;
    for (size_t i = 0; i < n; i++) {
        sn_u128 p = (sn_u128)h[i].hi * shards;
        uint64_t at = (uint64_t)(p >> 64) * lines + sn_mulhi((uint64_t)p, lines);
        line[i] = bits + at * SN_LINE_BYTES;
        PREFETCH(line[i]);
    }
}

static inline __attribute__((always_inline)) void locate_two(const sn_geometry *g, const char *bits,
                                                             const seen_hash *h, size_t n,
                                                             const char **line, const char **other)
{
    uint64_t shards = g->shards, lines = g->shard_lines;
    uint64_t part = sn_geometry_part_lines(g), step = sn_geometry_part_step(g);
    for (size_t i = 0; i < n; i++) {
        sn_u128 p = (sn_u128)h[i].hi * shards;
        uint64_t f = (uint64_t)p, base = (uint64_t)(p >> 64) * lines;
        uint64_t a = base + sn_mulhi(f, part);
        uint64_t b = base + step + sn_mulhi(sn_place_line_seed(f, 1), part);
        line[i] = bits + a * SN_LINE_BYTES;
        other[i] = bits + b * SN_LINE_BYTES;
        PREFETCH(line[i]);
        PREFETCH(other[i]);
    }
}

/* Any number of lines: prefetches them all, keeps only the shard's base. */
static void locate_any(const sn_geometry *g, const char *bits, const seen_hash *h, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t f, shard = sn_place_shard(g, h[i], &f);
        const char *base = bits + shard * g->shard_lines * SN_LINE_BYTES;
        for (unsigned j = 0; j < g->spread; j++)
            PREFETCH(base + sn_place_line(g, f, j) * SN_LINE_BYTES);
    }
}

static inline __attribute__((always_inline)) void check_one(const sn_geometry *g, const char *bits,
                                                            const seen_hash *h, size_t count,
                                                            seen_answer *answers, unsigned q)
{
    const char *ring[2][CHUNK];
    size_t n = count < CHUNK ? count : CHUNK, next = 0;
    locate_one(g, bits, h, n, ring[0]);
    for (size_t at = 0; at < count; at += n, n = next) {
        const char **now = ring[at / CHUNK % 2], **then = ring[(at / CHUNK + 1) % 2];
        size_t left = count - at - n;
        next = left < CHUNK ? left : CHUNK;
        locate_one(g, bits, h + at + n, next, then);
        for (size_t i = 0; i < n; i++)
            answers[at + i] |= (seen_answer)line_has(now[i], make_mask(h[at + i].lo, q));
    }
}

static inline __attribute__((always_inline)) void add_one(const sn_geometry *g, char *bits,
                                                          const seen_hash *h, size_t count,
                                                          seen_answer *answers, unsigned q)
{
    const char *ring[2][CHUNK];
    size_t n = count < CHUNK ? count : CHUNK, next = 0;
    locate_one(g, bits, h, n, ring[0]);
    for (size_t at = 0; at < count; at += n, n = next) {
        const char **now = ring[at / CHUNK % 2], **then = ring[(at / CHUNK + 1) % 2];
        size_t left = count - at - n;
        next = left < CHUNK ? left : CHUNK;
        locate_one(g, bits, h + at + n, next, then);
        for (size_t i = 0; i < n; i++)
            answers[at + i] =
                (seen_answer)line_set(bits + (now[i] - bits), make_mask(h[at + i].lo, q));
    }
}

static inline __attribute__((always_inline)) void check_two(const sn_geometry *g, const char *bits,
                                                            const seen_hash *h, size_t count,
                                                            seen_answer *answers, unsigned q)
{
    const char *ring[2][CHUNK], *ring2[2][CHUNK];
    size_t n = count < CHUNK ? count : CHUNK, next = 0;
    locate_two(g, bits, h, n, ring[0], ring2[0]);
    for (size_t at = 0; at < count; at += n, n = next) {
        unsigned now = at / CHUNK % 2;
        size_t left = count - at - n;
        next = left < CHUNK ? left : CHUNK;
        locate_two(g, bits, h + at + n, next, ring[!now], ring2[!now]);
        for (size_t i = 0; i < n; i++) {
            uint64_t lo = h[at + i].lo;
            /* Both are looked at: a branch would be mispredicted more often than it saves. */
            bool first = line_has(ring[now][i], make_mask(lo, q));
            bool second = line_has(ring2[now][i], make_mask(sn_place_cells(lo, 1), q));
            answers[at + i] |= (seen_answer)((unsigned)first & (unsigned)second);
        }
    }
}

static inline __attribute__((always_inline)) void add_two(const sn_geometry *g, char *bits,
                                                          const seen_hash *h, size_t count,
                                                          seen_answer *answers, unsigned q)
{
    const char *ring[2][CHUNK], *ring2[2][CHUNK];
    size_t n = count < CHUNK ? count : CHUNK, next = 0;
    locate_two(g, bits, h, n, ring[0], ring2[0]);
    for (size_t at = 0; at < count; at += n, n = next) {
        unsigned now = at / CHUNK % 2;
        size_t left = count - at - n;
        next = left < CHUNK ? left : CHUNK;
        locate_two(g, bits, h + at + n, next, ring[!now], ring2[!now]);
        for (size_t i = 0; i < n; i++) {
            uint64_t lo = h[at + i].lo;
            char *a = bits + (ring[now][i] - bits), *b = bits + (ring2[now][i] - bits);
            bool first = line_set(a, make_mask(lo, q));
            bool second = line_set(b, make_mask(sn_place_cells(lo, 1), q));
            answers[at + i] = (seen_answer)((unsigned)first & (unsigned)second);
        }
    }
}

static void check_any(const sn_geometry *g, const char *bits, const seen_hash *h, size_t count,
                      seen_answer *answers)
{
    for (size_t at = 0; at < count; at += CHUNK) {
        size_t n = count - at < CHUNK ? count - at : CHUNK;
        locate_any(g, bits, h + at, n);
        for (size_t i = at; i < at + n; i++) {
            uint64_t f, shard = sn_place_shard(g, h[i], &f);
            const char *base = bits + shard * g->shard_lines * SN_LINE_BYTES;
            bool has = true;
            for (unsigned j = 0; has && j < g->spread; j++)
                has = line_has(base + sn_place_line(g, f, j) * SN_LINE_BYTES,
                               make_mask(sn_place_cells(h[i].lo, j), g->probes));
            answers[i] |= (seen_answer)has;
        }
    }
}

static void add_any(const sn_geometry *g, char *bits, const seen_hash *h, size_t count,
                    seen_answer *answers)
{
    for (size_t at = 0; at < count; at += CHUNK) {
        size_t n = count - at < CHUNK ? count - at : CHUNK;
        locate_any(g, bits, h + at, n);
        for (size_t i = at; i < at + n; i++) {
            uint64_t f, shard = sn_place_shard(g, h[i], &f);
            char *base = bits + shard * g->shard_lines * SN_LINE_BYTES;
            bool had = true;
            for (unsigned j = 0; j < g->spread; j++)
                had &= line_set(base + sn_place_line(g, f, j) * SN_LINE_BYTES,
                                make_mask(sn_place_cells(h[i].lo, j), g->probes));
            answers[i] = (seen_answer)had;
        }
    }
}

/* The common shapes get loops of their own, with the number of probes known to the compiler. */
static void body_check(const sn_geometry *g, const void *bits, const seen_hash *h, size_t count,
                       seen_answer *answers)
{
    if (count == 0)
        return;
    if (g->spread == 1 && g->probes == 8)
        check_one(g, bits, h, count, answers, 8);
    else if (g->spread == 1)
        check_one(g, bits, h, count, answers, g->probes);
    else if (g->spread == 2 && g->probes == 8)
        check_two(g, bits, h, count, answers, 8);
    else if (g->spread == 2 && g->probes > 1)
        check_two(g, bits, h, count, answers, g->probes);
    else
        check_any(g, bits, h, count, answers);
}

static void body_add(const sn_geometry *g, void *bits, const seen_hash *h, size_t count,
                     seen_answer *answers)
{
    if (count == 0)
        return;
    if (g->spread == 1 && g->probes == 8)
        add_one(g, bits, h, count, answers, 8);
    else if (g->spread == 1)
        add_one(g, bits, h, count, answers, g->probes);
    else if (g->spread == 2 && g->probes == 8)
        add_two(g, bits, h, count, answers, 8);
    else if (g->spread == 2 && g->probes > 1)
        add_two(g, bits, h, count, answers, g->probes);
    else
        add_any(g, bits, h, count, answers);
}
