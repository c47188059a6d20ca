/* Elements: what the list of a host in Redis is made of. One holds up to 64 URLs of one host.
 *
 *     element   flags (1 byte; 1: deflated), body
 *     body      count, origin, then records; numbers are 7 bits a byte, lowest first
 *     record    op, [depth, hops, kind,] shared, length, bytes
 *
 * A record is a string, front-coded: `shared` bytes are those of the string before it (the first
 * one's is the origin), the rest follows. Op 0 is the page on which the URLs after it were found
 * (empty: start URLs), op 1 a URL, op 2 a URL with a depth, hops and kind that hold until the next
 * op 2. The body is deflated, with a dictionary of what URLs are made of, if that makes it shorter.
 *
 * An element comes from a server that others may write to: unpacking checks everything. */
#ifndef SN_CRAWL_FLEET_PACK_H
#define SN_CRAWL_FLEET_PACK_H

#include "crawl/fleet/buffer.h"

enum { SN_PACKER_URLS = 64 };

typedef struct sn_packer_url {
    const char *url, *parent;
    uint32_t len, parent_len;
    uint16_t depth;
    uint8_t hops, kind;
} sn_packer_url;

typedef struct sn_packer sn_packer;

sn_packer *sn_packer_create(void);
void sn_packer_destroy(sn_packer *packer);

/* Appends one element with 1 to SN_PACKER_URLS URLs that begin with the origin of the first, of
 * `origin` bytes. False: no memory. */
bool sn_packer_pack(sn_packer *packer, const sn_packer_url *urls, size_t count, size_t origin,
                    sn_buffer *out);

/* The URLs of an element, in one block of memory: free() it. */
typedef struct sn_packer_urls {
    size_t count, origin_len;
    const char *origin;
    sn_packer_url url[];
} sn_packer_urls;

/* NULL: not an element, or no memory. */
sn_packer_urls *sn_packer_unpack(sn_packer *packer, const void *bytes, size_t len);

#endif
