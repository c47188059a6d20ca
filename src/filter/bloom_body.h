/* The body of a bloom kernel, compiled once per CPU level.
 *
 * The including file defines, for lines of eight 64-bit words,
 *     verdict                    what a line tells of a key
 *     line_has(line, cells, q)   whether a key's bits are set: one in each of q neighbouring words
 *     line_set(line, cells, q)   sets them, and tells whether they were
 *     both(verdict, verdict)     of a key with two lines
 *     found(verdict, add)        as a yes or no
 *     GROUP, tell(verdicts, add, answers)   the answers of so many keys at once
 * Everything else is the same for all: while key i is probed the lines of key i + AHEAD are found
 * and prefetched, so that the cache misses of many keys overlap, evenly: bursts of prefetches leave
 * the memory idle in between (10 ns a key against 15 in a filter of 119 MB). The prefetch goes to
 * the second level cache: the first level has too few miss buffers to keep enough of them in
 * flight. */

#include <stdbool.h>

enum {
    AHEAD = 64,
    NEAR_BYTES = 256 << 10, /* so little lies in the second level cache already */
};

#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll_count(8)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif
#define PREFETCH(p) __builtin_prefetch((p), 0, 2)

INLINE verdict probe(char *line, uint64_t cells, unsigned q, bool add)
{
    return add ? line_set(line, cells, q) : line_has(line, cells, q);
}

INLINE void tell_one(verdict v, bool add, seen_answer *answer)
{
    *answer = (seen_answer)(add ? found(v, true) : *answer | found(v, false));
}

/* A number of probes that is not 8: the loops of full lines are others. */
INLINE unsigned some(unsigned probes)
{
    if (probes == SN_LINE_WORDS)
        __builtin_unreachable();
    return probes;
}

/* ---- one line per key: the whole geometry folds into one multiplication ---- */

/* Where line sn_place_only begins: the product with 64 times as much is that number of the line
 * followed by six bits more. */
INLINE char *place_one(uint64_t bytes, const char *bits, seen_hash h)
{
    return (char *)(uintptr_t)bits + (sn_mulhi(h.hi, bytes) & ~(uint64_t)(SN_LINE_BYTES - 1));
}

INLINE char *find_one(uint64_t bytes, const char *bits, seen_hash h)
{
    char *line = place_one(bytes, bits, h);
    PREFETCH(line);
    return line;
}

INLINE void run_near(uint64_t bytes, const char *bits, const seen_hash *h, size_t count,
                     seen_answer *answers, unsigned q, bool add)
{
    size_t i = 0;
    for (; i + GROUP <= count; i += GROUP) {
        verdict v[GROUP];
        UNROLL
        for (size_t j = 0; j < GROUP; j++)
            v[j] = probe(place_one(bytes, bits, h[i + j]), h[i + j].lo, q, add);
        tell(v, add, &answers[i]);
    }
    for (; i < count; i++)
        tell_one(probe(place_one(bytes, bits, h[i]), h[i].lo, q, add), add, &answers[i]);
}

INLINE void run_one(const sn_geometry *g, const char *bits, const seen_hash *h, size_t count,
                    seen_answer *answers, unsigned q, bool add)
{
    const uint64_t bytes = sn_geometry_bytes(g);
    char *ring[AHEAD];
    size_t i = 0;
    if (bytes <= NEAR_BYTES) {
        run_near(bytes, bits, h, count, answers, q, add);
        return;
    }
    for (size_t j = 0; j < AHEAD && j < count; j++)
        ring[j] = find_one(bytes, bits, h[j]);
    for (; i + AHEAD + GROUP <= count; i += GROUP) {
        verdict v[GROUP];
        char **line = ring + i % AHEAD;
        UNROLL
        for (size_t j = 0; j < GROUP; j++) {
            v[j] = probe(line[j], h[i + j].lo, q, add);
            line[j] = find_one(bytes, bits, h[i + AHEAD + j]);
        }
        tell(v, add, &answers[i]);
    }
    for (; i < count; i++) {
        char **line = ring + i % AHEAD;
        tell_one(probe(*line, h[i].lo, q, add), add, &answers[i]);
        if (i + AHEAD < count)
            *line = find_one(bytes, bits, h[i + AHEAD]);
    }
}

/* ---- two lines ---- */

typedef struct pair {
    char *first, *second;
} pair;

INLINE pair find_two(const sn_geometry *g, const char *bits, seen_hash h)
{
    uint64_t f, shard = sn_place_shard(g, h, &f);
    char *base = (char *)(uintptr_t)bits + shard * g->shard_lines * SN_LINE_BYTES;
    uint64_t part = g->shard_lines / 2;
    pair p = {base + sn_mulhi(f, part) * SN_LINE_BYTES,
              base + (part + sn_mulhi(sn_place_line_seed(f, 1), part)) * SN_LINE_BYTES};
    PREFETCH(p.first);
    PREFETCH(p.second);
    return p;
}

