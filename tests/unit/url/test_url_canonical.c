/* The public functions: buffers, unusual arguments, parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test_url.h"
#include "url/url.h"

static seen_url_result canon_in(const char *url, const char *base, size_t capacity, size_t *len)
{
    /* Allocated to the byte, so that a sanitizer detects overruns. */
    char *out = malloc(capacity ? capacity : 1);
    seen_url_result result = seen_url_canonical(url, strlen(url), base, base ? strlen(base) : 0,
                                                NULL, out, capacity, len);
    free(out);
    return result;
}

static void capacities(void **state)
{
    (void)state;
    static const char *const urls[][3] = {
        {"http://example.com/a", NULL, "http://example.com/a"},
        {"http://example.com/%61", NULL, "http://example.com/a"},
        {"http://u:p@h:81/ ?\xc3", NULL, "http://u:p@h:81/%20?%C3"},
        {"HTTP://0x7f000001:080", NULL, "http://127.0.0.1/"},
        {"http://[0:0::1]:8080", NULL, "http://[::1]:8080/"},
        {"xyz?y", "http://h/a/b?c", "http://h/a/xyz?y"},
        {"x/../yy/./zzz/", "http://h/a/b", "http://h/a/yy/zzz/"},
        {"//x/.", "https://h/a/b?c", "https://x/"},
    };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        size_t url_len = strlen(urls[i][0]), base_len = urls[i][1] ? strlen(urls[i][1]) : 0;
        size_t need = 0, bound = SEEN_URL_BOUND(url_len, base_len);
        assert_int_equal(canon_in(urls[i][0], urls[i][1], bound, &need), SEEN_URL_OK);
        assert_int_equal(need, strlen(urls[i][2]));
        for (size_t capacity = 0; capacity < bound; capacity++) {
            size_t len = 0;
            seen_url_result result = canon_in(urls[i][0], urls[i][1], capacity, &len);
            if (capacity < need) {
                assert_int_equal(result, SEEN_URL_TOO_LONG);
                assert_true(len > capacity && len <= bound);
                assert_int_equal(canon_in(urls[i][0], urls[i][1], len, &len), SEEN_URL_OK);
            }
            assert_true(result == SEEN_URL_OK || result == SEEN_URL_TOO_LONG);
            if (result == SEEN_URL_OK)
                assert_int_equal(len, need);
        }
    }
}

/* The worst case: every byte becomes three. The returned capacity is sufficient for a second
 * try. */
static void bound_is_enough(void **state)
{
    (void)state;
    char url[2001] = "http://h/", base[2001] = "http://h/";
    memset(url + 9, 0x81, sizeof url - 10);
    memset(base + 9, 0x82, sizeof base - 10);
    base[sizeof base - 2] = '/';
    size_t len = 0, need = 0;
    assert_int_equal(canon_in(url, NULL, 1000, &len), SEEN_URL_TOO_LONG);
    assert_int_equal(canon_in(url, NULL, len, &need), SEEN_URL_OK);
    assert_int_equal(need, 9 + 3 * (strlen(url) - 9));
    assert_int_equal(canon_in(url + 9, base, 1000, &len), SEEN_URL_TOO_LONG);
    assert_int_equal(canon_in("x", base, 1000, &len), SEEN_URL_TOO_LONG);
    assert_int_equal(canon_in("x", base, len, &need), SEEN_URL_OK);
    memset(url, 'x', 2000);
    assert_int_equal(canon_in(url, base, 6000, &len), SEEN_URL_TOO_LONG);
    assert_int_equal(canon_in(url, base, len, &need), SEEN_URL_OK);
    assert_int_equal(need, 9 + 3 * (strlen(base) - 10) + 1 + 2000);
}

