/* robots.txt: the examples of RFC 9309 and hand-written files, and the fast matcher compared with a
 * slow, obviously correct one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/memory.h"
#include "crawl/robots/internal.h"
#include "crawl/robots/robots.h"

static sn_robots *parse(const char *text)
{
    /* A separate copy, so that a sanitizer detects reads beyond the file. */
    size_t len = strlen(text);
    char *copy = malloc(len + (len == 0));
    assert_non_null(copy);
    memcpy(copy, text, len);
    sn_robots *robots = sn_robots_parse(copy, len, "SeenBot/1.0");
    free(copy);
    assert_non_null(robots);
    return robots;
}

static bool allowed(const char *text, const char *path)
{
    sn_robots *robots = parse(text);
    bool answer = sn_robots_allowed(robots, path, strlen(path));
    sn_robots_destroy(robots);
    return answer;
}

#define ALL "User-agent: *\n"

static void test_longest_match(void **state)
{
    (void)state;
    static const char rfc[] = ALL "Allow: /example/page/\nDisallow: /example/page/disallowed.gif\n";
    assert_true(allowed(rfc, "/example/page/x"));
    assert_false(allowed(rfc, "/example/page/disallowed.gif"));
    assert_true(allowed(ALL "Disallow: /p\nAllow: /p\n", "/p"));
    assert_true(allowed(ALL "Allow: /p\nDisallow: /p\n", "/p"));
    assert_true(allowed(ALL "Disallow: /\nAllow: /p\n", "/page"));
    assert_false(allowed(ALL "Disallow: /\nAllow: /p\n", "/x"));
    assert_false(allowed(ALL "Allow: /fold\nDisallow: /folder\n", "/folder/page"));
    assert_true(allowed(ALL "Allow: /page\nDisallow: /*.htm\n", "/page"));
    assert_false(allowed(ALL "Allow: /page\nDisallow: /*.html\n", "/page.html"));
    assert_true(allowed(ALL "Allow: /page\nDisallow: /*.ph\n", "/page.php"));
    assert_false(allowed(ALL "Allow: /page\nDisallow: /*.ph$\n", "/page.ph"));
    assert_true(allowed(ALL "Allow: /$\nDisallow: /\n", "/"));
    assert_false(allowed(ALL "Allow: /$\nDisallow: /\n", "/x"));
    assert_true(allowed("", "/x"));
    assert_true(allowed(ALL "Disallow:\n", "/x"));
    assert_false(allowed(ALL "Disallow: /\n", "/x"));
    assert_true(allowed(ALL "Disallow: /\n", "/robots.txt"));
    assert_true(allowed(ALL "Disallow: /x\n", "/X"));
}

static void test_wildcards(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *path;
        bool match;
    } cases[] = {
        {"/fish", "/fish.html", true},
        {"/fish", "/Fish.asp", false},
        {"/fish*", "/fishheads", true},
        {"/fish/", "/fish", false},
        {"/*.php", "/folder/a.php5?x", true},
        {"/*.php", "/windows.PHP", false},
        {"/*.php$", "/a.php", true},
        {"/*.php$", "/a.php?x", false},
        {"/*.php$", "/a.php/b.php", true},
        {"/fish*.php", "/fishheads/catfish.php?x", true},
        {"/fish*.php", "/Fish.PHP", false},
        {"*", "/x", true},
        {"*.gif$", "/a/b.gif", true},
        {"*$", "/x", true},
        {"/a*b*c", "/a-b-b-c-d", true},
        {"/a*b*c$", "/a-b-c-c", true},
        {"/a*b*c$", "/a-b-c-d", false},
        {"/a*ab$", "/ab", false},
        {"/a*ab$", "/aab", true},
        {"/a$b", "/a$b", true},
        {"/a$b", "/a", false},
        {"/a%24", "/a$", true},
        {"/a%24", "/a", false},
        {"/a%2A", "/a*b", true},
        {"/a%2A", "/ab", false},
        {"/a**b", "/axxb", true},
        {"/a*", "/a", true},
        {"/?*x", "/?yx", true},
        {"/a$$", "/a$", true},
        {"/a*$", "/abc", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, ALL "Disallow: %s\n", cases[i].pattern);
        if (allowed(text, cases[i].path) == cases[i].match)
            fail_msg("%s and %s", cases[i].pattern, cases[i].path);
    }
}

