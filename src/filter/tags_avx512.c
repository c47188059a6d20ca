/* The tag kernel for x86-64 with AVX-512: a line is one vector of 32 lanes. */
#include "filter/tags.h"

#if defined(__x86_64__)
#include <immintrin.h>

static inline uint32_t lanes_matching(const char *line, uint16_t lane)
{
    __m512i have = _mm512_load_si512(line), all = _mm512_set1_epi16((short)lane);
    __m512i below = _mm512_subs_epu16(have, _mm512_set1_epi16(1));
    /* 0x24: (have ^ all) & ~(have ^ below) */
    __m512i differ = _mm512_ternarylogic_epi64(have, all, below, 0x24);
    uint32_t found = _mm512_testn_epi16_mask(differ, differ);
    __asm__("" : "+r"(found)); /* what follows is faster outside of the mask registers */
    return found;
}

/* Where the extra bits of each lane are: from bit `down` of a word of the line on; the rest in the
 * next word. */
typedef struct extras {
    uint16_t word[32], down[32], next[32], up[32];
} extras;

#define LANES(f, s, e)                                                                             \
    f(s, e, 0), f(s, e, 1), f(s, e, 2), f(s, e, 3), f(s, e, 4), f(s, e, 5), f(s, e, 6),            \
        f(s, e, 7), f(s, e, 8), f(s, e, 9), f(s, e, 10), f(s, e, 11), f(s, e, 12), f(s, e, 13),    \
        f(s, e, 14), f(s, e, 15), f(s, e, 16), f(s, e, 17), f(s, e, 18), f(s, e, 19), f(s, e, 20), \
        f(s, e, 21), f(s, e, 22), f(s, e, 23), f(s, e, 24)
#define WORD(s, e, i) ((s) + (e) * (i) / 16)
#define NEXT(s, e, i) ((s) + (e) * (i) / 16 + 1)
#define DOWN(s, e, i) ((e) * (i) % 16)
#define UP(s, e, i) (16 - (e) * (i) % 16)
#define EXTRAS(s, e)                                                                               \
    {                                                                                              \
        {LANES(WORD, s, e)}, {LANES(DOWN, s, e)}, {LANES(NEXT, s, e)},                             \
        {                                                                                          \
            LANES(UP, s, e)                                                                        \
        }                                                                                          \
    }

/* lanes_matching, and the extra bits of the tag match: of home lines with 4 or 14 extra bits. */
static inline uint32_t tags_matching(const char *line, uint64_t code, unsigned extra)
{
    static const _Alignas(SN_LINE_BYTES) extras FOUR = EXTRAS(25, 4), FOURTEEN = EXTRAS(17, 14);
    const extras *at = extra == 4 ? &FOUR : &FOURTEEN;
    __m512i have = _mm512_load_si512(line), all = _mm512_set1_epi16((short)code);
    __m512i below = _mm512_subs_epu16(have, _mm512_set1_epi16(1));
    __m512i differ = _mm512_ternarylogic_epi64(have, all, below, 0x24);
    __m512i bits = _mm512_srlv_epi16(_mm512_permutexvar_epi16(_mm512_load_si512(at->word), have),
                                     _mm512_load_si512(at->down));
    if (16 % extra != 0)
        bits = _mm512_or_si512(
            bits, _mm512_sllv_epi16(_mm512_permutexvar_epi16(_mm512_load_si512(at->next), have),
                                    _mm512_load_si512(at->up)));
    __m512i wanted = _mm512_set1_epi16((short)(code >> 16));
    /* 0x28: (bits ^ wanted) & mask */
    __m512i wrong =
        _mm512_ternarylogic_epi64(bits, wanted, _mm512_set1_epi16((short)((1 << extra) - 1)), 0x28);
    differ = _mm512_or_si512(differ, wrong);
    uint32_t found = _mm512_testn_epi16_mask(differ, differ);
    __asm__("" : "+r"(found));
    return found;
}

#define HAVE_MATCHING(extra) ((extra) == 4 || (extra) == 14)

static inline uint32_t lanes_empty(const char *line)
{
    __m512i have = _mm512_load_si512(line);
    return _mm512_testn_epi16_mask(have, have);
}

#define VECTOR_ANSWERS
#include "filter/tags_body.h"

/* ---- lookups: sixteen keys at a time ---- */

/* Bits 0 to 31 of eight words, and of eight more. */
INLINE __m512i low_halves(const uint64_t *word)
{
    return _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm512_cvtepi64_epi32(_mm512_loadu_si512(word))),
        _mm512_cvtepi64_epi32(_mm512_loadu_si512(word + 8)), 1);
}

