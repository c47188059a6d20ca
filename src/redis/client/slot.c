/* The slot of a key in a cluster. */
#include "redis/client/slot.h"

#include <string.h>

/* CRC16 (XMODEM), four bits at a time: names are short. */
uint16_t sn_slot_crc(uint16_t crc, const char *p, size_t len)
{
    static const uint16_t TABLE[16] = {0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5,
                                       0x60c6, 0x70e7, 0x8108, 0x9129, 0xa14a, 0xb16b,
                                       0xc18c, 0xd1ad, 0xe1ce, 0xf1ef};
    for (size_t i = 0; i < len; i++) {
        unsigned byte = (unsigned char)p[i];
        crc = (uint16_t)(TABLE[(crc >> 12) ^ (byte >> 4)] ^ (crc << 4));
        crc = (uint16_t)(TABLE[(crc >> 12) ^ (byte & 15)] ^ (crc << 4));
    }
    return crc;
}

uint16_t sn_slot_of(const char *key, size_t len)
{
    const char *open = memchr(key, '{', len);
    if (open) {
        size_t rest = len - (size_t)(open + 1 - key);
        const char *close = memchr(open + 1, '}', rest);
        if (close && close > open + 1)
            return sn_slot_crc(0, open + 1, (size_t)(close - open - 1)) & 16383;
    }
    return sn_slot_crc(0, key, len) & 16383;
}
