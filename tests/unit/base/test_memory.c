/* Large allocations: zeroed, aligned, freed completely. */
#include "test_trust.h"
#include "tests/sanitized.h"

#include "base/memory.h"

#include <sys/resource.h>

/* Pages of this process, as reported by the system. */
static long pages_mapped(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld", &pages) != 1)
        pages = -1;
    if (file)
        fclose(file);
    return pages;
}

static void test_map(void **state)
{
    (void)state;
    static const size_t SIZES[] = {1,
                                   64,
                                   4095,
                                   4096,
                                   4097,
                                   1 << 20,
                                   (4 << 20) - 1,
                                   4 << 20,
                                   (4 << 20) + 1,
                                   (4 << 20) + 4096,
                                   (6 << 20) + 64,
                                   33 << 20};
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        unsigned char *p = sn_memory_map(SIZES[i]);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 64, 0);
        if (SIZES[i] >= 4 << 20)
            assert_int_equal((uintptr_t)p % (2 << 20), 0);
        for (size_t at = 0; at < SIZES[i]; at += at < 5000 ? 1 : 997)
            assert_int_equal(p[at], 0);
        p[0] = p[SIZES[i] - 1] = 1;
        sn_memory_unmap(p, SIZES[i]);
    }
    sn_memory_unmap(NULL, 5);
}

static long faults(void)
{
    struct rusage use;
    assert_int_equal(getrusage(RUSAGE_SELF, &use), 0);
    return use.ru_minflt;
}

/* The pages of a small filter are populated at once. */
static void test_small_at_once(void **state)
{
    (void)state;
    enum { PAGE = 4096, SMALL = 60 * PAGE };
    volatile char *p = sn_memory_map(SMALL);
    assert_non_null(p);
    long before = faults();
    for (size_t at = 0; at < SMALL; at += PAGE)
        p[at] = (char)(p[at] + 1);
    assert_true(faults() - before < 10);
    sn_memory_unmap((void *)(uintptr_t)p, SMALL);
}

/* Mapping and unmapping leaks nothing, for any size. */
static void test_no_leak(void **state)
{
    (void)state;
    long before = pages_mapped();
    if (before < 0)
        skip();
    for (size_t i = 0; i < 300; i++) {
        size_t bytes = (4 << 20) + i * 977;
        void *p = sn_memory_map(bytes);
        assert_non_null(p);
        sn_memory_unmap(p, bytes);
    }
    assert_true(pages_mapped() - before < 1024);
}

static void test_impossible(void **state)
{
    (void)state;
    assert_null(sn_memory_map(0));
    assert_null(sn_memory_map(SIZE_MAX));
    assert_null(sn_memory_map(SIZE_MAX - 4096));
    assert_null(sn_memory_map(SIZE_MAX / 2 - 1));
}

/* A set that does not fit is refused with a message. (A sanitizer needs the address space for
 * itself.) */
static void test_too_large_set(void **state)
{
    (void)state;
    seen_options options = plain_options(SEEN_COUNTING, SEEN_FIXED, 10000000000, 1e-9);
    seen_set *set = NULL;
    if (SANITIZED)
        skip();
    struct rlimit limit, tight;
    assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
    tight = limit;
    tight.rlim_cur = (rlim_t)1 << 30;
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    seen_error e = {0};
    seen_status status = seen_create(NULL, &options, 0, &set, &e);
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    assert_int_equal(status, SEEN_ERR_MEMORY);
    assert_non_null(strstr(e.message, "MiB"));
    assert_null(set);
}

static void test_grow(void **state)
{
    (void)state;
    size_t room = 0;
    uint32_t *items = sn_memory_grow(NULL, &room, 1, sizeof *items);
    assert_non_null(items);
    assert_in_range(room, 1, 100);
    for (uint32_t i = 0; i < 10000; i++) {
        size_t before = room;
        items = sn_memory_grow(items, &room, i + 1, sizeof *items);
        assert_non_null(items);
        assert_true(room >= i + 1 && (room == before || room >= 2 * before));
        items[i] = i;
    }
    for (uint32_t i = 0; i < 10000; i++)
        assert_int_equal(items[i], i);
    size_t kept = room;
    assert_null(sn_memory_grow(items, &room, SIZE_MAX / 2, sizeof *items));
    assert_int_equal(room, kept);
    free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map),           cmocka_unit_test(test_small_at_once),
        cmocka_unit_test(test_no_leak),       cmocka_unit_test(test_impossible),
        cmocka_unit_test(test_too_large_set), cmocka_unit_test(test_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
