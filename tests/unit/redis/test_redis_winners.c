/* Several clients add the same new keys concurrently: each key is reported as new exactly once,
 * also while layers are opened and generations rotate. */
#include "tests/redis/rig.h"
#include "tests/redis/winners.h"

#include <pthread.h>

enum { CLIENTS = 4 };

static void assert_one_winner(const winners *w)
{
    unsigned once, never, more;
    if (w->failures)
        fail_msg("%s", w->message);
    winners_count(w, &once, &never, &more);
    if (once != WINNERS_KEYS)
        fail_msg("%u keys once, %u never, %u more often", once, never, more);
}

static void race(const char *name, seen_options o, size_t batch)
{
    char where[128];
    snprintf(where, sizeof where, "%s/%s", server.url, name);
    winners_make(where, o);
    winners *w = winners_map();
    pid_t pid[CLIENTS];
    winners_fork(w, where, CLIENTS, batch, 0, pid);
    __atomic_store_n(&w->go, 1, __ATOMIC_SEQ_CST);
    winners_wait(CLIENTS, pid);
    assert_one_winner(w);
    munmap(w, sizeof *w);
}

static void test_fixed(void **state)
{
    (void)state;
    race("fixed", (seen_options){.capacity = 400000, .error_rate = 1e-5}, 1000);
    race("odd", (seen_options){.capacity = 400000, .error_rate = 1e-5}, 257);
}

static void test_counting(void **state)
{
    (void)state;
    race("counting", (seen_options){.kind = SEEN_COUNTING, .capacity = 400000, .error_rate = 1e-7},
         1000);
}

static void test_growing(void **state)
{
    (void)state;
    race("growing", (seen_options){.growth = SEEN_GROWING, .capacity = 10000, .error_rate = 1e-7},
         500);
}

static void test_window(void **state)
{
    (void)state;
    race("window",
         (seen_options){
             .growth = SEEN_WINDOW, .capacity = 400000, .generations = 16, .error_rate = 1e-7},
         500);
}

/* Threads that share one handle. */
static seen_set *shared;
static winners *threads_winners;

static void *run_thread(void *number)
{
    winners_add(threads_winners, shared, (unsigned)(uintptr_t)number, CLIENTS, 700, 0);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    char where[128];
    snprintf(where, sizeof where, "%s/threads", server.url);
    winners_make(where,
                 (seen_options){.growth = SEEN_GROWING, .capacity = 10000, .error_rate = 1e-7});
    assert_int_equal(seen_open(where, NULL, 0, &shared, NULL), SEEN_OK);
    threads_winners = winners_map();
    pthread_t thread[CLIENTS];
    for (uintptr_t i = 0; i < CLIENTS; i++)
        pthread_create(&thread[i], NULL, run_thread, (void *)i);
    seen_error error = {0};
    for (int i = 0; i < 20; i++) {
        if (seen_sync(shared, &error) != SEEN_OK)
            fail_msg("%s", error.message);
        test_sleep_ms(5);
    }
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(thread[i], NULL);
    assert_one_winner(threads_winners);
    seen_close(shared);
    munmap(threads_winners, sizeof *threads_winners);
}

/* A small window, and clients whose batches are larger than its generations: all complete, and it
 * never rotates before a generation is full, or it would drop recent keys. */
enum { ROTATE_KEYS = 4000, ROTATE_WINDOW = 2400, ROTATE_GENERATIONS = 8 };
static char rotate_where[128];
static bool rotate_apart; /* each thread has its own handle */

static void *run_turning(void *number)
{
    static seen_hash hashes[CLIENTS][ROTATE_KEYS];
    static seen_answer answers[CLIENTS][ROTATE_KEYS];
    uintptr_t me = (uintptr_t)number;
    seen_error error = {0};
    seen_set *set = shared;
    for (unsigned long i = 0; i < ROTATE_KEYS; i++)
        hashes[me][i] = winners_hash(me * ROTATE_KEYS + i);
    seen_status status = rotate_apart ? seen_open(rotate_where, NULL, 0, &set, &error) : SEEN_OK;
    if (status == SEEN_OK)
        status = seen_add_hashes(set, hashes[me], ROTATE_KEYS, answers[me], &error);
    if (status != SEEN_OK)
        memcpy(threads_winners->message, error.message, sizeof error.message);
    if (rotate_apart && set)
        seen_close(set);
    return (void *)(uintptr_t)(status != SEEN_OK);
}

