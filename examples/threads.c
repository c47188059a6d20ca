/* Many threads on one set: no additional lock is needed, and each key is new to exactly one of
 * them. */
#include <pthread.h>
#include <seen.h>
#include <stdio.h>

enum { THREADS = 4, KEYS = 100000, BATCH = 1000 };

static seen_set *set;

static void *work(void *arg)
{
    size_t *new_keys = arg;
    static _Thread_local uint64_t numbers[BATCH];
    static _Thread_local seen_key keys[BATCH];
    static _Thread_local seen_answer answers[BATCH];
    for (uint64_t from = 0; from < KEYS; from += BATCH) {
        for (size_t i = 0; i < BATCH; i++) {
            numbers[i] = from + i; /* the same keys in every thread */
            keys[i] = (seen_key){&numbers[i], sizeof numbers[i]};
        }
        if (seen_add_many(set, keys, BATCH, answers, NULL) != SEEN_OK)
            return NULL;
        for (size_t i = 0; i < BATCH; i++)
            *new_keys += answers[i] == SEEN_NEW;
    }
    return NULL;
}

int main(void)
{
    seen_options options = {.size = sizeof options, .capacity = KEYS, .error_rate = 1e-9};
    pthread_t thread[THREADS];
    size_t new_keys[THREADS] = {0}, total = 0;
    if (seen_create(NULL, &options, 0, &set, NULL) != SEEN_OK)
        return 1;
    for (int t = 0; t < THREADS; t++)
        pthread_create(&thread[t], NULL, work, &new_keys[t]);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
        total += new_keys[t];
    }
    seen_close(set);
    printf("%d threads added the same %d keys; they were told \"new\" %zu times in all\n", THREADS,
           KEYS, total);
    return total != KEYS;
}
