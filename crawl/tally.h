/* A number per 64-bit name: pages fetched per host. 16 bytes each, as stored. */
#ifndef CRAWL_TALLY_H
#define CRAWL_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_tally sn_tally;

/* NULL when there is no memory. */
sn_tally *sn_tally_create(void);
void sn_tally_destroy(sn_tally *tally);

uint64_t sn_tally_get(const sn_tally *tally, uint64_t name);
/* False when there is no memory. */
bool sn_tally_add(sn_tally *tally, uint64_t name, uint64_t more);
/* One less, where there is one. */
void sn_tally_take(sn_tally *tally, uint64_t name);

/* As bytes, little-endian: name and number, in any order. */
size_t sn_tally_size(const sn_tally *tally);
void sn_tally_store(const sn_tally *tally, uint8_t *bytes);
bool sn_tally_load(sn_tally *tally, const uint8_t *bytes, size_t len);

#endif
