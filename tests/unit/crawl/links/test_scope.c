/* Which URLs belong to a crawl. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crawl/links/link_cache.h"
#include "crawl/links/scope.h"

static sn_scope *make(const sn_scope_options *options, const char *seed)
{
    char message[256] = "";
    sn_scope *scope = sn_scope_create(options, message, sizeof message);
    if (scope == NULL)
        fail_msg("%s", message);
    assert_true(sn_scope_add_seed(scope, seed, strlen(seed)));
    return scope;
}

static sn_scope_verdict check(const sn_scope *scope, const char *url)
{
    /* Not NUL-terminated, so that a sanitizer detects reads beyond it. */
    size_t len = strlen(url);
    char *copy = malloc(len + (len == 0));
    assert_non_null(copy);
    memcpy(copy, url, len);
    sn_scope_verdict verdict = sn_scope_check(scope, copy, len);
    free(copy);
    return verdict;
}

static void test_host(void **state)
{
    (void)state;
    sn_scope *scope = make(&(sn_scope_options){.kind = SN_SCOPE_HOST}, "https://example.org/a");
    assert_int_equal(check(scope, "https://example.org/"), SN_SCOPE_IN);
    assert_int_equal(check(scope, "http://example.org/b?c"), SN_SCOPE_IN);
    assert_int_equal(check(scope, "https://example.org"), SN_SCOPE_IN);
    assert_int_equal(check(scope, "https://example.org?x"), SN_SCOPE_IN);
    assert_int_equal(check(scope, "https://u:p@example.org/"), SN_SCOPE_IN);
    assert_int_equal(check(scope, "https://example.org:8443/"), SN_SCOPE_OTHER_HOST);
    assert_int_equal(check(scope, "https://www.example.org/"), SN_SCOPE_OTHER_HOST);
    assert_int_equal(check(scope, "https://example.org@evil.example/"), SN_SCOPE_OTHER_HOST);
    assert_int_equal(check(scope, "https://evil.example/https://example.org/"),
                     SN_SCOPE_OTHER_HOST);
    assert_int_equal(check(scope, "https://example.organic/"), SN_SCOPE_OTHER_HOST);
    assert_int_equal(check(scope, "ftp://example.org/"), SN_SCOPE_NOT_HTTP);
    assert_int_equal(check(scope, "mailto:x@example.org"), SN_SCOPE_NOT_HTTP);
    assert_int_equal(check(scope, "http:///"), SN_SCOPE_NOT_HTTP);
    assert_int_equal(check(scope, ""), SN_SCOPE_NOT_HTTP);
    assert_false(sn_scope_add_seed(scope, "ftp://x/", 8));
    sn_scope_destroy(scope);
    scope = make(&(sn_scope_options){.kind = SN_SCOPE_HOST}, "http://[::1]:8080/");
    assert_int_equal(check(scope, "http://[::1]:8080/x"), SN_SCOPE_IN);
    assert_int_equal(check(scope, "http://[::1]/x"), SN_SCOPE_OTHER_HOST);
    sn_scope_destroy(scope);
    char message[64];
    scope = sn_scope_create(&(sn_scope_options){.kind = SN_SCOPE_HOST}, message, sizeof message);
    assert_non_null(scope);
    assert_int_equal(check(scope, "http://a/"), SN_SCOPE_OTHER_HOST);
    sn_scope_destroy(scope);
}

static void test_many_seeds(void **state)
{
    (void)state;
    sn_scope *scope = make(&(sn_scope_options){.kind = SN_SCOPE_HOST}, "http://h0/");
    char url[64];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 2000; i += 2) {
            snprintf(url, sizeof url, "http://h%d/", i);
            assert_true(sn_scope_add_seed(scope, url, strlen(url)));
        }
    for (int i = 0; i < 2000; i++) {
        snprintf(url, sizeof url, "http://h%d/x", i);
        assert_int_equal(check(scope, url), i % 2 ? SN_SCOPE_OTHER_HOST : SN_SCOPE_IN);
    }
    sn_scope_destroy(scope);
}

static void test_domain(void **state)
{
    (void)state;
    static const struct {
        const char *seed, *url;
        bool in;
    } cases[] = {
        {"http://www.example.co.uk/", "https://shop.example.co.uk:8443/", true},
        {"http://www.example.co.uk/", "http://example.co.uk/", true},
        {"http://www.example.co.uk/", "http://other.co.uk/", false},
        {"http://a.github.io/", "http://b.github.io/", false},
        {"http://a.github.io/", "http://x.a.github.io/", true},
        {"http://localhost/", "http://localhost:81/", true},
        {"http://localhost/", "http://other/", false},
        {"http://127.0.0.1/", "http://127.0.0.1:81/", true},
        {"http://127.0.0.1/", "http://128.0.0.1/", false},
        {"http://127.0.0.1/", "http://126.1.0.1/", false},
        {"http://[::1]/", "http://[::1]:81/", true},
        {"http://[::1]/", "http://[::2]/", false},
        {"http://co.uk/", "http://co.uk/x", true},
        {"http://co.uk/", "http://example.co.uk/", false},
        {"http://a.xn--85x722f.com.cn/", "http://b.xn--85x722f.com.cn/", true},
    };
    char message[256];
    sn_scope_options options = {.kind = SN_SCOPE_DOMAIN};
    sn_scope *known = sn_scope_create(&options, message, sizeof message);
    if (known == NULL) {
        print_message("skipped: %s\n", message);
        skip();
    }
    sn_scope_destroy(known);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sn_scope *scope = make(&options, cases[i].seed);
        if ((check(scope, cases[i].url) == SN_SCOPE_IN) != cases[i].in)
            fail_msg("%s and %s", cases[i].seed, cases[i].url);
        sn_scope_destroy(scope);
    }
    char url[1024] = "http://";
    memset(url + 7, 'a', 600);
    strcpy(url + 607, ".example/");
    sn_scope *scope = make(&options, url);
    assert_int_equal(check(scope, url), SN_SCOPE_IN);
    assert_int_equal(check(scope, "http://b.example/"), SN_SCOPE_OTHER_HOST);
    sn_scope_destroy(scope);
}