INLINE size_t answer_group(const group *g, size_t i, seen_answer *answers, uint16_t *list,
                           size_t waiting, unsigned slots, unsigned extra)
{
    const __m512i number = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    __m512i found = _mm512_loadu_si512(g->found), last = _mm512_loadu_si512(g->last);
    const __m512i all = _mm512_set1_epi32((1 << slots) - 1);
    __mmask16 has = _mm512_test_epi32_mask(found, all);
    if (extra == 1) { /* plane_of */
        __mmask16 zero = _mm512_testn_epi32_mask(low_halves(g->code), _mm512_set1_epi32(1 << 16));
        __m512i plane = _mm512_mask_xor_epi32(last, zero, last, _mm512_set1_epi32(-1));
        has = _mm512_test_epi32_mask(_mm512_and_si512(found, all), plane);
    }
    __mmask16 waits = _mm512_movepi32_mask(last) & (__mmask16)~has;
    _mm_storeu_si128((__m128i *)(void *)(answers + i), _mm_maskz_set1_epi8(has, SEEN_BEFORE));
    __m512i keys = _mm512_add_epi32(number, _mm512_set1_epi32((int)i));
    _mm256_storeu_si256((__m256i *)(void *)(list + waiting),
                        _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(waits, keys)));
    return waiting + (size_t)__builtin_popcount(waits);
}

/* ---- growth: eight tags at a time ---- */

#define VECTOR_GROWTH

enum { GROUPS = 4 }; /* of eight slots in a line */

/* Which four lanes of a line hold the extra bits of each slot, and from which bit on. */
typedef struct fields {
    __m512i lanes[GROUPS], shift[GROUPS];
} fields;

INLINE fields fields_of(unsigned slots, unsigned extra)
{
    fields f;
    for (unsigned g = 0; g < GROUPS; g++) {
        uint64_t lanes[8], shift[8];
        for (unsigned i = 0; i < 8; i++) {
            unsigned at = 16 * slots + (8 * g + i) * extra;
            lanes[i] = UINT64_C(0x0001000100010001) * (at / 16) + UINT64_C(0x0003000200010000);
            shift[i] = at % 16;
        }
        f.lanes[g] = _mm512_loadu_si512(lanes);
        f.shift[g] = _mm512_loadu_si512(shift);
    }
    return f;
}

INLINE __mmask8 first_of(unsigned count)
{
    return (__mmask8)(count < 8 ? (1u << count) - 1 : 0xff);
}

INLINE void put_all(uint64_t **end, __m512i code, __mmask8 which)
{
    _mm512_storeu_si512(*end, _mm512_maskz_compress_epi64(which, code));
    *end += __builtin_popcount(which);
}

/* Puts the tags `is` of eight at the end of their new lines, or of `slow`, which is longer by the
 * number returned. */
INLINE unsigned split_eight(__m512i code, __mmask8 is, const sn_tags_cuts *cut, uint64_t *end[3],
                            uint64_t *slow, unsigned width, bool three)
{
    const __m512i second = _mm512_set1_epi64((long long)cut->second),
                  third = _mm512_set1_epi64((long long)cut->third), ones = _mm512_set1_epi64(-1);
    __m512i top = _mm512_slli_epi64(code, 64 - width);
    __m512i marker = _mm512_and_si512(top, _mm512_sub_epi64(_mm512_setzero_si512(), top));
    __m512i from =
        _mm512_sub_epi64(_mm512_xor_si512(top, marker), _mm512_set1_epi64((long long)cut->base));
    __m512i reach = _mm512_add_epi64(_mm512_add_epi64(marker, marker), ones);
    __mmask8 cuts = _mm512_cmplt_epu64_mask(_mm512_sub_epi64(second, from), reach);
    if (three)
        cuts |= _mm512_cmplt_epu64_mask(_mm512_sub_epi64(third, from), reach);
    cuts |= _mm512_cmplt_epu64_mask(_mm512_xor_si512(from, ones), reach);
    cuts |= _mm512_cmpgt_epu64_mask(marker, _mm512_set1_epi64((long long)cut->longest));
    cuts &= is;
    is &= (__mmask8)~cuts;
    __mmask8 beyond = _mm512_cmpgt_epu64_mask(from, second) & is;
    __mmask8 last = three ? _mm512_cmpgt_epu64_mask(from, third) & is : 0;
    __m512i longer = _mm512_and_si512(_mm512_slli_epi64(code, cut->rise),
                                      _mm512_set1_epi64((long long)((UINT64_C(1) << width) - 1)));
    put_all(&end[0], longer, is & (__mmask8)~beyond);
    put_all(&end[1], longer, beyond & (__mmask8)~last);
    if (three)
        put_all(&end[2], longer, last);
    if (__builtin_expect(cuts != 0, 0))
        _mm512_storeu_si512(slow, _mm512_maskz_compress_epi64(cuts, code));
    return (unsigned)__builtin_popcount(cuts);
}

