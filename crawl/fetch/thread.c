/* A second thread that fetches.
 *
 *     orders:   started, released  -->   the second thread
 *     over:     transfers          <--
 *
 * Each of the two is a ring with one writer and one reader; its ends only grow, each moved by one
 * of them. Whoever is about to sleep says so first and looks at the other's end after; whoever
 * moves an end does so first and looks for a sleeper after. In the one order of all these steps,
 * which atomics have by default, one of the two sees the other, so that nobody sleeps for good. */
#include "crawl/fetch/thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread.h"

#define SLEEP_MS 60000 /* any time would do: it is woken */

/* A transfer to begin, or one to give back. */
typedef struct order {
    const char *url;
    uint64_t limit;
    void *user;
    sn_transfer *released;
} order;

struct sn_fetch_thread {
    sn_fetch *fetch; /* the second thread's */
    pthread_t thread;
    size_t room;   /* transfers */
    size_t active; /* of them started and not released; the first thread's */
    order *orders; /* twice the room: to start and to give back */
    sn_transfer **over;
    _Atomic uint64_t ordered, obeyed, told, taken;
    int wake_fd, told_fd;
    atomic_bool sleeping; /* the second thread waits for orders */
    atomic_bool awaited;  /* the first thread waits to be told */
    atomic_bool stop;
    atomic_int failed; /* seen_status of the second thread */
    seen_error error;
};

/* ---- The second thread ---- */

static void wake(atomic_bool *sleeper, int fd)
{
    /* The counter cannot be full: it would take 2^64 wakings. */
    if (atomic_load(sleeper) && atomic_exchange(sleeper, false))
        eventfd_write(fd, 1);
}

static seen_status obey(sn_fetch_thread *a)
{
    seen_status status = SEEN_OK;
    for (; status == SEEN_OK && a->obeyed != a->ordered; a->obeyed++) {
        const order *o = &a->orders[a->obeyed % (2 * a->room)];
        sn_transfer *started;
        if (o->released != NULL)
            sn_fetch_release(a->fetch, o->released);
        else
            status = sn_fetch_start(a->fetch, o->url, o->limit, o->user, &started, &a->error);
    }
    return status;
}

static seen_status let_happen(sn_fetch_thread *a)
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
            status = let_happen(a);
        for (sn_transfer *t; (t = sn_fetch_finished(a->fetch)) != NULL;) {
            a->over[a->told % a->room] = t;
            a->told++;
            wake(&a->awaited, a->told_fd);
        }
    }
    a->failed = (int)status;
    wake(&a->awaited, a->told_fd);
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
    if (a->told_fd >= 0)
        close(a->told_fd);
    free(a->orders);
    free(a->over);
    free(a);
}

seen_status sn_fetch_thread_create(const sn_fetch_options *options, sn_fetch_thread **aside,
                                   seen_error *error)
{
    sn_fetch_thread *a = calloc(1, sizeof *a);
    if (a == NULL)
        return sn_error_memory(error);
    a->room = options->connections;
    a->orders = calloc(2 * a->room, sizeof *a->orders);
    a->over = calloc(a->room, sizeof(sn_transfer *));
    a->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    a->told_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    seen_status status = SEEN_OK;
    if (a->orders == NULL || a->over == NULL || a->wake_fd < 0 || a->told_fd < 0)
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
    *aside = a;
    return SEEN_OK;
}

void sn_fetch_thread_destroy(sn_fetch_thread *a)
{
    if (a == NULL)
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

void sn_fetch_thread_start(sn_fetch_thread *a, const char *url, uint64_t limit, void *user)
{
    a->active++;
    give(a, (order){.url = url, .limit = limit, .user = user});
    wake(&a->sleeping, a->wake_fd);
}

seen_status sn_fetch_thread_take(sn_fetch_thread *a, sn_transfer **transfer, seen_error *error)
{
    *transfer = NULL;
    if (a->told != a->taken) {
        *transfer = a->over[a->taken % a->room];
        a->taken++;
        return SEEN_OK;
    }
    seen_status status = (seen_status)a->failed;
    if (status != SEEN_OK && error != NULL)
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
    if (a->told != a->taken || a->failed != SEEN_OK)
        return true;
    a->awaited = true;
    return a->told != a->taken || a->failed != SEEN_OK;
}

int sn_fetch_thread_fd(const sn_fetch_thread *a)
{
    return a->told_fd;
}
