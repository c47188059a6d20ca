/* The time of day, for windows. */
#ifndef SN_BASE_CLOCK_H
#define SN_BASE_CLOCK_H

#include <stdint.h>

/* Seconds since 1970. Tests put a function of their own here. */
extern uint64_t (*sn_clock_now)(void);

#endif
