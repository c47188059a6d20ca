/* The tag kernel for x86-64 with AVX2: a line is two vectors of sixteen lanes. */
#include "filter/tags.h"

#if defined(__x86_64__)
#include <immintrin.h>

/* One bit for each of the 32 lanes that are all ones. */
static inline uint32_t lane_mask(__m256i low, __m256i high)
{
    __m256i bytes = _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xd8);
    return (uint32_t)_mm256_movemask_epi8(bytes);
}

static inline __m256i differences(__m256i have, __m256i lane)
{
    __m256i below = _mm256_subs_epu16(have, _mm256_set1_epi16(1));
    return _mm256_andnot_si256(_mm256_xor_si256(have, below), _mm256_xor_si256(have, lane));
}

static inline __m256i agree(__m256i have, __m256i lane)
{
    return _mm256_cmpeq_epi16(differences(have, lane), _mm256_setzero_si256());
}

static inline uint32_t lanes_matching(const char *line, uint16_t lane)
{
    const __m256i *p = (const __m256i *)(const void *)line;
    __m256i all = _mm256_set1_epi16((short)lane);
    return lane_mask(agree(_mm256_load_si256(p), all), agree(_mm256_load_si256(p + 1), all));
}

#define HAVE_MATCHING(extra) ((extra) == 4)

static inline __m256i agree_4(__m256i have, __m256i lane, __m256i extra, __m256i wanted)
{
    __m256i bits = _mm256_set1_epi32(0x00f0000f); /* of an even and of an odd lane */
    __m256i wrong = _mm256_and_si256(_mm256_xor_si256(extra, wanted), bits);
    __m256i differ = _mm256_or_si256(differences(have, lane), wrong);
    return _mm256_cmpeq_epi16(differ, _mm256_setzero_si256());
}

/* Byte 50 + i / 2 of the line has the extra bits of lane i: byte 2 + i / 2 of its last quarter. */
static inline uint32_t tags_matching(const char *line, uint64_t code, unsigned extra)
{
    (void)extra;
    const __m256i *p = (const __m256i *)(const void *)line;
    const __m256i low =
        _mm256_set_epi64x((long long)0x8009800980088008, (long long)0x8007800780068006,
                          (long long)0x8005800580048004, (long long)0x8003800380028002);
    const __m256i eight = _mm256_set1_epi16(8); /* bytes, for the lanes from 16 on */
    __m256i quarter = _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(p + 1) + 1));
    __m256i all = _mm256_set1_epi16((short)code);
    __m256i wanted = _mm256_set1_epi16((short)((code >> 16 & 15) * 0x11));
    __m256i first = _mm256_shuffle_epi8(quarter, low);
    __m256i second = _mm256_shuffle_epi8(quarter, _mm256_add_epi16(low, eight));
    return lane_mask(agree_4(_mm256_load_si256(p), all, first, wanted),
                     agree_4(_mm256_load_si256(p + 1), all, second, wanted));
}

static inline uint32_t lanes_empty(const char *line)
{
    const __m256i *p = (const __m256i *)(const void *)line;
    __m256i zero = _mm256_setzero_si256();
    return lane_mask(_mm256_cmpeq_epi16(_mm256_load_si256(p), zero),
                     _mm256_cmpeq_epi16(_mm256_load_si256(p + 1), zero));
}

#include "filter/tags_body.h"
#include "filter/tags_grow_body.h"

const sn_tags_kernel sn_tags_avx2 = {.name = "avx2",
                                     .check = body_check,
                                     .check_one = body_check_one,
                                     .add = body_add,
                                     .rewrite = body_rewrite};
#else
typedef int sn_tags_avx2_unused;
#endif