static void test_expressions(void **state)
{
    (void)state;
    static const char *const include[] = {"/docs/", "\\.html$"};
    static const char *const exclude[] = {"\\?.*sort=", "^https?://[^/]*/private"};
    sn_scope *scope = make(&(sn_scope_options){.kind = SN_SCOPE_HOST,
                                               .include = include,
                                               .include_count = 2,
                                               .exclude = exclude,
                                               .exclude_count = 2},
                           "http://a/");
    assert_int_equal(check(scope, "http://a/docs/x"), SN_SCOPE_IN);
    assert_int_equal(check(scope, "http://a/x.html"), SN_SCOPE_IN);
    assert_int_equal(check(scope, "http://a/x.htm"), SN_SCOPE_NOT_INCLUDED);
    assert_int_equal(check(scope, "http://a/docs/?sort=1"), SN_SCOPE_EXCLUDED);
    assert_int_equal(check(scope, "http://a/private/docs/"), SN_SCOPE_EXCLUDED);
    assert_int_equal(check(scope, "http://b/docs/"), SN_SCOPE_OTHER_HOST);
    sn_scope_destroy(scope);

    static const char *const wrong[] = {"ok", "a(b"};
    char message[256] = "";
    assert_null(sn_scope_create(&(sn_scope_options){.include = wrong, .include_count = 2}, message,
                                sizeof message));
    assert_non_null(strstr(message, "\"a(b\""));
    assert_null(sn_scope_create(&(sn_scope_options){.exclude = wrong, .exclude_count = 2}, message,
                                sizeof message));
    char long_one[SN_SCOPE_PATTERN_MAX + 2];
    memset(long_one, 'a', sizeof long_one);
    long_one[sizeof long_one - 1] = '\0';
    const char *const too_long[] = {long_one};
    assert_null(sn_scope_create(&(sn_scope_options){.include = too_long, .include_count = 1},
                                message, sizeof message));
    assert_non_null(strstr(message, "longer"));
    assert_null(sn_scope_create(&(sn_scope_options){.include_count = 100000}, message, 8));
}

static void test_limits(void **state)
{
    (void)state;
    sn_scope *scope = make(
        &(sn_scope_options){.kind = SN_SCOPE_ALL, .url_max = 40, .depth_max = 4, .repeat_max = 2},
        "http://a/");
    assert_int_equal(check(scope, "http://b/1/2/3/4"), SN_SCOPE_IN);
    assert_int_equal(check(scope, "http://b/1/2/3/4/"), SN_SCOPE_IN);
    assert_int_equal(check(scope, "http://b/1/2/3/4/5"), SN_SCOPE_TOO_DEEP);
    assert_int_equal(check(scope, "http://b/1/2/3/4?/5/6"), SN_SCOPE_IN);
    assert_int_equal(check(scope, "http://b/1/2/1"), SN_SCOPE_IN);
    assert_int_equal(check(scope, "http://b/1/1/2/1"), SN_SCOPE_REPEATS);
    assert_int_equal(check(scope, "http://b/12/1/1/1x"), SN_SCOPE_IN);
    assert_int_equal(check(scope, "http://b////x"), SN_SCOPE_REPEATS);
    assert_int_equal(check(scope, "http://b"), SN_SCOPE_IN);
    assert_int_equal(check(scope, "http://b/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"), SN_SCOPE_IN);
    assert_int_equal(check(scope, "http://b/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"), SN_SCOPE_TOO_LONG);
    sn_scope_destroy(scope);

    scope = make(&(sn_scope_options){.kind = SN_SCOPE_ALL}, "http://a/");
    char url[8 + 2 * SN_SCOPE_SEGMENTS_MAX + 8] = "http://a";
    for (int i = 0; i < SN_SCOPE_SEGMENTS_MAX; i++)
        strcat(url, "/x");
    assert_int_equal(check(scope, url), SN_SCOPE_IN);
    strcat(url, "/x");
    assert_int_equal(check(scope, url), SN_SCOPE_TOO_DEEP);
    static char longest[SN_SCOPE_URL_MAX + 2] = "http://a/";
    memset(longest + 9, 'x', SN_SCOPE_URL_MAX - 9);
    assert_int_equal(check(scope, longest), SN_SCOPE_IN);
    longest[SN_SCOPE_URL_MAX] = 'x';
    assert_int_equal(check(scope, longest), SN_SCOPE_TOO_LONG);
    sn_scope_destroy(scope);
}

static int run_scope(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host),   cmocka_unit_test(test_many_seeds),
        cmocka_unit_test(test_domain), cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- scope_faults ---- */

/* Every allocation of a scope fails in turn: it is not created, or the seed is not added, and
 * nothing leaks. */

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

static int run_scope_faults(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- link_cache ---- */

/* The cache of links that were offered. */

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

static int run_link_cache(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(remembers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    int status[] = {run_scope(), run_scope_faults(), run_link_cache()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
