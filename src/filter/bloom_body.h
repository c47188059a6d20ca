/* The body of a bloom kernel, compiled once per CPU level.
 *
 * The including file defines, for lines of eight 64-bit words,
 *     verdict                    the result of probing a line for a key
 *     line_has(line, cells, q)   whether a key's bits are set: one in each of q adjacent words
 *     line_set(line, cells, q)   sets them, and returns whether they were set
 *     both(verdict, verdict)     combines the two lines of a key
 *     found(verdict, add)        as a boolean
 *     GROUP, tell(verdicts, add, answers)   the answers of GROUP keys at once
 * The rest is common: while key i is probed, the lines of key i + DISTANCE are computed and
 * prefetched, so that the cache misses of many keys overlap. Prefetching is spread evenly, because
 * bursts leave the memory idle in between (10 ns per key instead of 15 in a filter of 119 MB). The
 * prefetch targets the L2 cache: L1 has too few miss buffers to keep enough requests in flight. */

#include <stdbool.h>

enum {
    DISTANCE = 64,
    NEAR_BYTES = 256 << 10, /* smaller filters are in the L2 cache already */
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

INLINE void report_one(verdict v, bool add, seen_answer *answer)
{
    *answer = (seen_answer)(add ? found(v, true) : *answer | found(v, false));
}

/* The index of the i-th key of a loop: `picks` is NULL in loops over the whole batch. */
INLINE size_t nth(const uint16_t *picks, size_t i)
{
    return picks ? picks[i] : i;
}

INLINE void report_group(const verdict v[GROUP], bool add, const uint16_t *picks, size_t i,
                         seen_answer *answers)
{
    if (!picks) {
        tell(v, add, &answers[i]);
        return;
    }
    seen_answer got[GROUP];
    tell(v, add, got);
    UNROLL
    for (size_t j = 0; j < GROUP; j++)
        answers[picks[i + j]] = got[j];
}

/* A number of probes other than 8: full lines have separate loops. */
INLINE unsigned some(unsigned probes)
{
    if (probes == SN_LINE_WORDS)
        __builtin_unreachable();
    return probes;
}

/* ---- one line per key: the geometry reduces to one multiplication ---- */

/* The address of line sn_place_only: the product with 64 times the number of lines is the line
 * number followed by six more bits. */
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

INLINE void run_near(uint64_t bytes, const char *bits, const seen_hash *h, const uint16_t *picks,
                     size_t count, seen_answer *answers, unsigned q, bool add)
{
    size_t i = 0;
    for (; i + GROUP <= count; i += GROUP) {
        verdict v[GROUP];
        UNROLL
        for (size_t j = 0; j < GROUP; j++) {
            const seen_hash *key = &h[nth(picks, i + j)];
            v[j] = probe(place_one(bytes, bits, *key), key->lo, q, add);
        }
        report_group(v, add, picks, i, answers);
    }
    for (; i < count; i++) {
        size_t k = nth(picks, i);
        report_one(probe(place_one(bytes, bits, h[k]), h[k].lo, q, add), add, &answers[k]);
    }
}

INLINE void run_one(const sn_geometry *g, const char *bits, const seen_hash *h,
                    const uint16_t *picks, size_t count, seen_answer *answers, unsigned q, bool add)
{
    const uint64_t bytes = sn_geometry_bytes(g);
    char *ring[DISTANCE];
    size_t i = 0;
    if (bytes <= NEAR_BYTES) {
        run_near(bytes, bits, h, picks, count, answers, q, add);
        return;
    }
    for (size_t j = 0; j < DISTANCE && j < count; j++)
        ring[j] = find_one(bytes, bits, h[nth(picks, j)]);
    for (; i + DISTANCE + GROUP <= count; i += GROUP) {
        verdict v[GROUP];
        char **line = ring + i % DISTANCE;
        UNROLL
        for (size_t j = 0; j < GROUP; j++) {
            v[j] = probe(line[j], h[nth(picks, i + j)].lo, q, add);
            line[j] = find_one(bytes, bits, h[nth(picks, i + DISTANCE + j)]);
        }
        report_group(v, add, picks, i, answers);
    }
    for (; i < count; i++) {
        char **line = ring + i % DISTANCE;
        size_t k = nth(picks, i);
        report_one(probe(*line, h[k].lo, q, add), add, &answers[k]);
        if (i + DISTANCE < count)
            *line = find_one(bytes, bits, h[nth(picks, i + DISTANCE)]);
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

/* Always probes both lines: a branch would cost more in mispredictions than it saves. */
INLINE verdict probe_two(pair p, seen_hash h, unsigned q, bool add)
{
    verdict first = probe(p.first, h.lo, q, add);
    return both(first, probe(p.second, sn_place_cells(h.lo, 1), q, add));
}

INLINE void run_two(const sn_geometry *geometry, const char *bits, const seen_hash *h,
                    const uint16_t *picks, size_t count, seen_answer *answers, unsigned q, bool add)
{
    const sn_geometry g = *geometry; /* a local copy, which stores to the bits cannot alias */
    pair ring[DISTANCE];
    size_t i = 0;
    for (size_t j = 0; j < DISTANCE && j < count; j++)
        ring[j] = find_two(&g, bits, h[nth(picks, j)]);
    for (; i + DISTANCE + GROUP <= count; i += GROUP) {
        verdict v[GROUP];
        pair *lines = ring + i % DISTANCE;
        UNROLL
        for (size_t j = 0; j < GROUP; j++) {
            v[j] = probe_two(lines[j], h[nth(picks, i + j)], q, add);
            lines[j] = find_two(&g, bits, h[nth(picks, i + DISTANCE + j)]);
        }
        report_group(v, add, picks, i, answers);
    }
    for (; i < count; i++) {
        pair *lines = ring + i % DISTANCE;
        size_t k = nth(picks, i);
        report_one(probe_two(*lines, h[k], q, add), add, &answers[k]);
        if (i + DISTANCE < count)
            *lines = find_two(&g, bits, h[nth(picks, i + DISTANCE)]);
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

INLINE void run_any(const sn_geometry *geometry, const char *bits, const seen_hash *h,
                    const uint16_t *picks, size_t count, seen_answer *answers, bool add)
{
    const sn_geometry g = *geometry;
    for (size_t j = 0; j < DISTANCE / 2 && j < count; j++)
        prefetch_any(&g, bits, h[nth(picks, j)]);
    for (size_t i = 0; i < count; i++) {
        if (i + DISTANCE / 2 < count)
            prefetch_any(&g, bits, h[nth(picks, i + DISTANCE / 2)]);
        size_t k = nth(picks, i);
        uint64_t f, shard = sn_place_shard(&g, h[k], &f);
        char *base = (char *)(uintptr_t)bits + shard * g.shard_lines * SN_LINE_BYTES;
        bool all = true;
        for (unsigned j = 0; (add || all) && j < g.spread; j++) {
            char *line = base + sn_place_line(&g, f, j) * SN_LINE_BYTES;
            uint64_t cells = sn_place_cells(h[k].lo, j);
            bool had = found(probe(line, cells, g.probes, add), add);
            all = all && had;
        }
        answers[k] = (seen_answer)(add ? all : (answers[k] | all));
    }
}

/* ---- loops ----
 *
 * The common shapes have separate loops, with the number of probes known to the compiler. Each is a
 * function, because in a single large function too few registers are available. */

typedef void loop(const sn_geometry *g, const char *bits, const seen_hash *h, const uint16_t *picks,
                  size_t count, seen_answer *answers);

#define LOOP(name, run, which, ...)                                                                \
    __attribute__((noinline)) static void name(const sn_geometry *g, const char *bits,             \
                                               const seen_hash *h, const uint16_t *picks,          \
                                               size_t count, seen_answer *answers)                 \
    {                                                                                              \
        (void)picks;                                                                               \
        run(g, bits, h, which, count, answers, __VA_ARGS__);                                       \
    }

LOOP(check_one_full, run_one, NULL, 8, false)
LOOP(check_one, run_one, NULL, some(g->probes), false)
LOOP(check_two_full, run_two, NULL, 8, false)
LOOP(check_two, run_two, NULL, some(g->probes), false)
LOOP(check_any, run_any, NULL, false)
LOOP(add_one_full, run_one, NULL, 8, true)
LOOP(add_one, run_one, NULL, some(g->probes), true)
LOOP(add_two_full, run_two, NULL, 8, true)
LOOP(add_two, run_two, NULL, some(g->probes), true)
LOOP(add_any, run_any, NULL, true)
LOOP(pick_one_full, run_one, picks, 8, true)
LOOP(pick_one, run_one, picks, some(g->probes), true)
LOOP(pick_two_full, run_two, picks, 8, true)
LOOP(pick_two, run_two, picks, some(g->probes), true)
LOOP(pick_any, run_any, picks, true)

typedef struct loops {
    loop *one_full, *one, *two_full, *two, *any;
} loops;

static loop *loop_for(const sn_geometry *g, const loops *of)
{
    bool full = g->probes == SN_LINE_WORDS;
    if (g->spread == 1)
        return full ? of->one_full : of->one;
    if (g->spread == 2 && g->probes > 1)
        return full ? of->two_full : of->two;
    return of->any;
}

static void body_check(const sn_geometry *g, const void *bits, const seen_hash *h, size_t count,
                       seen_answer *answers)
{
    static const loops all = {check_one_full, check_one, check_two_full, check_two, check_any};
    loop_for(g, &all)(g, bits, h, NULL, count, answers);
}

static void body_add(const sn_geometry *g, void *bits, const seen_hash *h, size_t count,
                     seen_answer *answers)
{
    static const loops all = {add_one_full, add_one, add_two_full, add_two, add_any};
    loop_for(g, &all)(g, bits, h, NULL, count, answers);
}

static void body_add_picked(const sn_geometry *g, void *bits, const seen_hash *h,
                            const uint16_t *picks, size_t count, seen_answer *answers)
{
    static const loops all = {pick_one_full, pick_one, pick_two_full, pick_two, pick_any};
    loop_for(g, &all)(g, bits, h, picks, count, answers);
}

/* ---- one key ---- */

/* A separate function, which takes the hash in two words, so that the hash of a key with one line
 * stays in general registers. */
__attribute__((noinline)) static bool run_spread(const sn_geometry *g, const char *bits,
                                                 uint64_t lo, uint64_t hi, bool add)
{
    const seen_hash h = {.lo = lo, .hi = hi};
    seen_answer answer = SEEN_NEW;
    if (add)
        body_add(g, (char *)(uintptr_t)bits, &h, 1, &answer);
    else
        body_check(g, bits, &h, 1, &answer);
    return answer == SEEN_BEFORE;
}

/* Without the ring of the loops: there is nothing to overlap. */
INLINE bool run_single(const sn_geometry *g, const char *bits, seen_hash h, bool add)
{
    if (g->spread != 1)
        return run_spread(g, bits, h.lo, h.hi, add);
    char *line = place_one(sn_geometry_bytes(g), bits, h);
    return g->probes == SN_LINE_WORDS ? found(probe(line, h.lo, 8, add), add)
                                      : found(probe(line, h.lo, some(g->probes), add), add);
}

static bool body_check_one(const sn_geometry *g, const void *bits, seen_hash h)
{
    return run_single(g, bits, h, false);
}

static bool body_add_one(const sn_geometry *g, void *bits, seen_hash h)
{
    return run_single(g, bits, h, true);
}
