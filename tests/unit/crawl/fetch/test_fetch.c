/* Transfers against a minimal server: what is stored of a response, limits, addresses. */
#include <arpa/inet.h>
#include <linux/filter.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "crawl/fetch/arrival.h"
#include "crawl/fetch/fetch.h"
#include "tests/sites/listener.h"

static int listener, port;
static atomic_int accepted, ended, resets; /* connections */

/* The server handles one request per connection, and announces that. */
#define CLOSES "Connection: close\r\n\r\n"

static const char *answer_to(const char *request)
{
    if (strstr(request, "GET /moved "))
        return "HTTP/1.1 301 Moved\r\nLocation:  /there \r\nContent-Length: 0\r\n" CLOSES;
    if (strstr(request, "GET /later "))
        return "HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 0\r\n" CLOSES;
    if (strstr(request, "GET /early "))
        return "HTTP/1.1 103 Early\r\nContent-Type: a/b\r\n\r\n"
               "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n" CLOSES "hello";
    if (strstr(request, "GET /cut "))
        return "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n" CLOSES "hello";
    if (strstr(request, "GET /keep "))
        return "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789";
    return "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n" CLOSES "0123456789";
}

static void *serve(void *unused)
{
    for (int fd; (fd = accept(listener, NULL, NULL)) >= 0; close(fd)) {
        char request[4096];
        atomic_fetch_add(&accepted, 1);
        ssize_t n = read(fd, request, sizeof request - 1);
        if (n <= 0)
            continue;
        request[n] = '\0';
        const char *answer = answer_to(request);
        if (write(fd, answer, strlen(answer)) < 0)
            continue;
        /* A kept connection is closed when the next request has come, without an answer. */
        if (strstr(request, "GET /keep "))
            atomic_fetch_add(&resets, read(fd, request, sizeof request) < 0);
        atomic_fetch_add(&ended, 1);
    }
    return unused;
}

static char got[64];
static size_t got_len;

static bool keep(sn_transfer *transfer, const char *bytes, size_t len)
{
    (void)transfer;
    memcpy(got + got_len, bytes, len);
    got_len += len;
    return true;
}

static int sent;         /* reports of the last transfer */
static atomic_int turns; /* of the loop that fetches it */

/* One complete transfer. */
static sn_transfer *fetch_request(sn_fetch *fetch, const sn_fetch_request *request)
{
    seen_error error;
    sn_transfer *transfer;
    got_len = 0;
    sent = 0;
    assert_int_equal(sn_fetch_start(fetch, request, &transfer, &error), SEEN_OK);
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(sn_fetch_wait(fetch, 10, &error), SEEN_OK);
        atomic_fetch_add(&turns, 1);
        for (const sn_transfer *t; (t = sn_fetch_sent(fetch)) != NULL; sent++)
            assert_ptr_equal(t, transfer);
        sn_transfer *finished = sn_fetch_finished(fetch);
        if (finished != NULL) {
            assert_ptr_equal(finished, transfer);
            assert_int_equal(sn_fetch_active(fetch), 0);
            return finished;
        }
    }
    fail_msg("%s never ended", request->url);
    return NULL;
}

static sn_transfer *fetch_one(sn_fetch *fetch, const char *url, uint64_t limit)
{
    return fetch_request(fetch, &(sn_fetch_request){.url = url, .limit = limit});
}

static sn_fetch *make(bool allow_private)
{
    sn_fetch *fetch;
    seen_error error;
    sn_fetch_options options = {.connections = 2,
                                .timeout_ms = 60000,
                                .connect_ms = 30000,
                                .agent = "seen-test",
                                .allow_private = allow_private,
                                .body = keep};
    assert_int_equal(sn_fetch_create(&options, &fetch, &error), SEEN_OK);
    return fetch;
}

static const char *at(const char *path)
{
    static char url[100];
    snprintf(url, sizeof url, "http://127.0.0.1:%d%s", port, path);
    return url;
}

