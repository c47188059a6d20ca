/* The bloom kernel for x86-64 with AVX-512: a line is one vector. */
#include "filter/bloom_plain.h"
#include "filter/kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>

typedef __m512i line_mask;

static inline line_mask make_mask(uint64_t cells, unsigned probes)
{
    const __m512i all = _mm512_set1_epi64((long long)cells);
    __m512i at = _mm512_srlv_epi64(all, _mm512_setr_epi64(0, 6, 12, 18, 24, 30, 36, 42));
    at = _mm512_and_si512(at, _mm512_set1_epi64(63));
    const __m512i one = _mm512_set1_epi64(1);
    if (probes == 8)
        return _mm512_sllv_epi64(one, at);
    unsigned first = (unsigned)(cells >> 48) & 7, on = ((1u << probes) - 1) << first;
    return _mm512_maskz_sllv_epi64((__mmask8)(on | on >> 8), one, at);
}

static inline verdict line_has(const char *line, uint64_t cells, unsigned probes)
{
    const line_mask m = make_mask(cells, probes);
    __m512i missing = _mm512_andnot_si512(_mm512_load_si512(line), m);
    return _mm512_test_epi64_mask(missing, missing) == 0;
}

static inline verdict line_set(char *line, uint64_t cells, unsigned probes)
{
    const line_mask m = make_mask(cells, probes);
    __m512i old = _mm512_load_si512(line);
    __m512i missing = _mm512_andnot_si512(old, m);
    _mm512_store_si512(line, _mm512_or_si512(old, m));
    return _mm512_test_epi64_mask(missing, missing) == 0;
}

#include "filter/bloom_body.h"

const sn_kernel sn_bloom_avx512 = {.name = "avx512",
                                   .check = body_check,
                                   .add = body_add,
                                   .add_picked = body_add_picked,
                                   .check_one = body_check_one,
                                   .add_one = body_add_one};
#else
typedef int sn_bloom_avx512_unused;
#endif
