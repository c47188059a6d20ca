/* Plain links: the answer of the parser, without it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "url/url.h"

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

/* In memory of its exact size, so that a sanitizer sees a step beyond it. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_plain_links),
        cmocka_unit_test(agrees_with_the_parser),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
