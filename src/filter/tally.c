/* Statistics of a filter's bits: fill and error rate; and merging.
 *
 * The false-positive rate is not estimated but computed. The probes of an absent key in a line hit
 * one cell in each of q adjacent words, with every first word and every cell equally likely. With
 * c_w cells set in word w out of C, they are all set with probability
 *     mean over the first word s of  product over i < q of  c_(s+i) / C
 * Averaged over the lines of a part, and multiplied over the g parts, this gives the rate. */
#include "filter/kernel.h"

#include <math.h>

/* One bit for each nibble that is not zero. */
static inline uint64_t nibbles_set(uint64_t w)
{
    w |= w >> 2;
    w |= w >> 1;
    return w & 0x1111111111111111u;
}

static double line_cover(const double share[SN_LINE_WORDS], unsigned probes)
{
    double sum = 0;
    unsigned starts = probes == SN_LINE_WORDS ? 1 : SN_LINE_WORDS;
    for (unsigned s = 0; s < starts; s++) {
        double product = 1;
        for (unsigned i = 0; i < probes; i++)
            product *= share[(s + i) & 7];
        sum += product;
    }
    return sum / starts;
}

void sn_tally_lines(const sn_geometry *g, const void *bits, uint64_t lines, sn_tally *tally)
{
    const uint64_t *word = bits;
    bool counting = g->kind == SEEN_COUNTING;
    double scale = counting ? 1.0 / 16 : 1.0 / 64;
    for (uint64_t line = 0; line < lines; line++, word += SN_LINE_WORDS) {
        double share[SN_LINE_WORDS];
        unsigned set = 0;
        for (unsigned w = 0; w < SN_LINE_WORDS; w++) {
            uint64_t v = le64toh(__atomic_load_n(word + w, __ATOMIC_RELAXED));
            unsigned c = (unsigned)__builtin_popcountll(counting ? nibbles_set(v) : v);
            set += c;
            share[w] = c * scale;
        }
        tally->set += set;
        if (set)
            tally->cover += line_cover(share, g->probes);
    }
    tally->lines += lines;
}

double sn_tally_rate(const sn_geometry *g, const sn_tally *tally)
{
    return tally->lines ? pow(tally->cover / (double)tally->lines, g->spread) : 0;
}

/* Adds sixteen pairs of nibbles, each sum at most 15: even and odd nibbles are extended to bytes,
 * so that overflow is visible. */
static uint64_t add_saturating(uint64_t a, uint64_t b)
{
    const uint64_t low = 0x0f0f0f0f0f0f0f0fu, carry = 0x1010101010101010u;
    uint64_t even = (a & low) + (b & low), odd = (a >> 4 & low) + (b >> 4 & low);
    uint64_t over_even = (even & carry) >> 4, over_odd = (odd & carry) >> 4;
    even = (even & low) | over_even * 15;
    odd = (odd & low) | over_odd * 15;
    return even | odd << 4;
}

void sn_kernel_merge_lines(seen_kind kind, void *into, const void *from, uint64_t lines)
{
    uint64_t *a = into;
    const uint64_t *b = from;
    for (uint64_t i = 0; i < lines * SN_LINE_WORDS; i++) {
        uint64_t x = __atomic_load_n(a + i, __ATOMIC_RELAXED);
        uint64_t y = __atomic_load_n(b + i, __ATOMIC_RELAXED);
        /* Independent of byte order, because it works nibble by nibble or bit by bit. */
        uint64_t sum = kind == SEEN_COUNTING ? add_saturating(x, y) : (x | y);
        if (sum != x)
            __atomic_store_n(a + i, sum, __ATOMIC_RELAXED);
    }
}
