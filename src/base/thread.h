/* Threads: starting one, how many can run at once, and waiting in a loop. */
#ifndef SN_BASE_THREAD_H
#define SN_BASE_THREAD_H

#include <pthread.h>
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

#endif
