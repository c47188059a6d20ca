/* Several processes on one file: each key is new once, all notice growth, and a killed writer
 * blocks no other. */
#include "test_trust.h"

#include "local/local.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#ifdef __SANITIZE_THREAD__
#define SLOW 1
#else
#define SLOW 0
#endif

enum { WRITERS = 4, READERS = 2, KEYS = SLOW ? 6000 : 20000, BATCH = 40 };

/* Shared with the children. */
typedef struct board {
    atomic_uchar new_keys[KEYS];
    atomic_int failure, done, killed;
    atomic_ullong added; /* keys below this were added by some process and must be visible to all */
} board;

static board *shared;

static void complain(const char *what, const seen_error *e)
{
    if (atomic_fetch_add(&shared->failure, 1) == 0)
        fprintf(stderr, "%s: %s\n", what, e ? e->message : "");
}

/* Adds all keys, in the same order as the others, so that they race. */
static void write_all(unsigned me, bool rotate)
{
    seen_error e = {0};
    seen_set *set;
    if (seen_open(at("f"), NULL, 0, &set, &e) != SEEN_OK) {
        complain("open", &e);
        return;
    }
    seen_hash h[BATCH];
    seen_answer answers[BATCH];
    for (uint64_t i = 0; i < KEYS; i += BATCH) {
        hashes_from(i, BATCH, h);
        if (seen_add_hashes(set, h, BATCH, answers, &e) != SEEN_OK) {
            complain("add", &e);
            break;
        }
        for (size_t j = 0; j < BATCH; j++)
            if (answers[j] == SEEN_NEW)
                atomic_fetch_add(&shared->new_keys[i + j], 1);
        unsigned long long seen = atomic_load(&shared->added);
        while (seen < i + BATCH && !atomic_compare_exchange_weak(&shared->added, &seen, i + BATCH))
            ;
        if (rotate && me == 0 && i % 4000 == 0 && seen_rotate(set, &e) != SEEN_OK)
            complain("rotate", &e);
    }
    seen_close(set);
    atomic_fetch_add(&shared->done, 1);
}

static void read_all(unsigned me)
{
    seen_error e = {0};
    seen_set *set;
    rng random = {me};
    if (seen_open(at("f"), NULL, SEEN_READ_ONLY, &set, &e) != SEEN_OK) {
        complain("open", &e);
        return;
    }
    while (atomic_load(&shared->done) < WRITERS) {
        uint64_t limit = atomic_load(&shared->added);
        if (limit == 0)
            continue;
        uint64_t i = rng_below(&random, 4) ? limit - 1 - rng_below(&random, limit < 50 ? limit : 50)
                                           : rng_below(&random, limit);
        seen_hash h = hash_of(i);
        seen_answer answer = SEEN_UNKNOWN;
        if (seen_check_hashes(set, &h, 1, &answer, &e) != SEEN_OK) {
            complain("check", &e);
            break;
        }
        if (answer != SEEN_BEFORE)
            complain("a reader misses a key", NULL);
    }
    seen_close(set);
}

static pid_t start(unsigned me, bool writer, bool rotate)
{
    pid_t child = fork();
    if (child == 0) {
        if (writer)
            write_all(me, rotate);
        else
            read_all(me);
        _exit(0);
    }
    assert_true(child > 0);
    return child;
}

static void wait_for(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("a child ended with status %#x", (unsigned)status);
}

static void race_on(seen_kind kind, seen_growth growth)
{
    seen_options options =
        plain_options(kind, growth, growth == SEEN_GROWING ? 500 : 20 * KEYS, 1e-7);
    seen_set *set;
    OK(seen_create(at("f"), &options, 0, &set, error));
    memset((void *)shared, 0, sizeof *shared);
    pid_t child[WRITERS + READERS];
    for (unsigned i = 0; i < WRITERS + READERS; i++)
        child[i] = start(i, i < WRITERS, growth == SEEN_WINDOW);
    for (unsigned i = 0; i < WRITERS + READERS; i++)
        wait_for(child[i]);
    assert_int_equal(shared->failure, 0);
    uint64_t never = 0;
    for (uint64_t i = 0; i < KEYS; i++) {
        if (shared->new_keys[i] > 1)
            fail_msg("key %llu was reported as new %u times", (unsigned long long)i,
                     shared->new_keys[i]);
        never += shared->new_keys[i] == 0;
        /* This process opened its handle before all of that. */
        assert_true(is_there(set, hash_of(i)));
    }
    assert_true(never <= 1);
    if (kind == SEEN_COUNTING)
        for (uint64_t i = 0; i < KEYS; i += 3)
            for (int n = 0; n < WRITERS; n++) {
                seen_hash h = hash_of(i);
                seen_answer answer;
                OK(seen_remove_hashes(set, &h, 1, &answer, error));
                assert_int_equal(answer, SEEN_BEFORE);
            }
    seen_close(set);
    OK(seen_drop(at("f"), NULL, error));
    assert_int_equal(scratch_count(), 0);
}

static void test_bloom(void **state)
{
    (void)state;
    for (int growth = 0; growth < 3; growth++)
        race_on(SEEN_BLOOM, (seen_growth)growth);
}

static void test_counting(void **state)
{
    (void)state;
    race_on(SEEN_COUNTING, SEEN_FIXED);
    race_on(SEEN_COUNTING, SEEN_GROWING);
}

/* Writers are killed at random moments, with or without the lock; the others continue, and all
 * additions, also of the killed ones, are present. */
