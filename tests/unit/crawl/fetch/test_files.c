/* The limit on open files: raised where it may be, else said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "crawl/fetch/open_files.h"

static struct rlimit before;

static void allow(rlim_t soft)
{
    struct rlimit limit = {soft, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static rlim_t allowed(void)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    return limit.rlim_cur;
}

static void raises_the_limit(void **state)
{
    size_t keep = 0;
    seen_error error;
    (void)state;
    allow(40);
    assert_int_equal(sn_files_allow(10, 6, &keep, &error), SEEN_OK);
    assert_int_equal(allowed(), 10 + 10 + 6 + 24 + 10 + 16);
    assert_int_equal(keep, 36);
    /* What is enough is left as it is. */
    allow(90);
    assert_int_equal(sn_files_allow(10, 0, &keep, &error), SEEN_OK);
    assert_int_equal(allowed(), 90);
    assert_int_equal(keep, 36);
}

static void tells_what_is_missing(void **state)
{
    size_t keep = 0;
    seen_error error;
    struct rlimit limit = {100, 100};
    (void)state;
    /* The last test: a limit that was lowered for good stays so. */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(sn_files_allow(38, 0, &keep, &error), SEEN_OK);
    assert_int_equal(keep, 38);
    assert_int_equal(sn_files_allow(30, 0, &keep, &error), SEEN_OK);
    assert_int_equal(keep, 30 + 16);
    assert_int_equal(sn_files_allow(39, 0, &keep, &error), SEEN_ERR_ARGUMENT);
    assert_non_null(
        strstr(error.message, "39 connections need 102 open files, and 100 are allowed"));
    assert_int_equal(sn_files_allow(30, 46, &keep, &error), SEEN_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raises_the_limit),
        cmocka_unit_test(tells_what_is_missing),
    };
    if (getrlimit(RLIMIT_NOFILE, &before) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
