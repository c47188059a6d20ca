/* A proxy that forwards bytes and breaks connections after a while; or a server that answers
 * everything with the same bytes. */
#ifndef TEST_REDIS_PROXY_H
#define TEST_REDIS_PROXY_H

#include "tests/redis/server.h"

#include <poll.h>
#include <pthread.h>

typedef struct test_proxy {
    int listener, port;
    int upstream;      /* port of the server; 0: answers `reply` to every read */
    const char *reply; /* NULL: silence */
    size_t reply_len;
    bool cluster;       /* except to CLUSTER SLOTS: it claims to have all slots */
    unsigned cut_after; /* approximate bytes after which a connection breaks; 0: never */
    unsigned seed;
    volatile bool stop;
    unsigned cuts;
    pthread_t thread;
} test_proxy;

static inline int test_connect(int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&a, sizeof a) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static inline bool test_send_all(int fd, const char *p, size_t len)
{
    while (len) {
        ssize_t n = send(fd, p, len, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

/* One connection until it ends or is cut. */
static inline void test_proxy_serve(test_proxy *p, int client)
{
    static char buffer[65536];
    int server = p->upstream ? test_connect(p->upstream) : -1;
    long budget = p->cut_after ? (long)((unsigned)rand_r(&p->seed) % (2 * p->cut_after)) : -1;
    struct pollfd fd[2] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
    while (!p->stop) {
        if (poll(fd, 2, 50) <= 0)
            continue;
        for (int i = 0; i < 2; i++) {
            if (!fd[i].revents)
                continue;
            ssize_t n = recv(fd[i].fd, buffer, sizeof buffer, 0);
            if (n <= 0)
                goto out;
            if (p->cluster && memmem(buffer, (size_t)n, "SLOTS", 5)) {
                char all[128];
                snprintf(all, sizeof all,
                         "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:%d\r\n", p->port);
                if (!test_send_all(client, all, strlen(all)))
                    goto out;
                continue;
            }
            if (!p->upstream) {
                if (p->reply && !test_send_all(client, p->reply, p->reply_len))
                    goto out;
                continue;
            }
            if (budget >= 0 && n >= budget) {
                /* Bytes that fit are still forwarded: the server executes commands whose replies
                 * never arrive. */
                test_send_all(fd[!i].fd, buffer, (size_t)budget);
                p->cuts++;
                goto out;
            }
            budget -= budget >= 0 ? n : 0;
            if (!test_send_all(fd[!i].fd, buffer, (size_t)n))
                goto out;
        }
    }
out:
    close(client);
    if (server >= 0)
        close(server);
}

static inline void *test_proxy_run(void *context)
{
    test_proxy *p = context;
    while (!p->stop) {
        struct pollfd fd = {.fd = p->listener, .events = POLLIN};
        if (poll(&fd, 1, 50) > 0)
            test_proxy_serve(p, accept(p->listener, NULL, NULL));
    }
    return NULL;
}

static inline bool test_proxy_start(test_proxy *p)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    p->stop = false;
    p->cuts = 0;
    if (bind(p->listener, (struct sockaddr *)&a, sizeof a) != 0 || listen(p->listener, 16) != 0 ||
        getsockname(p->listener, (struct sockaddr *)&a, &len) != 0)
        return false;
    p->port = ntohs(a.sin_port);
    return pthread_create(&p->thread, NULL, test_proxy_run, p) == 0;
}

static inline void test_proxy_stop(test_proxy *p)
{
    p->stop = true;
    pthread_join(p->thread, NULL);
    close(p->listener);
}

#endif
