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

#define HAVE_MATCHING(extra) ((extra) == 4)

/* Byte 50 + i / 2 of the line has the extra bits of lane i: byte 2 + i / 2 of its last quarter. */
static inline uint32_t tags_matching(const char *line, uint64_t code, unsigned extra)
{
    (void)extra;
    static const uint8_t BYTE[16] = {2, 255, 2, 255, 3, 255, 3, 255,
                                     4, 255, 4, 255, 5, 255, 5, 255};
    static const uint16_t BITS[8] = {0x0f, 0xf0, 0x0f, 0xf0, 0x0f, 0xf0, 0x0f, 0xf0};
    const uint16_t *p = (const uint16_t *)(const void *)line;
    uint8x16_t quarter = vld1q_u8((const uint8_t *)line + 48), byte = vld1q_u8(BYTE);
    uint16x8_t all = vdupq_n_u16((uint16_t)code), one = vdupq_n_u16(1), bits = vld1q_u16(BITS);
    uint16x8_t wanted = vdupq_n_u16((uint16_t)((code >> 16 & 15) * 0x11));
    uint32_t found = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint16x8_t have = vld1q_u16(p + 8 * i), below = vqsubq_u16(have, one);
        uint16x8_t differ = vbicq_u16(veorq_u16(have, all), veorq_u16(have, below));
        uint16x8_t have_bits = vreinterpretq_u16_u8(vqtbl1q_u8(quarter, byte));
        uint16x8_t wrong = vandq_u16(veorq_u16(have_bits, wanted), bits);
        found |= lane_mask(vceqzq_u16(vorrq_u16(differ, wrong))) << 8 * i;
        byte = vqaddq_u8(byte, vdupq_n_u8(4)); /* what is beyond the quarter stays so */
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
