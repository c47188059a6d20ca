/* Turnstiles.
 *
 * A wait usually takes about ten microseconds, the time of one block, so it starts with a short
 * spin; then the thread sleeps on a futex. Each sleeper waits on a bit derived from its number, so
 * that a pass wakes only the next thread and not the whole queue. */
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
        /* On any failure (value changed, interrupted) the loop checks again. */
        syscall(SYS_futex, &turn->next, FUTEX_WAIT_BITSET_PRIVATE, at, NULL, NULL, bit);
    }
    atomic_fetch_sub(&turn->sleepers, 1);
}

void sn_turn_pass(sn_turn *turn)
{
    uint32_t next = atomic_load_explicit(&turn->next, memory_order_relaxed) + 1;
    /* Sequentially consistent, like the increment of sleepers: either the sleeper sees the new
     * number or this thread sees the sleeper. */
    atomic_store(&turn->next, next);
    if (atomic_load(&turn->sleepers))
        syscall(SYS_futex, &turn->next, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, NULL, NULL,
                1u << (next % 32));
}
