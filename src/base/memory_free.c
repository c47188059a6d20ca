/* How much memory this process can still allocate. */
#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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

/* The number after a name at the beginning of a line; 0 if there is none. */
static uint64_t read_field(const char *path, const char *name)
{
    char line[128];
    uint64_t value = 0;
    size_t len = strlen(name);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file))
        if (strncmp(line, name, len) == 0)
            value = strtoull(line + len, NULL, 10);
    fclose(file);
    return value;
}

static uint64_t available(void)
{
    uint64_t kib = read_field("/proc/meminfo", "MemAvailable:");
    if (kib)
        return kib << 10;
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages / 2 * (uint64_t)size : 256u << 20;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* The usage of a control group includes cached files, up to its limit; they can be reclaimed. As
 * the system does for MemAvailable, half of the active ones are not counted. */
static uint64_t left_to_group(void)
{
    static const char STAT[] = "/sys/fs/cgroup/memory.stat";
    uint64_t limit = read_number("/sys/fs/cgroup/memory.max");
    uint64_t used = read_number("/sys/fs/cgroup/memory.current");
    if (limit == UINT64_MAX || used == UINT64_MAX)
        return UINT64_MAX;
    uint64_t files = read_field(STAT, "inactive_file ") + read_field(STAT, "active_file ") / 2;
    return less(limit, less(used, files));
}

/* What remains of ulimit -v. */
static uint64_t left_of_addresses(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return less(limit.rlim_cur, read_field("/proc/self/status", "VmSize:") << 10);
}

uint64_t sn_memory_free(void)
{
    uint64_t most = available(), group = left_to_group(), addresses = left_of_addresses();
    most = group < most ? group : most;
    most = addresses < most ? addresses : most;
    return most ? most : 1;
}
