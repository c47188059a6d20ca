/* CSV records and fields: the scan of 64 bytes at a time agrees with the reference. */
#include "stream/record/csv.h"
#include "stream/record/json.h"
#include "stream/record/spec.h"
#include "test_stream.h"

/* Text that is mostly quotes, delimiters and newlines. */
static size_t random_csv(char *text, size_t most)
{
    static const char letters[] = "\"\"\"\",,,\n\n\rab;";
    static const char calm[] = "abcdefghijklmnop,\n\"";
    size_t length = random_below(most + 1);
    bool wild = random_below(2);
    for (size_t i = 0; i < length; i++)
        text[i] =
            wild ? letters[random_below(sizeof letters - 1)] : calm[random_below(sizeof calm - 1)];
    return length;
}

static void fill(sn_block *block, const char *text, size_t length)
{
    assert_int_equal(sn_block_reserve(block, length + 1, NULL), SEEN_OK);
    memcpy(block->bytes, text, length);
    memset(block->bytes + length, '"', 64); /* bytes after the end are ignored */
    block->length = length;
}

static void test_scan_is_definition(void **state)
{
    (void)state;
    sn_block block;
    sn_block_init(&block, '\n');
    for (int round = 0; round < 20000; round++) {
        char text[700];
        uint32_t ends[701];
        bool quoted;
        size_t length = random_csv(text, sizeof text);
        size_t count = sn_csv_ends_plain(text, length, ',', ends, 701, &quoted);
        fill(&block, text, length);
        sn_csv_state at = 0;
        size_t last = 0;
        for (size_t from = 0, to; from < length; from = to) { /* in pieces of any length */
            to = from + 1 + random_below(length - from);
            size_t end = sn_csv_last_end(block.bytes, from, to, ',', &at);
            last = end ? end : last;
        }
        assert_int_equal(last, count ? ends[count - 1] : 0);
        assert_int_equal(sn_csv_is_quoted(at), quoted);
        assert_int_equal(sn_csv_first_end(block.bytes, length, ','), count ? ends[0] : length);
        assert_int_equal(sn_csv_split(&block, ',', NULL), SEEN_OK);
        bool rest = length > (count ? ends[count - 1] : 0);
        assert_int_equal(block.lines, count + rest);
        assert_int_equal(block.unfinished, rest);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(block.start[i + 1], ends[i]);
    }
    sn_block_free(&block);
}

/* Record 0 of `text` has these values, separated by '|'. */
static void expect(const char *text, const char *values)
{
    sn_block block;
    sn_block_init(&block, '\n');
    fill(&block, text, strlen(text));
    assert_int_equal(sn_csv_split(&block, ',', NULL), SEEN_OK);
    char got[500] = "", room[500];
    for (size_t k = 0; k < sn_csv_fields(&block, 0); k++) {
        size_t length;
        const char *raw = sn_csv_raw(&block, 0, k, &length);
        const char *value = sn_csv_value(raw, length, room, &length);
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%.*s", k ? "|" : "", (int)length,
                 value);
    }
    assert_string_equal(got, values);
    sn_block_free(&block);
}

static void test_values(void **state)
{
    (void)state;
    expect("a,b,c\n", "a|b|c");
    expect("a,b,c\r\n", "a|b|c");
    expect("a,b,c", "a|b|c");
    expect(",\n", "|");
    expect("\n", "");
    expect("\"a\",\"b,c\",\"d\ne\"\nnext\n", "a|b,c|d\ne");
    expect("\"a\"\"b\",\"\"\"\",\"\"\n", "a\"b|\"|");
    expect("\"\"\"a\"\"\"\n", "\"a\"");
    /* As in Python's csv: a quote in the middle is a literal byte, and so is text after a closing
     * quote. */
    expect("a\"b\",c\n", "a\"b\"|c");
    expect("\"a\"b\"c,d\n", "ab\"c|d");
    expect("\"a\" ,b\n", "a |b");
    expect(" \"a\",b\n", " \"a\"|b");
    expect("\"a\r\n\",b\r\n", "a\r\n|b");
}

