/* A stop request, from a signal handler or from an output whose reading end was closed. It is
 * checked between blocks and wakes a thread that waits for a slow input. */
#ifndef SN_STREAM_IO_STOP_H
#define SN_STREAM_IO_STOP_H

#include "seen.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef enum sn_stop_reason {
    SN_STOP_NONE = 0,
    SN_STOP_REQUESTED = 1, /* SIGINT and similar */
    SN_STOP_CLOSED = 2     /* the reading end of the output was closed: not an error */
} sn_stop_reason;

typedef struct sn_stop {
    atomic_int reason;
    int fd; /* readable once a reason is set */
} sn_stop;

seen_status sn_stop_init(sn_stop *stop, seen_error *error);
void sn_stop_free(sn_stop *stop);

/* Requests a stop; the first reason is kept. Async-signal-safe and thread-safe. */
void sn_stop_set(sn_stop *stop, sn_stop_reason reason);

/* NULL means "never stops". */
static inline sn_stop_reason sn_stop_get(sn_stop *stop)
{
    return stop ? (sn_stop_reason)atomic_load_explicit(&stop->reason, memory_order_relaxed)
                : SN_STOP_NONE;
}

#endif
