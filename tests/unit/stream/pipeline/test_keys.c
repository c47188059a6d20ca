/* Keys of lines. */
#include "stream/pipeline/keys.h"
#include "stream/record/frame.h"
#include "stream/record/values.h"
#include "test_stream.h"

static void hash_text(const sn_keys_options *options, const seen_hasher *hasher, const char *text,
                      size_t length, sn_block *block)
{
    assert_int_equal(sn_block_reserve(block, length + 1, NULL), SEEN_OK);
    memcpy(block->bytes, text, length);
    block->length = length;
    block->name = "text";
    assert_int_equal(sn_frame_split(options->record, block, NULL), SEEN_OK);
    assert_int_equal(sn_keys_hash(options, hasher, block, NULL), SEEN_OK);
}

/* The key of the record `line` is these bytes. */
static void expect_bytes(const sn_keys_options *options, const char *line, const char *key,
                         size_t length)
{
    seen_hasher hasher;
    sn_block block;
    assert_int_equal(seen_hasher_random(SEEN_XXH3, &hasher, NULL), SEEN_OK);
    sn_block_init(&block, '\n');
    char text[1000];
    int len = snprintf(text, sizeof text, "%s\n", line);
    hash_text(options, &hasher, text, (size_t)len, &block);
    seen_hash wanted = seen_hash_key(&hasher, key, length);
    assert_int_equal(block.lines, 1);
    if (memcmp(&block.hash[0], &wanted, sizeof wanted) != 0)
        fail_msg("the key of %s is not %s", line, key);
    sn_block_free(&block);
}

static void expect_key(const sn_keys_options *options, const char *line, const char *key)
{
    expect_bytes(options, line, key, strlen(key));
}

/* A spec for one -k. */
static sn_record_spec spec_of(sn_record_kind kind, char delimiter, const char *keys)
{
    sn_record_spec spec = {.kind = kind, .delimiter = delimiter, .terminator = '\n'};
    if (keys)
        assert_int_equal(sn_spec_add(&spec, keys, NULL), SEEN_OK);
    return spec;
}

static void test_fields(void **state)
{
    (void)state;
    sn_record_spec one = spec_of(SN_RECORD_LINES, ',', "1"),
                   three = spec_of(SN_RECORD_LINES, ',', "3");
    sn_record_spec rest = spec_of(SN_RECORD_LINES, ',', "2-"),
                   some = spec_of(SN_RECORD_LINES, ',', "2-3");
    sn_keys_options first = {.record = &one}, third = {.record = &three};
    expect_key(&first, "a,b,c,d", "a");
    expect_key(&third, "a,b,c,d", "c");
    expect_key(&third, "a,b,c", "c");
    expect_key(&third, "a,b,", "");
    expect_key(&third, "a,b", "");
    expect_key(&third, "", "");
    expect_key(&first, "", "");
    expect_key(&first, ",x", "");
    expect_key(&third, ",,,", "");
    expect_key(&third, "a,b,c\r", "c\r");
    expect_key(&(sn_keys_options){.record = &rest}, "a,b,c,d", "b,c,d");
    expect_key(&(sn_keys_options){.record = &rest}, "a", "");
    expect_key(&(sn_keys_options){.record = &some}, "a,b,c,d", "b,c");
    expect_key(&(sn_keys_options){.record = &some}, "a,b", "b");
    sn_spec_free(&one);
    sn_spec_free(&three);
    sn_spec_free(&rest);
    sn_spec_free(&some);
}

#define LIST(text) text, sizeof(text) - 1

static void test_lists(void **state)
{
    (void)state;
    sn_record_spec plain = spec_of(SN_RECORD_LINES, ',', "3,1"),
                   csv = spec_of(SN_RECORD_CSV, ',', "3,1");
    sn_record_spec all = spec_of(SN_RECORD_CSV, ',', NULL),
                   json = spec_of(SN_RECORD_JSON, 0, "b.c,a");
    expect_bytes(&(sn_keys_options){.record = &plain}, "a,b,cc", LIST("\2\0\0\0cc\1\0\0\0a"));
    expect_bytes(&(sn_keys_options){.record = &csv}, "a,b,\"c\"", LIST("\1\0\0\0c\1\0\0\0a"));
    expect_bytes(&(sn_keys_options){.record = &csv}, "a,b", LIST("\xff\xff\xff\xff\1\0\0\0a"));
    expect_bytes(&(sn_keys_options){.record = &all}, "a,\"b\"\r", LIST("\1\0\0\0a\1\0\0\0b"));
    expect_bytes(&(sn_keys_options){.record = &json}, "{\"a\":1,\"b\":{\"c\":\"x\"}}",
                 LIST("\1\0\0\0x\1\0\0\0"
                      "1"));
    sn_spec_free(&plain);
    sn_spec_free(&csv);
    sn_spec_free(&json);
}

