/* Asking a run to stop: once, and where no descriptor can be had. */
#include "stream/io/stop.h"
#include "test_stream.h"

#include <errno.h>
#include <poll.h>
#include <sys/resource.h>

static void test_first_reason_stays(void **state)
{
    (void)state;
    sn_stop stop;
    assert_int_equal(sn_stop_init(&stop, NULL), SEEN_OK);
    assert_int_equal(sn_stop_get(&stop), SN_STOP_NONE);
    struct pollfd fd = {.fd = stop.fd, .events = POLLIN};
    assert_int_equal(poll(&fd, 1, 0), 0);
    errno = 77;
    sn_stop_set(&stop, SN_STOP_ASKED);
    sn_stop_set(&stop, SN_STOP_CLOSED);
    assert_int_equal(errno, 77);
    assert_int_equal(sn_stop_get(&stop), SN_STOP_ASKED);
    assert_int_equal(poll(&fd, 1, 0), 1);
    sn_stop_set(NULL, SN_STOP_ASKED);
    sn_stop_free(&stop);
    assert_int_equal(stop.fd, -1);
    sn_stop_free(&stop);
}

static void test_no_descriptor(void **state)
{
    (void)state;
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    sn_stop stop;
    seen_error error = {0};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    seen_status status = sn_stop_init(&stop, &error);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_not_equal(status, SEEN_OK);
    assert_int_equal(status, error.status);
    assert_non_null(strstr(error.message, "event descriptor"));
    sn_stop_free(&stop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_reason_stays),
        cmocka_unit_test(test_no_descriptor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
