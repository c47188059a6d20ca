/* Redis servers for tests: on free ports of the loopback, in a temporary folder, terminated with
 * the test in any case. */
#ifndef TEST_REDIS_SERVER_H
#define TEST_REDIS_SERVER_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct test_server {
    pid_t pid;
    int port;
    char folder[64];
    char url[64]; /* redis://127.0.0.1:PORT */
} test_server;

static inline void test_sleep_ms(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static inline bool test_port_free(int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    bool free = bind(fd, (struct sockaddr *)&a, sizeof a) == 0;
    close(fd);
    return free;
}

/* A port whose cluster bus port (10000 higher) is free too. */
static inline int test_find_port(void)
{
    static unsigned seed;
    if (!seed)
        seed = (unsigned)getpid() * 2654435761u + (unsigned)time(NULL);
    for (int i = 0; i < 1000; i++) {
        int port = 10000 + (int)(rand_r(&seed) % 12000); /* below those of connections */
        if (test_port_free(port) && test_port_free(port + 10000))
            return port;
    }
    return -1;
}

static inline bool test_server_answers(int port)
{
    struct timeval limit = {.tv_sec = 1};
    redisContext *c = redisConnectWithTimeout("127.0.0.1", port, limit);
    bool answers = false;
    if (c && !c->err) {
        redisReply *r = redisCommand(c, "PING");
        answers = r && r->type == REDIS_REPLY_STATUS;
        if (!answers && r && r->type == REDIS_REPLY_ERROR)
            answers = strncmp(r->str, "NOAUTH", 6) == 0;
        freeReplyObject(r);
    }
    if (c)
        redisFree(c);
    return answers;
}

/* Starts it on s->port in s->folder; further arguments, terminated by NULL, go to redis-server. */
static inline bool test_server_launch(test_server *s, const char *const extra[])
{
    char port[16];
    snprintf(port, sizeof port, "%d", s->port);
    const char *args[100] = {"redis-server",
                             "--port",
                             port,
                             "--bind",
                             "127.0.0.1",
                             "--save",
                             "",
                             "--dir",
                             s->folder,
                             "--logfile",
                             "log",
                             "--unixsocket",
                             "socket",
                             "--enable-debug-command",
                             "yes"};
    int n = 15;
    for (int i = 0; extra && extra[i] && n < 99; i++)
        args[n++] = extra[i];
    pid_t parent = getpid();
    s->pid = fork();
    if (s->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        int null = open("/dev/null", O_RDWR);
        dup2(null, 0);
        dup2(null, 1);
        execvp(args[0], (char *const *)(uintptr_t)args);
        _exit(127);
    }
    for (int i = 0; s->pid > 0 && i < 3000; i++) {
        int status;
        if (waitpid(s->pid, &status, WNOHANG) == s->pid)
            return false;
        if (test_server_answers(s->port))
            return true;
        test_sleep_ms(20);
    }
    return false;
}

static inline bool test_server_start(test_server *s, const char *const extra[])
{
    for (int i = 0; i < 5; i++) {
        strcpy(s->folder, "/tmp/seen-redis.XXXXXX");
        if (!mkdtemp(s->folder))
            return false;
        s->port = test_find_port();
        snprintf(s->url, sizeof s->url, "redis://127.0.0.1:%d", s->port);
        if (test_server_launch(s, extra))
            return true;
    }
    return false;
}

static inline void test_server_kill(test_server *s)
{
    if (s->pid > 0) {
        kill(s->pid, SIGKILL);
        waitpid(s->pid, NULL, 0);
    }
    s->pid = 0;
}

static inline void test_server_stop(test_server *s)
{
    char command[128];
    test_server_kill(s);
    if (strncmp(s->folder, "/tmp/seen-redis.", 16) != 0)
        return;
    snprintf(command, sizeof command, "rm -rf '%s'", s->folder);
    if (system(command) != 0)
        fprintf(stderr, "%s stays behind\n", s->folder);
}

static inline bool test_have_redis(void)
{
    return system("redis-server --version > /dev/null 2>&1") == 0;
}

/* Sends one command; the caller frees the reply. */
__attribute__((format(printf, 2, 3))) static inline redisReply *test_ask(const test_server *s,
                                                                         const char *format, ...)
{
    struct timeval limit = {.tv_sec = 10};
    redisContext *c = redisConnectWithTimeout("127.0.0.1", s->port, limit);
    if (!c || c->err)
        return NULL;
    va_list args;
    va_start(args, format);
    redisReply *r = redisvCommand(c, format, args);
    va_end(args);
    redisFree(c);
    return r;
}

__attribute__((format(printf, 2, 3))) static inline long long test_number(const test_server *s,
                                                                          const char *format, ...)
{
    struct timeval limit = {.tv_sec = 10};
    redisContext *c = redisConnectWithTimeout("127.0.0.1", s->port, limit);
    long long number = -1;
    if (c && !c->err) {
        va_list args;
        va_start(args, format);
        redisReply *r = redisvCommand(c, format, args);
        va_end(args);
        if (r && r->type == REDIS_REPLY_INTEGER)
            number = r->integer;
        if (r)
            freeReplyObject(r);
    }
    if (c)
        redisFree(c);
    return number;
}

#endif
