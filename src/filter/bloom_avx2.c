/* The bloom kernel for x86-64 with AVX2: a line is two vectors of four words. */
#include "filter/kernel.h"

#if defined(__x86_64__)
#include "filter/lanes.h"

#include <immintrin.h>

typedef struct line_mask {
    __m256i low, high;
} line_mask;

static inline line_mask make_mask(uint64_t cells, unsigned probes)
{
    const __m256i all = _mm256_set1_epi64x((long long)cells);
    const __m256i six = _mm256_set1_epi64x(63), one = _mm256_set1_epi64x(1);
    __m256i a = _mm256_srlv_epi64(all, _mm256_setr_epi64x(0, 6, 12, 18));
    __m256i b = _mm256_srlv_epi64(all, _mm256_setr_epi64x(24, 30, 36, 42));
    line_mask m = {_mm256_sllv_epi64(one, _mm256_and_si256(a, six)),
                   _mm256_sllv_epi64(one, _mm256_and_si256(b, six))};
    if (probes != 8) {
        const __m256i *on = (const __m256i *)(const void *)sn_lanes[probes - 1][(cells >> 48) & 7];
        m.low = _mm256_and_si256(m.low, _mm256_load_si256(on));
        m.high = _mm256_and_si256(m.high, _mm256_load_si256(on + 1));
    }
    return m;
}

static inline bool line_has(const char *line, line_mask m)
{
    const __m256i *p = (const __m256i *)(const void *)line;
    __m256i a = _mm256_andnot_si256(_mm256_load_si256(p), m.low);
    __m256i b = _mm256_andnot_si256(_mm256_load_si256(p + 1), m.high);
    __m256i missing = _mm256_or_si256(a, b);
    return _mm256_testz_si256(missing, missing);
}

static inline bool line_set(char *line, line_mask m)
{
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