static void test_long(void **state)
{
    (void)state;
    size_t length = 100000;
    char *text = malloc(length);
    for (size_t i = 0; i < length; i++)
        text[i] = i % 2 ? ',' : 'x';
    text[length - 1] = '\n';
    sn_block block;
    sn_block_init(&block, '\n');
    fill(&block, text, length);
    assert_int_equal(sn_csv_split(&block, ',', NULL), SEEN_OK);
    assert_int_equal(block.lines, 1);
    assert_int_equal(sn_csv_fields(&block, 0), length / 2);
    sn_block_free(&block);
    free(text);
}

static int run_csv(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scan_is_definition),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_long),
    };
    seed_from_environment();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- spec ---- */

/* Parsing -k. */

static void columns(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t parts;
        sn_columns want[3];
    } good[] = {
        {"2", 1, {{2, 2}}},
        {"2,5", 2, {{2, 2}, {5, 5}}},
        {"3-", 1, {{3, SN_COLUMN_LAST}}},
        {"2-4,7-,1", 3, {{2, 4}, {7, SN_COLUMN_LAST}, {1, 1}}},
        {"-3", 1, {{1, 3}}},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        sn_record_spec spec = {.kind = SN_RECORD_LINES};
        assert_int_equal(sn_spec_add(&spec, good[i].text, NULL), SEEN_OK);
        assert_int_equal(spec.parts, good[i].parts);
        for (size_t p = 0; p < spec.parts; p++)
            assert_memory_equal(&spec.part[p].columns, &good[i].want[p], sizeof(sn_columns));
        sn_spec_free(&spec);
    }
    static const char *const bad[] = {"",    "0", "a",   "2,",          ",2",
                                      "4-2", "-", "1.5", "99999999999", "2--3"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sn_record_spec spec = {.kind = SN_RECORD_LINES};
        seen_error error = {0};
        if (sn_spec_add(&spec, bad[i], &error) == SEEN_OK)
            fail_msg("-k %s was taken", bad[i]);
        assert_true(error.message[0]);
        sn_spec_free(&spec);
    }
}

static void names(void **state)
{
    (void)state;
    const seen_key header[] = {{"id", 2}, {"a,b", 3}, {"2", 1}, {"id", 2}};
    sn_record_spec spec = {.kind = SN_RECORD_CSV, .header = true};
    sn_columns *found = NULL;
    assert_int_equal(sn_spec_add(&spec, "\"a,b\",2,\"2\"", NULL), SEEN_OK);
    assert_int_equal(sn_spec_resolve(&spec, "f", header, 4, &found, NULL), SEEN_OK);
    assert_true(found[0].first == 2 && found[1].first == 2 && found[2].first == 3);
    free(found);
    seen_error error = {0};
    assert_int_equal(sn_spec_add(&spec, "id", NULL), SEEN_OK);
    assert_int_equal(sn_spec_resolve(&spec, "f", header, 4, &found, &error), SEEN_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "2 columns"));
    assert_int_equal(sn_spec_resolve(&spec, "f", header, 0, &found, &error), SEEN_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "no column"));
    sn_spec_free(&spec);
    sn_record_spec plain = {.kind = SN_RECORD_CSV};
    assert_int_equal(sn_spec_add(&plain, "id", &error), SEEN_ERR_ARGUMENT);
    sn_spec_free(&plain);
}

