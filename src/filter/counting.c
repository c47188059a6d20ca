/* The counting kernel: cells of four bits that can be decremented.
 *
 * After Fan, Cao, Almeida and Broder (Summary Cache, 1998). A counter that has reached 15 stays
 * there: it may stand for more keys than it can count, and decrementing it could eventually make
 * one of them disappear. A key is removed only if all its counters are above zero. */
#include "filter/kernel.h"

enum { FULL = 15, CHUNK = 32 };

static inline uint64_t *word_at(const sn_geometry *g, const void *bits, seen_hash h, unsigned j,
                                unsigned i, unsigned *shift)
{
    uint64_t f, shard = sn_place_shard(g, h, &f), cells = sn_place_cells(h.lo, j);
    uint64_t line = shard * g->shard_lines + sn_place_line(g, f, j);
    unsigned w = sn_place_word(cells, i);
    *shift = 4 * sn_place_nibble(cells, w);
    return (uint64_t *)(uintptr_t)bits + line * SN_LINE_WORDS + w;
}

static inline uint64_t read_word(const uint64_t *word)
{
    return le64toh(__atomic_load_n(word, __ATOMIC_RELAXED));
}

static void prefetch(const sn_geometry *g, const void *bits, const seen_hash *h, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t f, shard = sn_place_shard(g, h[i], &f);
        const char *base = (const char *)bits + shard * g->shard_lines * SN_LINE_BYTES;
        for (unsigned j = 0; j < g->spread; j++)
            __builtin_prefetch(base + sn_place_line(g, f, j) * SN_LINE_BYTES, 0, 2);
    }
}

static bool has_key(const sn_geometry *g, const void *bits, seen_hash h)
{
    for (unsigned j = 0; j < g->spread; j++)
        for (unsigned i = 0; i < g->probes; i++) {
            unsigned shift;
            const uint64_t *word = word_at(g, bits, h, j, i, &shift);
            if ((read_word(word) >> shift & FULL) == 0)
                return false;
        }
    return true;
}

/* Adds +1 or -1 to every counter of the key that is not saturated. */
static void step_key(const sn_geometry *g, void *bits, seen_hash h, bool up)
{
    for (unsigned j = 0; j < g->spread; j++)
        for (unsigned i = 0; i < g->probes; i++) {
            unsigned shift;
            uint64_t *word = word_at(g, bits, h, j, i, &shift);
            uint64_t old = read_word(word), count = old >> shift & FULL;
            if (count == FULL || (!up && count == 0))
                continue;
            uint64_t one = UINT64_C(1) << shift;
            __atomic_store_n(word, htole64(up ? old + one : old - one), __ATOMIC_RELAXED);
        }
}

static void check(const sn_geometry *g, const void *bits, const seen_hash *h, size_t count,
                  seen_answer *answers)
{
    for (size_t at = 0; at < count; at += CHUNK) {
        size_t n = count - at < CHUNK ? count - at : CHUNK;
        prefetch(g, bits, h + at, n);
        for (size_t i = at; i < at + n; i++)
            answers[i] |= (seen_answer)has_key(g, bits, h[i]);
    }
}

static void add(const sn_geometry *g, void *bits, const seen_hash *h, size_t count,
                seen_answer *answers)
{
    for (size_t at = 0; at < count; at += CHUNK) {
        size_t n = count - at < CHUNK ? count - at : CHUNK;
        prefetch(g, bits, h + at, n);
        for (size_t i = at; i < at + n; i++) {
            answers[i] = (seen_answer)has_key(g, bits, h[i]);
            step_key(g, bits, h[i], true);
        }
    }
}

static void remove_keys(const sn_geometry *g, void *bits, const seen_hash *h, size_t count,
                        seen_answer *answers)
{
    for (size_t at = 0; at < count; at += CHUNK) {
        size_t n = count - at < CHUNK ? count - at : CHUNK;
        prefetch(g, bits, h + at, n);
        for (size_t i = at; i < at + n; i++) {
            answers[i] = (seen_answer)has_key(g, bits, h[i]);
            if (answers[i] == SEEN_BEFORE)
                step_key(g, bits, h[i], false);
        }
    }
}

const sn_kernel sn_counting_scalar = {
    .name = "counting", .check = check, .add = add, .remove = remove_keys};
