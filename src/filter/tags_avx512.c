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

static inline uint32_t lanes_empty(const char *line)
{
    __m512i have = _mm512_load_si512(line);
    return _mm512_testn_epi16_mask(have, have);
}

#include "filter/tags_body.h"

const sn_tags_kernel sn_tags_avx512 = {
    .name = "avx512", .check = body_check, .check_one = body_check_one, .add = body_add};
#else
typedef int sn_tags_avx512_unused;
#endif
