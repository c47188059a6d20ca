/* The bloom kernel for x86-64 with AVX2: a line is two vectors of four words. */
#include "filter/kernel.h"

#if defined(__x86_64__)
#include "filter/lanes.h"

#include <immintrin.h>

typedef struct line_mask {
    __m256i low, high;
} line_mask;

/* All ones in the words that the key uses. */
static inline const __m256i *lanes_of(uint64_t cells, unsigned probes)
{
    const char *lanes = (const char *)sn_lanes[probes - 1];
    return (const __m256i *)(const void *)(lanes + (cells >> 42 & 7 * SN_LINE_BYTES));
}

static inline line_mask make_mask(uint64_t cells, unsigned probes)
{
    const __m256i all = _mm256_set1_epi64x((long long)cells);
    const __m256i six = _mm256_set1_epi64x(63), one = _mm256_set1_epi64x(1);
    __m256i a = _mm256_srlv_epi64(all, _mm256_setr_epi64x(0, 6, 12, 18));
    __m256i b = _mm256_srlv_epi64(all, _mm256_setr_epi64x(24, 30, 36, 42));
    line_mask m = {_mm256_sllv_epi64(one, _mm256_and_si256(a, six)),
                   _mm256_sllv_epi64(one, _mm256_and_si256(b, six))};
    if (probes != 8) {
        const __m256i *on = lanes_of(cells, probes);
        m.low = _mm256_and_si256(m.low, _mm256_load_si256(on));
        m.high = _mm256_and_si256(m.high, _mm256_load_si256(on + 1));
    }
    return m;
}

/* A bit is asked for by moving it to the top of its word, where one instruction tests all four. */
static inline bool line_has(const char *line, uint64_t cells, unsigned probes)
{
    const __m256i *p = (const __m256i *)(const void *)line;
    const __m256i all = _mm256_set1_epi64x((long long)cells), six = _mm256_set1_epi64x(63);
    __m256i a = _mm256_srlv_epi64(all, _mm256_setr_epi64x(0, 6, 12, 18));
    __m256i b = _mm256_srlv_epi64(all, _mm256_setr_epi64x(24, 30, 36, 42));
    a = _mm256_sllv_epi64(_mm256_load_si256(p), _mm256_andnot_si256(a, six));
    b = _mm256_sllv_epi64(_mm256_load_si256(p + 1), _mm256_andnot_si256(b, six));
    if (probes == 8)
        return _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_and_si256(a, b))) == 15;
    const __m256i *on = lanes_of(cells, probes);
    a = _mm256_andnot_si256(a, _mm256_load_si256(on));
    b = _mm256_andnot_si256(b, _mm256_load_si256(on + 1));
    return _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_or_si256(a, b))) == 0;
}

static inline bool line_set(char *line, uint64_t cells, unsigned probes)
{
    const line_mask m = make_mask(cells, probes);
    __m256i *p = (__m256i *)(void *)line;
    __m256i a = _mm256_load_si256(p), b = _mm256_load_si256(p + 1);
    __m256i missing =
        _mm256_or_si256(_mm256_andnot_si256(a, m.low), _mm256_andnot_si256(b, m.high));
    _mm256_store_si256(p, _mm256_or_si256(a, m.low));
    _mm256_store_si256(p + 1, _mm256_or_si256(b, m.high));
    return _mm256_testz_si256(missing, missing);
}

#include "filter/bloom_body.h"

const sn_kernel sn_bloom_avx2 = {.name = "avx2", .check = body_check, .add = body_add};
#else
typedef int sn_bloom_avx2_unused;
#endif