static void test_percent_encoding(void **state)
{
    (void)state;
    assert_false(allowed(ALL "Disallow: /foo/bar/%62%61%7A", "/foo/bar/baz"));
    assert_false(allowed(ALL "Disallow: /foo/bar/baz", "/foo/bar/%62%61%7a"));
    assert_false(allowed(ALL "Disallow: /foo/bar/\xe3\x83\x84", "/foo/bar/%E3%83%84"));
    assert_false(allowed(ALL "Disallow: /foo/bar/%e3%83%84", "/foo/bar/%E3%83%84"));
    assert_true(allowed(ALL "Disallow: /a%2Fb", "/a/b"));
    assert_false(allowed(ALL "Disallow: /a%2fb", "/a%2Fb"));
    assert_false(allowed(ALL "Disallow: /a b", "/a%20b"));
    assert_false(allowed(ALL "Disallow: /100%", "/100%25"));
    /* Invalid escapes are literal, and "*" does not end within an escape. */
    assert_false(allowed(ALL "Disallow: /%zz", "/%zz"));
    assert_true(allowed(ALL "Disallow: /%zz", "/%25zz"));
    assert_false(allowed(ALL "Disallow: /*%", "/x%20y"));
    assert_true(allowed(ALL "Disallow: /*24", "/price$"));
    assert_false(allowed(ALL "Disallow: /*24", "/24"));
    assert_true(allowed(ALL "Disallow: /*Calendar", "/x|alendar"));
    assert_true(allowed(ALL "Disallow: /*0$", "/a%20"));
    assert_false(allowed(ALL "Disallow: /a?b=c&d", "/a?b=c&d=e"));
}

static void test_groups(void **state)
{
    (void)state;
    static const char two[] = "User-agent: *\nDisallow: /\n\nUser-agent: seenbot\nDisallow: /a\n";
    assert_true(allowed(two, "/b"));
    assert_false(allowed(two, "/a"));
    /* The same agent twice is one group. */
    static const char merged[] = "User-agent: SEENBOT\nDisallow: /a\nUser-agent: x\nDisallow: /x\n"
                                 "User-agent: seenbot/2.0\nDisallow: /b\n";
    assert_false(allowed(merged, "/a"));
    assert_false(allowed(merged, "/b"));
    assert_true(allowed(merged, "/x"));
    /* Several agents share the rules that follow, regardless of the lines between them. */
    static const char shared[] = "User-agent: x\nSitemap: y\n\nUser-agent: seenbot\nDisallow: /a\n";
    assert_false(allowed(shared, "/a"));
    static const char reversed[] = "User-agent: seenbot\nfoo: bar\nUser-agent: x\nDisallow: /a\n";
    assert_false(allowed(reversed, "/a"));
    /* A matching group without rules still overrides the rules for others. */
    assert_true(allowed("User-agent: seenbot\n\nUser-agent: *\nDisallow:\nUser-agent: *\n"
                        "Disallow: /\n",
                        "/a"));
    assert_true(allowed("User-agent: seenbot\nDisallow:\nUser-agent: *\nDisallow: /\n", "/a"));
    assert_true(allowed("Disallow: /\n", "/a"));
    assert_true(allowed("User-agent: seenbots\nDisallow: /\n", "/a"));
    assert_true(allowed("User-agent: seen\nDisallow: /\n", "/a"));
    assert_true(allowed("User-agent:\nDisallow: /\n", "/a"));
    assert_true(allowed("User-agent: *x\nDisallow: /\n", "/a"));
    assert_false(allowed("User-agent: * all\nDisallow: /\n", "/a"));
}

