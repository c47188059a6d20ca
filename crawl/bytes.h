/* Little-endian numbers in files of the crawler, and whole reads and writes. */
#ifndef CRAWL_BYTES_H
#define CRAWL_BYTES_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

static inline void sn_put16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

static inline void sn_put32(uint8_t *p, uint32_t v)
{
    sn_put16(p, (uint16_t)v);
    sn_put16(p + 2, (uint16_t)(v >> 16));
}

static inline void sn_put64(uint8_t *p, uint64_t v)
{
    sn_put32(p, (uint32_t)v);
    sn_put32(p + 4, (uint32_t)(v >> 32));
}

static inline uint16_t sn_get16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t sn_get32(const uint8_t *p)
{
    return (uint32_t)sn_get16(p) | (uint32_t)sn_get16(p + 2) << 16;
}

static inline uint64_t sn_get64(const uint8_t *p)
{
    return (uint64_t)sn_get32(p) | (uint64_t)sn_get32(p + 4) << 32;
}

/* False with errno where not all of it could be written. */
static inline bool sn_write_at(int fd, const void *bytes, size_t len, uint64_t offset)
{
    const uint8_t *p = bytes;
    while (len > 0) {
        ssize_t n = pwrite(fd, p, len, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n == 0)
                errno = ENOSPC;
            return false;
        }
        p += n;
        offset += (uint64_t)n;
        len -= (size_t)n;
    }
    return true;
}

/* How many bytes were read; fewer than len at the end of the file. -1 with errno. */
static inline ssize_t sn_read_at(int fd, void *bytes, size_t len, uint64_t offset)
{
    uint8_t *p = bytes;
    size_t got = 0;
    while (got < len) {
        ssize_t n = pread(fd, p + got, len - got, (off_t)(offset + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

#endif
