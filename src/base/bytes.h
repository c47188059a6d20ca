/* Byte order and wide arithmetic. Stored data is little-endian on every machine. */
#ifndef SN_BASE_BYTES_H
#define SN_BASE_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t sn_load64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return le64toh(v);
}

static inline void sn_store64(void *p, uint64_t v)
{
    v = htole64(v);
    memcpy(p, &v, sizeof v);
}

static inline uint32_t sn_load32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return le32toh(v);
}

static inline void sn_store32(void *p, uint32_t v)
{
    v = htole32(v);
    memcpy(p, &v, sizeof v);
}

static inline uint16_t sn_load16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return le16toh(v);
}

static inline void sn_store16(void *p, uint16_t v)
{
    v = htole16(v);
    memcpy(p, &v, sizeof v);
}

__extension__ typedef unsigned __int128 sn_u128;

/* The high half of a 128-bit product: maps a uniform x to a uniform number below n. */
static inline uint64_t sn_mulhi(uint64_t x, uint64_t n)
{
    return (uint64_t)(((sn_u128)x * n) >> 64);
}

#endif