static void paths(void **state)
{
    (void)state;
    sn_record_spec spec = {.kind = SN_RECORD_JSON};
    assert_int_equal(sn_spec_add(&spec, "user.id,\"a.b\".0", NULL), SEEN_OK);
    assert_int_equal(spec.parts, 2);
    assert_int_equal(spec.part[0].steps, 2);
    assert_string_equal(spec.part[0].step[1].name, "id");
    assert_string_equal(spec.part[1].step[0].name, "a.b");
    assert_int_equal(spec.part[1].step[1].index, 0);
    assert_false(sn_spec_is_single(&spec));
    static const char *const bad[] = {"", "a.", ".a", "a..b", "\"a", "\"a\"b", "a,,b"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(sn_spec_add(&spec, bad[i], NULL), SEEN_ERR_ARGUMENT);
    while (spec.parts < SN_KEY_PARTS)
        assert_int_equal(sn_spec_add(&spec, "x", NULL), SEEN_OK);
    assert_int_equal(sn_spec_add(&spec, "x", NULL), SEEN_ERR_ARGUMENT);
    sn_spec_free(&spec);
}

static int run_spec(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns),
        cmocka_unit_test(names),
        cmocka_unit_test(paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- json ---- */

/* Looking up JSON values by path. */

static const char *find(const char *path, const char *text, char *room, size_t *length)
{
    sn_record_spec spec = {.kind = SN_RECORD_JSON};
    sn_record_json_span span[SN_KEY_PARTS];
    static char padded[1000];
    assert_int_equal(sn_spec_add(&spec, path, NULL), SEEN_OK);
    snprintf(padded, sizeof padded - 16, "%s", text);
    const char *wrong = sn_record_json_find(&spec, padded, strlen(text), span);
    sn_spec_free(&spec);
    if (wrong)
        fail_msg("%s: %s", text, wrong);
    return span[0].at ? sn_record_json_value(span[0], room, length) : NULL;
}

static void json_expect(const char *path, const char *text, const char *value)
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
    json_expect("a", "{\"a\": 1}", "1");
    json_expect("a", " { \"b\" : [1, 2] , \"a\" : \"x\" } ", "x");
    json_expect("a", "{\"b\": {\"a\": 1}}", NULL);
    json_expect("b.a", "{\"b\": {\"a\": -1.5e+7}}", "-1.5e+7");
    json_expect("b.a", "{\"b\": [{\"a\": 1}]}", NULL);
    json_expect("b.0.a", "{\"b\": [{\"a\": 1}]}", "1");
    json_expect("b.1", "{\"b\": [[], [1, {\"x\" : \"a \\\" b\"}]]}", "[1,{\"x\":\"a \\\" b\"}]");
    json_expect("b.0", "{\"b\": {\"0\": true}}", "true");
    json_expect("\"0\"", "[5]", NULL);
    json_expect("0", "[5]", "5");
    json_expect("\"a.b\".\"c\"\"d\"", "{\"a.b\": {\"c\\\"d\": null}}", "null");
    json_expect("a", "{\"\\u0061\": 1}", "1");
    json_expect("a", "{}", NULL);
    json_expect("a", "[]", NULL);
    json_expect("a", "5", NULL);
    json_expect("a", "", NULL);
    json_expect("a.b.c", "{\"a\": {\"b\": 5}}", NULL);
}

/* The last of equal names is used, with everything inside. */
static void test_duplicates(void **state)
{
    (void)state;
    json_expect("a", "{\"a\": 1, \"a\": 2}", "2");
    json_expect("a.b", "{\"a\": {\"b\": 1}, \"a\": {}}", NULL);
    json_expect("a.b", "{\"a\": {\"b\": 1}, \"a\": {\"b\": 3}}", "3");
}

static void test_strings(void **state)
{
    (void)state;
    json_expect("a", "{\"a\": \"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "\"\\/\b\f\n\r\t");
    json_expect("a", "{\"a\": \"\\u00e4\\u20AC\\ud83d\\ude00\"}",
                "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    json_expect("a", "{\"a\": \"\\ud83dx\"}", "\xed\xa0\xbdx");
    json_expect("a", "{\"a\": \"\\udc00\\ud83d\"}", "\xed\xb0\x80\xed\xa0\xbd");
    json_expect("a", "{\"a\": \"0123456789abcdef0123456789abcdef,}]\"}",
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
    sn_record_json_span span[SN_KEY_PARTS];
    assert_int_equal(sn_spec_add(&spec, "a", NULL), SEEN_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (const char *behind = "\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\""; behind;
             behind = *behind ? "" : NULL) {
            /* Bytes after the text are ignored. */
            char padded[100] = {0};
            snprintf(padded, sizeof padded, "%s%s", bad[i], behind);
            if (!sn_record_json_find(&spec, padded, strlen(bad[i]), span))
                fail_msg("%s was taken for JSON", bad[i]);
        }
    char deep[5000];
    memset(deep, '[', sizeof deep);
    assert_non_null(sn_record_json_find(&spec, deep, sizeof deep - 16, span));
    sn_spec_free(&spec);
}

static int run_json(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    int status[] = {run_csv(), run_spec(), run_json()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