static void keeps_what_matters(void **state)
{
    sn_fetch *fetch = make(true);
    (void)state;
    sn_transfer *t = fetch_one(fetch, at("/moved"), 100);
    assert_int_equal(t->status, 301);
    assert_string_equal(t->location, "/there");
    assert_string_equal(t->address, "127.0.0.1");
    sn_fetch_release(fetch, t);
    t = fetch_one(fetch, at("/later"), 100);
    assert_int_equal(t->wait_ms, 7000);
    assert_null(t->location);
    sn_fetch_release(fetch, t);
    t = fetch_one(fetch, at("/early"), 100);
    assert_int_equal(t->status, 200);
    assert_string_equal(t->type, "text/html");
    assert_memory_equal(got, "hello", 5);
    sn_fetch_release(fetch, t);
    t = fetch_one(fetch, at("/cut"), 100);
    assert_int_equal(t->error, SN_FETCH_BROKEN);
    assert_true(sn_fetch_error_passes(t->error));
    sn_fetch_release(fetch, t);
    t = fetch_one(fetch, "http://127.0.0.1:1/", 100);
    assert_int_equal(t->error, SN_FETCH_CONNECT);
    sn_fetch_release(fetch, t);
    t = fetch_one(fetch, "ftp://127.0.0.1/", 100);
    assert_int_equal(t->error, SN_FETCH_OTHER);
    sn_fetch_release(fetch, t);
    sn_fetch_destroy(fetch);
}

static void cuts_at_the_limit(void **state)
{
    sn_fetch *fetch = make(true);
    (void)state;
    for (uint64_t limit = 0; limit < 12; limit++) {
        sn_transfer *t = fetch_one(fetch, at("/ten"), limit);
        assert_int_equal(t->error, SN_FETCH_OK);
        assert_int_equal(t->bytes, limit < 10 ? limit : 10);
        assert_int_equal(t->truncated, limit < 10);
        assert_int_equal(got_len, t->bytes);
        assert_memory_equal(got, "0123456789", got_len);
        sn_fetch_release(fetch, t);
    }
    sn_fetch_destroy(fetch);
}

static void refuses_private_addresses(void **state)
{
    sn_fetch *fetch = make(false);
    char url[100];
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]",     "[::ffff:127.0.0.1]",
                                        "0.0.0.0",   "127.1",     "2130706433"};
    (void)state;
    int before = atomic_load(&accepted);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(url, sizeof url, "http://%s:%d/", names[i], port);
        sn_transfer *t = fetch_one(fetch, url, 100);
        assert_int_equal(t->error, SN_FETCH_PRIVATE);
        assert_true(t->address[0] != '\0');
        if (i == 0)
            assert_string_equal(t->address, "127.0.0.1");
        assert_false(sn_fetch_error_passes(t->error));
        sn_fetch_release(fetch, t);
    }
    assert_int_equal(atomic_load(&accepted), before);
    sn_fetch_destroy(fetch);
}

/* Responses stay valid, and occupy a slot, until they are released. */
static void keeps_answers(void **state)
{
    sn_fetch *fetch = make(true);
    (void)state;
    sn_transfer *kept[2];
    for (int i = 0; i < 2; i++) {
        assert_true(sn_fetch_room(fetch));
        kept[i] = fetch_one(fetch, at(i == 1 ? "/moved" : "/ten"), 100);
    }
    assert_false(sn_fetch_room(fetch));
    assert_int_equal(kept[0]->bytes, 10);
    assert_string_equal(kept[1]->location, "/there");
    sn_fetch_release(fetch, kept[0]);
    assert_true(sn_fetch_room(fetch));
    assert_int_equal(fetch_one(fetch, at("/ten"), 100)->bytes, 10);
    assert_string_equal(kept[1]->location, "/there");
    sn_fetch_destroy(fetch);
}

/* Polling without a timeout returns at once, even if nothing ever arrives. */
static void polls_without_waiting(void **state)
{
    sn_fetch *fetch = make(true);
    (void)state;
    seen_error error;
    sn_transfer *transfer, *finished = NULL;
    bool any = true;
    int64_t before = sn_fetch_now();
    assert_int_equal(sn_fetch_poll(fetch, &any, &error), SEEN_OK);
    assert_false(any);
    assert_in_range(sn_fetch_now() - before, 0, 1000);
    got_len = 0;
    assert_int_equal(sn_fetch_start(fetch, &(sn_fetch_request){.url = at("/ten"), .limit = 100},
                                    &transfer, &error),
                     SEEN_OK);
    for (int some = 0; finished == NULL; finished = sn_fetch_finished(fetch)) {
        assert_int_equal(sn_fetch_poll(fetch, &any, &error), SEEN_OK);
        some += any;
        assert_in_range(sn_fetch_now() - before, 0, 60000);
        assert_true(some < 100);
    }
    assert_int_equal(finished->bytes, 10);
    sn_fetch_destroy(fetch);
}

