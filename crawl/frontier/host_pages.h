/* A number per 64-bit name: pages fetched per host. 16 bytes each, as stored. */
#ifndef CRAWL_FRONTIER_HOST_PAGES_H
#define CRAWL_FRONTIER_HOST_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_host_pages sn_host_pages;

/* NULL when there is no memory. */
sn_host_pages *sn_host_pages_create(void);
void sn_host_pages_destroy(sn_host_pages *tally);

uint64_t sn_host_pages_get(const sn_host_pages *tally, uint64_t name);
/* False when there is no memory. */
bool sn_host_pages_add(sn_host_pages *tally, uint64_t name, uint64_t more);
/* One less, where there is one. */
void sn_host_pages_take(sn_host_pages *tally, uint64_t name);

/* As bytes, little-endian: name and number, in any order. */
size_t sn_host_pages_size(const sn_host_pages *tally);
void sn_host_pages_store(const sn_host_pages *tally, uint8_t *bytes);
bool sn_host_pages_load(sn_host_pages *tally, const uint8_t *bytes, size_t len);

#endif