static void test_lines(void **state)
{
    (void)state;
    assert_false(allowed("\xef\xbb\xbfUser-agent: *\nDisallow: /a\n", "/a"));
    assert_false(allowed("User-agent: *\rDisallow: /a\r", "/a"));
    assert_false(allowed("User-agent: *\r\n\r\nDisallow: /a", "/a"));
    assert_false(allowed("  USER-AGENT\t:  *  # all\n\t disallow :/a#x\n", "/a"));
    assert_true(allowed(ALL "Disallow: #/a\n", "/a"));
    assert_true(allowed(ALL "#Disallow: /a\n", "/a"));
    /* Misspellings that Google accepts. */
    assert_false(allowed(ALL "Disallow /a\n", "/a"));
    assert_true(allowed(ALL "Disallow /a b\n", "/a"));
    assert_false(allowed("User Agent: *\nDisalow: /a\n", "/a"));
    assert_false(allowed("useragent: *\nDissallow: /a\n", "/a"));
    assert_true(allowed(ALL "Disallow: a\n", "/a"));
    assert_true(allowed("<html><body>404: not found</body></html>", "/a"));
}

static void test_crawl_delay(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms; /* -1: none */
    } cases[] = {
        {ALL "Crawl-delay: 10\n", 10000},
        {ALL "crawl-delay: 0.5\n", 500},
        {ALL "crawl-delay: .12345\n", 123},
        {ALL "crawl-delay: 2.\n", 2000},
        {ALL "crawl-delay: 0\n", 0},
        {ALL "crawl-delay: -1\n", -1},
        {ALL "crawl-delay: .\n", -1},
        {ALL "crawl-delay: 1.2.3\n", -1},
        {ALL "crawl-delay: nan\n", -1},
        {ALL "crawl-delay:\n", -1},
        {ALL "crawl-delay: 99999999999999999999999999\n", 1000000000000},
        {ALL "crawl-delay: 3\ncrawl-delay: 2\n", 3000},
        {ALL "crawl-delay: 3\nDisallow: /\nUser-agent: seenbot\ncrawl-delay: 1\n", 1000},
        {"User-agent: other\nDisallow: /\ncrawl-delay: 3\n", -1},
        {"crawl-delay: 3\n", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sn_robots *robots = parse(cases[i].text);
        uint64_t ms = 0;
        bool has = sn_robots_crawl_delay(robots, &ms);
        if ((has ? (int64_t)ms : -1) != cases[i].ms)
            fail_msg("%s: %d %d", cases[i].text, has, (int)ms);
        sn_robots_destroy(robots);
    }
}

