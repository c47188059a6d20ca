/* Concurrent threads: each new key is reported as new exactly once, and nothing is lost. */
#include "local/local.h"
#include "test_trust.h"
#include "tests/sanitized.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { THREADS = 4, KEYS = SANITIZED ? 20000 : 60000, BATCH_MAX = 5000 };

typedef struct race {
    seen_set *set;
    atomic_uchar *new_keys; /* how often each key was reported as new */
    atomic_int failure;
    atomic_bool stop;
    atomic_uint turn;
    bool few; /* mostly small batches */
} race;

static void complain(race *r, const char *what, const seen_error *e)
{
    if (atomic_fetch_add(&r->failure, 1) == 0)
        fprintf(stderr, "%s: %s\n", what, e ? e->message : "");
}

/* Every thread adds every key, in batches of varying size, from a different start. */
static void *add_all(void *argument)
{
    race *r = argument;
    unsigned me = atomic_fetch_add(&r->turn, 1);
    rng random = {me};
    seen_hash h[BATCH_MAX];
    seen_answer answers[BATCH_MAX];
    uint64_t from = me % 2 ? KEYS / 4 : 0;
    for (uint64_t done = 0; done < KEYS;) {
        static const uint64_t MOST[] = {4, 700, 700, BATCH_MAX};
        size_t n = 1 + rng_below(&random, MOST[rng_below(&random, 4)]);
        if (r->few && rng_below(&random, 100) > 0)
            n = rng_below(&random, 3) ? 1 + rng_below(&random, SN_FEW + 8) : 1;
        n = n < KEYS - done ? n : (size_t)(KEYS - done);
        for (size_t i = 0; i < n; i++)
            h[i] = hash_of((from + done + i) % KEYS);
        seen_error e = {0};
        if (seen_add_hashes(r->set, h, n, answers, &e) != SEEN_OK) {
            complain(r, "add", &e);
            return NULL;
        }
        for (size_t i = 0; i < n; i++) {
            if (answers[i] == SEEN_NEW)
                atomic_fetch_add(&r->new_keys[(from + done + i) % KEYS], 1);
            else if (answers[i] != SEEN_BEFORE)
                complain(r, "an answer is missing", NULL);
        }
        /* Keys added by this thread are present, whatever the others do. */
        if (seen_check_hashes(r->set, h, n, answers, &e) != SEEN_OK)
            complain(r, "check", &e);
        for (size_t i = 0; i < n; i++)
            if (answers[i] != SEEN_BEFORE)
                complain(r, "a key disappeared", NULL);
        done += n;
    }
    return NULL;
}

/* Concurrently: checks of absent keys, info, sync. */
static void *look_around(void *argument)
{
    race *r = argument;
    seen_hash h[64];
    seen_answer answers[64];
    seen_error e = {0};
    for (uint64_t i = 0; !atomic_load(&r->stop); i++) {
        hashes_from((UINT64_C(1) << 40) + i, 64, h);
        if (seen_check_hashes(r->set, h, 64, answers, &e) != SEEN_OK)
            complain(r, "check", &e);
        seen_info info = {.size = sizeof info};
        if (i % 64 == 0 && seen_get_info(r->set, &info, &e) != SEEN_OK)
            complain(r, "info", &e);
        if (i % 256 == 0 && seen_sync(r->set, &e) != SEEN_OK)
            complain(r, "sync", &e);
    }
    return NULL;
}

static void run(race *r, void *(*work)(void *))
{
    pthread_t thread[THREADS], watcher;
    assert_int_equal(pthread_create(&watcher, NULL, look_around, r), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, work, r), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    atomic_store(&r->stop, true);
    pthread_join(watcher, NULL);
    assert_int_equal(atomic_load(&r->failure), 0);
}

/* The counter of a fixed set, without the room that threads reserved for later. */
static uint64_t count_of(seen_set *set)
{
    sn_image image;
    OK(set->ops->image(set, &image, error));
    return image.layer[0].added;
}

static void use_stripes(seen_set *set, unsigned stripes)
{
    sn_local *l = (sn_local *)set;
    sn_local_divide(l, &atomic_load(&l->view)->image, stripes);
}

enum { SHARDED = 700000 }; /* keys of a set that can be divided into any number of stripes */

