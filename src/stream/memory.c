/* How much memory there is. */
#include "stream/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t read_number(const char *path)
{
    uint64_t value = UINT64_MAX;
    FILE *file = fopen(path, "re");
    if (!file)
        return value;
    char line[32];
    if (fgets(line, sizeof line, file) && *line >= '0' && *line <= '9') /* or "max" */
        value = strtoull(line, NULL, 10);
    fclose(file);
    return value;
}

static uint64_t available(void)
{
    static const char NAME[] = "MemAvailable:";
    char line[128];
    uint64_t kib = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    if (file) {
        while (fgets(line, sizeof line, file))
            if (strncmp(line, NAME, sizeof NAME - 1) == 0)
                kib = strtoull(line + sizeof NAME - 1, NULL, 10);
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
