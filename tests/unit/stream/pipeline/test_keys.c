/* Keys of lines. */
#include "stream/pipeline/keys.h"
#include "stream/io/lines.h"
#include "test_stream.h"

static void expect_key(const sn_key_options *options, const char *line, const char *key)
{
    char scratch[4096];
    size_t len;
    assert_in_range(sn_keys_bound(options, strlen(line)), 0, sizeof scratch);
    const char *got = sn_keys_of_line(options, line, strlen(line), scratch, &len);
    assert_int_equal(len, strlen(key));
    assert_memory_equal(got, key, len);
}

static void test_fields(void **state)
{
    (void)state;
    sn_key_options first = {.field = 1, .delimiter = ','}, third = {.field = 3, .delimiter = ','};
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
}

static void test_fold(void **state)
{
    (void)state;
    sn_key_options fold = {.fold = true};
    expect_key(&fold, "HeLLo@[`{ Z\xc4\xe4", "hello@[`{ z\xc4\xe4");
    sn_key_options both = {.fold = true, .field = 2, .delimiter = ' '};
    expect_key(&both, "x ABC y", "abc");
}

static void test_url(void **state)
{
    (void)state;
    sn_key_options url = {.url = true};
    expect_key(&url, "HTTP://Example.ORG:80/a/../b#x", "http://example.org/b");
    expect_key(&url, "http://example.org/b", "http://example.org/b");
    expect_key(&url, "no url at all", "no url at all");
    expect_key(&url, "", "");
    sn_key_options field = {.url = true, .field = 2, .delimiter = ' '};
    expect_key(&field, "1 HTTP://Example.ORG 2", "http://example.org/");
}

static void hash_text(const sn_key_options *options, const seen_hasher *hasher, const char *text,
                      size_t length, sn_block *block)
{
    assert_int_equal(sn_block_reserve(block, length + 1, NULL), SEEN_OK);
    memcpy(block->bytes, text, length);
    block->length = length;
    assert_int_equal(sn_lines_split(block, NULL), SEEN_OK);
    assert_int_equal(sn_keys_hash(options, hasher, block, NULL), SEEN_OK);
}

static void test_batch_is_single(void **state)
{
    (void)state;
    seen_hasher hasher;
    assert_int_equal(seen_hasher_random(SEEN_XXH3, &hasher, NULL), SEEN_OK);
    sn_key_options all[] = {{0},
                            {.field = 2, .delimiter = 'b'},
                            {.fold = true},
                            {.url = true},
                            {.field = 1, .delimiter = '\r', .fold = true, .url = true}};
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
                const char *key = sn_keys_of_line(&all[k], line, len, scratch, &key_len);
                seen_hash wanted = seen_hash_key(&hasher, key, key_len);
                assert_memory_equal(&block.hash[i], &wanted, sizeof wanted);
            }
            free(text);
        }
    sn_block_free(&block);
}

static void test_terminator_is_no_part(void **state)
{
    (void)state;
    seen_hasher hasher;
    assert_int_equal(seen_hasher_random(SEEN_XXH3, &hasher, NULL), SEEN_OK);
    sn_key_options whole = {0};
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
        cmocka_unit_test(test_fold),
        cmocka_unit_test(test_url),
        cmocka_unit_test(test_batch_is_single),
        cmocka_unit_test(test_terminator_is_no_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
