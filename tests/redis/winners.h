/* Many clients add the same new keys concurrently; counts how often each key was reported as
 * new. */
#ifndef TEST_REDIS_WINNERS_H
#define TEST_REDIS_WINNERS_H

#include "seen.h"
#include "tests/redis/server.h"
#include "tests/sanitized.h"

#include <setjmp.h>
#include <stddef.h>
#include <sys/mman.h>

#include <cmocka.h>

/* A sanitizer makes it ten times slower; the races are the same. */
enum { WINNERS_KEYS = SANITIZED ? 20000 : 100000 };

typedef struct winners {
    unsigned char reported[WINNERS_KEYS]; /* how often each was reported as new, over all clients */
    unsigned failures;
    unsigned go; /* start signal for the clients */
    unsigned long done;
    char message[500];
} winners;

static inline seen_hash winners_hash(unsigned long number)
{
    seen_hasher hasher = {.kind = SEEN_XXH3, .seed = {3, 4}};
    return seen_hash_key(&hasher, &number, sizeof number);
}

static inline void winners_make(const char *where, seen_options o)
{
    seen_set *set;
    seen_error error = {0};
    o.size = sizeof o;
    o.seed_given = true;
    o.seed[0] = 3;
    o.seed[1] = 4;
    if (seen_create(where, &o, 0, &set, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    seen_close(set);
}

static inline winners *winners_map(void)
{
    return mmap(NULL, sizeof(winners), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* One client: all keys, in batches, each client from a different start. */
static inline void winners_add(winners *w, seen_set *set, unsigned client, unsigned clients,
                               size_t batch, unsigned pause_ms)
{
    unsigned long from = client * (WINNERS_KEYS / clients / 3);
    seen_hash hashes[4096];
    seen_answer answers[4096];
    seen_error error = {0};
    for (unsigned long at = 0; at < WINNERS_KEYS; at += batch) {
        size_t n = WINNERS_KEYS - at < batch ? WINNERS_KEYS - at : batch;
        for (size_t i = 0; i < n; i++)
            hashes[i] = winners_hash((from + at + i) % WINNERS_KEYS);
        if (seen_add_hashes(set, hashes, n, answers, &error) != SEEN_OK) {
            if (__atomic_fetch_add(&w->failures, 1, __ATOMIC_SEQ_CST) == 0)
                memcpy(w->message, error.message, sizeof w->message);
            return;
        }
        for (size_t i = 0; i < n; i++)
            if (answers[i] == SEEN_NEW)
                __atomic_fetch_add(&w->reported[(from + at + i) % WINNERS_KEYS], 1,
                                   __ATOMIC_SEQ_CST);
        __atomic_fetch_add(&w->done, n, __ATOMIC_SEQ_CST);
        if (pause_ms)
            test_sleep_ms(pause_ms);
    }
}

/* Starts `clients` processes that open `where` and add; they wait for w->go. */
static inline void winners_fork(winners *w, const char *where, unsigned clients, size_t batch,
                                unsigned pause_ms, pid_t *pid)
{
    for (unsigned c = 0; c < clients; c++) {
        fflush(NULL);
        pid[c] = fork();
        if (pid[c] != 0)
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        seen_set *set;
        seen_error error;
        seen_options options = {.size = sizeof options, .retry_ms = 30000};
        if (seen_open(where, &options, 0, &set, &error) != SEEN_OK) {
            memcpy(w->message, error.message, sizeof w->message);
            __atomic_fetch_add(&w->failures, 1, __ATOMIC_SEQ_CST);
            _exit(1);
        }
        while (!__atomic_load_n(&w->go, __ATOMIC_SEQ_CST))
            test_sleep_ms(1);
        winners_add(w, set, c, clients, batch, pause_ms);
        seen_close(set);
        _exit(0);
    }
}

static inline void winners_wait(unsigned clients, pid_t *pid)
{
    for (unsigned c = 0; c < clients; c++)
        waitpid(pid[c], NULL, 0);
}

/* Counts keys reported as new once, never, and more often. */
static inline void winners_count(const winners *w, unsigned *once, unsigned *never, unsigned *more)
{
    *once = *never = *more = 0;
    for (int i = 0; i < WINNERS_KEYS; i++) {
        *once += w->reported[i] == 1;
        *never += w->reported[i] == 0;
        *more += w->reported[i] > 1;
    }
}

#endif
