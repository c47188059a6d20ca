/* crawl/aside.c: a buffer between two threads.
 *
 *     | ... | head: user, len, bytes | head: user, len, bytes | ... |
 *           ^ taken                                           ^ put
 *
 * Both ends only grow; a place is the end modulo the size. A piece never runs over the end of the
 * buffer: the rest there is filled by one without a user. A piece without bytes ends its user.
 *
 * Each end is moved by one thread and read by the other; the lock is only for going to sleep and
 * for waking. Whoever goes to sleep says so first and looks at the other's end after; whoever moves
 * an end does so first and looks for a sleeper after. In the one order of all these steps, which
 * atomics have by default, one of the two sees the other, so that nobody sleeps for good. */
#include "crawl/aside.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PIECE_MAX (64u << 10)
#define WAKE_BYTES (256u << 10) /* to wake somebody costs as much as to read a small page */

typedef struct piece {
    void *user;
    size_t len;
} piece;

struct sn_aside {
    sn_aside_read *read;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t more;  /* something was put, or it is over */
    pthread_cond_t room;  /* something was read */
    atomic_bool sleeping; /* the reader waits for more */
    atomic_bool blocked;  /* the writer waits for room */
    atomic_bool awaited;  /* the writer waits for the descriptor */
    atomic_bool over;
    int fd;
    _Atomic uint64_t put, taken;
    void **ended; /* a ring with two ends of the same kind */
    size_t most;
    _Atomic uint64_t told, fetched;
    char *buffer;
};

static size_t padded(size_t len)
{
    return sizeof(piece) + ((len + sizeof(piece) - 1) & ~(sizeof(piece) - 1));
}

static char *place(sn_aside *a, uint64_t at)
{
    return a->buffer + at % SN_ASIDE_BYTES;
}

/* ---- The second thread ---- */

static void tell(sn_aside *a, void *user)
{
    a->ended[a->told % a->most] = user;
    a->told++;
    /* The counter cannot be full: it is told at most once per page. */
    if (atomic_exchange(&a->awaited, false))
        eventfd_write(a->fd, 1);
}

static void sleep_until_more(sn_aside *a)
{
    pthread_mutex_lock(&a->lock);
    a->sleeping = true;
    while (a->put == a->taken && !a->over)
        pthread_cond_wait(&a->more, &a->lock);
    a->sleeping = false;
    pthread_mutex_unlock(&a->lock);
}

static void wake(sn_aside *a, pthread_cond_t *sleeper)
{
    pthread_mutex_lock(&a->lock);
    pthread_cond_signal(sleeper);
    pthread_mutex_unlock(&a->lock);
}

static void *run(void *argument)
{
    sn_aside *a = argument;
    while (!a->over) {
        if (a->put == a->taken) {
            sleep_until_more(a);
            continue;
        }
        piece p;
        char *at = place(a, a->taken);
        memcpy(&p, at, sizeof p);
        if (p.user != NULL && p.len > 0)
            a->read(p.user, at + sizeof p, p.len);
        else if (p.user != NULL)
            tell(a, p.user);
        a->taken += padded(p.len);
        if (a->blocked)
            wake(a, &a->room);
    }
    return NULL;
}

/* ---- Setting up ---- */

bool sn_aside_pays(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) > 1;
}

/* Signals are for the thread that can do something about them. */
static bool start(sn_aside *a)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    bool ok = pthread_create(&a->thread, NULL, run, a) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

static void free_parts(sn_aside *a)
{
    pthread_cond_destroy(&a->room);
    pthread_cond_destroy(&a->more);
    pthread_mutex_destroy(&a->lock);
    if (a->fd >= 0)
        close(a->fd);
    free(a->ended);
    free(a->buffer);
    free(a);
}

sn_aside *sn_aside_create(sn_aside_read *read, size_t most)
{
    sn_aside *a = calloc(1, sizeof *a);
    if (a == NULL)
        return NULL;
    a->read = read;
    a->most = most;
    a->ended = calloc(most, sizeof *a->ended);
    a->buffer = malloc(SN_ASIDE_BYTES);
    a->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->more, NULL);
    pthread_cond_init(&a->room, NULL);
    if (a->ended == NULL || a->buffer == NULL || a->fd < 0 || !start(a)) {
        free_parts(a);
        return NULL;
    }
    return a;
}

void sn_aside_destroy(sn_aside *a)
{
    if (a == NULL)
        return;
    a->over = true;
    wake(a, &a->more);
    pthread_join(a->thread, NULL);
    free_parts(a);
}

/* ---- The first thread ---- */

static uint64_t unread(sn_aside *a)
{
    return a->put - a->taken;
}

/* Waits until so many bytes are free; only this side takes from them. */
static void wait_for_room(sn_aside *a, size_t need)
{
    if (SN_ASIDE_BYTES - unread(a) >= need)
        return;
    pthread_mutex_lock(&a->lock);
    if (a->sleeping)
        pthread_cond_signal(&a->more);
    a->blocked = true;
    while (SN_ASIDE_BYTES - unread(a) < need)
        pthread_cond_wait(&a->room, &a->lock);
    a->blocked = false;
    pthread_mutex_unlock(&a->lock);
}

static void publish(sn_aside *a, size_t len)
{
    a->put += len;
    if (a->sleeping && unread(a) >= WAKE_BYTES)
        wake(a, &a->more);
}

static void put_piece(sn_aside *a, void *user, const char *bytes, size_t len)
{
    size_t whole = padded(len), skip = 0;
    size_t left = SN_ASIDE_BYTES - (size_t)(a->put % SN_ASIDE_BYTES);
    if (left < whole)
        skip = left;
    wait_for_room(a, skip + whole);
    if (skip > 0) {
        piece filler = {NULL, skip - sizeof(piece)};
        memcpy(place(a, a->put), &filler, sizeof filler);
    }
    char *at = place(a, a->put + skip);
    piece p = {user, len};
    memcpy(at, &p, sizeof p);
    if (len > 0)
        memcpy(at + sizeof p, bytes, len);
    publish(a, skip + whole);
}

void sn_aside_put(sn_aside *a, void *user, const char *bytes, size_t len)
{
    while (len > 0) {
        size_t n = len < PIECE_MAX ? len : PIECE_MAX;
        put_piece(a, user, bytes, n);
        bytes += n;
        len -= n;
    }
}

void sn_aside_end(sn_aside *a, void *user)
{
    put_piece(a, user, NULL, 0);
}

void *sn_aside_take(sn_aside *a)
{
    if (a->told == a->fetched)
        return NULL;
    void *user = a->ended[a->fetched % a->most];
    a->fetched++;
    return user;
}

bool sn_aside_ready(sn_aside *a)
{
    if (a->told != a->fetched)
        return true;
    a->awaited = true;
    if (a->sleeping && unread(a) > 0)
        wake(a, &a->more);
    return a->told != a->fetched;
}

int sn_aside_fd(const sn_aside *a)
{
    return a->fd;
}
