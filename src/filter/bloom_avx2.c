/* The bloom kernel for x86-64 with AVX2: a line is two vectors of four words. */
#include "filter/kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

/* The bits of a key that are not set: after line_set any non-zero bit, after line_has the words
 * whose top bit is set. */
typedef __m256i verdict;

/* All ones in the words that the key uses. */
static inline const __m256i *lanes_of(uint64_t cells, unsigned probes)
{
    const char *lanes = (const char *)sn_word_masks[probes - 1];
    return (const __m256i *)(const void *)(lanes + (cells >> 42 & 7 * SN_LINE_BYTES));
}

/* Tests a bit by shifting it to the top of its word. */
static inline verdict line_has(const char *line, uint64_t cells, unsigned probes)
{
    const __m256i *p = (const __m256i *)(const void *)line;
    const __m256i all = _mm256_set1_epi64x((long long)cells), six = _mm256_set1_epi64x(63);
    __m256i a = _mm256_srlv_epi64(all, _mm256_setr_epi64x(0, 6, 12, 18));
    __m256i b = _mm256_srlv_epi64(all, _mm256_setr_epi64x(24, 30, 36, 42));
    a = _mm256_sllv_epi64(_mm256_load_si256(p), _mm256_andnot_si256(a, six));
    b = _mm256_sllv_epi64(_mm256_load_si256(p + 1), _mm256_andnot_si256(b, six));
    if (probes == 8)
        return _mm256_xor_si256(_mm256_and_si256(a, b), _mm256_set1_epi64x(-1));
    const __m256i *on = lanes_of(cells, probes);
    a = _mm256_andnot_si256(a, _mm256_load_si256(on));
    b = _mm256_andnot_si256(b, _mm256_load_si256(on + 1));
    return _mm256_or_si256(a, b);
}

static inline verdict line_set(char *line, uint64_t cells, unsigned probes)
{
    const __m256i all = _mm256_set1_epi64x((long long)cells);
    const __m256i six = _mm256_set1_epi64x(63), one = _mm256_set1_epi64x(1);
    __m256i a = _mm256_srlv_epi64(all, _mm256_setr_epi64x(0, 6, 12, 18));
    __m256i b = _mm256_srlv_epi64(all, _mm256_setr_epi64x(24, 30, 36, 42));
    a = _mm256_sllv_epi64(one, _mm256_and_si256(a, six));
    b = _mm256_sllv_epi64(one, _mm256_and_si256(b, six));
    if (probes != 8) {
        const __m256i *on = lanes_of(cells, probes);
        a = _mm256_and_si256(a, _mm256_load_si256(on));
        b = _mm256_and_si256(b, _mm256_load_si256(on + 1));
    }
    __m256i *p = (__m256i *)(void *)line;
    __m256i x = _mm256_load_si256(p), y = _mm256_load_si256(p + 1);
    verdict missing = _mm256_or_si256(_mm256_andnot_si256(x, a), _mm256_andnot_si256(y, b));
    __asm__(""
            : "+x"(missing)); /* computed here, so that the halves need not be stored in memory */
    _mm256_store_si256(p, _mm256_or_si256(x, a));
    _mm256_store_si256(p + 1, _mm256_or_si256(y, b));
    return missing;
}

static inline verdict both(verdict a, verdict b)
{
    return _mm256_or_si256(a, b);
}

static inline bool found(verdict v, bool add)
{
    return add ? _mm256_testz_si256(v, v) : _mm256_movemask_pd(_mm256_castsi256_pd(v)) == 0;
}

/* ---- answers of eight keys at once ---- */

enum { GROUP = 8 };

/* The upper halves of the words. */
static inline __m256i tops(verdict a, verdict b)
{
    return _mm256_castps_si256(
        _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0xdd));
}

static inline __m128i either_half(__m256i v)
{
    return _mm_or_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}

/* Saturating packs keep the sign, and non-zero stays non-zero. */
static inline void tell(const verdict v[GROUP], bool add, seen_answer *answers)
{
    __m128i missing; /* 16 bits per key */
    if (add) {
        __m256i a =
            _mm256_packs_epi16(_mm256_packs_epi32(v[0], v[1]), _mm256_packs_epi32(v[2], v[3]));
        __m256i b =
            _mm256_packs_epi16(_mm256_packs_epi32(v[4], v[5]), _mm256_packs_epi32(v[6], v[7]));
        missing = _mm_packs_epi32(either_half(a), either_half(b));
    } else {
        __m256i a = _mm256_packs_epi32(tops(v[0], v[1]), tops(v[2], v[3]));
        __m256i b = _mm256_packs_epi32(tops(v[4], v[5]), tops(v[6], v[7]));
        missing = _mm_and_si128(either_half(_mm256_packs_epi16(a, b)), _mm_set1_epi8(-128));
    }
    __m128i there = _mm_cmpeq_epi16(missing, _mm_setzero_si128());
    there = _mm_and_si128(_mm_packs_epi16(there, there), _mm_set1_epi8(SEEN_BEFORE));
    if (!add)
        there = _mm_or_si128(there, _mm_loadu_si64(answers));
    _mm_storeu_si64(answers, there);
}

#include "filter/bloom_body.h"

const sn_kernel sn_bloom_avx2 = {.name = "avx2",
                                 .check = body_check,
                                 .add = body_add,
                                 .add_picked = body_add_picked,
                                 .check_one = body_check_one,
                                 .add_one = body_add_one};
#else
typedef int sn_bloom_avx2_unused;
#endif
