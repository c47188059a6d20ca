/* SHA-1 (FIPS 180-4), for payload digests in web archives. Not for security. */
#ifndef CRAWL_OUTPUT_SHA1_H
#define CRAWL_OUTPUT_SHA1_H

#include <stddef.h>
#include <stdint.h>

#define SN_SHA1_BYTES 20

typedef struct sn_sha1 {
    uint32_t state[5];
    uint64_t len;
    uint8_t block[64];
} sn_sha1;

void sn_sha1_begin(sn_sha1 *sha);
void sn_sha1_add(sn_sha1 *sha, const void *bytes, size_t len);
void sn_sha1_end(sn_sha1 *sha, uint8_t out[SN_SHA1_BYTES]);

#endif
