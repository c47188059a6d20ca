/* How long each command keeps a server's thread: the figure that says how long others wait for it.
 *
 * The spy stands between clients and a server. It hands on one command at a time, waits for the
 * answer and until the server's thread sleeps again, and reads what CPU time the thread has used by
 * then. Unlike a command's time in SLOWLOG that does not grow when the machine has other things to
 * do; a PING measured in the same way tells what the passing on of any command takes. */
#ifndef BENCH_REDIS_SPY_H
#define BENCH_REDIS_SPY_H

#include "tests/redis/relay.h"

enum { SPY_KINDS = 64, SPY_NAME = 40 };

typedef struct spy_kind {
    char name[SPY_NAME]; /* of the command; a script is told by how it begins */
    unsigned long count;
    double sum, most; /* ms */
} spy_kind;

typedef struct spy {
    test_relay relay;
    pid_t server;
    pthread_mutex_t lock; /* one command at a time; around what follows */
    spy_kind kind[SPY_KINDS];
    unsigned kinds;
} spy;

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

static inline bool spy_watch(void *context, const char *command, size_t len, int client, int server)
{
    spy *s = context;
    char name[SPY_NAME];
    const char *word, *script;
    size_t n, script_len;
    relay_command(command, len, 0, &word, &n);
    relay_command(command, len, 1, &script, &script_len);
    snprintf(name, sizeof name, "%.*s", (int)n, word);
    if (strcmp(name, "EVAL") == 0)
        snprintf(name, sizeof name, "EVAL %.30s", script);
    pthread_mutex_lock(&s->lock);
    double before = spy_cpu(s->server);
    bool good = test_send_all(server, command, len) && relay_answer(server, client);
    spy_note(s, name, spy_cpu(s->server) - before);
    pthread_mutex_unlock(&s->lock);
    return good;
}

static inline bool spy_start(spy *s, const test_server *server)
{
    *s = (spy){.server = server->pid,
               .relay = {.hook = spy_watch, .context = s, .upstream = server->port}};
    pthread_mutex_init(&s->lock, NULL);
    return test_relay_start(&s->relay);
}

#endif
