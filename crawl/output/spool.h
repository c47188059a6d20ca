/* Bytes kept until they can be written: a small buffer in memory, the rest in a temporary file. */
#ifndef SN_CRAWL_OUTPUT_SPOOL_H
#define SN_CRAWL_OUTPUT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SN_SPOOL_MEMORY (256u << 10)

typedef struct sn_spool {
    char *memory;
    size_t used, room; /* of memory */
    int fd;            /* -1: no file yet */
    uint64_t spilled;  /* bytes in the file, which come first */
} sn_spool;

void sn_spool_init(sn_spool *spool);
void sn_spool_free(sn_spool *spool);
/* Empties it and frees the space of the file. */
void sn_spool_reset(sn_spool *spool);
/* False with errno if memory or disk is exhausted. */
bool sn_spool_put(sn_spool *spool, const void *bytes, size_t len);
uint64_t sn_spool_length(const sn_spool *spool);
/* Copies bytes from an offset; returns their number, 0 at the end, -1 with errno. */
long sn_spool_read(const sn_spool *spool, uint64_t at, void *bytes, size_t len);

#endif
