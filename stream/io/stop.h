/* A request to stop, from a signal handler or from an output whose reader went away. It is looked
 * at between blocks, and wakes a thread that waits for a slow input. */
#ifndef SN_STREAM_STOP_H
#define SN_STREAM_STOP_H

#include <stdatomic.h>
#include <stdbool.h>

#include "seen.h"

typedef enum sn_stop_reason {
    SN_STOP_NONE = 0,
    SN_STOP_ASKED = 1, /* Ctrl-C and the like */
    SN_STOP_CLOSED = 2 /* nobody reads the output any more: not trouble */
} sn_stop_reason;

typedef struct sn_stop {
    atomic_int reason;
    int fd; /* readable once a reason is set */
} sn_stop;

seen_status sn_stop_init(sn_stop *stop, seen_error *error);
void sn_stop_free(sn_stop *stop);

/* Asks for a stop; the first reason stays. Safe in a signal handler and from any thread. */
void sn_stop_set(sn_stop *stop, sn_stop_reason reason);

/* NULL is a stop that nobody asks for. */
static inline sn_stop_reason sn_stop_get(sn_stop *stop)
{
    return stop ? (sn_stop_reason)atomic_load_explicit(&stop->reason, memory_order_relaxed)
                : SN_STOP_NONE;
}

#endif
