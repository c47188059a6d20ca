/* Every allocation of a scope fails in turn: it is not made, or the seed is not added, and nothing
 * leaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int until_failure = -1;

static void *faulty_calloc(size_t n, size_t size)
{
    return until_failure-- == 0 ? NULL : calloc(n, size);
}

static char *faulty_strndup(const char *text, size_t len)
{
    return until_failure-- == 0 ? NULL : strndup(text, len);
}

#define calloc faulty_calloc
#define strndup faulty_strndup
#include "crawl/links/scope.c"
#undef calloc
#undef strndup

static bool make_and_ask(void)
{
    static const char *const patterns[] = {"a"};
    char message[64] = "", url[32];
    sn_scope_options options = {.include = patterns, .include_count = 1};
    sn_scope *scope = sn_scope_create(&options, message, sizeof message);
    if (scope == NULL)
        assert_string_equal(message, "out of memory");
    bool ok = scope != NULL;
    for (int i = 0; i < 20 && ok; i++) {
        int len = snprintf(url, sizeof url, "http://a%d/", i);
        ok = sn_scope_add_seed(scope, url, (size_t)len);
        sn_scope_verdict want = ok ? SN_SCOPE_IN : SN_SCOPE_OTHER_HOST;
        assert_int_equal(sn_scope_check(scope, url, (size_t)len), want);
    }
    sn_scope_destroy(scope);
    return ok;
}

static void test_every_allocation(void **state)
{
    (void)state;
    int failures = 0;
    for (int n = 0;; n++) {
        until_failure = n;
        bool ok = make_and_ask();
        assert_int_equal(ok, until_failure >= 0);
        failures += !ok;
        if (ok)
            break;
    }
    until_failure = -1;
    assert_true(failures >= 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
