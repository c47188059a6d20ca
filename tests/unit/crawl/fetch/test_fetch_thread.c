/* A second thread fetches pages and returns each exactly once. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cmocka.h>

#include "crawl/fetch/thread.h"
#include "tests/sites/listener.h"

enum { ROOM = 4 };

static int listener, port, held = -1;
static int64_t began; /* of the tests */

/* "/7" is answered with seven bytes, "/held" never. */
static void *serve(void *unused)
{
    for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;) {
        char request[4096], answer[256] = {0};
        ssize_t n = read(fd, request, sizeof request - 1);
        request[n > 0 ? n : 0] = '\0';
        if (strstr(request, "GET /held ") != NULL) {
            held = fd;
            continue;
        }
        int len = atoi(request + sizeof "GET /" - 1);
        int head =
            snprintf(answer, sizeof answer,
                     "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", len);
        memset(answer + head, 'x', (size_t)len);
        if (write(fd, answer, (size_t)(head + len)) < 0)
            perror("write");
        close(fd);
    }
    return unused;
}

/* What the second thread stores of a page. */
typedef struct page {
    char url[64];
    size_t bytes;
    bool over, elsewhere;
} page;

static pthread_t first;

static bool keep(sn_transfer *transfer, const char *bytes, size_t len)
{
    page *p = transfer->user;
    p->bytes += len;
    return bytes[0] == 'x';
}

static void over(sn_transfer *transfer)
{
    page *p = transfer->user;
    p->over = true;
    p->elsewhere = !pthread_equal(pthread_self(), first);
}

static sn_fetch_thread *create(void)
{
    sn_fetch_thread *fetch_thread = NULL;
    seen_error error;
    sn_fetch_options options = {.connections = ROOM,
                                .timeout_ms = 30000,
                                .connect_ms = 10000,
                                .agent = "seen-test",
                                .allow_private = true,
                                .body = keep,
                                .over = over};
    first = pthread_self();
    assert_int_equal(sn_fetch_thread_create(&options, &fetch_thread, &error), SEEN_OK);
    return fetch_thread;
}

static int watch(const sn_fetch_thread *fetch_thread)
{
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    assert_true(epoll >= 0);
    assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, sn_fetch_thread_fd(fetch_thread), &event), 0);
    return epoll;
}

static int reported; /* requests that were sent */

/* Those with an odd length are paced. */
static void begin(sn_fetch_thread *fetch_thread, page *p, int len)
{
    *p = (page){.bytes = 0};
    snprintf(p->url, sizeof p->url, "http://127.0.0.1:%d/%d", port, len);
    sn_fetch_thread_start(
        fetch_thread,
        &(sn_fetch_request){.url = p->url, .limit = 100, .user = p, .pace_ms = (uint64_t)len % 2});
}

static sn_transfer *wait_for_one(sn_fetch_thread *fetch_thread, int epoll)
{
    for (;;) {
        sn_transfer *transfer;
        seen_error error;
        struct epoll_event event;
        bool sent;
        assert_int_equal(sn_fetch_thread_take(fetch_thread, &transfer, &sent, &error), SEEN_OK);
        if (transfer != NULL && !sent)
            return transfer;
        if (sent) {
            assert_in_range(transfer->sent, began, sn_fetch_now() + 1);
            reported++;
            continue;
        }
        if (!sn_fetch_thread_ready(fetch_thread))
            assert_int_equal(epoll_wait(epoll, &event, 1, 30000), 1);
    }
}

/* As many at a time as there are slots; each is returned once, with its content. */
static void fetches_each_once(void **state)
{
    enum { PAGES = 300 };
    static page pages[PAGES];
    (void)state;
    sn_fetch_thread *fetch_thread = create();
    int epoll = watch(fetch_thread), begun = 0, taken[PAGES] = {0};
    reported = 0;
    for (int done = 0; done < PAGES; done++) {
        for (; begun < PAGES && sn_fetch_thread_room(fetch_thread); begun++)
            begin(fetch_thread, &pages[begun], begun % 90);
        assert_int_equal(sn_fetch_thread_active(fetch_thread), begun - done);
        sn_transfer *t = wait_for_one(fetch_thread, epoll);
        page *p = t->user;
        assert_int_equal(taken[p - pages]++, 0);
        assert_int_equal(t->error, SN_FETCH_OK);
        assert_int_equal(t->status, 200);
        assert_int_equal(t->bytes, (p - pages) % 90);
        assert_int_equal(p->bytes, t->bytes);
        assert_true(p->over && p->elsewhere);
        assert_int_equal(t->sent != 0, t->bytes % 2);
        sn_fetch_thread_release(fetch_thread, t);
    }
    assert_int_equal(sn_fetch_thread_active(fetch_thread), 0);
    assert_int_equal(reported, PAGES / 2);
    assert_false(sn_fetch_thread_ready(fetch_thread));
    close(epoll);
    sn_fetch_thread_destroy(fetch_thread);
}

/* One at a time, so that each thread sleeps before the other has work for it. */
static void wakes_every_time(void **state)
{
    (void)state;
    sn_fetch_thread *fetch_thread = create();
    int epoll = watch(fetch_thread);
    page p;
    for (int i = 0; i < 200; i++) {
        assert_false(sn_fetch_thread_ready(fetch_thread));
        if (i % 10 == 0)
            usleep(2000);
        begin(fetch_thread, &p, 10);
        sn_transfer *t = wait_for_one(fetch_thread, epoll);
        assert_int_equal(t->bytes, 10);
        sn_fetch_thread_release(fetch_thread, t);
    }
    close(epoll);
    sn_fetch_thread_destroy(fetch_thread);
}

/* Finished transfers that are not released occupy a slot; transfers that never end are dropped. */
static void drops_what_is_pending(void **state)
{
    (void)state;
    sn_fetch_thread *fetch_thread = create();
    int epoll = watch(fetch_thread);
    page kept, endless;
    begin(fetch_thread, &kept, 5);
    sn_transfer *t = wait_for_one(fetch_thread, epoll);
    assert_int_equal(sn_fetch_thread_active(fetch_thread), 1);
    endless = (page){.bytes = 0};
    snprintf(endless.url, sizeof endless.url, "http://127.0.0.1:%d/held", port);
    sn_fetch_thread_start(fetch_thread,
                          &(sn_fetch_request){.url = endless.url, .limit = 100, .user = &endless});
    usleep(20000);
    assert_false(sn_fetch_thread_ready(fetch_thread));
    assert_int_equal(sn_fetch_thread_active(fetch_thread), 2);
    assert_int_equal(t->bytes, 5);
    close(epoll);
    sn_fetch_thread_destroy(fetch_thread);
    assert_false(endless.over);
}

static void needs_two_processors(void **state)
{
    cpu_set_t all, one;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    bool pays = sn_fetch_thread_pays();
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_false(pays);
    assert_int_equal(sn_fetch_thread_pays(), CPU_COUNT(&all) > 1);
}

int main(void)
{
    pthread_t thread;
    began = sn_fetch_now();
    listener = test_listen(&port);
    if (listener < 0 || pthread_create(&thread, NULL, serve, NULL) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fetches_each_once),
        cmocka_unit_test(wakes_every_time),
        cmocka_unit_test(drops_what_is_pending),
        cmocka_unit_test(needs_two_processors),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    shutdown(listener, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(listener);
    if (held >= 0)
        close(held);
    return failed;
}