static void test_nofollow_by_header(void **state)
{
    (void)state;
    static const char *const yes[] = {
        "nofollow",
        "none",
        " NoFollow ",
        "noindex,\tnofollow",
        "seenbot: nofollow",
        "SEENBOT : noindex, none",
        "otherbot: noindex, seenbot: nofollow",
        "unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow",
        "unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, nofollow",
        "seenbot: unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, none",
        "Unavailable_After:Friday,25-Jun-10 15:00:00 GMT,none",
        "max-snippet:20,nofollow"};
    static const char *const no[] = {
        "",
        ",",
        "noindex",
        "nofollowed",
        "no follow",
        "otherbot: nofollow",
        "otherbot: noindex, nofollow",
        "seen: nofollow",
        "seenbot: noindex, otherbot: none",
        ": nofollow",
        "nofollow:",
        "unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT",
        "unavailable_after: never, 1bot: nofollow",
        "otherbot: unavailable_after: Fri, 1 Jun 2010 15:00:00 GMT, none"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        if (!sn_robots_nofollow(yes[i], strlen(yes[i]), "SeenBot/1.0 (nofollow)"))
            fail_msg("followed in spite of %s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        if (sn_robots_nofollow(no[i], strlen(no[i]), "SeenBot/1.0 (nofollow)"))
            fail_msg("not followed because of %s", no[i]);
    assert_int_equal(sn_robots_token("SeenBot/1.0"), 7);
    assert_int_equal(sn_robots_token("a-b_c d"), 5);
    assert_int_equal(sn_robots_token("1.0"), 0);
}

static void test_sitemaps(void **state)
{
    (void)state;
    sn_robots *robots =
        parse("Sitemap: http://a/1.xml\n" ALL "Disallow: /\nsitemap:http://a/2 # x\n"
              "User-agent: other\nSITEMAP : http://a/3\nsitemap:\n");
    static const char *const want[] = {"http://a/1.xml", "http://a/2", "http://a/3"};
    size_t len = 0;
    for (size_t i = 0; i < 3; i++) {
        const char *url = sn_robots_sitemap(robots, i, &len);
        assert_non_null(url);
        assert_int_equal(len, strlen(want[i]));
        assert_memory_equal(url, want[i], len);
    }
    assert_null(sn_robots_sitemap(robots, 3, &len));
    sn_robots_destroy(robots);
}

/* 500 KiB must be read; beyond the maximum, whole lines are ignored, so that no rule is
 * truncated. */
static void test_size(void **state)
{
    (void)state;
    size_t room = SN_ROBOTS_MAX + 4096, len = 0;
    char *text = malloc(room);
    assert_non_null(text);
    len += (size_t)sprintf(text, ALL);
    while (len < SN_ROBOTS_MAX - 64)
        len += (size_t)sprintf(text + len, "# nothing to see in this line\n");
    len += (size_t)sprintf(text + len, "Disallow: /in\n");
    while (len < SN_ROBOTS_MAX - 10)
        text[len++] = '\n';
    len += (size_t)sprintf(text + len, "Disallow: /a/b/c\nDisallow: /out\n");
    sn_robots *robots = sn_robots_parse(text, len, "seenbot");
    assert_non_null(robots);
    assert_false(sn_robots_allowed(robots, "/in", 3));
    assert_true(sn_robots_allowed(robots, "/out", 4));
    assert_true(sn_robots_allowed(robots, "/a/b/c", 6));
    assert_true(sn_robots_allowed(robots, "/", 1));
    sn_robots_destroy(robots);
    memset(text, 'x', room);
    robots = sn_robots_parse(text, room, "seenbot");
    assert_non_null(robots);
    sn_robots_destroy(robots);
    free(text);
}

static void test_policy(void **state)
{
    (void)state;
    assert_int_equal(sn_robots_policy(200), SN_ROBOTS_PARSE);
    assert_int_equal(sn_robots_policy(299), SN_ROBOTS_PARSE);
    assert_int_equal(sn_robots_policy(301), SN_ROBOTS_REDIRECTED);
    assert_int_equal(sn_robots_policy(400), SN_ROBOTS_ALLOW_ALL);
    assert_int_equal(sn_robots_policy(403), SN_ROBOTS_ALLOW_ALL);
    assert_int_equal(sn_robots_policy(404), SN_ROBOTS_ALLOW_ALL);
    assert_int_equal(sn_robots_policy(499), SN_ROBOTS_ALLOW_ALL);
    assert_int_equal(sn_robots_policy(500), SN_ROBOTS_DISALLOW_ALL);
    assert_int_equal(sn_robots_policy(503), SN_ROBOTS_DISALLOW_ALL);
    assert_int_equal(sn_robots_policy(0), SN_ROBOTS_DISALLOW_ALL);
    assert_int_equal(sn_robots_policy(100), SN_ROBOTS_DISALLOW_ALL);
    assert_int_equal(sn_robots_policy(600), SN_ROBOTS_DISALLOW_ALL);
}

/* ---- slow matcher ---- */

static bool slow_match(const char *pattern, size_t m, const char *path, size_t n)
{
    if (m == 0)
        return true;
    if (m == 1 && *pattern == '$')
        return n == 0;
    if (*pattern == '*')
        return slow_match(pattern + 1, m - 1, path, n) ||
               (n > 0 && slow_match(pattern, m, path + 1, n - 1));
    return n > 0 && *pattern == *path && slow_match(pattern + 1, m - 1, path + 1, n - 1);
}

static uint64_t seed = 20260102;

static uint64_t dice(uint64_t sides)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % sides;
}

static size_t random_text(char *to, const char *letters, size_t most)
{
    size_t len = 1 + (size_t)dice(most);
    to[0] = '/';
    for (size_t i = 1; i < len; i++)
        to[i] = letters[dice(strlen(letters))];
    to[len] = '\0';
    return len;
}

static void test_against_slow(void **state)
{
    (void)state;
    size_t both[2] = {0, 0};
    for (int round = 0; round < 5000; round++) {
        char text[4096] = ALL, patterns[12][16], path[16];
        bool allow[12];
        size_t count = 1 + (size_t)dice(12), len = strlen(text);
        for (size_t i = 0; i < count; i++) {
            size_t n = random_text(patterns[i], "aab/*", 9);
            if (dice(5) == 0)
                strcpy(patterns[i] + n, "$");
            allow[i] = dice(2);
            len += (size_t)sprintf(text + len, "%s: %s\n", allow[i] ? "Allow" : "Disallow",
                                   patterns[i]);
        }
        sn_robots *robots = parse(text);
        for (int k = 0; k < 10; k++) {
            size_t n = random_text(path, "aab/", 10);
            size_t best = 0;
            bool answer = true;
            for (size_t i = 0; i < count; i++) {
                char normal[64];
                size_t m = sn_robots_normal(patterns[i], strlen(patterns[i]), true, normal);
                if (!slow_match(normal, m, path, n) || m < best)
                    continue;
                answer = m > best ? allow[i] : answer || allow[i];
                best = m;
            }
            both[answer]++;
            if (sn_robots_allowed(robots, path, n) != answer)
                fail_msg("%s%s", text, path);
        }
        sn_robots_destroy(robots);
    }
    assert_true(both[0] > 5000 && both[1] > 5000);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Patterns that a backtracking matcher would never finish, and the maximum number of rules in a
 * file. */
static void test_hostile(void **state)
{
    (void)state;
    char *text = malloc(SN_ROBOTS_MAX), path[4096];
    assert_non_null(text);
    size_t len = (size_t)sprintf(text, ALL "Disallow: /");
    while (len < 400000)
        len += (size_t)sprintf(text + len, "a*");
    len += (size_t)sprintf(text + len, "b\n");
    while (len < SN_ROBOTS_MAX - 64)
        len += (size_t)sprintf(text + len, "Disallow: /*a%zu\nDisallow: /b%zu\n", len, len);
    memset(path, 'a', sizeof path);
    path[0] = '/';
    double from = now();
    sn_robots *robots = sn_robots_parse(text, len, "seenbot");
    assert_non_null(robots);
    double parsed = now();
    assert_true(sn_robots_allowed(robots, path, sizeof path));
    double asked = now();
    print_message("parsed in %.1f ms, asked in %.1f ms\n", (parsed - from) * 1e3,
                  (asked - parsed) * 1e3);
    /* Generous, for sanitizers and busy machines; an exponential matcher would need years. */
    assert_true(asked - from < 20);
    sn_robots_destroy(robots);
    free(text);
}

static int run_robots(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_longest_match),
        cmocka_unit_test(test_wildcards),
        cmocka_unit_test(test_percent_encoding),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_crawl_delay),
        cmocka_unit_test(test_nofollow_by_header),
        cmocka_unit_test(test_sitemaps),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_policy),
        cmocka_unit_test(test_against_slow),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- robots_faults ---- */

/* Every allocation of the robots.txt parser fails in turn: no rules are partially read, nothing
 * leaks, and a path that cannot be matched is disallowed. */

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

static int run_robots_faults(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    int status[] = {run_robots(), run_robots_faults()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
