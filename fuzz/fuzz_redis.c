/* Any bytes a server may send. The first byte selects:
 *   'r'  the reply reader: any split of the bytes gives the same values
 *   'a'  an address: what is accepted is within its limits, and no message contains the password
 *   else a whole client with a server that answers correctly until the filter is open and then
 *   sends
 *        the bytes: an answer is returned only for a well-formed reply, never for an error. */
#include "redis/client/address.h"
#include "redis/client/reply.h"
#include "seen.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- the reader ---- */

enum { ITEMS = 4096 };

typedef struct log {
    size_t replies, items;
    sn_reply_item item[ITEMS];
    uint64_t sum;
    bool failed;
} log_t;

static void read_in_steps(const uint8_t *data, size_t size, size_t step, log_t *log)
{
    sn_reply reply = {0};
    redisReader *reader = sn_reply_reader(&reply);
    assert(reader);
    memset(log, 0, sizeof *log);
    for (size_t at = 0; at < size && !log->failed; at += step) {
        size_t n = size - at < step ? size - at : step;
        assert(redisReaderFeed(reader, (const char *)data + at, n) == REDIS_OK);
        for (;;) {
            void *got = NULL;
            if (reader->ridx < 0)
                sn_reply_clear(&reply);
            if (redisReaderGetReply(reader, &got) != REDIS_OK) {
                log->failed = true;
                break;
            }
            if (!got)
                break;
            log->replies++;
            for (size_t i = 0; i < reply.items && log->items < ITEMS; i++) {
                log->item[log->items++] = reply.item[i];
                for (size_t c = 0; c < reply.item[i].len; c++)
                    log->sum = log->sum * 31 + (unsigned char)sn_reply_text(&reply, i)[c];
            }
        }
    }
    assert(reply.used <= SN_REPLY_TEXT_MAX && reply.items <= SN_REPLY_ITEMS_MAX);
    redisReaderFree(reader);
    sn_reply_free(&reply);
}

static void fuzz_reader(const uint8_t *data, size_t size)
{
    static log_t whole, pieces;
    if (size < 1)
        return;
    read_in_steps(data + 1, size - 1, size, &whole);
    read_in_steps(data + 1, size - 1, 1 + data[0] % 7, &pieces);
    assert(whole.failed == pieces.failed && whole.replies == pieces.replies);
    assert(whole.items == pieces.items && whole.sum == pieces.sum);
    for (size_t i = 0; i < whole.items; i++)
        assert(whole.item[i].type == pieces.item[i].type &&
               whole.item[i].number == pieces.item[i].number);
}

/* ---- addresses ---- */

static void fuzz_address(const uint8_t *data, size_t size)
{
    char text[2048];
    if (size >= sizeof text)
        return;
    memcpy(text, data, size);
    text[size] = '\0';
    sn_redis_address a;
    seen_error error = {0};
    seen_status status = sn_redis_address_parse(text, &a, &error);
    if (status != SEEN_OK) {
        assert(error.status == status && error.message[0]);
        return;
    }
    assert(a.name_len > 0 && a.name_len < SN_REDIS_NAME && a.seeds >= 1 &&
           a.seeds <= SN_REDIS_SEEDS);
    assert(a.user_len < SN_REDIS_SECRET && a.password_len < SN_REDIS_SECRET);
    for (unsigned i = 0; i < a.seeds; i++)
        assert(memchr(a.seed[i].host, 0, SN_REDIS_HOST));
    assert(memchr(a.shown, 0, sizeof a.shown));
    /* The printed address is one of the same filter, without the password. */
    sn_redis_address again;
    if (strlen(a.shown) < 500) {
        assert(sn_redis_address_parse(a.shown, &again, &error) == SEEN_OK);
        assert(!again.has_password && again.name_len == a.name_len &&
               memcmp(again.name, a.name, a.name_len) == 0 && again.db == a.db);
    }
}

/* ---- a whole client ---- */

static const char OPENING[] =
    "*34\r\n$6\r\nformat\r\n$1\r\n1\r\n$2\r\nid\r\n$16\r\n0123456789abcdef\r\n"
    "$6\r\nlayout\r\n$6\r\nshards\r\n$4\r\nkind\r\n$5\r\nbloom\r\n$6\r\ngrowth\r\n$5\r\nfixed\r\n"
    "$4\r\nhash\r\n$4\r\nxxh3\r\n$9\r\nwhen-full\r\n$5\r\ngo-on\r\n"
    "$4\r\nseed\r\n$32\r\n00000000000000010000000000000002\r\n$8\r\ncapacity\r\n$3\r\n100\r\n"
    "$6\r\nrate64\r\n$18\r\n184467440737095520\r\n$11\r\ngenerations\r\n$1\r\n0\r\n"
    "$14\r\nwindow-seconds\r\n$1\r\n0\r\n$8\r\nsequence\r\n$1\r\n1\r\n$7\r\ncurrent\r\n$1\r\n0\r\n"
    "$6\r\nlayers\r\n$1\r\n1\r\n$3\r\nttl\r\n$1\r\n0\r\n"
    "$7\r\nlayer:0\r\n$35\r\n1 1 3 1 16 100 184467440737095520 7\r\n";

