/* fork() with an open set: a set in memory becomes two sets, a file is refused until it is opened
 * again, and each key is new in one process only. */
#include "test_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

static const seen_options SOME = {.size = sizeof(seen_options), .capacity = 100000};

static void wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* The number of calls that do not refuse the handle of the parent. */
static int usable_calls(seen_set *set)
{
    seen_hash h = hash_of(1);
    seen_answer answer;
    seen_info info = {.size = sizeof info};
    seen_set *other = NULL;
    const seen_status got[] = {
        seen_add(set, "k", 1, &answer, NULL),
        seen_check(set, "k", 1, &answer, NULL),
        seen_add_hashes(set, &h, 1, NULL, NULL),
        seen_sync(set, NULL),
        seen_get_info(set, &info, NULL),
        seen_get_shape(set, &info, NULL),
        seen_copy(set, at("copy"), 0, NULL, NULL),
        seen_create_like(NULL, set, NULL, 0, &other, NULL),
    };
    int usable = 0;
    for (size_t i = 0; i < sizeof got / sizeof *got; i++)
        usable += got[i] != SEEN_ERR_FORKED;
    return usable;
}

static void child_must_open_a_file_again(void **state)
{
    (void)state;
    seen_set *set = create("f", SOME, 0);
    add_range(set, 0, 100);
    pid_t child = fork();
    if (child == 0) {
        seen_set *mine;
        int bad = usable_calls(set);
        bad += seen_close_checked(set, NULL) != SEEN_ERR_FORKED;
        bad += seen_open(at("f"), NULL, 0, &mine, NULL) != SEEN_OK;
        bad += count_there(mine, 0, 100) != 100;
        seen_close(mine);
        _exit(bad);
    }
    wait_for(child);
    add_range(set, 100, 100); /* the parent's handle still works */
    assert_int_equal(count_there(set, 0, 200), 200);
    seen_close(set);
    drop("f");
}

static void memory_becomes_two_sets(void **state)
{
    (void)state;
    seen_set *set;
    OK(seen_create(NULL, &SOME, 0, &set, error));
    add_range(set, 0, 100);
    pid_t child = fork();
    if (child == 0) {
        add_range(set, 1000, 100);
        int bad = count_there(set, 0, 100) != 100;
        bad += count_there(set, 1000, 100) != 100;
        seen_close(set);
        _exit(bad);
    }
    wait_for(child);
    assert_true(count_there(set, 1000, 100) < 50);
    seen_close(set);
}

static atomic_bool stop;

static void *keep_adding(void *set)
{
    seen_hash h[512];
    for (uint64_t i = 0; !atomic_load(&stop); i += 512) {
        hashes_from(i, 512, h);
        (void)seen_add_hashes(set, h, 512, NULL, NULL);
    }
    return NULL;
}

/* A lock held by a thread that the child does not have is not held in the child's copy. */
static void fork_while_threads_add(void **state)
{
    (void)state;
    seen_options options = SOME;
    options.when_full = SEEN_FULL_GO_ON;
    seen_set *set;
    pthread_t thread[2];
    OK(seen_create(NULL, &options, 0, &set, error));
    atomic_store(&stop, false);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, keep_adding, set), 0);
    for (int i = 0; i < 50; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            add_range(set, 5000000, 100);
            _exit(count_there(set, 5000000, 100) != 100);
        }
        wait_for(child);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    seen_close(set);
}

/* Each adds all keys one by one, with whichever handle works. */
static void add_each(seen_set *inherited, atomic_uchar *new_keys, int keys)
{
    seen_set *set = inherited;
    for (int i = 0; i < keys; i++) {
        seen_answer answer = SEEN_UNKNOWN;
        seen_status status = seen_add(set, &i, sizeof i, &answer, NULL);
        if (status == SEEN_ERR_FORKED) {
            seen_close(set);
            if (seen_open(at("f"), NULL, 0, &set, NULL) != SEEN_OK)
                _exit(1);
            status = seen_add(set, &i, sizeof i, &answer, NULL);
        }
        if (status != SEEN_OK)
            _exit(1);
        if (answer == SEEN_NEW)
            atomic_fetch_add(&new_keys[i], 1);
    }
    seen_close(set);
}

static void one_winner_between_forked_processes(void **state)
{
    (void)state;
    enum { KEYS = 20000, CHILDREN = 3 };
    atomic_uchar *new_keys =
        mmap(NULL, KEYS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(new_keys != MAP_FAILED);
    seen_options options = SOME;
    options.error_rate = 1e-9;
    seen_set *set = create("f", options, 0);
    pid_t child[CHILDREN];
    for (int c = 0; c < CHILDREN; c++)
        if ((child[c] = fork()) == 0) {
            add_each(set, new_keys, KEYS);
            _exit(0);
        }
    add_each(set, new_keys, KEYS);
    for (int c = 0; c < CHILDREN; c++)
        wait_for(child[c]);
    for (int i = 0; i < KEYS; i++)
        assert_int_equal(atomic_load(&new_keys[i]), 1);
    munmap(new_keys, KEYS);
    drop("f");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(child_must_open_a_file_again),
        cmocka_unit_test(memory_becomes_two_sets),
        cmocka_unit_test(fork_while_threads_add),
        cmocka_unit_test(one_winner_between_forked_processes),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
