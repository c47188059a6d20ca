/* The Link header: what is next, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crawl/html/header_link.h"

static void put(void *user, const char *href, size_t len, bool nofollow)
{
    char *out = user;
    size_t at = strlen(out);
    snprintf(out + at, 200 - at, "%.*s%s|", (int)len, href, nofollow ? " nofollow" : "");
}

/* In memory of its own, so that reading behind its end is noticed. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_what_is_next),
                                       cmocka_unit_test(leaves_the_rest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
