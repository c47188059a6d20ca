/* Addresses: every special range is refused at both ends, its neighbours are allowed. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "crawl/fetch/address.h"
#include "crawl/fetch/open_files.h"

static bool is_public(const char *text)
{
    struct sockaddr_in six_or_four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &six_or_four.sin_addr) == 1)
        return sn_address_public((const struct sockaddr *)&six_or_four);
    assert_int_equal(inet_pton(AF_INET6, text, &six.sin6_addr), 1);
    return sn_address_public((const struct sockaddr *)&six);
}

static void refuses_special(void **state)
{
    static const char *const special[] = {
        "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255",
        "127.0.0.1", "127.255.255.255", "169.254.0.0", "169.254.169.254", "172.16.0.0",
        "172.31.255.255", "192.0.0.0", "192.0.0.255", "192.0.2.1", "192.88.99.1", "192.168.0.0",
        "192.168.255.255", "198.18.0.0", "198.19.255.255", "198.51.100.7", "203.0.113.255",
        "224.0.0.1", "239.255.255.255", "240.0.0.0", "255.255.255.255",
        /* IPv6, and IPv4 embedded in IPv6 */
        "::", "::1", "::127.0.0.1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:10.1.2.3",
        "::ffff:169.254.169.254", "64:ff9b::127.0.0.1", "64:ff9b::192.168.1.1", "64:ff9b:1::1",
        "100::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:2::1", "2001:10::1",
        "2001:20::1", "2001:db8::1", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
        "2002:7f00:1::", "2002:c0a8:101::1", "2620:4f:8000::1", "3fff::1", "3fff:fff:ffff::1",
        "5f00::1", "fc00::1", "fdff:ffff::1", "fe80::1", "febf::1", "fec0::1", "ff02::1", "4000::1",
        "1fff::1"};
    (void)state;
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        if (is_public(special[i]))
            fail_msg("%s was allowed", special[i]);
}

static void allows_the_rest(void **state)
{
    static const char *const plain[] = {
        "1.0.0.0",          "8.8.8.8",         "9.255.255.255",   "11.0.0.0",
        "100.63.255.255",   "100.128.0.0",     "126.255.255.255", "128.0.0.0",
        "169.253.255.255",  "169.255.0.0",     "172.15.255.255",  "172.32.0.0",
        "192.0.1.0",        "192.0.3.0",       "192.167.255.255", "192.169.0.0",
        "198.17.255.255",   "198.20.0.0",      "198.51.99.255",   "198.51.101.0",
        "203.0.112.255",    "203.0.114.0",     "223.255.255.255", "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8", "2001:200::1",     "2001:4860::8888", "2001:db7:ffff::1",
        "2001:db9::1",      "2002:808:808::1", "2606:4700::1111", "3ffe::1",
        "3fff:1000::1",     "2a00::1"};
    (void)state;
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (!is_public(plain[i]))
            fail_msg("%s was refused", plain[i]);
}

static void refuses_other_families(void **state)
{
    struct sockaddr_in other = {.sin_family = AF_UNIX};
    (void)state;
    assert_false(sn_address_public((const struct sockaddr *)&other));
}

static void writes_addresses(void **state)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(80)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    struct sockaddr_in other = {.sin_family = AF_UNIX};
    char text[64] = "x";
    (void)state;
    four.sin_addr.s_addr = htonl(0x0a000001);
    sn_address_text((const struct sockaddr *)&four, text, sizeof text);
    assert_string_equal(text, "10.0.0.1");
    six.sin6_addr.s6_addr[15] = 1;
    sn_address_text((const struct sockaddr *)&six, text, sizeof text);
    assert_string_equal(text, "::1");
    sn_address_text((const struct sockaddr *)&other, text, sizeof text);
    assert_string_equal(text, "");
}

static int run_address(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_special),
        cmocka_unit_test(allows_the_rest),
        cmocka_unit_test(refuses_other_families),
        cmocka_unit_test(writes_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- files ---- */

/* The limit on open files: raised if possible, otherwise reported. */

static struct rlimit before;

static void allow(rlim_t soft)
{
    struct rlimit limit = {soft, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static rlim_t allowed(void)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    return limit.rlim_cur;
}

static void raises_the_limit(void **state)
{
    size_t keep = 0;
    seen_error error;
    (void)state;
    allow(40);
    assert_int_equal(sn_files_allow(10, 6, &keep, &error), SEEN_OK);
    assert_int_equal(allowed(), 10 + 10 + 6 + 24 + 10 + 16);
    assert_int_equal(keep, 36);
    /* A sufficient limit is left unchanged. */
    allow(90);
    assert_int_equal(sn_files_allow(10, 0, &keep, &error), SEEN_OK);
    assert_int_equal(allowed(), 90);
    assert_int_equal(keep, 36);
}

static void tells_what_is_missing(void **state)
{
    size_t keep = 0;
    seen_error error;
    struct rlimit limit = {100, 100};
    (void)state;
    /* Must be the last test: a lowered hard limit cannot be raised again. */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(sn_files_allow(38, 0, &keep, &error), SEEN_OK);
    assert_int_equal(keep, 38);
    assert_int_equal(sn_files_allow(30, 0, &keep, &error), SEEN_OK);
    assert_int_equal(keep, 30 + 16);
    assert_int_equal(sn_files_allow(39, 0, &keep, &error), SEEN_ERR_ARGUMENT);
    assert_non_null(
        strstr(error.message, "39 connections need 102 open files, and 100 are allowed"));
    assert_int_equal(sn_files_allow(30, 46, &keep, &error), SEEN_ERR_ARGUMENT);
}

static int run_files(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raises_the_limit),
        cmocka_unit_test(tells_what_is_missing),
    };
    if (getrlimit(RLIMIT_NOFILE, &before) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    int status[] = {run_address(), run_files()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
