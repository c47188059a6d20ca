/* How much memory there is. */
#ifndef SN_STREAM_MEMORY_H
#define SN_STREAM_MEMORY_H

#include <stdint.h>

/* Bytes that this process could still get: what the system calls available, or what the limits of
 * its control group or on its addresses leave if that is less. Never 0. */
uint64_t sn_memory_free(void);

#endif
