/* Selects the kernel for this CPU, once. */
#include "filter/kernel.h"

#include "filter/tags.h"

#include <stdlib.h>

#if defined(__x86_64__)
bool sn_kernel_cpu_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}

bool sn_kernel_cpu_avx512(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}
#endif

size_t sn_kernel_list(seen_kind kind, const sn_kernel *list[4])
{
    size_t count = 0;
    if (kind == SEEN_COUNTING) {
        list[count++] = &sn_counting_scalar;
        return count;
    }
    list[count++] = &sn_bloom_scalar;
#ifndef SN_SCALAR_ONLY
#if defined(__x86_64__)
    if (sn_kernel_cpu_avx2())
        list[count++] = &sn_bloom_avx2;
    if (sn_kernel_cpu_avx512())
        list[count++] = &sn_bloom_avx512;
#elif defined(__aarch64__)
    list[count++] = &sn_bloom_neon;
#endif
#endif
    return count;
}

const sn_kernel *sn_kernel_for(seen_kind kind)
{
    const sn_kernel *list[4];
    return list[sn_kernel_list(kind, list) - 1];
}

size_t sn_tags_kernel_list(const sn_tags_kernel *list[4])
{
    size_t count = 0;
    list[count++] = &sn_tags_scalar;
#ifndef SN_SCALAR_ONLY
#if defined(__x86_64__)
    if (sn_kernel_cpu_avx2())
        list[count++] = &sn_tags_avx2;
    if (sn_kernel_cpu_avx512())
        list[count++] = &sn_tags_avx512;
#elif defined(__aarch64__)
    list[count++] = &sn_tags_neon;
#endif
#endif
    return count;
}

const sn_tags_kernel *sn_tags_kernel_best(void)
{
    const sn_tags_kernel *list[4];
    return list[sn_tags_kernel_list(list) - 1];
}
