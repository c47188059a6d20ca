/* Every allocation of the robots reader fails in turn: no rules are half read, nothing leaks, and a
 * path that cannot be looked at may not be fetched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"

static int until_failure = -1;

static void *faulty_malloc(size_t size)
{
    return until_failure-- == 0 ? NULL : malloc(size);
}

static void *faulty_calloc(size_t n, size_t size)
{
    return until_failure-- == 0 ? NULL : calloc(n, size);
}

static void *faulty_grow(void *items, size_t *room, size_t need, size_t size)
{
    return until_failure-- == 0 ? NULL : sn_memory_grow(items, room, need, size);
}

#define malloc faulty_malloc
#define calloc faulty_calloc
#define sn_memory_grow faulty_grow
#include "crawl/robots/match.c"
#include "crawl/robots/robots.c"
#undef malloc
#undef calloc
#undef sn_memory_grow

static void test_every_allocation(void **state)
{
    (void)state;
    char text[8192], path[4096];
    size_t len = (size_t)sprintf(text, "User-agent: *\n");
    for (int i = 0; i < 60; i++)
        len += (size_t)sprintf(text + len, "Disallow: /a%d\nSitemap: http://a/%d\n", i, i);
    int failures = 0;
    for (int n = 0;; n++) {
        until_failure = n;
        sn_robots *robots = sn_robots_parse(text, len, "bot");
        bool reached = until_failure < 0;
        assert_int_equal(robots != NULL, !reached);
        failures += robots == NULL;
        if (robots == NULL)
            continue;
        memset(path, 'x', sizeof path);
        path[0] = '/';
        until_failure = 0;
        assert_false(sn_robots_allowed(robots, path, sizeof path));
        until_failure = -1;
        assert_true(sn_robots_allowed(robots, path, sizeof path));
        sn_robots_destroy(robots);
        break;
    }
    assert_true(failures >= 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
