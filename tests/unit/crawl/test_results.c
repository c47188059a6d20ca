/* The list of failed pages: what cannot be read is not taken for an empty list. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "crawl/engine.h"

static void keeps_a_list_that_cannot_be_read(void **state)
{
    (void)state;
    seen_error error = {0};
    /* A folder opens, and every read of it fails. */
    sn_engine e = {.error = &error,
                   .folder = open(".", O_RDONLY | O_DIRECTORY),
                   .failed_fd = open(".", O_RDONLY | O_DIRECTORY),
                   .failed_len = 10};
    assert_true(e.folder >= 0 && e.failed_fd >= 0);
    assert_int_equal(sn_results_retry(&e), SEEN_ERR_IO);
    assert_non_null(strstr(error.message, "the list of failed pages"));
    assert_int_equal(e.failed_len, 10);
    close(e.failed_fd);
    close(e.folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_a_list_that_cannot_be_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
