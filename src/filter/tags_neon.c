/* The tag kernel for aarch64: a line is four vectors of eight lanes. */
#include "filter/tags.h"

#if defined(__aarch64__)
#include <arm_neon.h>

/* One bit for each of eight lanes that are all ones. */
static inline uint32_t lane_mask(uint16x8_t lanes)
{
    static const uint16_t BIT[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    return vaddvq_u16(vandq_u16(lanes, vld1q_u16(BIT)));
}

static inline uint32_t lanes_matching(const char *line, uint16_t lane)
{
    const uint16_t *p = (const uint16_t *)(const void *)line;
    uint16x8_t all = vdupq_n_u16(lane), one = vdupq_n_u16(1);
    uint32_t found = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint16x8_t have = vld1q_u16(p + 8 * i), below = vqsubq_u16(have, one);
        uint16x8_t differ = vbicq_u16(veorq_u16(have, all), veorq_u16(have, below));
        found |= lane_mask(vceqzq_u16(differ)) << 8 * i;
    }
    return found;
}

static inline uint32_t lanes_empty(const char *line)
{
    const uint16_t *p = (const uint16_t *)(const void *)line;
    uint32_t empty = 0;
    for (unsigned i = 0; i < 4; i++)
        empty |= lane_mask(vceqzq_u16(vld1q_u16(p + 8 * i))) << 8 * i;
    return empty;
}

#include "filter/tags_body.h"
#include "filter/tags_grow_body.h"

const sn_tags_kernel sn_tags_neon = {.name = "neon",
                                     .check = body_check,
                                     .check_one = body_check_one,
                                     .add = body_add,
                                     .rewrite = body_rewrite};
#else
typedef int sn_tags_neon_unused;
#endif
