/* Large zeroed memory, in huge pages where the system gives them. */
#ifndef SN_BASE_MEMORY_H
#define SN_BASE_MEMORY_H

#include <stddef.h>

/* Zeroed memory, 64-byte aligned at least; NULL when there is none. */
void *sn_memory_map(size_t bytes);
void sn_memory_unmap(void *memory, size_t bytes);

#endif
