/* The available memory, as reported by the system and by a control group. */
#include "test_stream.h"

#include <sys/resource.h>

enum { FILES = 5 };
static const char *const NAMES[FILES] = {"meminfo", "memory.max", "memory.current", "memory.stat",
                                         "self/status"};
static const char *reported[FILES]; /* contents of each file; NULL: no such file */
static rlim_t address_limit = RLIM_INFINITY;

static FILE *open_reported(const char *path, const char *how)
{
    for (int i = 0; i < FILES; i++)
        if (strstr(path, NAMES[i]))
            return reported[i] ? fmemopen((void *)(uintptr_t)reported[i], strlen(reported[i]), how)
                               : NULL;
    fail_msg("%s is asked for", path);
    return NULL;
}

static int report_limit(int what, struct rlimit *limit)
{
    assert_int_equal(what, RLIMIT_AS);
    *limit = (struct rlimit){address_limit, RLIM_INFINITY};
    return 0;
}

/* Includes the source, with files replaced by test data. */
#define fopen open_reported
#define getrlimit(what, limit) report_limit((int)(what), limit)
#include "base/memory_free.c"
#undef fopen
#undef getrlimit

static uint64_t reported_by(const char *system, const char *most, const char *used)
{
    reported[0] = system;
    reported[1] = most;
    reported[2] = used;
    return sn_memory_free();
}

static void test_system(void **state)
{
    (void)state;
    assert_int_equal(reported_by("MemTotal: 9 kB\nMemAvailable:   5000 kB\n", NULL, NULL),
                     5000 << 10);
    /* Without it, half of the total. */
    uint64_t half = reported_by("MemTotal: 9 kB\n", NULL, NULL);
    assert_true(half > 1 << 20);
    assert_int_equal(reported_by(NULL, NULL, NULL), half);
}

static void test_control_group(void **state)
{
    (void)state;
    const char *system = "MemAvailable: 5000 kB\n";
    assert_int_equal(reported_by(system, "3000000\n", "1000000\n"), 2000000);
    assert_int_equal(reported_by(system, "9000000\n", "1000000\n"), 5000 << 10);
    assert_int_equal(reported_by(system, "max\n", "1000000\n"), 5000 << 10);
    assert_int_equal(reported_by(system, "3000000\n", NULL), 5000 << 10);
    assert_int_equal(reported_by(system, "3000000\n", "3000001\n"), 1);
}

/* Page cache of the group counts towards its limit but can be reclaimed. */
static void test_files(void **state)
{
    (void)state;
    const char *system = "MemAvailable: 5000 kB\n";
    reported[3] = "anon 500000\nfile 2400000\ninactive_anon 7\nactive_anon 8\n"
                  "inactive_file 2000000\nactive_file 400000\n";
    assert_int_equal(reported_by(system, "3000000\n", "3000000\n"), 2200000);
    assert_int_equal(reported_by(system, "3000000\n", "1000000\n"), 3000000);
    reported[3] = NULL;
}

static void test_addresses(void **state)
{
    (void)state;
    const char *system = "MemAvailable: 5000 kB\n";
    address_limit = 4096000;
    reported[4] = "VmPeak:\t 2000 kB\nVmSize:\t 1000 kB\n";
    assert_int_equal(reported_by(system, NULL, NULL), 4096000 - 1024000);
    address_limit = 1000;
    assert_int_equal(reported_by(system, NULL, NULL), 1);
    address_limit = RLIM_INFINITY;
    assert_int_equal(reported_by(system, NULL, NULL), 5000 << 10);
    reported[4] = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_system),
        cmocka_unit_test(test_control_group),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
