/* Threads. */
#include "base/thread.h"

#include <sched.h>
#include <signal.h>
#include <time.h>

bool sn_thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    bool started = pthread_create(thread, NULL, run, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

unsigned sn_thread_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int count = CPU_COUNT(&set);
    return count < 1 ? 1 : (unsigned)count;
}

void sn_spinlock_sleep(const sn_spinlock *lock)
{
    enum { SPINS = 100, SLEEP_NS = 50000 };
    for (unsigned tries = 1; atomic_load(lock); tries++) {
        if (tries % SPINS != 0)
            sn_thread_pause();
        else
            nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
    }
}
