/* Addresses: every special range is refused at both ends, its neighbours are allowed. */
#include <arpa/inet.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "crawl/fetch/address.h"
#include "crawl/fetch/open_files.h"
#include "crawl/fetch/request.h"
#include "tests/sites/listener.h"

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
    assert_int_equal(sn_open_files_raise(10, 6, &keep, &error), SEEN_OK);
    assert_int_equal(allowed(), 10 + 10 + 6 + 24 + 10 + 16);
    assert_int_equal(keep, 36);
    /* A sufficient limit is left unchanged. */
    allow(90);
    assert_int_equal(sn_open_files_raise(10, 0, &keep, &error), SEEN_OK);
    assert_int_equal(allowed(), 90);
    assert_int_equal(keep, 36);
}

static void reports_what_is_missing(void **state)
{
    size_t keep = 0;
    seen_error error;
    struct rlimit limit = {100, 100};
    (void)state;
    /* Must be the last test: a lowered hard limit cannot be raised again. */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(sn_open_files_raise(38, 0, &keep, &error), SEEN_OK);
    assert_int_equal(keep, 38);
    assert_int_equal(sn_open_files_raise(30, 0, &keep, &error), SEEN_OK);
    assert_int_equal(keep, 30 + 16);
    assert_int_equal(sn_open_files_raise(39, 0, &keep, &error), SEEN_ERR_ARGUMENT);
    assert_non_null(
        strstr(error.message, "39 connections need 102 open files, and 100 are allowed"));
    assert_int_equal(sn_open_files_raise(30, 46, &keep, &error), SEEN_ERR_ARGUMENT);
}

static int run_files(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raises_the_limit),
        cmocka_unit_test(reports_what_is_missing),
    };
    if (getrlimit(RLIMIT_NOFILE, &before) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- request ---- */

/* The request as it is sent over the wire, for any previous use of the handle. */

enum { MAX = 8192 };
static int listener, port;

/* Echoes each request, so that the client sees what the server read. */
static void *serve(void *unused)
{
    for (int fd; (fd = accept(listener, NULL, NULL)) >= 0; close(fd)) {
        char request[MAX], head[100];
        ssize_t n = read(fd, request, sizeof request);
        if (n <= 0)
            continue;
        int len = snprintf(head, sizeof head, "HTTP/1.0 200 OK\r\nContent-Length: %zd\r\n\r\n", n);
        if (write(fd, head, (size_t)len) != len || write(fd, request, (size_t)n) != n)
            continue;
    }
    return unused;
}

static char got[MAX + 1];
static size_t got_len;

static size_t keep(char *bytes, size_t size, size_t count, void *user)
{
    (void)user;
    assert_true(got_len + size * count <= MAX);
    memcpy(got + got_len, bytes, size * count);
    got_len += size * count;
    return size * count;
}

static CURL *make(struct curl_slist *headers)
{
    CURL *easy = curl_easy_init();
    assert_non_null(easy);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep);
    return easy;
}

static CURLcode ask(sn_request_url *url, CURL *easy, const char *text)
{
    got_len = 0;
    assert_true(sn_request_url_set(url, easy, text));
    CURLcode code = curl_easy_perform(easy);
    got[got_len] = '\0';
    return code;
}

static void sends_every_path_as_it_is(void **state)
{
    /* In an order in which each kind follows each other kind. */
    static const char *const paths[] = {"/",
                                        "/a/b.html",
                                        "/a%2Fb%C3%A9",
                                        "/c.html",
                                        "/q?x=1&y=%2F",
                                        "/d",
                                        "/?z",
                                        "/%41?",
                                        "/e//f/",
                                        "//g",
                                        "/h/../i/./j",
                                        "/%2e%2E/k",
                                        "/l;m=1,2!$'()*+@:~",
                                        "/?",
                                        "/n"};
    (void)state;
    struct curl_slist *headers = sn_request_headers("seen-test", NULL, 0);
    CURL *easy = make(headers);
    sn_request_url url = {0};
    assert_true(sn_request_url_create(&url));
    for (size_t turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
            char text[200], line[200];
            /* The second time, another name of the same server is used in between. */
            snprintf(text, sizeof text, "http://localhost:%d/other", port);
            if (turn == 1)
                assert_int_equal(ask(&url, easy, text), CURLE_OK);
            snprintf(text, sizeof text, "http://127.0.0.1:%d%s", port, paths[i]);
            snprintf(line, sizeof line, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n", paths[i],
                     port);
            assert_int_equal(ask(&url, easy, text), CURLE_OK);
            assert_memory_equal(got, line, strlen(line));
        }
    curl_easy_cleanup(easy);
    sn_request_url_free(&url);
    curl_slist_free_all(headers);
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
        n++;
    return n;
}

