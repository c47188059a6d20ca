/* Addresses of Redis servers. */
#include "redis/client/address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static sn_redis_address good(const char *where)
{
    sn_redis_address a;
    seen_error error = {0};
    if (sn_redis_address_parse(where, &a, &error) != SEEN_OK)
        fail_msg("%s: %s", where, error.message);
    return a;
}

static void bad(const char *where, seen_status expected)
{
    sn_redis_address a;
    seen_error error = {0};
    assert_int_equal(sn_redis_address_parse(where, &a, &error), expected);
    assert_int_equal(error.status, expected);
    assert_null(strstr(error.message, "secret"));
}

static void test_server(void **state)
{
    (void)state;
    sn_redis_address a = good("redis://example.org/urls");
    assert_string_equal(a.seed[0].host, "example.org");
    assert_int_equal(a.seed[0].port, 6379);
    assert_string_equal(a.name, "urls");
    assert_int_equal(a.db, 0);
    assert_false(a.has_password);
    a = good("redis://ann:secret%40%3a@[::1]:7000/12/a/b%00c");
    assert_string_equal(a.seed[0].host, "::1");
    assert_int_equal(a.seed[0].port, 7000);
    assert_int_equal(a.db, 12);
    assert_int_equal(a.name_len, 5);
    assert_memory_equal(a.name, "a/b\0c", 5);
    assert_string_equal(a.user, "ann");
    assert_string_equal(a.password, "secret@:");
    assert_string_equal(a.shown, "redis://[::1]:7000/12/a/b%00c");
    a = good("redis://:secret@h/5");
    assert_string_equal(a.name, "5");
    assert_int_equal(a.user_len, 0);
    assert_true(a.has_password);
    a = good("redis:///x");
    assert_string_equal(a.seed[0].host, "127.0.0.1");
}

static void test_cluster(void **state)
{
    (void)state;
    sn_redis_address a = good("redis-cluster://:secret@a:1,b,[fe80::1]:3/urls");
    assert_true(a.cluster);
    assert_int_equal(a.seeds, 3);
    assert_string_equal(a.seed[1].host, "b");
    assert_int_equal(a.seed[1].port, 6379);
    assert_string_equal(a.seed[2].host, "fe80::1");
    assert_int_equal(a.seed[2].port, 3);
    assert_string_equal(a.shown, "redis-cluster://a:1,b,[fe80::1]:3/urls");
    bad("redis-cluster://a/1/urls", SEEN_ERR_ARGUMENT);
}

static void test_tls(void **state)
{
    (void)state;
    assert_false(good("redis://h/x").tls);
    assert_false(good("redis-cluster://h/x").tls);
    sn_redis_address a = good("rediss://u:secret@h:7/2/x");
    assert_true(a.tls && !a.cluster);
    assert_int_equal(a.seed[0].port, 7);
    assert_int_equal(a.db, 2);
    assert_string_equal(a.shown, "rediss://h:7/2/x");
    a = good("rediss-cluster://a,b:1/x");
    assert_true(a.tls && a.cluster);
    assert_int_equal(a.seeds, 2);
}

static void test_socket(void **state)
{
    (void)state;
    sn_redis_address a = good("redis+unix:///run/redis/r.sock/urls");
    assert_string_equal(a.seed[0].host, "/run/redis/r.sock");
    assert_int_equal(a.seed[0].port, 0);
    assert_string_equal(a.name, "urls");
    a = good("redis+unix://u:secret@/run/r.sock/3/na%2Fme");
    assert_string_equal(a.seed[0].host, "/run/r.sock");
    assert_int_equal(a.db, 3);
    assert_string_equal(a.name, "na/me");
    assert_string_equal(a.shown, "redis+unix:///run/r.sock/3/na%2Fme");
}

static void test_refused(void **state)
{
    (void)state;
    bad("rediss+unix:///run/r.sock/x", SEEN_ERR_ARGUMENT);
    bad("redisss://h/x", SEEN_ERR_ARGUMENT);
    bad("redis://h", SEEN_ERR_ARGUMENT);
    bad("redis://h/", SEEN_ERR_ARGUMENT);
    bad("redis://h/1/", SEEN_ERR_ARGUMENT);
    bad("redis://h:0/x", SEEN_ERR_ARGUMENT);
    bad("redis://h:65536/x", SEEN_ERR_ARGUMENT);
    bad("redis://h:/x", SEEN_ERR_ARGUMENT);
    bad("redis://[::1/x", SEEN_ERR_ARGUMENT);
    bad("redis://secret@h/x", SEEN_ERR_ARGUMENT);
    bad("redis://u:secret%4@h/x", SEEN_ERR_ARGUMENT);
    bad("redis://h/%zz", SEEN_ERR_ARGUMENT);
    /* A slash in a password: what follows is not used as NAME and printed. */
    bad("redis://bob:12/secret@h/x", SEEN_ERR_ARGUMENT);
    bad("redis://bob:12/34/secret@h:1/x", SEEN_ERR_ARGUMENT);
    bad("redis://bob:a@b/secret@h/x", SEEN_ERR_ARGUMENT);
    bad("rediss-cluster://u:se/secret@h,g/x", SEEN_ERR_ARGUMENT);
    bad("redis+unix://u:se/secret@/tmp/sock/x", SEEN_ERR_ARGUMENT);
    assert_string_equal(good("redis://u:se%2Fcret@h/a%40b").password, "se/cret");
    assert_string_equal(good("redis://u:se%2Fcret@h/a%40b").name, "a@b");
    bad("redis://h/1000000/x", SEEN_ERR_ARGUMENT);
    bad("redis+unix:///x", SEEN_ERR_ARGUMENT);
    bad("http://h/x", SEEN_ERR_ARGUMENT);
    char long_name[600] = "redis://h/";
    memset(long_name + 10, 'a', 300);
    bad(long_name, SEEN_ERR_ARGUMENT);
    long_name[10 + 255] = '\0';
    good(long_name);
    /* Seventeen hosts; a host and a path that are too long, or truncated; a database. */
    char hosts[200] = "redis-cluster://h";
    for (int i = 0; i < 16; i++)
        strcat(hosts, ",h");
    strcat(hosts, "/x");
    bad(hosts, SEEN_ERR_ARGUMENT);
    bad("redis://h%00h/x", SEEN_ERR_ARGUMENT);
    char long_host[400] = "redis://";
    memset(long_host + 8, 'h', 300);
    strcpy(long_host + 308, "/x");
    bad(long_host, SEEN_ERR_ARGUMENT);
    bad("redis+unix:///s/1000000/x", SEEN_ERR_ARGUMENT);
    char long_path[400] = "redis+unix:///";
    memset(long_path + 14, 'p', 120);
    strcpy(long_path + 134, "/x");
    bad(long_path, SEEN_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_server), cmocka_unit_test(test_cluster), cmocka_unit_test(test_tls),
        cmocka_unit_test(test_socket), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