/* Both lines are always looked at: a branch would be mispredicted more often than it saves. */
INLINE verdict probe_two(pair p, seen_hash h, unsigned q, bool add)
{
    verdict first = probe(p.first, h.lo, q, add);
    return both(first, probe(p.second, sn_place_cells(h.lo, 1), q, add));
}

INLINE void run_two(const sn_geometry *geometry, const char *bits, const seen_hash *h, size_t count,
                    seen_answer *answers, unsigned q, bool add)
{
    const sn_geometry g = *geometry; /* a copy of its own: stores to the bits cannot change it */
    pair ring[AHEAD];
    size_t i = 0;
    for (size_t j = 0; j < AHEAD && j < count; j++)
        ring[j] = find_two(&g, bits, h[j]);
    for (; i + AHEAD + GROUP <= count; i += GROUP) {
        verdict v[GROUP];
        pair *lines = ring + i % AHEAD;
        UNROLL
        for (size_t j = 0; j < GROUP; j++) {
            v[j] = probe_two(lines[j], h[i + j], q, add);
            lines[j] = find_two(&g, bits, h[i + AHEAD + j]);
        }
        tell(v, add, &answers[i]);
    }
    for (; i < count; i++) {
        pair *lines = ring + i % AHEAD;
        tell_one(probe_two(*lines, h[i], q, add), add, &answers[i]);
        if (i + AHEAD < count)
            *lines = find_two(&g, bits, h[i + AHEAD]);
    }
}

/* ---- any number of lines ---- */

static void prefetch_any(const sn_geometry *g, const char *bits, seen_hash h)
{
    uint64_t f, shard = sn_place_shard(g, h, &f);
    const char *base = bits + shard * g->shard_lines * SN_LINE_BYTES;
    for (unsigned j = 0; j < g->spread; j++)
        PREFETCH(base + sn_place_line(g, f, j) * SN_LINE_BYTES);
}

INLINE void run_any(const sn_geometry *geometry, const char *bits, const seen_hash *h, size_t count,
                    seen_answer *answers, bool add)
{
    const sn_geometry g = *geometry;
    for (size_t j = 0; j < AHEAD / 2 && j < count; j++)
        prefetch_any(&g, bits, h[j]);
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD / 2 < count)
            prefetch_any(&g, bits, h[i + AHEAD / 2]);
        uint64_t f, shard = sn_place_shard(&g, h[i], &f);
        char *base = (char *)(uintptr_t)bits + shard * g.shard_lines * SN_LINE_BYTES;
        bool all = true;
        for (unsigned j = 0; (add || all) && j < g.spread; j++) {
            char *line = base + sn_place_line(&g, f, j) * SN_LINE_BYTES;
            uint64_t cells = sn_place_cells(h[i].lo, j);
            bool had = found(probe(line, cells, g.probes, add), add);
            all = all && had;
        }
        answers[i] = (seen_answer)(add ? all : (answers[i] | all));
    }
}

/* ---- the loops ----
 *
 * The common shapes get loops of their own, with the number of probes known to the compiler: each a
 * function, because in one large one they would share too few registers. */

#define LOOP(name, run, ...)                                                                       \
    __attribute__((noinline)) static void name(const sn_geometry *g, const char *bits,             \
                                               const seen_hash *h, size_t count,                   \
                                               seen_answer *answers)                               \
    {                                                                                              \
        run(g, bits, h, count, answers, __VA_ARGS__);                                              \
    }

LOOP(check_one_full, run_one, 8, false)
LOOP(check_one, run_one, some(g->probes), false)
LOOP(check_two_full, run_two, 8, false)
LOOP(check_two, run_two, some(g->probes), false)
LOOP(check_any, run_any, false)
LOOP(add_one_full, run_one, 8, true)
LOOP(add_one, run_one, some(g->probes), true)
LOOP(add_two_full, run_two, 8, true)
LOOP(add_two, run_two, some(g->probes), true)
LOOP(add_any, run_any, true)

static void body_check(const sn_geometry *g, const void *bits, const seen_hash *h, size_t count,
                       seen_answer *answers)
{
    if (g->spread == 1)
        (g->probes == 8 ? check_one_full : check_one)(g, bits, h, count, answers);
    else if (g->spread == 2 && g->probes > 1)
        (g->probes == 8 ? check_two_full : check_two)(g, bits, h, count, answers);
    else
        check_any(g, bits, h, count, answers);
}

static void body_add(const sn_geometry *g, void *bits, const seen_hash *h, size_t count,
                     seen_answer *answers)
{
    if (g->spread == 1)
        (g->probes == 8 ? add_one_full : add_one)(g, bits, h, count, answers);
    else if (g->spread == 2 && g->probes > 1)
        (g->probes == 8 ? add_two_full : add_two)(g, bits, h, count, answers);
    else
        add_any(g, bits, h, count, answers);
}
