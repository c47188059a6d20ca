/* Parsing replies. */
#include "redis/client/reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int read_one(redisReader *reader, sn_reply *reply, const char *bytes, size_t len)
{
    void *got = NULL;
    sn_reply_clear(reply);
    assert_int_equal(redisReaderFeed(reader, bytes, len), REDIS_OK);
    if (redisReaderGetReply(reader, &got) != REDIS_OK)
        return -1;
    return got != NULL;
}

static void test_values(void **state)
{
    (void)state;
    sn_reply reply = {0};
    redisReader *reader = sn_reply_reader(&reply);
    static const char TEXT[] = "*4\r\n:-5\r\n$3\r\na\0b\r\n$-1\r\n*1\r\n-ERR no\r\n";
    assert_int_equal(read_one(reader, &reply, TEXT, sizeof TEXT - 1), 1);
    assert_int_equal(reply.items, 6);
    assert_int_equal(reply.item[0].number, 4);
    assert_int_equal(reply.item[1].number, -5);
    assert_int_equal(reply.item[2].len, 3);
    assert_memory_equal(sn_reply_text(&reply, 2), "a\0b", 4);
    assert_int_equal(reply.item[3].type, REDIS_REPLY_NIL);
    assert_int_equal(reply.item[5].type, REDIS_REPLY_ERROR);
    assert_false(sn_reply_is_row(&reply, 4));
    assert_false(sn_reply_is_error(&reply));
    assert_int_equal(read_one(reader, &reply, "*2\r\n:1\r\n:0\r\n", 12), 1);
    assert_true(sn_reply_is_row(&reply, 2));
    assert_false(sn_reply_is_row(&reply, 1));
    assert_int_equal(read_one(reader, &reply, "-OOM no\r\n", 9), 1);
    assert_true(sn_reply_error_is(&reply, "OOM"));
    assert_false(sn_reply_error_is(&reply, "OO"));
    redisReaderFree(reader);
    sn_reply_free(&reply);
}

/* A reply larger than the limit is refused, not buffered. */
static void test_limits(void **state)
{
    (void)state;
    sn_reply reply = {0};
    redisReader *reader = sn_reply_reader(&reply);
    size_t len = SN_REPLY_TEXT_MAX + 100;
    char *big = malloc(len);
    memset(big, 'x', len);
    int head = snprintf(big, 32, "$%d\r\n", SN_REPLY_TEXT_MAX + 1);
    memcpy(big + head + SN_REPLY_TEXT_MAX + 1, "\r\n", 2);
    big[head - 1] = '\n';
    assert_int_equal(read_one(reader, &reply, big, (size_t)head + SN_REPLY_TEXT_MAX + 3), -1);
    free(big);
    redisReaderFree(reader);
    sn_reply_free(&reply);
}

/* The memory of a long reply is freed before the next. */
static void test_long(void **state)
{
    (void)state;
    enum { LONG = 3 << 20 };
    sn_reply reply = {0};
    redisReader *reader = sn_reply_reader(&reply);
    char *big = malloc(LONG + 100);
    int head = snprintf(big, 32, "$%d\r\n", LONG);
    memset(big + head, 'x', LONG);
    memcpy(big + head + LONG, "\r\n", 2);
    assert_int_equal(read_one(reader, &reply, big, (size_t)head + LONG + 2), 1);
    assert_int_equal(reply.item[0].len, LONG);
    assert_true(reply.text_room > LONG);
    assert_int_equal(read_one(reader, &reply, "$2\r\nok\r\n", 8), 1);
    assert_string_equal(sn_reply_text(&reply, 0), "ok");
    assert_true(reply.text_room < LONG);
    free(big);
    redisReaderFree(reader);
    sn_reply_free(&reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
