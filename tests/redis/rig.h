/* For a test program with its own server. */
#ifndef TEST_REDIS_RIG_H
#define TEST_REDIS_RIG_H

#include "tests/redis/server.h"

#include <setjmp.h>
#include <stddef.h>

#include <cmocka.h>

static test_server server;

static inline int rig_start(void **state)
{
    (void)state;
    return test_server_start(&server, NULL) ? 0 : -1;
}

static inline int rig_stop(void **state)
{
    (void)state;
    test_server_stop(&server);
    return 0;
}

/* The return value of main; 77 tells ctest that the test was skipped. */
#define RIG_RUN(tests) (test_have_redis() ? cmocka_run_group_tests(tests, rig_start, rig_stop) : 77)

#endif
