/* SHA-1, straightforward implementation. */
#include "crawl/output/sha1.h"

#include <string.h>

static uint32_t rotate(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static uint32_t mix(int t, uint32_t b, uint32_t c, uint32_t d)
{
    if (t < 20)
        return ((b & c) | (~b & d)) + 0x5a827999u;
    if (t < 40)
        return (b ^ c ^ d) + 0x6ed9eba1u;
    if (t < 60)
        return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu;
    return (b ^ c ^ d) + 0xca62c1d6u;
}

static void compress(sn_sha1 *s, const uint8_t *p)
{
    uint32_t w[80], a = s->state[0], b = s->state[1], c = s->state[2], d = s->state[3],
                    e = s->state[4];
    for (int t = 0; t < 16; t++, p += 4)
        w[t] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    for (int t = 16; t < 80; t++)
        w[t] = rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (int t = 0; t < 80; t++) {
        uint32_t next = rotate(a, 5) + mix(t, b, c, d) + e + w[t];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    s->state[0] += a;
    s->state[1] += b;
    s->state[2] += c;
    s->state[3] += d;
    s->state[4] += e;
}

void sn_sha1_begin(sn_sha1 *s)
{
    *s = (sn_sha1){{0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u}, 0, {0}};
}

void sn_sha1_add(sn_sha1 *s, const void *bytes, size_t len)
{
    const uint8_t *p = bytes;
    while (len > 0) {
        size_t at = (size_t)(s->len % 64), n = 64 - at < len ? 64 - at : len;
        if (n == 64) {
            compress(s, p);
        } else {
            memcpy(s->block + at, p, n);
            if (at + n == 64)
                compress(s, s->block);
        }
        s->len += n;
        p += n;
        len -= n;
    }
}

void sn_sha1_end(sn_sha1 *s, uint8_t out[SN_SHA1_BYTES])
{
    static const uint8_t padding[64] = {0x80};
    uint64_t bits = s->len * 8;
    uint8_t length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    sn_sha1_add(s, padding, 1 + (size_t)((119 - s->len % 64) % 64));
    sn_sha1_add(s, length, 8);
    for (int i = 0; i < SN_SHA1_BYTES; i++)
        out[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}
