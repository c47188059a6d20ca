/* Bytes that grow. Zeroed is empty; `failed` stays set once memory has run out. */
#ifndef SN_CRAWL_FLEET_BUFFER_H
#define SN_CRAWL_FLEET_BUFFER_H

#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct sn_buffer {
    char *data;
    size_t len, room;
    bool failed;
} sn_buffer;

/* Room for so many more bytes at the end; NULL without memory. */
static inline char *sn_buffer_reserve(sn_buffer *b, size_t more)
{
    if (b->failed)
        return NULL;
    if (b->len + more > b->room) {
        char *data = sn_memory_grow(b->data, &b->room, b->len + more, 1);
        if (!data) {
            b->failed = true;
            return NULL;
        }
        b->data = data;
    }
    return b->data + b->len;
}

static inline void sn_buffer_put(sn_buffer *b, const void *bytes, size_t len)
{
    char *to = sn_buffer_reserve(b, len);
    if (!to)
        return;
    if (len > 0)
        memcpy(to, bytes, len);
    b->len += len;
}

static inline void sn_buffer_byte(sn_buffer *b, uint8_t byte)
{
    sn_buffer_put(b, &byte, 1);
}

/* 7 bits a byte, lowest first. */
static inline void sn_buffer_varint(sn_buffer *b, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        sn_buffer_byte(b, (uint8_t)(n | 0x80));
    sn_buffer_byte(b, (uint8_t)n);
}

static inline void sn_buffer_free(sn_buffer *b)
{
    free(b->data);
    *b = (sn_buffer){0};
}

#endif
