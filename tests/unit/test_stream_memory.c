/* How much memory there is, as the system and a control group tell it. */
#include "test_stream.h"

static const char *const NAMES[] = {"meminfo", "memory.max", "memory.current"};
static const char *told[3]; /* NULL: no such file */

static FILE *open_told(const char *path, const char *how)
{
    for (int i = 0; i < 3; i++)
        if (strstr(path, NAMES[i]))
            return told[i] ? fmemopen((void *)(uintptr_t)told[i], strlen(told[i]), how) : NULL;
    fail_msg("%s is asked for", path);
    return NULL;
}

/* The source itself, with files that say what a test wants. */
#define fopen open_told
#include "stream/memory.c"
#undef fopen

static uint64_t told_by(const char *system, const char *most, const char *used)
{
    told[0] = system;
    told[1] = most;
    told[2] = used;
    return sn_memory_free();
}

static void test_system(void **state)
{
    (void)state;
    assert_int_equal(told_by("MemTotal: 9 kB\nMemAvailable:   5000 kB\n", NULL, NULL), 5000 << 10);
    /* Without it a half of what there is. */
    uint64_t half = told_by("MemTotal: 9 kB\n", NULL, NULL);
    assert_true(half > 1 << 20);
    assert_int_equal(told_by(NULL, NULL, NULL), half);
}

static void test_control_group(void **state)
{
    (void)state;
    const char *system = "MemAvailable: 5000 kB\n";
    assert_int_equal(told_by(system, "3000000\n", "1000000\n"), 2000000);
    assert_int_equal(told_by(system, "9000000\n", "1000000\n"), 5000 << 10);
    assert_int_equal(told_by(system, "max\n", "1000000\n"), 5000 << 10);
    assert_int_equal(told_by(system, "3000000\n", NULL), 5000 << 10);
    assert_int_equal(told_by(system, "3000000\n", "3000001\n"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_system),
        cmocka_unit_test(test_control_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