static void odd_arguments(void **state)
{
    (void)state;
    char out[64];
    size_t len = 12345;
    assert_int_equal(seen_url_canonical(NULL, 0, NULL, 0, NULL, out, sizeof out, &len),
                     SEEN_URL_INVALID);
    assert_int_equal(seen_url_canonical("x", 1, NULL, 99, NULL, out, sizeof out, &len),
                     SEEN_URL_INVALID);
    assert_int_equal(seen_url_canonical("x", 1, "", 0, NULL, out, sizeof out, &len),
                     SEEN_URL_INVALID);
    assert_int_equal(seen_url_canonical("a:b", 3, NULL, 0, NULL, NULL, 0, &len),
                     SEEN_URL_OTHER_SCHEME);
    assert_int_equal(len, 12345);
    assert_int_equal(seen_url_canonical("http://h/", 9, NULL, 0, NULL, NULL, 100, &len),
                     SEEN_URL_TOO_LONG);
    assert_int_equal(len, 9);
    assert_int_equal(seen_url_canonical(NULL, 0, "http://h/a", 10, NULL, out, sizeof out, &len), 0);
    assert_int_equal(len, 10);
    /* The bytes after len are not read. */
    assert_int_equal(seen_url_canonical("http://h/abc", 9, NULL, 0, NULL, out, sizeof out, &len),
                     0);
    assert_int_equal(len, 9);
}

static void part_is(const char *url, seen_url_span span, const char *text)
{
    assert_int_equal(span.len, strlen(text));
    assert_memory_equal(url + span.at, text, span.len);
}

static void parts(void **state)
{
    (void)state;
    static const struct {
        const char *url, *scheme, *userinfo, *host, *port, *path, *query;
        unsigned number;
        bool has_query;
    } cases[] = {
        {"http://h/", "http", "", "h", "", "/", "", 80, false},
        {"https://h/?", "https", "", "h", "", "/", "", 443, true},
        {"http://u:8@h:8080/a/b?c?d", "http", "u:8", "h", "8080", "/a/b", "c?d", 8080, true},
        {"https://[::1]/@:/?@", "https", "", "[::1]", "", "/@:/", "@", 443, true},
        {"https://[::1]:81/", "https", "", "[::1]", "81", "/", "", 81, false},
        {"http://127.0.0.1/x", "http", "", "127.0.0.1", "", "/x", "", 80, false},
        {"http://h1:0/", "http", "", "h1", "0", "/", "", 0, false},
        {"http://1.2.3.4:65535/", "http", "", "1.2.3.4", "65535", "/", "", 65535, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *url = cases[i].url;
        seen_url_parts p;
        assert_string_equal(canon(url, NULL), url);
        assert_int_equal(seen_url_split(url, strlen(url), &p), SEEN_URL_OK);
        part_is(url, p.scheme, cases[i].scheme);
        part_is(url, p.userinfo, cases[i].userinfo);
        part_is(url, p.host, cases[i].host);
        part_is(url, p.port, cases[i].port);
        part_is(url, p.path, cases[i].path);
        part_is(url, p.query, cases[i].query);
        assert_int_equal(p.port_number, cases[i].number);
        assert_int_equal(p.has_query, cases[i].has_query);
    }
}

static void no_parts(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "",
        "h",
        "http://",
        "http:///",
        "http://h",
        "ftp://h/aaaa",
        "http:/h/a",
        "http://h?",
        "http://:80/",
        "http://u@/",
        "http://h:123456/",
        "http://h:65536/",
        "http://h:/aaa",
        "httpx://h/",
    };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        seen_url_parts p = {.port_number = 7};
        if (seen_url_split(urls[i], strlen(urls[i]), &p) != SEEN_URL_INVALID)
            fail_msg("%s has parts", urls[i]);
        assert_int_equal(p.port_number, 7);
    }
}

