/* The AVX-512 kernel on a processor without AVX-512: the same source with emulated instructions. */
#ifndef TEST_KERNEL_AVX512_H
#define TEST_KERNEL_AVX512_H

#include "filter/kernel.h"

#if defined(__x86_64__) && !defined(__AVX512F__) && __has_include(<simde/x86/avx512.h>)
#include <immintrin.h>

/* These vectors have another calling convention without AVX-512; no other code uses them here. */
#pragma GCC diagnostic ignored "-Wpsabi"

/* After the compiler's own header, so that these names take precedence. */
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

/* The only one missing there. */
#undef _mm512_maskz_sllv_epi64
#define _mm512_maskz_sllv_epi64(k, a, b) _mm512_maskz_mov_epi64((k), _mm512_sllv_epi64((a), (b)))

#define sn_bloom_avx512 emulated_avx512
#include "filter/bloom_avx512.c"
#undef sn_bloom_avx512
#define HAS_EMULATED 1
#endif

/* All kernels that this CPU supports, and the emulated one if it does not. */
static size_t all_kernels(const sn_kernel *list[4])
{
    size_t count = sn_kernel_list(SEEN_BLOOM, list);
#ifdef HAS_EMULATED
    if (strcmp(list[count - 1]->name, "avx512") != 0)
        list[count++] = &emulated_avx512;
#endif
    return count;
}

#endif
