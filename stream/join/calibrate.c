/* Measuring the machine. */
#include "stream/join/internal.h"

#include "base/clock.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#define REGION ((size_t)SN_JOIN_REGION)
enum { LINE = 64, BATCH = 16, ACCESSES = 1 << 16, TRIES = 3 };

#define RANDOM_NS 20.0 /* default if it cannot be measured */
#define CACHED 8e9     /* bytes a second */
#define DISK 2e9

static uint64_t next_place(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % (REGION / LINE);
}

/* The access pattern of the tables: prefetch a group of addresses, then use them. */
static double time_accesses(char *region, uint64_t *state)
{
    uint64_t begin = sn_clock_ns();
    for (int i = 0; i < ACCESSES / BATCH; i++) {
        uint64_t place[BATCH];
        for (int k = 0; k < BATCH; k++) {
            place[k] = next_place(state);
            __builtin_prefetch(region + place[k] * LINE, 1, 3);
        }
        for (int k = 0; k < BATCH; k++)
            region[place[k] * LINE]++;
    }
    return (double)(sn_clock_ns() - begin) / ACCESSES;
}

double sn_join_random_ns(void)
{
    static double known;
    if (known > 0)
        return known;
    char *region = mmap(NULL, REGION, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED)
        return RANDOM_NS;
    madvise(region, REGION, MADV_HUGEPAGE);
    for (size_t at = 0; at < REGION; at += 4096)
        region[at] = 1;
    uint64_t state = 1;
    double best = INFINITY; /* minimum of several runs, to exclude other load */
    for (int i = 0; i < TRIES; i++)
        best = fmin(best, time_accesses(region, &state));
    munmap(region, REGION);
    return known = best;
}

double sn_join_read_speed(double cached)
{
    return 1 / (cached / CACHED + (1 - cached) / DISK);
}
