/* The bloom kernel in plain C: the reference that every faster kernel must match bit for bit. */
#include "filter/bloom_plain.h"
#include "filter/kernel.h"

typedef struct line_mask {
    uint64_t word[SN_LINE_WORDS];
    unsigned first, probes;
} line_mask;

static inline line_mask make_mask(uint64_t cells, unsigned probes)
{
    line_mask m = {.first = sn_place_word(cells, 0), .probes = probes};
    for (unsigned i = 0; i < probes; i++) {
        unsigned w = sn_place_word(cells, i);
        m.word[i] = UINT64_C(1) << sn_place_bit(cells, w);
    }
    return m;
}

/* Relaxed atomics are free here: plain loads and stores of whole words. Readers run concurrently
 * with one writer per shard. */
static inline uint64_t read_word(const char *line, unsigned w)
{
    return le64toh(__atomic_load_n((const uint64_t *)(const void *)line + w, __ATOMIC_RELAXED));
}

static inline verdict line_has(const char *line, uint64_t cells, unsigned probes)
{
    const line_mask m = make_mask(cells, probes);
    bool has = true;
    for (unsigned i = 0; i < m.probes; i++)
        has &= (read_word(line, (m.first + i) & 7) & m.word[i]) != 0;
    return has;
}

static inline verdict line_set(char *line, uint64_t cells, unsigned probes)
{
    const line_mask m = make_mask(cells, probes);
    bool had = true;
    for (unsigned i = 0; i < m.probes; i++) {
        unsigned w = (m.first + i) & 7;
        uint64_t old = read_word(line, w);
        if (!(old & m.word[i])) {
            had = false;
            __atomic_store_n((uint64_t *)(void *)line + w, htole64(old | m.word[i]),
                             __ATOMIC_RELAXED);
        }
    }
    return had;
}

#include "filter/bloom_body.h"

const sn_kernel sn_bloom_scalar = {.name = "scalar",
                                   .check = body_check,
                                   .add = body_add,
                                   .add_picked = body_add_picked,
                                   .check_one = body_check_one,
                                   .add_one = body_add_one};
