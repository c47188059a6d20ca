/* The time of day, for windows. */
#include "base/clock.h"

#include <time.h>

static uint64_t system_now(void)
{
    return (uint64_t)time(NULL);
}

uint64_t (*sn_clock_now)(void) = system_now;
