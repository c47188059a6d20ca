/* The request as it is sent over the wire, for any previous use of the handle. */
#include <arpa/inet.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "crawl/fetch/request.h"
#include "tests/sites/listener.h"

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

int main(void)
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
