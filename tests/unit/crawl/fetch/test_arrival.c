/* Whether what was written to a socket has arrived, and what becomes of the rest. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "crawl/fetch/arrival.h"
#include "tests/sites/listener.h"

enum { SENT = 1000, NOW = 5000 };

/* A connection: ours, and that of the server, which holds few bytes that were not read. */
static void connect_pair(int *ours, int *theirs)
{
    int port = 0, few = 4096, listener = test_listen(&port);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(listener >= 0);
    setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &few, sizeof few);
    *ours = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(*ours, (struct sockaddr *)&address, sizeof address), 0);
    *theirs = accept(listener, NULL, NULL);
    assert_true(*theirs >= 0);
    close(listener);
}

/* More than the server's buffer holds: the rest is on its way. */
static size_t overfill(int fd)
{
    static const char bytes[65536];
    size_t total = 0;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    for (ssize_t n; (n = write(fd, bytes, sizeof bytes)) > 0;)
        total += (size_t)n;
    return total;
}

static int64_t wait_for_arrival(int fd)
{
    int64_t at = 0;
    for (int i = 0; i < 5000 && at == 0; i++) {
        at = sn_arrival_time(fd, false, SENT, NOW);
        usleep(1000);
    }
    return at;
}

static void arrives_when_it_is_confirmed(void **state)
{
    int ours, theirs;
    char bytes[65536];
    (void)state;
    connect_pair(&ours, &theirs);
    assert_int_equal(write(ours, "GET /", 5), 5);
    assert_int_equal(wait_for_arrival(ours), SENT);
    size_t left = overfill(ours) + 5;
    assert_int_equal(sn_arrival_time(ours, false, SENT, NOW), 0);
    assert_in_range(sn_arrival_time(ours, true, SENT, NOW), SENT, NOW);
    while (left > 0) {
        ssize_t n = read(theirs, bytes, sizeof bytes);
        assert_true(n > 0);
        left -= (size_t)n;
    }
    assert_in_range(wait_for_arrival(ours), SENT, NOW);
    close(ours);
    close(theirs);
}

/* The server gets what had arrived, or nothing, but not the rest. */
static void nothing_arrives_after_the_end(void **state)
{
    int ours, theirs;
    char bytes[65536];
    ssize_t n;
    size_t got = 0;
    (void)state;
    connect_pair(&ours, &theirs);
    sn_arrival_prepare(ours, 3000);
    size_t sent = overfill(ours);
    close(ours);
    while ((n = read(theirs, bytes, sizeof bytes)) > 0)
        got += (size_t)n;
    assert_int_equal(n, -1);
    assert_int_equal(errno, ECONNRESET);
    assert_true(got < sent);
    close(theirs);
}

/* After an answer the connection does not end as if it had failed. */
static void ends_as_usual_after_an_answer(void **state)
{
    int ours, theirs;
    char byte;
    (void)state;
    connect_pair(&ours, &theirs);
    sn_arrival_prepare(ours, 3000);
    assert_int_equal(write(ours, "?", 1), 1);
    assert_int_equal(read(theirs, &byte, 1), 1);
    sn_arrival_relax(ours);
    close(ours);
    assert_int_equal(read(theirs, &byte, 1), 0);
    close(theirs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrives_when_it_is_confirmed),
        cmocka_unit_test(nothing_arrives_after_the_end),
        cmocka_unit_test(ends_as_usual_after_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
