/* Linux only; elsewhere a request counts as arrived when it was written. */
#include "crawl/fetch/arrival.h"

#include "base/clock.h"

int64_t sn_arrival_now(void)
{
    return (int64_t)((sn_clock_ns() + 999999) / 1000000);
}

#ifdef __linux__

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

void sn_arrival_prepare(int fd, uint64_t withdraw_ms)
{
    struct linger discard = {.l_onoff = 1, .l_linger = 0};
    unsigned int ms = (unsigned int)withdraw_ms;
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &discard, sizeof discard);
    if (ms > 0)
        setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
}

void sn_arrival_relax(int fd)
{
    struct linger none = {0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

/* The caller's next read finds the end of the connection instead of the error. */
bool sn_arrival_failed(int fd)
{
    int why = 0;
    socklen_t len = sizeof why;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &len) == 0 && why == ETIMEDOUT;
}

int64_t sn_arrival_time(int fd, bool answered, int64_t sent, int64_t now)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof info;
    int unconfirmed = 0;
    bool all = ioctl(fd, SIOCOUTQ, &unconfirmed) != 0 || unconfirmed == 0;
    if (!all && !answered)
        return 0;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0 || info.tcpi_total_retrans == 0)
        return sent;
    int64_t confirmed = all ? now - info.tcpi_last_ack_recv : now;
    return confirmed > sent ? confirmed : sent;
}

#else

void sn_arrival_prepare(int fd, uint64_t withdraw_ms)
{
    (void)fd, (void)withdraw_ms;
}

void sn_arrival_relax(int fd)
{
    (void)fd;
}

bool sn_arrival_failed(int fd)
{
    (void)fd;
    return false;
}

int64_t sn_arrival_time(int fd, bool answered, int64_t sent, int64_t now)
{
    (void)fd, (void)answered, (void)now;
    return sent;
}

#endif