/* Libcurl repeats a request at once if a connection that it reused was closed. A paced request is
 * sent once, and the time of that is reported. */
static void sends_paced_requests_once(void **state)
{
    sn_fetch *fetch = make(true);
    (void)state;
    sn_fetch_request request = {.url = at("/keep"), .limit = 100};
    int before = accepted;
    sn_fetch_release(fetch, fetch_request(fetch, &request));
    sn_transfer *t = fetch_request(fetch, &request);
    assert_int_equal(t->error, SN_FETCH_OK); /* on a second connection */
    assert_int_equal(accepted, before + 2);
    assert_int_equal(sent, 0);
    sn_fetch_release(fetch, t);

    request.pace_ms = 60000; /* reported with the answer, if one comes */
    int64_t began = sn_fetch_now();
    t = fetch_request(fetch, &request); /* on the second connection, which is closed */
    assert_int_equal(t->error, SN_FETCH_STALE);
    assert_true(sn_fetch_error_passes(t->error));
    assert_int_equal(sent, 0); /* whether it arrived is not known */
    assert_in_range(t->sent, began, sn_fetch_now() + 1);
    assert_int_equal(accepted, before + 2);
    sn_fetch_release(fetch, t);

    t = fetch_request(fetch, &request);
    assert_int_equal(t->error, SN_FETCH_OK);
    assert_int_equal(sent, 1);
    assert_int_equal(accepted, before + 3);
    sn_fetch_release(fetch, t);
    int ends = ended;
    sn_fetch_destroy(fetch);
    while (ended == ends) /* an answered request: its connection is closed, not reset */
        usleep(1000);
    assert_int_equal(resets, 0);
}

/* Connections to a full listener are neither accepted nor refused: the host counts as down. One
 * that is accepted and gets no response counts as slow. */
static void distinguishes_slow_from_gone(void **state)
{
    enum { TOO_MANY = 4 };
    sn_fetch *fetch;
    seen_error error;
    char url[100];
    int slow, slow_port = 0, away, away_port = 0, others[TOO_MANY];
    (void)state;
    sn_fetch_options options = {.connections = 2,
                                .timeout_ms = 5000,
                                .connect_ms = 3000,
                                .agent = "seen-test",
                                .allow_private = true,
                                .body = keep};
    slow = test_listen(&slow_port);
    away = test_listen(&away_port);
    assert_true(slow >= 0 && away >= 0 && listen(away, 0) == 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)away_port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < TOO_MANY; i++) {
        others[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(others[i], (struct sockaddr *)&to, sizeof to);
    }
    assert_int_equal(sn_fetch_create(&options, &fetch, &error), SEEN_OK);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", away_port);
    sn_transfer *t = fetch_one(fetch, url, 100);
    assert_int_equal(t->error, SN_FETCH_CONNECT);
    sn_fetch_release(fetch, t);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", slow_port);
    t = fetch_one(fetch, url, 100);
    assert_int_equal(t->error, SN_FETCH_TIMEOUT);
    sn_fetch_release(fetch, t);
    sn_fetch_destroy(fetch);
    for (int i = 0; i < TOO_MANY; i++)
        close(others[i]);
    close(slow);
    close(away);
}

/* A request that a full receiver does not take is given up, as if the host had not answered; not as
 * one that the server refused by closing the connection. */