static void test_values(void **state)
{
    (void)state;
    sn_record_spec two = spec_of(SN_RECORD_CSV, ',', "2"),
                   path = spec_of(SN_RECORD_JSON, 0, "u.1.v");
    sn_keys_options csv = {.record = &two}, json = {.record = &path};
    expect_key(&csv, "a,b,c", "b");
    expect_key(&csv, "a,\"b,\"\"x\"\"\",c", "b,\"x\"");
    expect_key(&csv, "a,x\"y,c", "x\"y");
    expect_key(&csv, "a,\"\"", "");
    expect_key(&csv, "a", "\xff\xff\xff\xff missing");
    expect_key(&json, "{\"u\":[0,{\"v\": \"\\u00e4\\n\"}]}", "\xc3\xa4\n");
    expect_key(&json, "{\"u\":[0,{\"v\": [ 1, \"a b\" ]}]}", "[1,\"a b\"]");
    expect_key(&json, "{\"u\":[0]}", "\xff\xff\xff\xff missing");
    expect_key(&json, "", "\xff\xff\xff\xff missing");
    sn_spec_free(&two);
    sn_spec_free(&path);
}

static void test_fold(void **state)
{
    (void)state;
    sn_record_spec two = spec_of(SN_RECORD_LINES, ' ', "2");
    sn_keys_options fold = {.fold = true};
    expect_key(&fold, "HeLLo@[`{ Z\xc4\xe4", "hello@[`{ z\xc4\xe4");
    sn_keys_options both = {.fold = true, .record = &two};
    expect_key(&both, "x ABC y", "abc");
    sn_spec_free(&two);
}

static void test_url(void **state)
{
    (void)state;
    sn_record_spec two = spec_of(SN_RECORD_LINES, ' ', "2");
    sn_keys_options url = {.url = true};
    expect_key(&url, "HTTP://Example.ORG:80/a/../b#x", "http://example.org/b");
    expect_key(&url, "http://example.org/b", "http://example.org/b");
    expect_key(&url, "no url at all", "no url at all");
    expect_key(&url, "", "");
    sn_keys_options field = {.url = true, .record = &two};
    expect_key(&field, "1 HTTP://Example.ORG 2", "http://example.org/");
    sn_spec_free(&two);
}

static void test_batch_is_single(void **state)
{
    (void)state;
    seen_hasher hasher;
    assert_int_equal(seen_hasher_random(SEEN_XXH3, &hasher, NULL), SEEN_OK);
    sn_record_spec two = spec_of(SN_RECORD_LINES, 'b', "2"),
                   one = spec_of(SN_RECORD_LINES, '\r', "1");
    sn_keys_options all[] = {{0},
                             {.record = &two},
                             {.fold = true},
                             {.url = true},
                             {.record = &one, .fold = true, .url = true}};
    sn_block block;
    sn_block_init(&block, '\n');
    for (int round = 0; round < 50; round++)
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            size_t length;
            char *text = random_text(random_below(700) + 1, 200, &length);
            hash_text(&all[k], &hasher, text, length, &block);
            for (size_t i = 0; i < block.lines; i++) {
                char scratch[2000];
                size_t len, key_len;
                const char *line = sn_block_line(&block, i, &len);
                if (all[k].record) {
                    sn_values values = {0};
                    assert_int_equal(sn_values_get(&values, all[k].record, &block, i, NULL),
                                     SEEN_OK);
                    line = values.value[0].at;
                    len = values.value[0].length;
                    sn_values_free(&values);
                }
                const char *key = sn_keys_of_value(&all[k], line, len, scratch, &key_len);
                seen_hash wanted = seen_hash_key(&hasher, key, key_len);
                assert_memory_equal(&block.hash[i], &wanted, sizeof wanted);
            }
            free(text);
        }
    sn_spec_free(&one);
    sn_spec_free(&two);
    sn_block_free(&block);
}

static void test_terminator_is_no_part(void **state)
{
    (void)state;
    seen_hasher hasher;
    assert_int_equal(seen_hasher_random(SEEN_XXH3, &hasher, NULL), SEEN_OK);
    sn_keys_options whole = {0};
    sn_block block;
    sn_block_init(&block, '\n');
    hash_text(&whole, &hasher, "a\na\r\n\na", 7, &block);
    assert_int_equal(block.lines, 4);
    assert_memory_equal(&block.hash[0], &block.hash[3], sizeof(seen_hash));
    assert_memory_not_equal(&block.hash[0], &block.hash[1], sizeof(seen_hash));
    assert_memory_not_equal(&block.hash[0], &block.hash[2], sizeof(seen_hash));
    sn_block_free(&block);
}

int main(void)
{
    seed_from_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_fold),
        cmocka_unit_test(test_url),
        cmocka_unit_test(test_batch_is_single),
        cmocka_unit_test(test_terminator_is_no_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
