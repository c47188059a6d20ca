/* The fast path: what it must take, so that it stays fast, and what it must leave to the parser. */
#include "test_url_vectors.h"

static void takes(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "http://example.com/",
        "https://a/",
        "https://en.example.org/wiki/A_(b)?action=edit&x=%20y",
        "http://h:8080/a/.b/..c/d.",
        "http://h/%C3%A9?%C3%A9",
        "http://h//",
        "https://r1---x.a.b/",
        "http://a-b.c-d/?",
        "https://h:80/;v=1/@:!$&'()*+,=|[]~",
    };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        char with[256];
        size_t path = 0, len = strlen(urls[i]);
        if (sn_url_scan(urls[i], len, &path) != len)
            fail_msg("declined %s", urls[i]);
        assert_int_equal(urls[i][path], '/');
        snprintf(with, sizeof with, "%s#\x01 %%", urls[i]);
        assert_int_equal(sn_url_scan(with, strlen(with), &path), len);
    }
}

static void leaves(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "",
        "h",
        "http:",
        "http://h",
        "http:///a",
        "HTTP://h/",
        "http://H/",
        "http://h:80/",
        "https://h:443/",
        "http://h:08/",
        "http://h:/a",
        "http://h:65536/",
        "http://h:123456/",
        "http://u@h/",
        "http://h/.",
        "http://h/..",
        "http://h/./a",
        "http://h/a/../b",
        "http://h/..?",
        "http://h/.#",
        "http://h/%2e",
        "http://h/%41",
        "http://h/%c3",
        "http://h/%",
        "http://h/%2",
        "http://h/%4G",
        "http://h/a b",
        "http://h/\\",
        "http://h/^",
        "http://h/?'",
        "http://h/?%",
        "http://h/?%7E",
        "http://h/\t",
        "http://h/ ",
        "http://h/\x80",
        "http://1/",
        "http://a.1/",
        "http://a.0x1/",
        "http://[::1]/",
        "http://a!/",
        "http://a%41/",
        "https://\x80/",
        "httpx://a/bcd",
    };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        size_t path;
        if (sn_url_scan(urls[i], strlen(urls[i]), &path) != 0)
            fail_msg("took %s", urls[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(takes), cmocka_unit_test(leaves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
