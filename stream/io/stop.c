/* Stop requests. */
#include "stream/io/stop.h"

#include "base/error.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

seen_status sn_stop_init(sn_stop *stop, seen_error *error)
{
    atomic_init(&stop->reason, SN_STOP_NONE);
    stop->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (stop->fd < 0)
        return sn_error_cannot(error, errno, "make", "an event descriptor");
    return SEEN_OK;
}

void sn_stop_free(sn_stop *stop)
{
    if (stop->fd >= 0)
        close(stop->fd);
    stop->fd = -1;
}

void sn_stop_set(sn_stop *stop, sn_stop_reason reason)
{
    int none = SN_STOP_NONE;
    if (!stop || !atomic_compare_exchange_strong(&stop->reason, &none, (int)reason))
        return;
    int saved = errno; /* preserve errno in a signal handler */
    uint64_t one = 1;
    ssize_t put = write(stop->fd, &one, sizeof one);
    (void)put; /* cannot fail: an eventfd at 0 always accepts a 1 */
    errno = saved;
}