static void sends_each_header_once(void **state)
{
    (void)state;
    struct curl_slist *headers = sn_request_headers("Name/1.0 (+me)", NULL, 0);
    CURL *easy = make(headers);
    sn_request_url url = {0};
    char text[100];
    assert_true(sn_request_url_create(&url));
    snprintf(text, sizeof text, "http://127.0.0.1:%d/", port);
    assert_int_equal(ask(&url, easy, text), CURLE_OK);
    assert_int_equal(count(got, "User-Agent: Name/1.0 (+me)\r\n"), 1);
    assert_int_equal(count(got, "User-Agent:"), 1);
    assert_int_equal(count(got, "\r\nAccept: text/html,"), 1);
    assert_int_equal(count(got, "\r\nAccept-Encoding: gzip, deflate"), 1);
    assert_int_equal(count(got, "\r\nAccept"), 2);
    curl_easy_cleanup(easy);
    sn_request_url_free(&url);
    curl_slist_free_all(headers);
}

/* Two host names of which one is a prefix of the other, credentials, no URL at all. */
static void takes_no_host_for_another(void **state)
{
    (void)state;
    struct curl_slist *headers = sn_request_headers("seen-test", NULL, 0);
    CURL *easy = make(headers);
    sn_request_url url = {0};
    char text[400], line[100];
    assert_true(sn_request_url_create(&url));
    snprintf(text, sizeof text, "http://127.0.0.1:%d/a", port);
    assert_int_equal(ask(&url, easy, text), CURLE_OK);
    /* With one more digit the port is invalid; with one less it is another, possibly unused
     * port. */
    snprintf(text, sizeof text, "http://127.0.0.1:%d0/a", port);
    assert_int_not_equal(ask(&url, easy, text), CURLE_OK);
    assert_int_equal(got_len, 0);
    assert_int_not_equal(ask(&url, easy, "not a URL"), CURLE_OK);
    assert_int_not_equal(ask(&url, easy, "http://"), CURLE_OK);
    snprintf(text, sizeof text, "http://127.0.0.1:%d/b", port);
    assert_int_equal(ask(&url, easy, text), CURLE_OK);
    assert_memory_equal(got, "GET /b ", 7);
    snprintf(text, sizeof text, "http://me:word@127.0.0.1:%d/c", port);
    assert_int_equal(ask(&url, easy, text), CURLE_OK);
    assert_int_equal(count(got, "Authorization: Basic bWU6d29yZA==\r\n"), 1);
    snprintf(text, sizeof text, "http://127.0.0.1:%d/d", port);
    assert_int_equal(ask(&url, easy, text), CURLE_OK);
    assert_int_equal(count(got, "Authorization"), 0);
    /* A host too long to be cached is set completely each time. */
    snprintf(text, sizeof text, "http://%0300d:w@127.0.0.1:%d/e", 7, port);
    snprintf(line, sizeof line, "GET /e HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n", port);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ask(&url, easy, text), CURLE_OK);
        assert_memory_equal(got, line, strlen(line));
        assert_int_equal(url.origin_len, 0);
    }
    curl_easy_cleanup(easy);
    sn_request_url_free(&url);
    curl_slist_free_all(headers);
}

static int run_request(void)
{
    pthread_t thread;
    listener = test_listen(&port);
    if (listener < 0 || pthread_create(&thread, NULL, serve, NULL) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_every_path_as_it_is),
        cmocka_unit_test(sends_each_header_once),
        cmocka_unit_test(takes_no_host_for_another),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    shutdown(listener, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(listener);
    return failed;
}

int main(void)
{
    int status[] = {run_address(), run_files(), run_request()};
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        if (status[i])
            return status[i];
    return 0;
}
