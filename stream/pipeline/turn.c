/* Turnstiles.
 *
 * A wait is usually some ten microseconds, the time that a neighbour needs for its block, so it
 * begins with a short spin; then the thread sleeps on a futex. Each sleeper names its number as a
 * bit of a set, so that a pass wakes the one whose turn it is and not the whole queue. */
#include "stream/pipeline/turn.h"

#include "base/thread.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SPINS = 400 };

void sn_turn_init(sn_turn *turn)
{
    atomic_init(&turn->next, 0);
    atomic_init(&turn->sleepers, 0);
}

static bool spin(sn_turn *turn, uint32_t wanted)
{
    for (unsigned i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&turn->next, memory_order_acquire) == wanted)
            return true;
        sn_thread_pause();
    }
    return false;
}

void sn_turn_wait(sn_turn *turn, uint64_t number)
{
    uint32_t wanted = (uint32_t)number;
    if (spin(turn, wanted))
        return;
    uint32_t bit = 1u << (wanted % 32);
    atomic_fetch_add(&turn->sleepers, 1);
    for (;;) {
        uint32_t at = atomic_load(&turn->next);
        if (at == wanted)
            break;
        /* Any failure (changed meanwhile, interrupted) is answered by looking again. */
        syscall(SYS_futex, &turn->next, FUTEX_WAIT_BITSET_PRIVATE, at, NULL, NULL, bit);
    }
    atomic_fetch_sub(&turn->sleepers, 1);
}

void sn_turn_pass(sn_turn *turn)
{
    uint32_t next = atomic_load_explicit(&turn->next, memory_order_relaxed) + 1;
    /* Sequentially consistent, as is the sleepers' increment: either the sleeper sees the new
     * number or this thread sees the sleeper. */
    atomic_store(&turn->next, next);
    if (atomic_load(&turn->sleepers))
        syscall(SYS_futex, &turn->next, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, NULL, NULL,
                1u << (next % 32));
}
