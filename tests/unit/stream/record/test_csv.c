/* CSV records and fields: the scan of 64 bytes at a time agrees with the reference. */
#include "stream/record/csv.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scan_is_definition),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_long),
    };
    seed_from_environment();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
