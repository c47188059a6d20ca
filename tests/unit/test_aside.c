/* A second thread reads what it is given, in order, and says when it is done. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cmocka.h>

#include "crawl/aside.h"

enum { PAGES = 8 };

/* What came of a page: how much, and a checksum that depends on the order. */
typedef struct page {
    uint64_t bytes, sum;
} page;

static void read_page(void *user, const char *bytes, size_t len)
{
    page *p = user;
    p->bytes += len;
    for (size_t i = 0; i < len; i++)
        p->sum = p->sum * 31 + (unsigned char)bytes[i];
}

static void read_slowly(void *user, const char *bytes, size_t len)
{
    usleep(100);
    read_page(user, bytes, len);
}

static sn_aside *create(sn_aside_read *read)
{
    sn_aside *aside = sn_aside_create(read, PAGES);
    assert_non_null(aside);
    return aside;
}

static void *wait_for_page(sn_aside *aside, int epoll)
{
    for (void *user;;) {
        if ((user = sn_aside_take(aside)) != NULL)
            return user;
        struct epoll_event event;
        if (!sn_aside_ready(aside))
            assert_int_equal(epoll_wait(epoll, &event, 1, 30000), 1);
    }
}

static int watch(const sn_aside *aside)
{
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    assert_true(epoll >= 0);
    assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, sn_aside_fd(aside), &event), 0);
    return epoll;
}

/* Pieces of all sizes, of several pages in turns, many times the buffer. */
static void reads_all_in_order(void **state)
{
    (void)state;
    sn_aside *aside = create(read_page);
    int epoll = watch(aside);
    page read[PAGES] = {{0}}, put[PAGES] = {{0}};
    static char bytes[200000];
    uint32_t random = 1;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)((random = random * 1664525 + 1013904223) >> 24);
    for (int i = 0; i < 4000; i++) {
        random = random * 1664525 + 1013904223;
        size_t len = i % 100 == 0 ? sizeof bytes : (random >> 8) % 20000;
        int which = (int)((random >> 4) % PAGES);
        sn_aside_put(aside, &read[which], bytes, len);
        read_page(&put[which], bytes, len);
        if (i % 50 != 0)
            continue;
        sn_aside_end(aside, &read[which]);
        assert_ptr_equal(wait_for_page(aside, epoll), &read[which]);
        assert_memory_equal(&read[which], &put[which], sizeof put[which]);
    }
    /* Small ones, so that the end of the buffer is met in several ways. */
    static const size_t small[] = {1, 16, 17, 32, 33, 48};
    for (size_t s = 0; s < sizeof small / sizeof small[0]; s++)
        for (size_t i = 0; i < SN_ASIDE_BYTES / (small[s] + 16) + 1; i++) {
            sn_aside_put(aside, &read[0], bytes + i % 100, small[s]);
            read_page(&put[0], bytes + i % 100, small[s]);
        }
    for (int i = 0; i < PAGES; i++)
        sn_aside_end(aside, &read[i]);
    for (int i = 0; i < PAGES; i++)
        assert_ptr_equal(wait_for_page(aside, epoll), &read[i]);
    assert_null(sn_aside_take(aside));
    assert_memory_equal(read, put, sizeof put);
    close(epoll);
    sn_aside_destroy(aside);
}

/* A page without bytes ends, too, and the descriptor tells each time. */
static void tells_every_time(void **state)
{
    (void)state;
    sn_aside *aside = create(read_page);
    int epoll = watch(aside);
    page p = {0};
    for (int i = 0; i < 2000; i++) {
        sn_aside_end(aside, &p);
        assert_ptr_equal(wait_for_page(aside, epoll), &p);
        assert_false(sn_aside_ready(aside));
    }
    assert_int_equal(p.bytes, 0);
    close(epoll);
    sn_aside_destroy(aside);
}

/* Whoever puts waits for a reader that is slower; what is unread is dropped at the end. */
static void waits_and_drops(void **state)
{
    (void)state;
    sn_aside *aside = create(read_slowly);
    page p = {0};
    static char bytes[64 << 10];
    for (int i = 0; i < 100; i++)
        sn_aside_put(aside, &p, bytes, sizeof bytes);
    sn_aside_destroy(aside);
    assert_true(p.bytes <= 100 * sizeof bytes);
    assert_true(p.bytes >= 100 * sizeof bytes - SN_ASIDE_BYTES);
    assert_int_equal(p.bytes % sizeof bytes, 0);
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
    bool pays = sn_aside_pays();
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_false(pays);
    assert_int_equal(sn_aside_pays(), CPU_COUNT(&all) > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_all_in_order),
        cmocka_unit_test(tells_every_time),
        cmocka_unit_test(waits_and_drops),
        cmocka_unit_test(needs_two_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
