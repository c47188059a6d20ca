/* A turnstile: lets numbers 0, 1, 2 … pass one at a time and in order. */
#ifndef SN_STREAM_PIPELINE_TURN_H
#define SN_STREAM_PIPELINE_TURN_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct sn_turn {
    _Atomic uint32_t next;     /* low half of the number that may pass */
    _Atomic uint32_t sleepers; /* threads that wait in the kernel */
} sn_turn;

void sn_turn_init(sn_turn *turn);

/* Blocks until it is the turn of `number`. Synchronizes with the sn_turn_pass of the previous
 * number. At most 2^31 threads may wait. */
void sn_turn_wait(sn_turn *turn, uint64_t number);

/* Passes the turn to the next number. May only be called by the current holder. */
void sn_turn_pass(sn_turn *turn);

#endif