/* With this many stripes; 0: the default of this machine. */
static void race_striped(seen_kind kind, seen_growth growth, const char *where, unsigned flags,
                         unsigned stripes)
{
    uint64_t capacity = stripes ? SHARDED : growth == SEEN_GROWING ? 1000 : 8 * KEYS;
    seen_options options = plain_options(kind, growth, capacity, 1e-7);
    race r = {.new_keys = calloc(KEYS, sizeof *r.new_keys)};
    OK(seen_create(where, &options, flags, &r.set, error));
    if (stripes) {
        seen_info info = {.size = sizeof info};
        OK(seen_get_shape(r.set, &info, error));
        assert_int_equal(info.shards % SN_STRIPES, 0);
        use_stripes(r.set, stripes);
        assert_int_equal(((sn_local *)r.set)->stripes, stripes);
    }
    run(&r, add_all);
    uint64_t never = 0;
    for (uint64_t i = 0; i < KEYS; i++) {
        if (r.new_keys[i] > 1)
            fail_msg("key %llu was reported as new %u times", (unsigned long long)i, r.new_keys[i]);
        never += r.new_keys[i] == 0; /* a false positive: very rare at this rate */
        assert_true(is_there(r.set, hash_of(i)));
    }
    assert_true(never <= 2);
    if (kind == SEEN_COUNTING) { /* every addition was counted: the same number of removals removes
                                  * it */
        uint64_t left = 0;
        for (uint64_t i = 0; i < KEYS; i++) {
            seen_hash h = hash_of(i);
            seen_answer answer;
            for (int n = 0; n < THREADS; n++) {
                OK(seen_remove_hashes(r.set, &h, 1, &answer, error));
                if (answer != SEEN_BEFORE)
                    fail_msg("key %llu: addition %d was lost", (unsigned long long)i, n);
            }
            left += is_there(r.set, h);
        }
        assert_true(left <= KEYS / 100);
    }
    seen_close(r.set);
    if (where)
        unlink(where);
    free(r.new_keys);
}

static void race_on(seen_kind kind, seen_growth growth, const char *where, unsigned flags)
{
    race_striped(kind, growth, where, flags, 0);
}

static void test_bloom_heap(void **state)
{
    (void)state;
    for (int growth = 0; growth < 3; growth++)
        race_on(SEEN_BLOOM, (seen_growth)growth, NULL, 0);
}

static void test_bloom_file(void **state)
{
    (void)state;
    for (int growth = 0; growth < 3; growth++)
        race_on(SEEN_BLOOM, (seen_growth)growth, at("f"), growth == 1 ? SEEN_ALONE : 0);
    race_on(SEEN_BLOOM, SEEN_GROWING, at("f"), 0);
}

static void test_counting(void **state)
{
    (void)state;
    race_on(SEEN_COUNTING, SEEN_FIXED, NULL, 0);
    race_on(SEEN_COUNTING, SEEN_GROWING, NULL, 0);
    race_on(SEEN_COUNTING, SEEN_GROWING, at("f"), 0);
}

/* Machines with a different number of processors have a different number of stripes. */
static void test_stripes(void **state)
{
    (void)state;
    for (unsigned stripes = SN_STRIPES_LEAST; stripes <= SN_STRIPES; stripes *= 2)
        race_striped(SEEN_BLOOM, SEEN_FIXED, NULL, 0, stripes);
}

/* Single keys and small batches, which use locks of their own, among large ones. Of every key one
 * thread is told that it is new, and the counter is exact; that of a file at any time, because a
 * killed process cannot correct it. */
static void test_few(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        const char *where = i == 2 ? at("f") : NULL;
        seen_options options = plain_options(SEEN_BLOOM, SEEN_FIXED, SHARDED, 1e-7);
        race r = {.new_keys = calloc(KEYS, sizeof *r.new_keys), .few = true};
        OK(seen_create(where, &options, where ? SEEN_ALONE : 0, &r.set, error));
        assert_true(((sn_local *)r.set)->few);
        if (i == 1)
            use_stripes(r.set, SN_STRIPES);
        run(&r, add_all);
        uint64_t new_keys = 0;
        for (uint64_t k = 0; k < KEYS; k++) {
            assert_true(r.new_keys[k] <= 1);
            assert_true(is_there(r.set, hash_of(k)));
            new_keys += r.new_keys[k];
        }
        assert_true(new_keys >= KEYS - 2);
        assert_int_equal(count_of(r.set), new_keys);
        if (where)
            assert_int_equal(((sn_local *)r.set)->added[0], new_keys);
        seen_close(r.set);
        free(r.new_keys);
    }
    unlink(at("f"));
}

