/* Looking up JSON values by path. */
#include "stream/record/json.h"
#include "test_stream.h"

static const char *find(const char *path, const char *text, char *room, size_t *length)
{
    sn_record_spec spec = {.kind = SN_RECORD_JSON};
    sn_json_span span[SN_KEY_PARTS];
    static char padded[1000];
    assert_int_equal(sn_spec_add(&spec, path, NULL), SEEN_OK);
    snprintf(padded, sizeof padded - 16, "%s", text);
    const char *wrong = sn_json_find(&spec, padded, strlen(text), span);
    sn_spec_free(&spec);
    if (wrong)
        fail_msg("%s: %s", text, wrong);
    return span[0].at ? sn_json_value(span[0], room, length) : NULL;
}

static void expect(const char *path, const char *text, const char *value)
{
    char room[500];
    size_t length = 0;
    const char *got = find(path, text, room, &length);
    assert_true(!got == !value);
    if (!value)
        return;
    assert_int_equal(length, strlen(value));
    assert_memory_equal(got, value, length);
}

static void test_paths(void **state)
{
    (void)state;
    expect("a", "{\"a\": 1}", "1");
    expect("a", " { \"b\" : [1, 2] , \"a\" : \"x\" } ", "x");
    expect("a", "{\"b\": {\"a\": 1}}", NULL);
    expect("b.a", "{\"b\": {\"a\": -1.5e+7}}", "-1.5e+7");
    expect("b.a", "{\"b\": [{\"a\": 1}]}", NULL);
    expect("b.0.a", "{\"b\": [{\"a\": 1}]}", "1");
    expect("b.1", "{\"b\": [[], [1, {\"x\" : \"a \\\" b\"}]]}", "[1,{\"x\":\"a \\\" b\"}]");
    expect("b.0", "{\"b\": {\"0\": true}}", "true");
    expect("\"0\"", "[5]", NULL);
    expect("0", "[5]", "5");
    expect("\"a.b\".\"c\"\"d\"", "{\"a.b\": {\"c\\\"d\": null}}", "null");
    expect("a", "{\"\\u0061\": 1}", "1");
    expect("a", "{}", NULL);
    expect("a", "[]", NULL);
    expect("a", "5", NULL);
    expect("a", "", NULL);
    expect("a.b.c", "{\"a\": {\"b\": 5}}", NULL);
}

/* The last of equal names is used, with everything inside. */
static void test_duplicates(void **state)
{
    (void)state;
    expect("a", "{\"a\": 1, \"a\": 2}", "2");
    expect("a.b", "{\"a\": {\"b\": 1}, \"a\": {}}", NULL);
    expect("a.b", "{\"a\": {\"b\": 1}, \"a\": {\"b\": 3}}", "3");
}

static void test_strings(void **state)
{
    (void)state;
    expect("a", "{\"a\": \"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "\"\\/\b\f\n\r\t");
    expect("a", "{\"a\": \"\\u00e4\\u20AC\\ud83d\\ude00\"}",
           "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    expect("a", "{\"a\": \"\\ud83dx\"}", "\xed\xa0\xbdx");
    expect("a", "{\"a\": \"\\udc00\\ud83d\"}", "\xed\xb0\x80\xed\xa0\xbd");
    expect("a", "{\"a\": \"0123456789abcdef0123456789abcdef,}]\"}",
           "0123456789abcdef0123456789abcdef,}]");
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{",
        "}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "[1,]",
        "[1 2]",
        "01",
        "1.",
        ".5",
        "1e",
        "+1",
        "-",
        "\"a",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\t\"",
        "tru",
        "nul",
        "True",
        "{} x",
        "[",
        "{\"a\":1",
        "{\"a\" 1}",
        "'a'",
        "1 2",
        "\"\\",
        "{\"a\":1 \"b\"}",
        ",",
    };
    sn_record_spec spec = {.kind = SN_RECORD_JSON};
    sn_json_span span[SN_KEY_PARTS];
    assert_int_equal(sn_spec_add(&spec, "a", NULL), SEEN_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (const char *behind = "\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\""; behind;
             behind = *behind ? "" : NULL) {
            /* Bytes after the text are ignored. */
            char padded[100] = {0};
            snprintf(padded, sizeof padded, "%s%s", bad[i], behind);
            if (!sn_json_find(&spec, padded, strlen(bad[i]), span))
                fail_msg("%s was taken for JSON", bad[i]);
        }
    char deep[5000];
    memset(deep, '[', sizeof deep);
    assert_non_null(sn_json_find(&spec, deep, sizeof deep - 16, span));
    sn_spec_free(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
