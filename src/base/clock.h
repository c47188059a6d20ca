/* Wall clock for windows, monotonic clock for intervals. */
#ifndef SN_BASE_CLOCK_H
#define SN_BASE_CLOCK_H

#include <stdint.h>

/* Seconds since 1970. Tests replace this function. */
extern uint64_t (*sn_clock_now)(void);

/* Time since an arbitrary start that never goes back. */
uint64_t sn_clock_ms(void);
uint64_t sn_clock_ns(void);

#endif
