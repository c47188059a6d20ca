/* crawl/aside.c: a buffer between two threads.
 *
 *     | ... | head: user, len, bytes | head: user, len, bytes | ... |
 *           ^ taken                                           ^ put
 *
 * Both ends only grow; a place is the end modulo the size. A piece never runs over the end of the
 * buffer: the rest there is filled by one without a user. A piece without bytes ends its user. */
#include "crawl/aside.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
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
    pthread_cond_t more; /* something was put, or it is over */
    pthread_cond_t room; /* something was read */
    bool sleeping;       /* the reader waits for more */
    bool blocked;        /* the writer waits for room */
    bool awaited;        /* the writer waits for the descriptor */
    bool over;
    int fd;
    uint64_t put, taken;
    void **ended; /* a ring */
    size_t most, ended_at, ended_count;
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
    a->ended[(a->ended_at + a->ended_count++) % a->most] = user;
    if (!a->awaited)
        return;
    a->awaited = false;
    /* The counter cannot be full: it is told at most once per page. */
    eventfd_write(a->fd, 1);
}

static void *run(void *argument)
{
    sn_aside *a = argument;
    pthread_mutex_lock(&a->lock);
    while (!a->over) {
        if (a->put == a->taken) {
            a->sleeping = true;
            pthread_cond_wait(&a->more, &a->lock);
            a->sleeping = false;
            continue;
        }
        piece p;
        char *at = place(a, a->taken);
        memcpy(&p, at, sizeof p);
        if (p.user != NULL && p.len > 0) {
            pthread_mutex_unlock(&a->lock);
            a->read(p.user, at + sizeof p, p.len);
            pthread_mutex_lock(&a->lock);
        } else if (p.user != NULL) {
            tell(a, p.user);
        }
        a->taken += padded(p.len);
        if (a->blocked)
            pthread_cond_signal(&a->room);
    }
    pthread_mutex_unlock(&a->lock);
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
    pthread_mutex_lock(&a->lock);
    a->over = true;
    pthread_cond_signal(&a->more);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    free_parts(a);
}

/* ---- The first thread ---- */

/* Waits until so many bytes are free; only this side takes from them. */
static void wait_for_room(sn_aside *a, size_t need)
{
    pthread_mutex_lock(&a->lock);
    if (a->sleeping && SN_ASIDE_BYTES - (a->put - a->taken) < need)
        pthread_cond_signal(&a->more);
    while (SN_ASIDE_BYTES - (a->put - a->taken) < need) {
        a->blocked = true;
        pthread_cond_wait(&a->room, &a->lock);
        a->blocked = false;
    }
    pthread_mutex_unlock(&a->lock);
}

static void publish(sn_aside *a, size_t len)
{
    pthread_mutex_lock(&a->lock);
    a->put += len;
    if (a->sleeping && a->put - a->taken >= WAKE_BYTES)
        pthread_cond_signal(&a->more);
    pthread_mutex_unlock(&a->lock);
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
    void *user = NULL;
    pthread_mutex_lock(&a->lock);
    if (a->ended_count > 0) {
        user = a->ended[a->ended_at];
        a->ended_at = (a->ended_at + 1) % a->most;
        a->ended_count--;
    }
    pthread_mutex_unlock(&a->lock);
    return user;
}

bool sn_aside_ready(sn_aside *a)
{
    pthread_mutex_lock(&a->lock);
    bool ready = a->ended_count > 0;
    a->awaited = !ready;
    if (a->sleeping && a->put != a->taken)
        pthread_cond_signal(&a->more);
    pthread_mutex_unlock(&a->lock);
    return ready;
}

int sn_aside_fd(const sn_aside *a)
{
    return a->fd;
}
