/* How long each command keeps a server's thread: the figure that says how long others wait for it.
 *
 * The spy stands between clients and a server. It hands on one command at a time, waits for the
 * answer and until the server's thread sleeps again, and reads what CPU time the thread has used by
 * then. Unlike a command's time in SLOWLOG that does not grow when the machine has other things to
 * do; a PING measured in the same way tells what the passing on of any command takes. */
#ifndef BENCH_REDIS_SPY_H
#define BENCH_REDIS_SPY_H

#include "tests/redis/proxy.h"

enum { SPY_KINDS = 64, SPY_NAME = 40, SPY_BYTES = 16 << 20 };

typedef struct spy_kind {
    char name[SPY_NAME]; /* of the command; a script is told by how it begins */
    unsigned long count;
    double sum, most; /* ms */
} spy_kind;

typedef struct spy {
    int listener, port, upstream;
    pid_t server;
    pthread_mutex_t lock; /* one command at a time; around what follows */
    spy_kind kind[SPY_KINDS];
    unsigned kinds;
} spy;

typedef struct spy_client {
    spy *spy;
    int fd;
} spy_client;

/* CPU time of the server's main thread in ms. The kernel books it when the thread goes to sleep. */
static inline double spy_cpu(pid_t server)
{
    char path[64], state = 0;
    unsigned long long ns = 0;
    for (int i = 0; i < 2000 && state != 'S'; i++) {
        snprintf(path, sizeof path, "/proc/%d/task/%d/stat", server, server);
        FILE *f = fopen(path, "r");
        if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
            state = 0;
        if (f)
            fclose(f);
        if (state != 'S')
            usleep(50);
    }
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", server, server);
    FILE *f = fopen(path, "r");
    if (!f || fscanf(f, "%llu", &ns) != 1)
        ns = 0;
    if (f)
        fclose(f);
    return (double)ns * 1e-6;
}

static inline void spy_note(spy *s, const char *name, double ms)
{
    unsigned i = 0;
    while (i < s->kinds && strcmp(s->kind[i].name, name) != 0)
        i++;
    if (i == SPY_KINDS)
        return;
    if (i == s->kinds)
        snprintf(s->kind[s->kinds++].name, SPY_NAME, "%s", name);
    s->kind[i].count++;
    s->kind[i].sum += ms;
    if (ms > s->kind[i].most)
        s->kind[i].most = ms;
}

/* The first command in a buffer: its length (0: not all is there yet), and what to call it. */
static inline size_t spy_command(const char *text, size_t len, char name[SPY_NAME])
{
    const char *at = text, *end = text + len;
    const char *line = memchr(at, '\n', len);
    long args = line ? strtol(at + 1, NULL, 10) : 0;
    if (!line)
        return 0;
    at = line + 1;
    for (long i = 0; i < args; i++) {
        line = memchr(at, '\n', (size_t)(end - at));
        if (!line)
            return 0;
        long size = strtol(at + 1, NULL, 10);
        at = line + 1;
        if (end - at < size + 2)
            return 0;
        if (i == 0)
            snprintf(name, SPY_NAME, "%.*s", (int)size, at);
        else if (i == 1 && strcmp(name, "EVAL") == 0)
            snprintf(name, SPY_NAME, "EVAL %.*s", (int)(size < 30 ? size : 30), at);
        at += size + 2;
    }
    return (size_t)(at - text);
}

/* Hands the answer to one command back; its length does not matter to the measurement. */
static inline bool spy_answer(int server, int client)
{
    static char buffer[1 << 20];
    redisReader *reader = redisReaderCreate();
    void *reply = NULL;
    bool good = true;
    while (good && !reply) {
        ssize_t n = recv(server, buffer, sizeof buffer, 0);
        good = n > 0 && test_send_all(client, buffer, (size_t)n) &&
               redisReaderFeed(reader, buffer, (size_t)n) == REDIS_OK &&
               redisReaderGetReply(reader, &reply) == REDIS_OK;
    }
    if (reply)
        freeReplyObject(reply);
    redisReaderFree(reader);
    return good;
}

static inline void *spy_serve(void *context)
{
    spy_client *c = context;
    char *buffer = malloc(SPY_BYTES), name[SPY_NAME];
    int server = test_connect(c->spy->upstream);
    size_t used = 0, len;
    while (buffer && server >= 0 && used < SPY_BYTES) {
        ssize_t n = recv(c->fd, buffer + used, SPY_BYTES - used, 0);
        if (n <= 0)
            break;
        used += (size_t)n;
        while ((len = spy_command(buffer, used, name))) {
            pthread_mutex_lock(&c->spy->lock);
            double before = spy_cpu(c->spy->server);
            bool good = test_send_all(server, buffer, len) && spy_answer(server, c->fd);
            spy_note(c->spy, name, spy_cpu(c->spy->server) - before);
            pthread_mutex_unlock(&c->spy->lock);
            if (!good)
                goto out;
            memmove(buffer, buffer + len, used -= len);
        }
    }
out:
    close(c->fd);
    if (server >= 0)
        close(server);
    free(buffer);
    free(c);
    return NULL;
}

static inline void *spy_run(void *context)
{
    spy *s = context;
    for (int fd; (fd = accept(s->listener, NULL, NULL)) >= 0;) {
        spy_client *c = malloc(sizeof *c);
        pthread_t thread;
        *c = (spy_client){.spy = s, .fd = fd};
        if (pthread_create(&thread, NULL, spy_serve, c) == 0)
            pthread_detach(thread);
    }
    return NULL;
}

/* Listens on s->port, and serves until the process ends. */
static inline bool spy_start(spy *s, const test_server *server)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;
    pthread_t thread;
    *s = (spy){.upstream = server->port, .server = server->pid};
    pthread_mutex_init(&s->lock, NULL);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(s->listener, (struct sockaddr *)&a, sizeof a) != 0 || listen(s->listener, 16) != 0 ||
        getsockname(s->listener, (struct sockaddr *)&a, &len) != 0)
        return false;
    s->port = ntohs(a.sin_port);
    return pthread_create(&thread, NULL, spy_run, s) == 0;
}

#endif