enum { CAPACITY = 6000 };

/* By `few` keys in a call, the first as single keys; 0: all. */
static void fill(seen_set *set, size_t few)
{
    enum { SINGLE = 300 };
    seen_hash h[SN_FEW];
    seen_answer answers[SN_FEW];
    uint64_t new_keys = 0, next = 0;
    seen_status status = SEEN_OK;
    while (status == SEEN_OK) {
        bool single = few == 0 || next < SINGLE;
        size_t n = single ? 1 : few;
        hashes_from(next, n, h);
        if (n > 1)
            h[1] = hash_of(0); /* present: its room stays reserved */
        answers[0] = SEEN_UNKNOWN;
        status = single ? set->ops->add_one(set, h[0], answers, NULL)
                        : seen_add_hashes(set, h, n, answers, NULL);
        for (size_t i = 0; i < n; i++)
            new_keys += answers[i] == SEEN_NEW;
        assert_int_equal(count_of(set), new_keys);
        next += n;
    }
    assert_int_equal(status, SEEN_ERR_FULL);
    assert_int_equal(new_keys, CAPACITY);
}

/* The counter is exact after every call, and the set is full exactly at its capacity, whether keys
 * are added one by one or a few at a time. A present key is still found then. */
static void test_few_count(void **state)
{
    (void)state;
    for (size_t few = 0; few <= SN_FEW; few += 1 + few)
        for (unsigned file = 0; file < 2; file++) {
            seen_options options = plain_options(SEEN_BLOOM, SEEN_FIXED, CAPACITY, 1e-6);
            seen_set *set;
            seen_answer answer = SEEN_UNKNOWN;
            OK(seen_create(file ? at("f") : NULL, &options, file ? SEEN_ALONE : 0, &set, error));
            fill(set, few);
            OK(set->ops->add_one(set, hash_of(0), &answer, error));
            assert_int_equal(answer, SEEN_BEFORE);
            assert_int_equal(count_of(set), CAPACITY);
            seen_close(set);
            unlink(at("f"));
        }
}

typedef struct waiting {
    seen_set *set;
    size_t count;
} waiting;

static void *add_waiting(void *argument)
{
    const waiting *w = argument;
    static seen_hash h[700];
    static seen_answer answers[700];
    hashes_from(0, w->count, h);
    seen_status status = w->count == 1 ? w->set->ops->add_one(w->set, h[0], answers, NULL)
                                       : seen_add_hashes(w->set, h, w->count, answers, NULL);
    return status == SEEN_OK ? NULL : argument;
}

/* A thread that adds waits for the lock: the key is absent until it is released. */
static void expect_wait(sn_local *l, size_t count, sn_spinlock *lock)
{
    waiting w = {&l->base, count};
    pthread_t thread;
    void *failed = NULL;
    const struct timespec moment = {.tv_nsec = 20000000}; /* for a thread that does not wait */
    sn_spinlock_lock(lock);
    assert_int_equal(pthread_create(&thread, NULL, add_waiting, &w), 0);
    nanosleep(&moment, NULL);
    assert_false(is_there(&l->base, hash_of(0)));
    sn_spinlock_unlock(lock);
    pthread_join(thread, &failed);
    assert_null(failed);
    assert_true(is_there(&l->base, hash_of(0)));
}

/* A thread with the lock of all stripes excludes single keys and the stripes of large batches, and
 * the other way around. */
static void test_few_wait(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        seen_options options = plain_options(SEEN_BLOOM, SEEN_FIXED, SHARDED, 1e-6);
        seen_set *set;
        OK(seen_create(NULL, &options, 0, &set, error));
        sn_local *l = (sn_local *)set;
        if (i == 0)
            expect_wait(l, 1, &l->all.lock);
        if (i == 1) {
            atomic_store(&l->crowd, 1); /* as if other threads were adding large batches */
            expect_wait(l, 700, &l->all.lock);
        }
        if (i == 2)
            expect_wait(l, 3, &l->stripe[l->stripes - 1].lock);
        if (i == 3)
            expect_wait(l, 700, &l->stripe[l->stripes - 1].lock);
        seen_close(set);
    }
}

