/* Links of a page: distinct, without fragments, within limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crawl/html/header_link.h"
#include "crawl/html/hrefs.h"

static const seen_hasher hasher = {.kind = SEEN_XXH3};

static sn_hrefs_result add(sn_hrefs *hrefs, const char *href, bool nofollow)
{
    return sn_hrefs_add(hrefs, &hasher, href, strlen(href), nofollow, 3000);
}

static void keeps_each_once(void **state)
{
    sn_hrefs hrefs = {0};
    (void)state;
    assert_int_equal(add(&hrefs, "a#b", false), SN_HREFS_KEPT);
    assert_int_equal(add(&hrefs, "a", false), SN_HREFS_KNOWN);
    assert_int_equal(add(&hrefs, "a#c#d", false), SN_HREFS_KNOWN);
    assert_int_equal(add(&hrefs, "a", true), SN_HREFS_KEPT);
    assert_int_equal(add(&hrefs, "#", false), SN_HREFS_KEPT);
    assert_int_equal(add(&hrefs, "", false), SN_HREFS_KNOWN);
    assert_int_equal(add(&hrefs, "A", false), SN_HREFS_KEPT);
    assert_int_equal(hrefs.len, 4);
    assert_int_equal(hrefs.list[0].len, 1);
    assert_int_equal(hrefs.bytes[hrefs.list[0].at], 'a');
    assert_true(hrefs.list[1].nofollow);
    sn_hrefs_reset(&hrefs);
    assert_int_equal(add(&hrefs, "a", false), SN_HREFS_KEPT);
    sn_hrefs_free(&hrefs);
}

static void has_a_maximum(void **state)
{
    sn_hrefs hrefs = {0};
    char text[32];
    static char large[1 << 20];
    (void)state;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 4000; i++) {
            snprintf(text, sizeof text, "%d", i);
            assert_int_equal(add(&hrefs, text, false), i < 3000 ? SN_HREFS_KEPT : SN_HREFS_FULL);
        }
        assert_int_equal(add(&hrefs, "17", false), SN_HREFS_KNOWN);
        for (int i = 0; i < 3000; i++) {
            snprintf(text, sizeof text, "%d", i);
            assert_memory_equal(hrefs.bytes + hrefs.list[i].at, text, hrefs.list[i].len);
        }
        sn_hrefs_reset(&hrefs);
    }
    for (int i = 0; i < 20; i++) {
        memset(large, 'a' + i, sizeof large);
        sn_hrefs_result result = sn_hrefs_add(&hrefs, &hasher, large, sizeof large, false, 3000);
        assert_int_equal(result, i < 16 ? SN_HREFS_KEPT : SN_HREFS_FULL);
    }
    sn_hrefs_reset(&hrefs);
    assert_null(hrefs.bytes); /* the memory of a large page is freed */
    sn_hrefs_free(&hrefs);
}

static int run_hrefs(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_each_once),
        cmocka_unit_test(has_a_maximum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- header_link ---- */

/* The Link header: rel=next only. */

static void put(void *user, const char *href, size_t len, bool nofollow)
{
    char *out = user;
    size_t at = strlen(out);
    snprintf(out + at, 200 - at, "%.*s%s|", (int)len, href, nofollow ? " nofollow" : "");
}

/* In a separate allocation, so that reads beyond the end are detected. */
static void expect(const char *value, const char *want)
{
    char out[200] = "";
    size_t len = strlen(value);
    char *copy = malloc(len + (len == 0));
    assert_non_null(copy);
    memcpy(copy, value, len);
    sn_header_link(copy, len, put, out);
    free(copy);
    assert_string_equal(out, want);
}

static void finds_what_is_next(void **state)
{
    (void)state;
    expect("<b>; rel=next", "b|");
    expect("<b>;rel=\"next\"", "b|");
    expect("  <b> ; REL = NEXT ", "b|");
    expect("<b>; rel=\"last next\"", "b|");
    expect("<b>; rel=\"next nofollow\"", "b nofollow|");
    expect("<a,b;c>; title=\"x, <y>; rel=prev\"; rel=next", "a,b;c|");
    expect("<b>; title=\"a \\\" b\"; rel=next", "b|");
    expect("<>; rel=next", "|");
    expect("<a>; rel=prev, <b>; rel=next,<c>;rel=next", "b|c|");
    expect(", ,<a>, <b>; rel=next,", "b|");
    expect("<b>; crossorigin; rel=next", "b|");
}

static void leaves_the_rest(void **state)
{
    (void)state;
    expect("", "");
    expect("b; rel=next", "");
    expect("<b", "");
    expect("<b>", "");
    expect("<b>; rel", "");
    expect("<b>; rel=", "");
    expect("<b>; rel=nextly", "");
    expect("<b>; rel=prev; rel=next", "");
    expect("<b>; rev=next", "");
    expect("<b>; rel=next; anchor=\"/other\"", "");
    expect("<b>; rel=\"next", "");
    expect("<b>; rel=\"next\\", "");
    expect("<b>; rel=next<c>; rel=next", "b|");
    expect("<b> rel=next, <c>; rel=next", "");
}

static int run_header_link(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_what_is_next),
                                       cmocka_unit_test(leaves_the_rest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    int status[] = {run_hrefs(), run_header_link()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
