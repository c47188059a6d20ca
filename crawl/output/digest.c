/* A fast digest of a body that arrives in pieces. */
#include "crawl/output/digest.h"

#include <stdio.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

struct sn_digest {
    XXH3_state_t state;
};

sn_digest *sn_digest_create(void)
{
    size_t room = (sizeof(sn_digest) + 63) / 64 * 64;
    return aligned_alloc(64, room);
}

void sn_digest_destroy(sn_digest *d)
{
    free(d);
}

void sn_digest_begin(sn_digest *d)
{
    XXH3_128bits_reset(&d->state);
}

void sn_digest_add(sn_digest *d, const void *bytes, size_t len)
{
    XXH3_128bits_update(&d->state, bytes, len);
}

void sn_digest_text(const sn_digest *d, char out[33])
{
    XXH128_hash_t hash = XXH3_128bits_digest(&d->state);
    snprintf(out, 33, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}
