/* A fast digest of a body that arrives in pieces: XXH3, 128 bits, as printed by xxhsum -H2. */
#ifndef SN_CRAWL_OUTPUT_DIGEST_H
#define SN_CRAWL_OUTPUT_DIGEST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct sn_digest sn_digest;

/* NULL: out of memory. */
sn_digest *sn_digest_create(void);
void sn_digest_destroy(sn_digest *digest);

void sn_digest_begin(sn_digest *digest);
void sn_digest_add(sn_digest *digest, const void *bytes, size_t len);
/* Hexadecimal, NUL-terminated. */
void sn_digest_text(const sn_digest *digest, char out[33]);

#endif
