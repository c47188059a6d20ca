/* The machine's speed: measured once, and of a credible size. */
#include "stream/join/calibrate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_random(void **state)
{
    (void)state;
    double ns = sn_join_random_ns();
    assert_true(ns > 0.1 && ns < 100000);
    assert_true(sn_join_random_ns() == ns);
}

static void test_read_speed(void **state)
{
    (void)state;
    assert_true(sn_join_read_speed(1) > sn_join_read_speed(0.5));
    assert_true(sn_join_read_speed(0.5) > sn_join_read_speed(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_read_speed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
