/* The cache of links that were offered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "crawl/links/link_cache.h"

static void remembers(void **state)
{
    (void)state;
    sn_link_cache *cache = sn_link_cache_create();
    assert_non_null(cache);
    seen_hash hash = {7, 8}, near = {8, 8}, far = {7, 9};
    assert_false(sn_link_cache_add(cache, hash));
    assert_true(sn_link_cache_add(cache, hash));
    assert_false(sn_link_cache_add(cache, far));
    assert_true(sn_link_cache_add(cache, hash));
    assert_false(sn_link_cache_add(cache, near)); /* in the same slot */
    assert_false(sn_link_cache_add(cache, hash));
    sn_link_cache_clear(cache);
    assert_false(sn_link_cache_add(cache, far));
    sn_link_cache_destroy(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(remembers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