/* One thread with the concurrent code path: split into stripes, a batch gives the same bits and
 * answers as in one piece, also with repeated keys. */
static void stripe_alone(seen_kind kind, seen_growth growth, unsigned stripes)
{
    enum { MOST = 9000, ROUNDS = SANITIZED ? 10 : 40 };
    static seen_hash h[MOST];
    static seen_answer got[MOST], want[MOST];
    seen_options options = plain_options(kind, growth, SHARDED, 1e-4);
    if (growth == SEEN_GROWING)
        options.capacity = MOST;
    seen_set *set[2];
    rng r = {stripes};
    for (int i = 0; i < 2; i++)
        set[i] = layered_create(NULL, &options);
    sn_local *one = (sn_local *)set[0], *striped = (sn_local *)set[1];
    use_stripes(set[1], stripes);
    striped->few = false;
    for (int round = 0; round < ROUNDS; round++) {
        size_t n = 1 + rng_below(&r, round % 2 ? MOST : 300);
        hashes_from((uint64_t)round * MOST / 2, n, h);
        for (size_t i = 1; i < n; i += 1 + rng_below(&r, 5))
            h[i] = h[rng_below(&r, i)];
        atomic_store(&striped->crowd, 1000);
        OK(seen_add_hashes(set[0], h, n, want, error));
        OK(seen_add_hashes(set[1], h, n, got, error));
        assert_true(atomic_load(&striped->crowd) < 1000);
        assert_memory_equal(got, want, n);
    }
    const sn_view *a = atomic_load(&one->view), *b = atomic_load(&striped->view);
    assert_int_equal(a->image.layers, b->image.layers);
    assert_true(growth != SEEN_GROWING || a->image.layers > 1);
    for (uint32_t i = 0; i < a->image.layers; i++) {
        assert_memory_equal(a->bits[i], b->bits[i], sn_geometry_bytes(&a->image.layer[i].geometry));
        assert_true(growth == SEEN_FIXED || one->added[i] == striped->added[i]);
    }
    assert_int_equal(count_of(set[0]), count_of(set[1]));
    for (int i = 0; i < 2; i++)
        seen_close(set[i]);
}

static void test_stripes_alone(void **state)
{
    (void)state;
    for (unsigned stripes = 1; stripes <= SN_STRIPES; stripes *= 2)
        for (int growth = 0; growth < 3; growth++) {
            stripe_alone(SEEN_BLOOM, (seen_growth)growth, stripes);
            stripe_alone(SEEN_COUNTING, (seen_growth)(growth % 2), stripes);
        }
}

/* A counting set that grew: keys of the first layer, which is one shard, are counted by threads
 * that work on other shards of the last layer. No count may be lost. */
enum { OLD_KEYS = 2000, ROUNDS = SANITIZED ? 4 : 40 };

static pthread_barrier_t barrier;

static void *count_old(void *argument)
{
    race *r = argument;
    rng random = {atomic_fetch_add(&r->turn, 1)};
    static __thread seen_hash h[OLD_KEYS];
    static __thread seen_answer answers[OLD_KEYS];
    hashes_from(0, OLD_KEYS, h);
    for (size_t i = OLD_KEYS - 1; i > 0; i--) {
        size_t j = rng_below(&random, i + 1);
        seen_hash swap = h[i];
        h[i] = h[j];
        h[j] = swap;
    }
    seen_error e = {0};
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&barrier);
        if (seen_add_hashes(r->set, h, OLD_KEYS, answers, &e) != SEEN_OK)
            complain(r, "add", &e);
        pthread_barrier_wait(&barrier);
        for (size_t i = 0; i < OLD_KEYS; i++)
            if (answers[i] != SEEN_BEFORE)
                complain(r, "an old key was new", NULL);
        if (seen_remove_hashes(r->set, h, OLD_KEYS, answers, &e) != SEEN_OK)
            complain(r, "remove", &e);
        for (size_t i = 0; i < OLD_KEYS; i++)
            if (answers[i] != SEEN_BEFORE)
                complain(r, "an addition was lost", NULL);
    }
    return NULL;
}

