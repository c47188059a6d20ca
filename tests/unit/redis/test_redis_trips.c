/* Counts round trips: opening a filter and adding one batch takes at most four. A proxy counts each
 * time the client sends after it has received. */
#include "seen.h"
#include "tests/redis/rig.h"

#include <poll.h>
#include <pthread.h>

typedef struct counter {
    int listener, port;
    _Atomic unsigned trips;
} counter;

static bool forward(int from, int to)
{
    static char buffer[4 << 20];
    ssize_t n = recv(from, buffer, sizeof buffer, 0);
    for (ssize_t at = 0, sent; at < n; at += sent)
        if ((sent = send(to, buffer + at, (size_t)(n - at), MSG_NOSIGNAL)) <= 0)
            return false;
    return n > 0;
}

/* Replies are delayed until the client has sent nothing for a while: several writes before it waits
 * are one round trip. */
static bool client_waits(int client)
{
    enum { QUIET_MS = 100 };
    struct pollfd p = {.fd = client, .events = POLLIN};
    return poll(&p, 1, QUIET_MS) == 0;
}

static void *serve(void *context)
{
    counter *c = context;
    for (;;) {
        int client = accept(c->listener, NULL, NULL);
        if (client < 0)
            return NULL;
        struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)server.port)};
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        int up = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        bool good = connect(up, (struct sockaddr *)&to, sizeof to) == 0, waits = true;
        while (good) {
            struct pollfd p[2] = {{.fd = client, .events = POLLIN}, {.fd = up, .events = POLLIN}};
            if (poll(p, 2, -1) < 0)
                break;
            if (p[0].revents) {
                good = forward(client, up);
                c->trips += good && waits; /* except at the end of the connection */
                waits = false;
            } else if (p[1].revents && client_waits(client)) {
                waits = true;
                good = forward(up, client);
            }
        }
        close(up);
        close(client);
    }
}

static counter proxy;

static int start(void **state)
{
    pthread_t thread;
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;
    if (rig_start(state) != 0)
        return -1;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    proxy.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(proxy.listener, (struct sockaddr *)&a, sizeof a) != 0 ||
        listen(proxy.listener, 8) != 0 || getsockname(proxy.listener, (struct sockaddr *)&a, &len))
        return -1;
    proxy.port = ntohs(a.sin_port);
    return pthread_create(&thread, NULL, serve, &proxy) || pthread_detach(thread) ? -1 : 0;
}

static void add(seen_set *set, uint64_t from, size_t n)
{
    enum { MOST = 2000 };
    seen_key keys[MOST];
    uint64_t number[MOST];
    seen_answer answers[MOST];
    seen_error error = {0};
    for (size_t i = 0; i < n; i++) {
        number[i] = from + i;
        keys[i] = (seen_key){&number[i], sizeof number[i]};
    }
    if (seen_add_many(set, keys, n, answers, &error) != SEEN_OK)
        fail_msg("%s", error.message);
}

/* The number of round trips to open the filter and to add 50 keys. */
static unsigned trips_of(const char *name, seen_options o, unsigned batches)
{
    seen_set *set;
    seen_error error = {0};
    char here[96], there[96];
    snprintf(here, sizeof here, "%s/%s", server.url, name);
    snprintf(there, sizeof there, "redis://127.0.0.1:%d/%s", proxy.port, name);
    o.size = sizeof o;
    if (seen_create(here, &o, 0, &set, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    for (unsigned i = 0; i < batches; i++)
        add(set, 1000000 + i * 2000, 2000);
    seen_close(set);
    proxy.trips = 0;
    if (seen_open(there, NULL, 0, &set, &error) != SEEN_OK)
        fail_msg("%s", error.message);
    add(set, 1, 50);
    unsigned trips = proxy.trips;
    printf("%s: %u round trips\n", name, trips);
    seen_close(set);
    return trips;
}

static void test_trips(void **state)
{
    (void)state;
    assert_in_range(trips_of("fixed", (seen_options){.capacity = 100000}, 1), 3, 4);
    assert_in_range(
        trips_of("counting", (seen_options){.kind = SEEN_COUNTING, .capacity = 100000}, 1), 3, 4);
    assert_in_range(
        trips_of("window",
                 (seen_options){.growth = SEEN_WINDOW, .capacity = 100000, .window_seconds = 3600},
                 1),
        3, 4);
    assert_in_range(
        trips_of("growing", (seen_options){.growth = SEEN_GROWING, .capacity = 1000}, 10), 3, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_trips)};
    return test_have_redis() ? cmocka_run_group_tests(tests, start, rig_stop) : 77;
}
