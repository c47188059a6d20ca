/* How much memory there is. */
#include "stream/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static uint64_t read_number(const char *path)
{
    uint64_t value = UINT64_MAX;
    FILE *file = fopen(path, "re");
    if (!file)
        return value;
    if (fscanf(file, "%" SCNu64, &value) != 1) /* "max" */
        value = UINT64_MAX;
    fclose(file);
    return value;
}

static uint64_t available(void)
{
    char line[128];
    uint64_t kib = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    if (file) {
        while (fgets(line, sizeof line, file))
            if (sscanf(line, "MemAvailable: %" SCNu64 " kB", &kib) == 1)
                break;
        fclose(file);
    }
    if (kib)
        return kib << 10;
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages / 2 * (uint64_t)size : 256u << 20;
}

uint64_t sn_memory_free(void)
{
    uint64_t most = available();
    uint64_t limit = read_number("/sys/fs/cgroup/memory.max");
    uint64_t used = read_number("/sys/fs/cgroup/memory.current");
    if (limit != UINT64_MAX && used != UINT64_MAX) {
        uint64_t left = limit > used ? limit - used : 0;
        most = left < most ? left : most;
    }
    return most ? most : 1;
}
