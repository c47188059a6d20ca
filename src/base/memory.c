/* Large zeroed memory, in huge pages if available.
 *
 * A probe of a large filter misses the TLB as well as the cache; with pages of 2 MiB the TLB covers
 * much more. Mappings of 4 MiB and more are aligned to 2 MiB, so that every page can be huge. Small
 * ones are populated at once: a page that a filter first reads and then writes costs two faults,
 * which is a tenth of the time of filling it. */
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HUGE_PAGE = 2 << 20, HUGE_FROM = 4 << 20, AT_ONCE = 256 << 10 };

void *sn_memory_map(size_t bytes)
{
    size_t extra = bytes >= HUGE_FROM ? HUGE_PAGE : 0;
    int at_once = bytes <= AT_ONCE ? MAP_POPULATE : 0;
    if (bytes == 0 || bytes > SIZE_MAX / 2)
        return NULL;
    char *raw = mmap(NULL, bytes + extra, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | at_once, -1, 0);
    if (raw == MAP_FAILED)
        return NULL;
    if (!extra)
        return raw;
    size_t head = (HUGE_PAGE - (uintptr_t)raw % HUGE_PAGE) % HUGE_PAGE;
    char *memory = raw + head;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), used = (bytes + page - 1) / page * page;
    if (head)
        munmap(raw, head);
    if (extra - head + bytes > used)
        munmap(memory + used, bytes + extra - head - used);
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, bytes, MADV_HUGEPAGE); /* a hint: a failure only affects speed */
#endif
    return memory;
}

void sn_memory_unmap(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

void *sn_memory_grow(void *items, size_t *room, size_t need, size_t size)
{
    enum { LEAST = 16 };
    if (need <= *room && items)
        return items;
    size_t wanted = *room > SIZE_MAX / 2 ? SIZE_MAX : 2 * *room;
    wanted = wanted < LEAST ? LEAST : wanted;
    wanted = wanted < need ? need : wanted;
    void *grown = wanted > SIZE_MAX / size ? NULL : realloc(items, wanted * size);
    if (grown)
        *room = wanted;
    return grown;
}