static void test_small_window(void **state)
{
    (void)state;
    threads_winners = winners_map();
    for (int apart = 0; apart < 2; apart++) {
        snprintf(rotate_where, sizeof rotate_where, "%s/small%d", server.url, apart);
        rotate_apart = apart;
        winners_make(rotate_where, (seen_options){.growth = SEEN_WINDOW,
                                                  .capacity = ROTATE_WINDOW,
                                                  .generations = ROTATE_GENERATIONS,
                                                  .error_rate = 1e-7});
        assert_int_equal(seen_open(rotate_where, NULL, 0, &shared, NULL), SEEN_OK);
        pthread_t thread[CLIENTS];
        uintptr_t failed = 0;
        for (uintptr_t i = 0; i < CLIENTS; i++)
            pthread_create(&thread[i], NULL, run_turning, (void *)i);
        for (int i = 0; i < CLIENTS; i++) {
            void *bad;
            pthread_join(thread[i], &bad);
            failed += (uintptr_t)bad;
        }
        if (failed)
            fail_msg("%s", threads_winners->message);
        redisReply *r = test_ask(&server, "HGET seen:small%d sequence", apart);
        long turns = strtol(r->str, NULL, 10) - 1;
        long most = CLIENTS * ROTATE_KEYS / (ROTATE_WINDOW / (ROTATE_GENERATIONS - 1));
        if (turns > most)
            fail_msg("turned %ld times, %ld would do", turns, most);
        freeReplyObject(r);
        seen_close(shared);
    }
    munmap(threads_winners, sizeof *threads_winners);
}

/* Many clients create the same name concurrently: all get the same filter. */
static void test_creators(void **state)
{
    (void)state;
    char where[128];
    snprintf(where, sizeof where, "%s/creators", server.url);
    winners *w = winners_map();
    for (int round = 0; round < 5; round++) {
        pid_t pid[8];
        w->reported[round] = 0;
        w->go = 0;
        for (int c = 0; c < 8; c++) {
            fflush(NULL);
            pid[c] = fork();
            if (pid[c])
                continue;
            seen_options o = {.size = sizeof o, .capacity = 30000, .error_rate = 1e-7};
            seen_set *set;
            seen_error error;
            seen_answer answer = SEEN_UNKNOWN;
            while (!__atomic_load_n(&w->go, __ATOMIC_SEQ_CST))
                test_sleep_ms(1);
            if (seen_create(where, &o, SEEN_IF_ABSENT, &set, &error) != SEEN_OK ||
                seen_add(set, "the key", 7, &answer, &error) != SEEN_OK) {
                memcpy(w->message, error.message, sizeof w->message);
                __atomic_fetch_add(&w->failures, 1, __ATOMIC_SEQ_CST);
                _exit(1);
            }
            if (answer == SEEN_NEW)
                __atomic_fetch_add(&w->reported[round], 1, __ATOMIC_SEQ_CST);
            seen_close(set);
            _exit(0);
        }
        __atomic_store_n(&w->go, 1, __ATOMIC_SEQ_CST);
        winners_wait(8, pid);
        if (w->failures)
            fail_msg("%s", w->message);
        assert_int_equal(w->reported[round], 1);
        /* The losers left nothing behind: only the hash, the counters and one shard exist. */
        redisReply *keys = test_ask(&server, "KEYS seen:*creators*");
        assert_int_equal(keys->elements, 3);
        freeReplyObject(keys);
        assert_int_equal(seen_drop(where, NULL, NULL), SEEN_OK);
    }
    munmap(w, sizeof *w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed),    cmocka_unit_test(test_counting),
        cmocka_unit_test(test_growing),  cmocka_unit_test(test_window),
        cmocka_unit_test(test_threads),  cmocka_unit_test(test_small_window),
        cmocka_unit_test(test_creators),
    };
    return RIG_RUN(tests);
}
