/* More calls at once than there are connections, and a sync among them. */
#include "redis/client/channel.h"
#include "seen.h"
#include "tests/redis/rig.h"

#include <pthread.h>

enum { THREADS = 2 * SN_CHANNELS_MAX, ROUNDS = 20 };

static seen_set *set;
static unsigned told_new, failures;

static void *work(void *context)
{
    int number = *(int *)context;
    seen_error error = {0};
    for (int i = 0; i < ROUNDS; i++) {
        seen_answer answer = SEEN_UNKNOWN;
        /* Each key is added by two threads. */
        int key = number / 2 * ROUNDS + i;
        bool good = seen_add(set, &key, sizeof key, &answer, &error) == SEEN_OK;
        if (good && number % 8 == 0)
            good = seen_sync(set, &error) == SEEN_OK;
        __atomic_fetch_add(&failures, !good, __ATOMIC_SEQ_CST);
        __atomic_fetch_add(&told_new, answer == SEEN_NEW, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

static void test_many(void **state)
{
    (void)state;
    pthread_t thread[THREADS];
    int number[THREADS];
    char where[128];
    seen_error error = {0};
    seen_options o = {
        .size = sizeof o, .capacity = 100000, .error_rate = 1e-9, .command_ms = 60000};
    snprintf(where, sizeof where, "%s/pool", server.url);
    assert_int_equal(seen_create(where, &o, 0, &set, &error), SEEN_OK);
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        assert_int_equal(pthread_create(&thread[i], NULL, work, &number[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(failures, 0);
    assert_int_equal(told_new, THREADS / 2 * ROUNDS);
    seen_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_many)};
    return RIG_RUN(tests);
}
