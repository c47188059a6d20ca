/* A proxy that passes each command to a callback. */
#ifndef TEST_REDIS_RELAY_H
#define TEST_REDIS_RELAY_H

#include "tests/redis/proxy.h"

#include <netinet/tcp.h>

enum { RELAY_BYTES = 16 << 20, RELAY_CLIENTS = 64 };

/* Handles one complete command of a client. false: close the connection. */
typedef bool (*relay_hook)(void *context, const char *command, size_t len, int client, int server);

typedef struct test_relay {
    relay_hook hook;
    void *context;
    int upstream; /* port of the server; 0: there is none */
    int listener, port;
    pthread_t thread;
    pthread_mutex_t lock; /* protects the following */
    pthread_cond_t ended;
    int client[RELAY_CLIENTS]; /* descriptors; 0: none */
    pthread_t serving[RELAY_CLIENTS];
    bool served[RELAY_CLIENTS]; /* the thread has not been joined */
    unsigned clients;
    bool stop;
} test_relay;

/* The length of the first command in a buffer; 0: incomplete. *arg is set to argument `wanted`;
 * NULL if there are fewer. */
static inline size_t relay_command(const char *text, size_t len, long wanted, const char **arg,
                                   size_t *arg_len)
{
    const char *end = text + len, *line = memchr(text, '\n', len);
    *arg = NULL;
    *arg_len = 0;
    if (!line)
        return 0;
    const char *at = line + 1;
    long args = strtol(text + 1, NULL, 10);
    for (long i = 0; i < args; i++) {
        line = memchr(at, '\n', (size_t)(end - at));
        if (!line)
            return 0;
        long size = strtol(at + 1, NULL, 10);
        at = line + 1;
        if (end - at < size + 2)
            return 0;
        if (i == wanted) {
            *arg = at;
            *arg_len = (size_t)size;
        }
        at += size + 2;
    }
    return (size_t)(at - text);
}

/* Reads one reply of the server and forwards it, unless the client is -1. */
static inline bool relay_answer(int server, int client)
{
    static __thread char buffer[1 << 16];
    redisReader *reader = redisReaderCreate();
    void *reply = NULL;
    bool good = reader != NULL;
    while (good && !reply) {
        ssize_t n = recv(server, buffer, sizeof buffer, 0);
        good = n > 0 && (client < 0 || test_send_all(client, buffer, (size_t)n)) &&
               redisReaderFeed(reader, buffer, (size_t)n) == REDIS_OK &&
               redisReaderGetReply(reader, &reply) == REDIS_OK;
    }
    if (reply)
        freeReplyObject(reply);
    if (reader)
        redisReaderFree(reader);
    return good;
}

typedef struct relay_client {
    test_relay *relay;
    int fd;
    unsigned place;
} relay_client;

static inline void *relay_serve(void *context)
{
    relay_client c = *(relay_client *)context;
    free(context);
    char *buffer = malloc(RELAY_BYTES);
    int server = c.relay->upstream ? test_connect(c.relay->upstream) : -1;
    size_t used = 0, len, arg_len;
    const char *arg;
    int one = 1;
    /* Replies are many and small: disables Nagle's algorithm. */
    (void)setsockopt(c.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (server >= 0)
        (void)setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    while (buffer && used < RELAY_BYTES) {
        ssize_t n = recv(c.fd, buffer + used, RELAY_BYTES - used, 0);
        if (n <= 0)
            break;
        used += (size_t)n;
        while ((len = relay_command(buffer, used, 0, &arg, &arg_len))) {
            if (!c.relay->hook(c.relay->context, buffer, len, c.fd, server))
                goto out;
            memmove(buffer, buffer + len, used -= len);
        }
    }
out:
    free(buffer);
    if (server >= 0)
        close(server);
    pthread_mutex_lock(&c.relay->lock);
    close(c.fd);
    c.relay->client[c.place] = 0;
    c.relay->clients--;
    pthread_cond_broadcast(&c.relay->ended);
    pthread_mutex_unlock(&c.relay->lock);
    return NULL;
}

/* For a thread that has ended, or is about to end. */
static inline void relay_join(test_relay *r, unsigned place)
{
    if (r->served[place])
        pthread_join(r->serving[place], NULL);
    r->served[place] = false;
}

static inline void relay_take_in(test_relay *r, int fd)
{
    relay_client *c = malloc(sizeof *c);
    pthread_mutex_lock(&r->lock);
    unsigned place = 0;
    while (place < RELAY_CLIENTS && r->client[place])
        place++;
    bool taken = c && !r->stop && place < RELAY_CLIENTS;
    if (taken) {
        relay_join(r, place);
        *c = (relay_client){.relay = r, .fd = fd, .place = place};
        r->client[place] = fd;
        r->clients++;
        taken = pthread_create(&r->serving[place], NULL, relay_serve, c) == 0;
        r->served[place] = taken;
        if (!taken)
            r->client[place] = 0, r->clients--;
    }
    pthread_mutex_unlock(&r->lock);
    if (!taken) {
        free(c);
        close(fd);
    }
}

static inline void *relay_run(void *context)
{
    test_relay *r = context;
    for (int fd; (fd = accept(r->listener, NULL, NULL)) >= 0;)
        relay_take_in(r, fd);
    return NULL;
}

/* Listens on r->port. The caller sets hook, context and upstream. */
static inline bool test_relay_start(test_relay *r)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->ended, NULL);
    memset(r->client, 0, sizeof r->client);
    memset(r->served, 0, sizeof r->served);
    r->clients = 0;
    r->stop = false;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    r->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(r->listener, (struct sockaddr *)&a, sizeof a) != 0 || listen(r->listener, 16) != 0 ||
        getsockname(r->listener, (struct sockaddr *)&a, &len) != 0)
        return false;
    r->port = ntohs(a.sin_port);
    return pthread_create(&r->thread, NULL, relay_run, r) == 0;
}

/* No thread is left after this, so that the caller may fork: a child would deadlock if another
 * thread held a lock of the allocator. */
static inline void test_relay_stop(test_relay *r)
{
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    shutdown(r->listener, SHUT_RDWR);
    for (unsigned i = 0; i < RELAY_CLIENTS; i++)
        if (r->client[i])
            shutdown(r->client[i], SHUT_RDWR);
    while (r->clients)
        pthread_cond_wait(&r->ended, &r->lock);
    pthread_mutex_unlock(&r->lock);
    pthread_join(r->thread, NULL);
    for (unsigned i = 0; i < RELAY_CLIENTS; i++)
        relay_join(r, i);
    close(r->listener);
}

#endif