/* The server is the other end of a socket pair and answers while the client waits, and the clock
 * advances only by waiting: an input needs no thread, no file and no real time. The functions below
 * override those of the C library; except while the client runs they behave the same. */
static struct {
    bool running;
    bool opened; /* later connections are refused */
    unsigned output_text;
    const uint8_t *data;
    size_t size;
    int64_t ms; /* the time of day */
    int end;    /* the server's */
} fake;

#define PUBLIC __attribute__((visibility("default")))

static void send_whole(const void *data, size_t size)
{
    assert(size == 0 || send(fake.end, data, size, MSG_NOSIGNAL) == (ssize_t)size);
}

PUBLIC int connect(int fd, __CONST_SOCKADDR_ARG address, socklen_t length)
{
    int ends[2];
    if (!fake.running)
        return (int)syscall(SYS_connect, fd, address.__sockaddr__, length);
    if (fake.opened) {
        errno = ECONNREFUSED;
        return -1;
    }
    fake.opened = true;
    assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    assert(fcntl(ends[0], F_SETFL, fcntl(fd, F_GETFL)) == 0 && dup2(ends[0], fd) == fd);
    close(ends[0]);
    fake.end = ends[1];
    return 0;
}

PUBLIC int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (!fake.running)
        return (int)syscall(SYS_clock_gettime, clock, t);
    *t = (struct timespec){.tv_sec = fake.ms / 1000, .tv_nsec = fake.ms % 1000 * 1000000};
    return 0;
}

PUBLIC int nanosleep(const struct timespec *t, struct timespec *left)
{
    if (!fake.running)
        return (int)syscall(SYS_nanosleep, t, left);
    fake.ms += t->tv_sec * 1000 + t->tv_nsec / 1000000 + 1;
    return 0;
}

/* Two replies for opening, then the bytes and the end. */
static void answer(void)
{
    char heard[4096];
    if (recv(fake.end, heard, sizeof heard, MSG_DONTWAIT) <= 0)
        return;
    fake.output_text++;
    if (fake.output_text == 1)
        send_whole(OPENING, sizeof OPENING - 1);
    else if (fake.output_text == 2)
        send_whole("*2\r\n$-1\r\n$1\r\n1\r\n:1024\r\n", 24);
    else if (fake.output_text == 3) {
        send_whole(fake.data, fake.size);
        shutdown(fake.end, SHUT_RDWR);
    }
}

PUBLIC int poll(struct pollfd *fds, nfds_t count, int ms)
{
    if (fake.running && fake.opened)
        answer();
    struct timespec wait = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, none = {0};
    int ready = ppoll(fds, count, fake.running ? &none : ms < 0 ? NULL : &wait, NULL);
    if (fake.running && ready == 0)
        fake.ms += ms > 0 ? ms : 1;
    return ready;
}

static size_t count_text(const uint8_t *data, size_t size, const char *text)
{
    size_t n = 0, len = strlen(text);
    for (size_t i = 0; i + len <= size; i++)
        n += memcmp(data + i, text, len) == 0;
    return n;
}

static void fuzz_client(const uint8_t *data, size_t size)
{
    enum { KEYS = 4, DATA_MAX = 4096 };
    seen_set *set;
    seen_error error = {0};
    if (size > DATA_MAX)
        return;
    fake.running = true;
    fake.opened = false;
    fake.output_text = 0;
    fake.data = data;
    fake.size = size;
    seen_options o = {.size = sizeof o, .connect_ms = 1000, .command_ms = 1000, .retry_ms = 1};
    seen_status status = seen_open("redis+unix:///fake/x", &o, 0, &set, &error);
    if (status != SEEN_OK) {
        fprintf(stderr, "%s\n", error.message);
        abort();
    }
    seen_hash h[KEYS] = {{1, 2}, {UINT64_MAX, 3}, {5, UINT64_MAX}, {7, 8}};
    seen_answer answers[KEYS] = {9, 9, 9, 9};
    status = seen_add_hashes(set, h, KEYS, answers, &error);
    size_t fresh = 0, before = 0, unknown = 0;
    for (int i = 0; i < KEYS; i++) {
        fresh += answers[i] == SEEN_NEW;
        before += answers[i] == SEEN_BEFORE;
        unknown += answers[i] == SEEN_UNKNOWN;
    }
    assert(fresh + before + unknown == KEYS);
    assert((status == SEEN_OK) == (unknown == 0) || status != SEEN_OK);
    assert(before <= count_text(data, size, "*3\r\n:1\r\n:1\r\n:1\r\n"));
    assert(fresh + before <= count_text(data, size, "*3\r\n:"));
    seen_close(set);
    fake.running = false;
    close(fake.end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] == 'r')
        fuzz_reader(data + 1, size - 1);
    else if (data[0] == 'a')
        fuzz_address(data + 1, size - 1);
    else
        fuzz_client(data + 1, size - 1);
    return 0;
}
