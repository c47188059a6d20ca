/* Memory: large zeroed mappings, growing arrays, and how much is free. */
#ifndef SN_BASE_MEMORY_H
#define SN_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory, at least 64-byte aligned; NULL if out of memory. */
void *sn_memory_map(size_t bytes);
void sn_memory_unmap(void *memory, size_t bytes);

/* Grows an array to at least `need` items of `size` bytes, at least doubling it. Returns the array,
 * which may have moved, and updates *room; NULL if out of memory (the old array stays valid). */
void *sn_memory_grow(void *items, size_t *room, size_t need, size_t size);

/* Bytes that this process could still get: what the system reports as available, or less if its
 * control group or ulimit -v leaves less. Never 0. */
uint64_t sn_memory_free(void);

#endif
