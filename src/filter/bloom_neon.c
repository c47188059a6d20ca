/* The bloom kernel for aarch64: a line is four vectors of two words. */
#include "filter/bloom_plain.h"
#include "filter/kernel.h"

#if defined(__aarch64__)

#include <arm_neon.h>

typedef struct line_mask {
    uint64x2_t part[4];
} line_mask;

static inline line_mask make_mask(uint64_t cells, unsigned probes)
{
    static const int64_t down[4][2] = {{0, -6}, {-12, -18}, {-24, -30}, {-36, -42}};
    const uint64x2_t all = vdupq_n_u64(cells), six = vdupq_n_u64(63), one = vdupq_n_u64(1);
    const uint64_t *on = sn_word_masks[probes - 1][(cells >> 48) & 7];
    line_mask m;
    for (int i = 0; i < 4; i++) {
        uint64x2_t at = vandq_u64(vshlq_u64(all, vld1q_s64(down[i])), six);
        m.part[i] = vshlq_u64(one, vreinterpretq_s64_u64(at));
        if (probes != 8)
            m.part[i] = vandq_u64(m.part[i], vld1q_u64(on + 2 * i));
    }
    return m;
}

static inline bool none(uint64x2_t missing)
{
    return (vgetq_lane_u64(missing, 0) | vgetq_lane_u64(missing, 1)) == 0;
}

static inline verdict line_has(const char *line, uint64_t cells, unsigned probes)
{
    const line_mask m = make_mask(cells, probes);
    const uint64_t *p = (const uint64_t *)(const void *)line;
    uint64x2_t missing = vdupq_n_u64(0);
    for (int i = 0; i < 4; i++)
        missing = vorrq_u64(missing, vbicq_u64(m.part[i], vld1q_u64(p + 2 * i)));
    return none(missing);
}

static inline verdict line_set(char *line, uint64_t cells, unsigned probes)
{
    const line_mask m = make_mask(cells, probes);
    uint64_t *p = (uint64_t *)(void *)line;
    uint64x2_t missing = vdupq_n_u64(0);
    for (int i = 0; i < 4; i++) {
        uint64x2_t old = vld1q_u64(p + 2 * i);
        missing = vorrq_u64(missing, vbicq_u64(m.part[i], old));
        vst1q_u64(p + 2 * i, vorrq_u64(old, m.part[i]));
    }
    return none(missing);
}

#include "filter/bloom_body.h"

const sn_kernel sn_bloom_neon = {.name = "neon",
                                 .check = body_check,
                                 .add = body_add,
                                 .add_picked = body_add_picked,
                                 .check_one = body_check_one,
                                 .add_one = body_add_one};
#else
typedef int sn_bloom_neon_unused;
#endif