INLINE unsigned split_slots(const fields *f, const char *line, const sn_tags_cuts *cut,
                            uint64_t *end[3], uint64_t *slow, unsigned slots, unsigned extra,
                            bool three)
{
    const __m512i whole = _mm512_load_si512(line);
    const __m512i mask = _mm512_set1_epi64((1LL << extra) - 1);
    unsigned kept = 0;
    UNROLL
    for (unsigned g = 0; 8 * g < slots; g++) {
        __m512i lane =
            _mm512_cvtepu16_epi64(_mm_load_si128((const __m128i *)(const void *)line + g));
        __m512i high = _mm512_srlv_epi64(_mm512_permutexvar_epi16(f->lanes[g], whole), f->shift[g]);
        __m512i code = _mm512_or_si512(lane, _mm512_slli_epi64(_mm512_and_si512(high, mask), 16));
        __mmask8 is = _mm512_test_epi64_mask(lane, lane) & first_of(slots - 8 * g);
        kept += split_eight(code, is, cut, end, slow + kept, 16 + extra, three);
    }
    return kept;
}

INLINE unsigned split_line(const fields *f, const char *line, const sn_tags_cuts *cut,
                           uint64_t *end[3], uint64_t *slow, unsigned slots, unsigned extra)
{
    return cut->third == UINT64_MAX ? split_slots(f, line, cut, end, slow, slots, extra, false)
                                    : split_slots(f, line, cut, end, slow, slots, extra, true);
}

INLINE unsigned split_codes(const uint64_t *code, unsigned count, const sn_tags_cuts *cut,
                            uint64_t *end[3], uint64_t *slow, unsigned width)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i += 8)
        kept += split_eight(_mm512_loadu_si512(code + i), first_of(count - i), cut, end,
                            slow + kept, width, true);
    return kept;
}

/* Appends `count` bits to a line that is being put together. */
INLINE void append(uint64_t *word, unsigned at, unsigned count, uint64_t bits)
{
    word[at / 64] |= bits << at % 64;
    if (at % 64 + count > 64)
        word[at / 64 + 1] |= bits >> (64 - at % 64);
}

/* The extra bits of eight tags, from bit `at` of the line on. */
INLINE void append_eight(uint64_t *word, unsigned at, unsigned extra, __m512i high)
{
    const long long e = (long long)extra;
    uint64_t bits[8];
    unsigned each = 1;
    if (2 * extra <= 64) { /* neighbours in one word, as many as fit */
        __m512i odd = _mm512_sllv_epi64(high, _mm512_set_epi64(e, 0, e, 0, e, 0, e, 0));
        high = _mm512_or_si512(odd, _mm512_shuffle_epi32(odd, _MM_PERM_BADC));
        each = 2;
    }
    if (4 * extra <= 64) {
        __m512i far =
            _mm512_sllv_epi64(high, _mm512_set_epi64(2 * e, 2 * e, 0, 0, 2 * e, 2 * e, 0, 0));
        high = _mm512_or_si512(far, _mm512_permutex_epi64(far, 0x4e));
        each = 4;
    }
    _mm512_storeu_si512(bits, high);
    for (unsigned i = 0; i < 8; i += each)
        append(word, at + i * extra, each * extra, bits[i]);
}

INLINE void pack_line(char *line, const uint64_t *code, unsigned count, unsigned slots,
                      unsigned extra, bool flag)
{
    uint64_t word[2 * SN_LINE_WORDS] = {0};
    uint32_t plane = 0;
    __m512i high[GROUPS] = {0};
    UNROLL
    for (unsigned g = 0; 8 * g < slots; g++) {
        unsigned left = count > 8 * g ? count - 8 * g : 0;
        __m512i eight = _mm512_maskz_loadu_epi64(first_of(left), code + 8 * g);
        _mm_storeu_si128((__m128i *)(void *)word + g, _mm512_cvtepi64_epi16(eight));
        high[g] = _mm512_srli_epi64(eight, 16);
        plane |= (uint32_t)_mm512_test_epi64_mask(high[g], _mm512_set1_epi64(1)) << 8 * g;
    }
    if (extra == 1) {
        append(word, 16 * slots, slots, plane);
    } else {
        UNROLL
        for (unsigned g = 0; 8 * g < slots; g++)
            append_eight(word, 16 * slots + 8 * g * extra, extra, high[g]);
    }
    word[7] |= (uint64_t)flag << 63;
    for (unsigned i = 0; i < SN_LINE_WORDS; i++)
        sn_tags_set_word(line, i, word[i]);
}

#include "filter/tags_grow_body.h"

const sn_tags_kernel sn_tags_avx512 = {.name = "avx512",
                                       .check = body_check,
                                       .check_one = body_check_one,
                                       .add = body_add,
                                       .rewrite = body_rewrite};
#else
typedef int sn_tags_avx512_unused;
#endif
