/* Links of a page: each once, without fragments, within bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

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
    assert_null(hrefs.bytes); /* what one page took is given back */
    sn_hrefs_free(&hrefs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_each_once),
        cmocka_unit_test(has_a_maximum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