static int run_url_canonical(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capacities),    cmocka_unit_test(bound_is_enough),
        cmocka_unit_test(odd_arguments), cmocka_unit_test(parts),
        cmocka_unit_test(no_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- url_relative ---- */

/* Simple links: the same result as the parser. */

static uint64_t seed = 88172645463325252u;

static unsigned below(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % n;
}

static size_t parse(const char *href, size_t len, const char *base, char *out, size_t room)
{
    size_t n = 0;
    if (seen_url_canonical(href, len, base, base == NULL ? 0 : strlen(base), NULL, out, room, &n) !=
        SEEN_URL_OK)
        return 0;
    out[n] = '\0';
    return n;
}

/* In an allocation of the exact size, so that a sanitizer detects overruns. */
static size_t resolve(const char *href, const char *base, char *out)
{
    size_t len = strlen(href), base_len = strlen(base);
    char *a = malloc(len + 1), *b = malloc(base_len + 1), *c = malloc(len + base_len);
    assert_true(a != NULL && b != NULL && c != NULL);
    memcpy(a, href, len);
    memcpy(b, base, base_len);
    size_t n = sn_url_relative(a, len, b, base_len, c);
    assert_true(n <= len + base_len);
    memcpy(out, c, n);
    out[n] = '\0';
    free(a);
    free(b);
    free(c);
    return n;
}

static void takes_plain_links(void **state)
{
    static const struct {
        const char *base, *href, *url; /* NULL: to be parsed */
    } cases[] = {
        {"http://h/a/b.html", "c.html", "http://h/a/c.html"},
        {"http://h/a/b.html", "../c.html", "http://h/c.html"},
        {"http://h/a/b.html", "../../../c/", "http://h/c/"},
        {"http://h/a/b.html", "..", "http://h/"},
        {"http://h/a/b.html", ".", "http://h/a/"},
        {"http://h/a/b.html", "./c/./d/../e", "http://h/a/c/e"},
        {"http://h/a/b.html", "/", "http://h/"},
        {"http://h/a/b.html", "/c/..", "http://h/"},
        {"https://h:8443/a//b?x/y", "c", "https://h:8443/a//c"},
        {"https://h:8443/a//b?x/y", "../c", "https://h:8443/a/c"},
        {"https://u@h/", "...", "https://u@h/..."},
        {"http://h/", "..a", "http://h/..a"},
        {"http://h/a", "", NULL},
        {"http://h/a", "//b", NULL},
        {"http://h/a", "b//c", NULL},
        {"http://h/a", "b:c", NULL},
        {"http://h/a", "%41", NULL},
        {"http://h/a", "b?c", NULL},
        {"http://h/a", "b c", NULL},
        {"http://h/a", "b\\c", NULL},
        {"http://h/a", "\xc3\xa9", NULL},
    };
    char out[300];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t n = resolve(cases[i].href, cases[i].base, out);
        if (cases[i].url == NULL)
            assert_int_equal(n, 0);
        else
            assert_string_equal(out, cases[i].url);
    }
}

static void make(char *out, const char *alphabet, unsigned len)
{
    unsigned letters = (unsigned)strlen(alphabet);
    for (; len > 0; len--)
        *out++ = alphabet[below(letters)];
    *out = '\0';
}

static void agrees_with_the_parser(void **state)
{
    static const char *const starts[] = {"http://h", "https://www.example.org", "http://h:81",
                                         "http://u:p@h", "https://[::1]"};
    unsigned plain = 0;
    (void)state;
    for (int i = 0; i < 200000; i++) {
        char text[100], tail[40], base[400], href[40], ours[500], theirs[500];
        make(tail, "ab/./.;%?=-", below(16));
        snprintf(text, sizeof text, "%s/%s", starts[below(5)], tail);
        if (parse(text, strlen(text), NULL, base, sizeof base) == 0)
            continue;
        make(href, below(4) == 0 ? "a./:?#%\\ @&" : "aZ9./../-_~", below(14));
        if (resolve(href, base, ours) == 0)
            continue;
        plain++;
        assert_true(parse(href, strlen(href), base, theirs, sizeof theirs) > 0);
        if (strcmp(ours, theirs) != 0)
            fail_msg("<%s> + <%s>: %s, not %s", base, href, ours, theirs);
    }
    assert_true(plain > 30000);
}

static int run_url_relative(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_plain_links),
        cmocka_unit_test(agrees_with_the_parser),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    int status[] = {run_url_canonical(), run_url_relative()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
