/* A time of day that is wrong: preloaded before a program that must not rely on it.
 *
 * CLOCK_SHIFT=SECONDS in the environment is added to it. The sign changes every two seconds of the
 * monotonic clock, so that a running program sees the clock jump forwards and backwards. Clocks
 * that measure intervals stay right, as they do when an administrator sets the time. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t shift(void)
{
    const char *text = getenv("CLOCK_SHIFT");
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    long seconds = text ? strtol(text, NULL, 10) : 0;
    return now.tv_sec / 2 % 2 ? seconds : -seconds;
}

int clock_gettime(clockid_t clock, struct timespec *to)
{
    int failed = (int)syscall(SYS_clock_gettime, clock, to);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        to->tv_sec += shift();
    return failed;
}

int gettimeofday(struct timeval *restrict to, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    to->tv_sec = now.tv_sec;
    to->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *to)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to)
        *to = now.tv_sec;
    return now.tv_sec;
}
