/* Sentences of the crawler: they name the file and its folder, and say what to do. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "crawl/fail.h"

static void says_what_to_do(void **state)
{
    static const struct {
        int why;
        seen_status status;
        const char *words;
    } cases[] = {
        {ENOSPC, SEEN_ERR_SPACE, "cannot write x: No space left on device; free some space"},
        {EDQUOT, SEEN_ERR_SPACE, "; free some space"},
        {EACCES, SEEN_ERR_PERMISSION, "Permission denied; check who may"},
        {EROFS, SEEN_ERR_PERMISSION, "; check who may"},
        {ENOENT, SEEN_ERR_NOT_FOUND, "; check the name"},
        {ENOTDIR, SEEN_ERR_NOT_FOUND, "; check the name"},
        {EEXIST, SEEN_ERR_EXISTS, "cannot write x: File exists"},
        {ENOMEM, SEEN_ERR_MEMORY, "cannot write x: "},
        {EIO, SEEN_ERR_IO, "cannot write x: "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        seen_error error = {0};
        errno = cases[i].why;
        assert_int_equal(sn_crawl_fail_errno(&error, "write", "x"), cases[i].status);
        assert_int_equal(error.status, cases[i].status);
        assert_non_null(strstr(error.message, cases[i].words));
    }
    errno = EIO;
    assert_int_equal(sn_crawl_fail_errno(NULL, "write", "x"), SEEN_ERR_IO);
}

static void names_the_folder(void **state)
{
    seen_error error = {0};
    char expected[500];
    (void)state;
    int folder = open("/", O_RDONLY | O_DIRECTORY);
    assert_true(folder >= 0);
    errno = ENOSPC;
    assert_int_equal(sn_crawl_fail_in(&error, folder, "write", "done"), SEEN_ERR_SPACE);
    assert_non_null(strstr(error.message, "cannot write done in /: No space left"));
    close(folder);
    /* One that cannot be named, and that of temporary files. */
    errno = EIO;
    sn_crawl_fail_in(&error, folder, "write", "done");
    assert_non_null(strstr(error.message, "cannot write done in the state folder: "));
    const char *temporary = getenv("TMPDIR");
    snprintf(expected, sizeof expected, "cannot write done in %s: ",
             temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp");
    errno = EIO;
    sn_crawl_fail_in(&error, -1, "write", "done");
    assert_non_null(strstr(error.message, expected));
}

static void stays_within_its_message(void **state)
{
    seen_error error = {0};
    static char name[5000];
    (void)state;
    memset(name, '\n', sizeof name - 1);
    errno = ENOSPC;
    sn_crawl_fail_errno(&error, "write", name);
    assert_true(strlen(error.message) < sizeof error.message);
    assert_null(strchr(error.message, '\n'));
    memset(name, 'n', sizeof name - 1);
    errno = ENOSPC;
    sn_crawl_fail_errno(&error, "write", name);
    assert_non_null(strstr(error.message, "; free some space"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_to_do),
        cmocka_unit_test(names_the_folder),
        cmocka_unit_test(stays_within_its_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