static void test_counting_old_layers(void **state)
{
    (void)state;
    seen_options options = plain_options(SEEN_COUNTING, SEEN_GROWING, OLD_KEYS, 1e-12);
    race r = {0};
    static seen_hash h[4000];
    OK(seen_create(NULL, &options, 0, &r.set, error));
    seen_info info = {.size = sizeof info};
    for (uint64_t i = 0; info.shards < 8; i += 4000) {
        hashes_from(i, 4000, h);
        OK(seen_add_hashes(r.set, h, 4000, NULL, error));
        OK(seen_get_shape(r.set, &info, error));
    }
    pthread_barrier_init(&barrier, NULL, THREADS);
    run(&r, count_old);
    pthread_barrier_destroy(&barrier);
    for (uint64_t i = 0; i < OLD_KEYS; i++)
        assert_true(is_there(r.set, hash_of(i)));
    seen_close(r.set);
}

/* Rotations in between: keys added after the last but one are never missing. */
static void *add_and_rotate(void *argument)
{
    race *r = argument;
    unsigned me = atomic_fetch_add(&r->turn, 1);
    seen_error e = {0};
    seen_hash h[100];
    seen_answer answers[100];
    for (uint64_t i = 0; i < (SANITIZED ? 300 : 1500); i++) {
        hashes_from(((uint64_t)me << 32) + i * 100, 100, h);
        if (seen_add_hashes(r->set, h, 100, answers, &e) != SEEN_OK)
            complain(r, "add", &e);
        /* 31 generations must rotate before these expire. */
        if (seen_check_hashes(r->set, h, 100, answers, &e) != SEEN_OK)
            complain(r, "check", &e);
        for (int j = 0; j < 100; j++)
            if (answers[j] != SEEN_BEFORE)
                complain(r, "a young key was forgotten", NULL);
        if (i % 50 == 0 && seen_rotate(r->set, &e) != SEEN_OK)
            complain(r, "rotate", &e);
    }
    return NULL;
}

static void test_rotate(void **state)
{
    (void)state;
    for (int file = 0; file < 2; file++) {
        seen_options options = plain_options(SEEN_BLOOM, SEEN_WINDOW, 400000, 1e-3);
        options.generations = 32;
        race r = {0};
        OK(seen_create(file ? at("f") : NULL, &options, 0, &r.set, error));
        run(&r, add_and_rotate);
        seen_close(r.set);
    }
    unlink(at("f"));
}

/* A set that refuses when full reports exactly as many new keys as its capacity, whatever the size
 * of the batches. */
static void *add_until_full(void *argument)
{
    race *r = argument;
    unsigned me = atomic_fetch_add(&r->turn, 1);
    static const size_t SIZE[THREADS] = {3, 1, 40, 17};
    const size_t n = SIZE[me % THREADS];
    for (uint64_t i = 0; i < 20000; i++) {
        seen_hash h[40];
        seen_answer answers[40];
        hashes_from(((uint64_t)(me & 255) << 32) + i * n, n, h);
        seen_status status = seen_add_hashes(r->set, h, n, answers, NULL);
        for (size_t j = 0; j < n; j++)
            if (answers[j] == SEEN_NEW)
                atomic_fetch_add(&r->turn, 1u << 8);
        if (status == SEEN_ERR_FULL)
            return NULL;
        if (status != SEEN_OK)
            complain(r, "add", NULL);
    }
    return NULL;
}

static void test_full(void **state)
{
    (void)state;
    for (int file = 0; file < 2; file++) {
        seen_options options = plain_options(SEEN_BLOOM, SEEN_FIXED, 20000, 1e-6);
        race r = {0};
        OK(seen_create(file ? at("f") : NULL, &options, file ? SEEN_ALONE : 0, &r.set, error));
        run(&r, add_until_full);
        assert_int_equal(atomic_load(&r.turn) >> 8, 20000);
        assert_int_equal(count_of(r.set), 20000);
        seen_close(r.set);
    }
    unlink(at("f"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bloom_heap), cmocka_unit_test(test_bloom_file),
        cmocka_unit_test(test_counting),   cmocka_unit_test(test_counting_old_layers),
        cmocka_unit_test(test_rotate),     cmocka_unit_test(test_full),
        cmocka_unit_test(test_stripes),    cmocka_unit_test(test_stripes_alone),
        cmocka_unit_test(test_few),        cmocka_unit_test(test_few_count),
        cmocka_unit_test(test_few_wait),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