static void test_killed(void **state)
{
    (void)state;
    enum { VICTIMS = 25 };
    seen_options options = plain_options(SEEN_BLOOM, SEEN_GROWING, 500, 1e-7);
    rng random = {test_seed()};
    seen_set *set;
    OK(seen_create(at("f"), &options, 0, &set, error));
    memset((void *)shared, 0, sizeof *shared);
    pid_t survivor = start(0, true, false);
    for (int i = 0; i < VICTIMS; i++) {
        pid_t victim = start(1, true, false);
        usleep((useconds_t)rng_below(&random, 6000));
        kill(victim, SIGKILL);
        int status;
        assert_int_equal(waitpid(victim, &status, 0), victim);
    }
    wait_for(survivor);
    assert_int_equal(shared->failure, 0);
    for (uint64_t i = 0; i < KEYS; i++) {
        assert_true(shared->new_keys[i] <= 1);
        assert_true(is_there(set, hash_of(i)));
    }
    seen_close(set);
    OK(seen_open(at("f"), NULL, SEEN_ALONE, &set, error)); /* no process holds a lock */
    for (uint64_t i = 0; i < KEYS; i += 7)
        assert_true(is_there(set, hash_of(i)));
    seen_info info = {.size = sizeof info};
    OK(seen_get_info(set, &info, error));
    assert_true(info.error_rate_now < 2e-7);
    seen_close(set);
    unlink(at("f"));
}

static void die(const sn_geometry *g, void *bits, const seen_hash *h, size_t count,
                seen_answer *answers)
{
    (void)g;
    (void)bits;
    (void)h;
    (void)count;
    (void)answers;
    kill(getpid(), SIGKILL);
}

static void die_adding(uint64_t first, size_t count)
{
    static sn_kernel deadly;
    seen_set *set;
    fflush(NULL);
    pid_t victim = fork();
    if (victim == 0) {
        seen_hash h[64];
        hashes_from(first, count, h);
        if (seen_open(at("f"), NULL, 0, &set, NULL) == SEEN_OK) {
            deadly = *((sn_local *)set)->kernel;
            deadly.add = die;
            ((sn_local *)set)->kernel = &deadly;
            seen_add_hashes(set, h, count, NULL, NULL);
        }
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(victim, &status, 0), victim);
    assert_true(WIFSIGNALED(status));
}

/* Writers killed during a batch do not shorten the window of the others. */
static void test_killed_in_window(void **state)
{
    (void)state;
    enum { EACH = 100, GENERATIONS = 8, WINDOW = EACH * (GENERATIONS - 1) };
    seen_options options = plain_options(SEEN_BLOOM, SEEN_WINDOW, WINDOW, 1e-9);
    seen_set *set;
    uint64_t key = 0;
    OK(seen_create(at("f"), &options, 0, &set, error));
    for (; key < 5 * WINDOW; key++) {
        assert_int_equal(add_key(set, key), SEEN_NEW);
        if (key >= WINDOW)
            assert_true(is_there(set, hash_of(key - WINDOW)));
        if (key > EACH && key % 29 == 0)
            die_adding(1000000 + key, 20);
    }
    seen_close(set);
    unlink(at("f"));
}

/* Many processes create the same file at once: one creates it, all open it. */
static void test_create_together(void **state)
{
    (void)state;
    enum { MAKERS = 6 };
    for (int round = 0; round < 10; round++) {
        pid_t child[MAKERS];
        memset((void *)shared, 0, sizeof *shared);
        fflush(NULL);
        for (unsigned i = 0; i < MAKERS; i++)
            if ((child[i] = fork()) == 0) {
                seen_options options = plain_options(SEEN_BLOOM, SEEN_FIXED, 1000, 1e-9);
                seen_error e = {0};
                seen_set *set;
                options.seed_given = false;
                if (seen_create(at("f"), &options, SEEN_IF_ABSENT, &set, &e) != SEEN_OK) {
                    complain("create", &e);
                    _exit(1);
                }
                seen_answer answer;
                if (seen_add(set, "the key", 7, &answer, &e) != SEEN_OK)
                    complain("add", &e);
                if (answer == SEEN_NEW)
                    atomic_fetch_add(&shared->new_keys[0], 1);
                seen_close(set);
                exit(0); /* exit normally, so that coverage is recorded */
            }
        for (unsigned i = 0; i < MAKERS; i++)
            wait_for(child[i]);
        assert_int_equal(shared->failure, 0);
        assert_int_equal(shared->new_keys[0], 1);
        assert_int_equal(scratch_count(), 1);
        unlink(at("f"));
    }
}

/* Adding a present key takes no lock: it returns while another process holds the file's lock. */
static void present_keys_take_no_lock(void **state)
{
    (void)state;
    for (int growing = 0; growing < 2; growing++) {
        seen_options options =
            plain_options(SEEN_BLOOM, growing ? SEEN_GROWING : SEEN_FIXED, 1000, 1e-6);
        seen_set *set;
        OK(seen_create(at("p"), &options, 0, &set, error));
        OK(seen_add(set, "key", 3, NULL, error));
        int fd = open(at("p"), O_RDWR);
        assert_true(fd >= 0);
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
        assert_int_equal(fcntl(fd, F_OFD_SETLK, &lock), 0);
        seen_answer answer = SEEN_UNKNOWN;
        alarm(20); /* the lock is never released */
        OK(seen_add(set, "key", 3, &answer, error));
        alarm(0);
        assert_int_equal(answer, SEEN_BEFORE);
        close(fd);
        OK(seen_add(set, "other", 5, &answer, error));
        assert_int_equal(answer, SEEN_NEW);
        seen_close(set);
        OK(seen_drop(at("p"), NULL, error));
    }
}

int main(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(present_keys_take_no_lock),
        cmocka_unit_test(test_bloom),
        cmocka_unit_test(test_counting),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_killed_in_window),
        cmocka_unit_test(test_create_together),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
