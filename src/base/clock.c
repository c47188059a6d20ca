/* Wall clock for windows, monotonic clock for intervals. */
#include "base/clock.h"

#include <time.h>

static uint64_t system_now(void)
{
    return (uint64_t)time(NULL);
}

uint64_t (*sn_clock_now)(void) = system_now;

uint64_t sn_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t sn_clock_ms(void)
{
    return sn_clock_ns() / 1000000;
}
