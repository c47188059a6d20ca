/* A second thread that fetches.
 *
 *     orders:   start, release     -->   the second thread
 *     reports:  sent, over         <--
 *
 * Each of the two is a ring with one writer and one reader; its ends only increase, each moved by
 * one of them. A thread that is about to sleep sets its flag first and then checks the other's end;
 * a thread that moves an end does so first and then checks the flag. All these atomic operations
 * are sequentially consistent, so that one of the two sees the other, and no thread sleeps
 * forever. */
#include "crawl/fetch/thread.h"

#include "base/error.h"
#include "base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SLEEP_MS 60000 /* any value works: the thread is woken */

/* A transfer to begin, or one to release. */
typedef struct order {
    sn_fetch_request request;
    sn_transfer *released; /* NULL: begin */
} order;

typedef struct report {
    sn_transfer *transfer;
    bool sent; /* its request was sent; otherwise it is over */
} report;

struct sn_fetch_thread {
    sn_fetch *fetch; /* the second thread's */
    pthread_t thread;
    size_t room;     /* maximum transfers */
    size_t active;   /* of them started and not released; the first thread's */
    order *orders;   /* twice the room: start and release */
    report *reports; /* twice the room: sent and over */
    _Atomic uint64_t ordered, obeyed, reported, taken;
    int wake_fd, report_fd;
    atomic_bool sleeping; /* the second thread waits for orders */
    atomic_bool awaited;  /* the first thread waits for reports */
    atomic_bool stop;
    atomic_int failed; /* seen_status of the second thread */
    seen_error error;
};

/* ---- The second thread ---- */

static void wake(atomic_bool *sleeper, int fd)
{
    /* The counter cannot overflow: that would take 2^64 calls. */
    if (atomic_load(sleeper) && atomic_exchange(sleeper, false))
        eventfd_write(fd, 1);
}

static void put_report(sn_fetch_thread *a, sn_transfer *transfer, bool sent)
{
    a->reports[a->reported % (2 * a->room)] = (report){transfer, sent};
    a->reported++;
    wake(&a->awaited, a->report_fd);
}

static seen_status obey(sn_fetch_thread *a)
{
    seen_status status = SEEN_OK;
    for (; status == SEEN_OK && a->obeyed != a->ordered; a->obeyed++) {
        const order *o = &a->orders[a->obeyed % (2 * a->room)];
        sn_transfer *started;
        if (o->released)
            sn_fetch_release(a->fetch, o->released);
        else
            status = sn_fetch_start(a->fetch, &o->request, &started, &a->error);
    }
    return status;
}

static seen_status handle_events(sn_fetch_thread *a)
{
    bool any = false;
    seen_status status = sn_fetch_poll(a->fetch, &any, &a->error);
    if (status != SEEN_OK || any)
        return status;
    a->sleeping = true;
    if (a->ordered == a->obeyed && !a->stop)
        status = sn_fetch_wait(a->fetch, SLEEP_MS, &a->error);
    a->sleeping = false;
    return status;
}

static void *run(void *argument)
{
    sn_fetch_thread *a = argument;
    seen_status status = SEEN_OK;
    while (status == SEEN_OK && !a->stop) {
        status = obey(a);
        if (status == SEEN_OK)
            status = handle_events(a);
        for (sn_transfer *t; (t = sn_fetch_sent(a->fetch)) != NULL;)
            put_report(a, t, true);
        for (sn_transfer *t; (t = sn_fetch_finished(a->fetch)) != NULL;)
            put_report(a, t, false);
    }
    a->failed = (int)status;
    wake(&a->awaited, a->report_fd);
    return NULL;
}

/* ---- Setting up ---- */

bool sn_fetch_thread_pays(void)
{
    return sn_thread_cpus() > 1;
}

static void free_parts(sn_fetch_thread *a)
{
    sn_fetch_destroy(a->fetch);
    if (a->wake_fd >= 0)
        close(a->wake_fd);
    if (a->report_fd >= 0)
        close(a->report_fd);
    free(a->orders);
    free(a->reports);
    free(a);
}

seen_status sn_fetch_thread_create(const sn_fetch_options *options, sn_fetch_thread **thread,
                                   seen_error *error)
{
    sn_fetch_thread *a = calloc(1, sizeof *a);
    if (!a)
        return sn_error_memory(error);
    a->room = options->connections;
    a->orders = calloc(2 * a->room, sizeof *a->orders);
    a->reports = calloc(2 * a->room, sizeof *a->reports);
    a->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    a->report_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    seen_status status = SEEN_OK;
    if (!a->orders || !a->reports || a->wake_fd < 0 || a->report_fd < 0)
        status = sn_error_memory(error);
    if (status == SEEN_OK)
        status = sn_fetch_create(options, &a->fetch, error);
    if (status == SEEN_OK)
        status = sn_fetch_watch(a->fetch, a->wake_fd, error);
    if (status == SEEN_OK && !sn_thread_start(&a->thread, run, a))
        status = sn_error_memory(error);
    if (status != SEEN_OK) {
        free_parts(a);
        return status;
    }
    *thread = a;
    return SEEN_OK;
}

void sn_fetch_thread_destroy(sn_fetch_thread *a)
{
    if (!a)
        return;
    a->stop = true;
    wake(&a->sleeping, a->wake_fd);
    pthread_join(a->thread, NULL);
    free_parts(a);
}

/* ---- The first thread ---- */

bool sn_fetch_thread_room(const sn_fetch_thread *a)
{
    return a->active < a->room;
}

size_t sn_fetch_thread_active(const sn_fetch_thread *a)
{
    return a->active;
}

static void give(sn_fetch_thread *a, order o)
{
    a->orders[a->ordered % (2 * a->room)] = o;
    a->ordered++;
}

void sn_fetch_thread_start(sn_fetch_thread *a, const sn_fetch_request *request)
{
    a->active++;
    give(a, (order){.request = *request});
    wake(&a->sleeping, a->wake_fd);
}

seen_status sn_fetch_thread_take(sn_fetch_thread *a, sn_transfer **transfer, bool *sent,
                                 seen_error *error)
{
    *transfer = NULL;
    *sent = false;
    if (a->reported != a->taken) {
        const report *r = &a->reports[a->taken % (2 * a->room)];
        *transfer = r->transfer;
        *sent = r->sent;
        a->taken++;
        return SEEN_OK;
    }
    seen_status status = (seen_status)a->failed;
    if (status != SEEN_OK && error)
        *error = a->error;
    return status;
}

void sn_fetch_thread_release(sn_fetch_thread *a, sn_transfer *transfer)
{
    a->active--;
    give(a, (order){.released = transfer});
}

bool sn_fetch_thread_ready(sn_fetch_thread *a)
{
    if (a->reported != a->taken || a->failed != SEEN_OK)
        return true;
    a->awaited = true;
    return a->reported != a->taken || a->failed != SEEN_OK;
}

int sn_fetch_thread_fd(const sn_fetch_thread *a)
{
    return a->report_fd;
}
