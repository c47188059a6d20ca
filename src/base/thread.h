/* Threads: starting one, how many can run at once, waiting in a loop, and locks for moments. */
#ifndef SN_BASE_THREAD_H
#define SN_BASE_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Starts a thread with all signals blocked, so that they arrive at the caller's thread. */
bool sn_thread_start(pthread_t *thread, void *(*run)(void *), void *argument);

/* The number of processors that this process may use; at least 1. */
unsigned sn_thread_cpus(void);

/* A hint to the processor that this thread spins. */
static inline void sn_thread_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* A lock that is held for less time than a mutex takes to sleep and wake up. Locking is one atomic
 * exchange, sequentially consistent; unlocking is a store, where a mutex needs a second atomic
 * operation to find out whether a thread sleeps. */
typedef atomic_bool sn_spinlock;

/* Returns when the lock was free for a moment. Sleeps between looks if that takes long: the holder
 * may need this thread's processor. */
void sn_spinlock_sleep(const sn_spinlock *lock);

static inline void sn_spinlock_wait(const sn_spinlock *lock)
{
    if (atomic_load(lock))
        sn_spinlock_sleep(lock);
}

static inline bool sn_spinlock_try(sn_spinlock *lock)
{
    return !atomic_exchange(lock, true);
}

static inline void sn_spinlock_lock(sn_spinlock *lock)
{
    while (!sn_spinlock_try(lock))
        sn_spinlock_wait(lock);
}

static inline void sn_spinlock_unlock(sn_spinlock *lock)
{
    atomic_store_explicit(lock, false, memory_order_release);
}

#endif
