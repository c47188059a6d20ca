/* A proxy that answers certain commands itself, or closes the connection when it sees them. */
#ifndef TEST_REDIS_MEDDLE_H
#define TEST_REDIS_MEDDLE_H

#include "tests/redis/relay.h"

enum { MEDDLE_RULES = 8 };

typedef struct meddle_rule {
    const char *match;  /* bytes of the command; NULL: any */
    unsigned skip;      /* number of matching commands to forward first */
    unsigned times;     /* number of commands to intercept after that; 0: all */
    const char *reply;  /* what the client gets; NULL: the connection is closed */
    bool done;          /* the server executes it nevertheless */
    const char *before; /* a command that the server gets first */
    bool pass;          /* then the command is forwarded normally */
    unsigned hits;
} meddle_rule;

typedef struct test_meddle {
    test_relay relay;
    pthread_mutex_t lock; /* protects the rules */
    meddle_rule rule[MEDDLE_RULES];
} test_meddle;

/* The first rule that applies to a command. */
static inline meddle_rule *meddle_find(test_meddle *m, const char *command, size_t len)
{
    for (unsigned i = 0; i < MEDDLE_RULES; i++) {
        meddle_rule *r = &m->rule[i];
        bool used = r->match || r->reply || r->times;
        if (!used || (r->match && !memmem(command, len, r->match, strlen(r->match))))
            continue;
        if (r->skip) {
            r->skip--;
            continue;
        }
        if (r->times && r->hits >= r->times)
            continue;
        r->hits++;
        return r;
    }
    return NULL;
}

static inline bool meddle_hook(void *context, const char *command, size_t len, int client,
                               int server)
{
    test_meddle *m = context;
    pthread_mutex_lock(&m->lock);
    meddle_rule *found = meddle_find(m, command, len), r = {0};
    if (found)
        r = *found;
    pthread_mutex_unlock(&m->lock);
    if (r.before &&
        (!test_send_all(server, r.before, strlen(r.before)) || !relay_answer(server, -1)))
        return false;
    if (r.pass)
        found = NULL;
    if (server >= 0 && (!found || r.done) &&
        (!test_send_all(server, command, len) || !relay_answer(server, found ? -1 : client)))
        return false;
    if (!found)
        return server >= 0;
    return r.reply && test_send_all(client, r.reply, strlen(r.reply));
}

static inline bool test_meddle_start(test_meddle *m, int upstream)
{
    *m = (test_meddle){.relay = {.hook = meddle_hook, .context = m, .upstream = upstream}};
    /* May be set from another process, in shared memory. */
    pthread_mutexattr_t shared;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&m->lock, &shared);
    pthread_mutexattr_destroy(&shared);
    return test_relay_start(&m->relay);
}

static inline void meddle_set(test_meddle *m, unsigned i, meddle_rule rule)
{
    pthread_mutex_lock(&m->lock);
    m->rule[i] = rule;
    pthread_mutex_unlock(&m->lock);
}

static inline unsigned meddle_hits(test_meddle *m, unsigned i)
{
    pthread_mutex_lock(&m->lock);
    unsigned hits = m->rule[i].hits;
    pthread_mutex_unlock(&m->lock);
    return hits;
}

static inline void test_meddle_stop(test_meddle *m)
{
    test_relay_stop(&m->relay);
}

#endif