static void withdraws_what_does_not_arrive(void **state)
{
    static char url[1000000];
    enum { WITHDRAW = 300 };
    sn_fetch *fetch;
    seen_error error;
    int full_port = 0, few = 4096, full = test_listen(&full_port);
    (void)state;
    sn_fetch_options options = {.connections = 1,
                                .timeout_ms = 60000,
                                .connect_ms = 30000,
                                .withdraw_ms = WITHDRAW,
                                .agent = "seen-test",
                                .allow_private = true,
                                .body = keep};
    assert_true(full >= 0);
    assert_int_equal(setsockopt(full, SOL_SOCKET, SO_RCVBUF, &few, sizeof few), 0);
    assert_int_equal(sn_fetch_create(&options, &fetch, &error), SEEN_OK);
    memset(url, 'x', sizeof url - 1);
    int n = snprintf(url, sizeof url, "http://127.0.0.1:%d/", full_port);
    url[n] = 'x';
    sn_fetch_request request = {.url = url, .limit = 100, .pace_ms = 10};
    sn_transfer *t = fetch_request(fetch, &request);
    assert_int_equal(t->error, SN_FETCH_TIMEOUT);
    assert_in_range(t->ms, WITHDRAW, options.timeout_ms / 2);
    assert_int_equal(sent, 0);
    sn_fetch_release(fetch, t);
    sn_fetch_destroy(fetch);
    close(full);
}

/* A server of one connection that closes it with its answer. */
typedef struct closing {
    int listener, port;
    bool loses;     /* the first packets of the request */
    int64_t before; /* the request had not arrived, */
    int64_t after;  /* and it had, and the client has noted when it was sent */
} closing;

/* Waits until the client has handled what it has got so far. */
static void let_client_work(void)
{
    for (int from = atomic_load(&turns); atomic_load(&turns) - from < 5;)
        usleep(1000);
}

enum { APART_MS = 100 }; /* two times that the test distinguishes */

static void *answer_once(void *user)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n" CLOSES "ok";
    closing *c = user;
    char request[4096];
    int any = 0, fd = accept(c->listener, NULL, NULL);
    if (c->loses) {
        let_client_work();
        usleep(APART_MS * 1000);
        c->before = sn_fetch_now();
        setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &any, sizeof any);
    }
    ssize_t n = read(fd, request, sizeof request);
    let_client_work();
    c->after = sn_arrival_now();
    usleep(APART_MS * 1000);
    if (n > 0)
        n = write(fd, answer, sizeof answer - 1);
    close(fd);
    return NULL;
}

/* Nothing that is longer than a TCP header reaches the connections of this listener. */
static bool lose_packets(int fd)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 60, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    struct sock_fprog filter = {sizeof code / sizeof code[0], code};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0;
}

static sn_transfer *fetch_closing(sn_fetch *fetch, closing *c)
{
    pthread_t thread;
    char url[100];
    c->listener = test_listen(&c->port);
    assert_true(c->listener >= 0);
    if (c->loses && !lose_packets(c->listener))
        skip();
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", c->port);
    assert_int_equal(pthread_create(&thread, NULL, answer_once, c), 0);
    sn_transfer *t =
        fetch_request(fetch, &(sn_fetch_request){.url = url, .limit = 100, .pace_ms = 1000000});
    pthread_join(thread, NULL);
    close(c->listener);
    assert_int_equal(t->error, SN_FETCH_OK);
    assert_int_equal(sent, 1);
    return t;
}

/* The time of a request that is reported with its answer, when the connection is closed: that of
 * its sending, or of its arrival if a packet was lost. */
static void knows_the_arrival_after_the_end(void **state)
{
    enum { COARSE_MS = APART_MS / 2 }; /* the kernel's clock */
    closing quick = {.loses = false}, lost = {.loses = true};
    sn_fetch *fetch = make(true);
    (void)state;
    sn_transfer *t = fetch_closing(fetch, &quick);
    assert_in_range(t->sent, t->began, quick.after);
    sn_fetch_release(fetch, t);
    t = fetch_closing(fetch, &lost);
    assert_in_range(t->sent, lost.before - COARSE_MS, sn_arrival_now());
    sn_fetch_release(fetch, t);
    sn_fetch_destroy(fetch);
}

int main(void)
{
    pthread_t thread;
    listener = test_listen(&port);
    if (listener < 0 || pthread_create(&thread, NULL, serve, NULL) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_what_matters),
        cmocka_unit_test(cuts_at_the_limit),
        cmocka_unit_test(refuses_private_addresses),
        cmocka_unit_test(keeps_answers),
        cmocka_unit_test(polls_without_waiting),
        cmocka_unit_test(sends_paced_requests_once),
        cmocka_unit_test(distinguishes_slow_from_gone),
        cmocka_unit_test(withdraws_what_does_not_arrive),
        cmocka_unit_test(knows_the_arrival_after_the_end),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    shutdown(listener, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(listener);
    return failed;
}
