/* Escaping of text for terminals. */
#include "test_trust.h"

#include "base/text.h"

static void escaped(const char *text, size_t len, const char *want)
{
    char out[200];
    size_t got = sn_text_escape(out, sizeof out, text, len);
    out[got] = 0;
    assert_string_equal(out, want);
}

static void terminal(void **state)
{
    (void)state;
    escaped("plain name", 10, "plain name");
    escaped("a\nb\tc\rd", 7, "a\\nb\\tc\\rd");
    escaped("\x1b[31mred", 8, "\\x1b[31mred");
    escaped("\0\x07\x7f", 3, "\\x00\\x07\\x7f");
    escaped("gr\xc3\xbc\xc3\x9f", 6, "gr\xc3\xbc\xc3\x9f");
    escaped("\xe2\x82\xac \xf0\x9f\x98\x80", 8, "\xe2\x82\xac \xf0\x9f\x98\x80");
    escaped("\xff\xc3", 2, "\\xff\\xc3");
    escaped("\xc0\xaf", 2, "\\xc0\\xaf");                   /* overlong */
    escaped("\xed\xa0\x80", 3, "\\xed\\xa0\\x80");          /* a surrogate */
    escaped("\xc2\x9b", 2, "\\xc2\\x9b");                   /* CSI in one character */
    escaped("\xe2\x80\xae", 3, "\\xe2\\x80\\xae");          /* right-to-left override */
    escaped("\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80"); /* past the last character */
}

static void bounded(void **state)
{
    (void)state;
    char out[20];
    memset(out, 'x', sizeof out);
    size_t got = sn_text_escape(out, 10, "\x1b\x1b\x1b\x1b\x1b\x1b", 6);
    assert_true(got <= 10);
    assert_int_equal(out[10], 'x');
}

/* JSON needs valid UTF-8, not printable text. */
static void well_formed(void **state)
{
    (void)state;
    assert_int_equal(sn_text_utf8("\x1b", 1), 1);
    assert_int_equal(sn_text_utf8("\xe2\x80\xae", 3), 3);
    assert_int_equal(sn_text_utf8("\xe2\x80", 2), 0);
    assert_int_equal(sn_text_utf8("\xf4\x90\x80\x80", 4), 0);
    assert_int_equal(sn_text_utf8("", 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terminal),
        cmocka_unit_test(bounded),
        cmocka_unit_test(well_formed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
