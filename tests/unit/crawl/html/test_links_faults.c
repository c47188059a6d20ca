/* Every allocation of the link finder fails in turn: feeding reports it, nothing leaks, and the
 * object is usable again after a reset. */
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

static void *faulty_calloc(size_t n, size_t size)
{
    return until_failure-- == 0 ? NULL : calloc(n, size);
}

static void *faulty_grow(void *items, size_t *room, size_t need, size_t size)
{
    return until_failure-- == 0 ? NULL : sn_memory_grow(items, room, need, size);
}

/* Includes the sources, with an allocator that fails on demand. */
#define calloc faulty_calloc
#define sn_memory_grow faulty_grow
#include "crawl/html/links.c"
#include "crawl/html/value.c"
#undef calloc
#undef sn_memory_grow

static size_t reported;

static void count(void *user, const sn_html_link *link)
{
    (void)user;
    assert_true(link->len == 1 || link->len == 3000);
    reported++;
}

static void test_every_allocation(void **state)
{
    (void)state;
    char page[8192];
    size_t len = (size_t)sprintf(page, "<a href=x><a href='");
    memset(page + len, 'y', 3000);
    len += 3000;
    len += (size_t)sprintf(page + len, "' rel=nofollow><a href=z>");
    int failures = 0;
    for (int n = 0;; n++) {
        until_failure = n;
        sn_links *links = sn_links_create(&(sn_links_options){.sink = count});
        bool ok = links != NULL && sn_links_feed(links, page, len);
        bool reached = until_failure < 0;
        until_failure = -1;
        assert_int_equal(ok, !reached);
        failures += !ok;
        if (links != NULL) {
            sn_links_reset(links);
            reported = 0;
            assert_true(sn_links_feed(links, page, len));
            assert_int_equal(reported, 3);
        }
        sn_links_destroy(links);
        if (ok)
            break;
    }
    assert_true(failures >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
