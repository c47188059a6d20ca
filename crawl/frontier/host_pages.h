/* A count per 64-bit hash: pages fetched per host. 16 bytes each, also when stored. */
#ifndef SN_CRAWL_FRONTIER_HOST_PAGES_H
#define SN_CRAWL_FRONTIER_HOST_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_host_pages sn_host_pages;

/* NULL if out of memory. */
sn_host_pages *sn_host_pages_create(void);
void sn_host_pages_destroy(sn_host_pages *tally);

uint64_t sn_host_pages_get(const sn_host_pages *tally, uint64_t name);
/* False if out of memory. */
bool sn_host_pages_add(sn_host_pages *tally, uint64_t name, uint64_t more);
/* Decrements the count, if it is not 0. */
void sn_host_pages_take(sn_host_pages *tally, uint64_t name);

/* Serialized as little-endian pairs of name and number, in any order. */
size_t sn_host_pages_size(const sn_host_pages *tally);
void sn_host_pages_store(const sn_host_pages *tally, uint8_t *bytes);
bool sn_host_pages_load(sn_host_pages *tally, const uint8_t *bytes, size_t len);

#endif
