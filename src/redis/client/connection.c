/* One connection. hiredis parses; the rest is done here, because a lost connection must not raise a
 * signal, several connections must be served concurrently, and hiredis ends the process if it has
 * no memory to connect. */
#include "redis/client/connection.h"

#include "base/clock.h"
#include "base/error.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/sockios.h>
#endif

enum {
    RECEIVE_BYTES = 64 << 10,
    RECORD_BYTES = 16 << 10,                      /* maximum TLS record */
    UNPARSED_MAX = SN_REPLY_TEXT_MAX + (1 << 20), /* maximum bytes of an incomplete reply */
};

/* Commands that were not answered are sent again on another connection. What the server has not
 * got of them must not arrive later: the kernel would deliver it after a partition. */
static void discard_unsent(int fd)
{
    struct linger discard = {.l_onoff = 1};
#ifdef SIOCOUTQ
    int unsent = 0;
    if (ioctl(fd, SIOCOUTQ, &unsent) == 0 && unsent == 0)
        return;
#endif
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &discard, sizeof discard);
}

void sn_connection_close(sn_connection *conn)
{
    if (conn->fd >= 0)
        discard_unsent(conn->fd);
    sn_tls_close(conn->tls);
    if (conn->fd >= 0)
        close(conn->fd);
    if (conn->reader)
        redisReaderFree(conn->reader);
    sn_reply_free(&conn->reply);
    conn->fd = -1;
    conn->tls = NULL;
    conn->reader = NULL;
}

static void lost(sn_connection *conn, const char *why)
{
    snprintf(conn->why, sizeof conn->why, "%s", why);
}

int sn_connection_poll(struct pollfd *watch, nfds_t count, uint64_t ms, uint64_t *waited)
{
    enum { SLICE_MS = 250, STOPPED_MS = 100 };
    uint64_t slice = ms < SLICE_MS ? ms : SLICE_MS, from = sn_clock_ms();
    int ready = poll(watch, count, (int)slice);
    *waited = sn_clock_ms() - from;
    if (*waited > slice + STOPPED_MS)
        *waited = 0;
    return ready;
}

bool sn_connection_wait(sn_connection *conn, bool write, uint32_t ms)
{
    struct pollfd p = {.fd = conn->fd, .events = write ? POLLOUT : POLLIN};
    uint64_t waited, left = ms;
    for (;;) {
        int ready = sn_connection_poll(&p, 1, left, &waited);
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
        if (waited >= left)
            return false;
        left -= waited;
    }
}

/* Combines many small parts into one record. */
static ssize_t send_record(sn_tls *tls, const struct iovec *part, size_t parts)
{
    char record[RECORD_BYTES];
    size_t n = 0;
    for (size_t i = 0; i < parts && n < sizeof record; i++) {
        size_t room = sizeof record - n, len = part[i].iov_len < room ? part[i].iov_len : room;
        memcpy(record + n, part[i].iov_base, len);
        n += len;
    }
    return sn_tls_send(tls, record, n);
}

ssize_t sn_connection_send(sn_connection *conn, const struct iovec *part, size_t parts)
{
    struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)part, .msg_iovlen = parts};
    ssize_t n = conn->tls ? send_record(conn->tls, part, parts)
                          : sendmsg(conn->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0)
        return n;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        return 0;
    lost(conn, conn->tls ? sn_tls_error(conn->tls) : strerror(errno));
    return -1;
}

ssize_t sn_connection_receive(sn_connection *conn)
{
    char buffer[RECEIVE_BYTES];
    ssize_t n = conn->tls ? sn_tls_receive(conn->tls, buffer, sizeof buffer)
                          : recv(conn->fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n > 0) {
        if (conn->reader->len - conn->reader->pos > UNPARSED_MAX ||
            redisReaderFeed(conn->reader, buffer, (size_t)n) != REDIS_OK) {
            lost(conn, "the reply is too long");
            return -1;
        }
        return n;
    }
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return 0;
    lost(conn, n == 0      ? "the server closed the connection"
               : conn->tls ? sn_tls_error(conn->tls)
                           : strerror(errno));
    return -1;
}

int sn_connection_next(sn_connection *conn)
{
    void *got = NULL;
    /* Of an incomplete reply the tape keeps what was read. */
    if (conn->reader->ridx < 0)
        sn_reply_clear(&conn->reply);
    if (redisReaderGetReply(conn->reader, &got) != REDIS_OK) {
        lost(conn, conn->reader->errstr[0] ? conn->reader->errstr : "not the Redis protocol");
        return -1;
    }
    return got != NULL;
}

/* ---- connect and log in ---- */

/* A socket that is connected within `ms`; -1 and errno. */
static int dial(const struct sockaddr *to, socklen_t len, uint32_t ms)
{
    sn_connection conn = {.fd =
                              socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    int why = 0;
    socklen_t room = sizeof why;
    if (conn.fd < 0)
        return -1;
    if (connect(conn.fd, to, len) != 0)
        why = errno;
    if (why == EINPROGRESS) {
        why = ETIMEDOUT;
        if (sn_connection_wait(&conn, true, ms))
            (void)getsockopt(conn.fd, SOL_SOCKET, SO_ERROR, &why, &room);
    }
    if (why == 0)
        return conn.fd;
    close(conn.fd);
    errno = why;
    return -1;
}

static int connect_to(const sn_redis_place *place, uint32_t ms, char *why, size_t room)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    char port[8];
    int fd = -1, one = 1;
    if (place->port == 0) {
        struct sockaddr_un path = {.sun_family = AF_UNIX};
        snprintf(path.sun_path, sizeof path.sun_path, "%.107s", place->host);
        fd = dial((struct sockaddr *)&path, sizeof path, ms);
        snprintf(why, room, "%s", fd < 0 ? strerror(errno) : "");
        return fd;
    }
    snprintf(port, sizeof port, "%u", place->port);
    int unknown = getaddrinfo(place->host, port, &hints, &found);
    snprintf(why, room, "%s", unknown ? gai_strerror(unknown) : "");
    for (struct addrinfo *a = unknown ? NULL : found; a && fd < 0; a = a->ai_next) {
        fd = dial(a->ai_addr, a->ai_addrlen, ms);
        if (fd < 0)
            snprintf(why, room, "%s", strerror(errno));
        else /* a hint: a failure only affects speed */
            (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
    if (!unknown)
        freeaddrinfo(found);
    return fd;
}

static bool send_all(sn_connection *conn, const char *bytes, size_t len, uint32_t ms)
{
    while (len) {
        struct iovec part = {.iov_base = (char *)(uintptr_t)bytes, .iov_len = len};
        ssize_t n = sn_connection_send(conn, &part, 1);
        if (n < 0)
            return false;
        if (n == 0 && !sn_connection_wait(conn, true, ms)) {
            lost(conn, "the server does not read");
            return false;
        }
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static bool one_reply(sn_connection *conn, uint32_t ms)
{
    for (;;) {
        int got = sn_connection_next(conn);
        if (got != 0)
            return got > 0;
        if (!sn_connection_wait(conn, false, ms)) {
            lost(conn, "no answer in time");
            return false;
        }
        if (sn_connection_receive(conn) < 0)
            return false;
    }
}

bool sn_connection_call(sn_connection *conn, const char *bytes, size_t len, uint32_t ms)
{
    return send_all(conn, bytes, len, ms) && one_reply(conn, ms);
}

static size_t put_arg(char *to, const char *arg, size_t len)
{
    int n = sprintf(to, "$%zu\r\n", len);
    memcpy(to + n, arg, len);
    memcpy(to + n + len, "\r\n", 2);
    return (size_t)n + len + 2;
}

static seen_status refused(const sn_connection *conn, const sn_redis_address *a, const char *what,
                           seen_error *error)
{
    const char *text = sn_reply_is_error(&conn->reply) ? sn_reply_text(&conn->reply, 0) : "";
    if (sn_reply_error_is(&conn->reply, "LOADING"))
        return sn_error_set(error, SEEN_ERR_NETWORK,
                            "%s: the server is still loading its data; try again later", a->shown);
    bool login = strcmp(what, "log in") == 0 || sn_reply_error_is(&conn->reply, "NOAUTH") ||
                 sn_reply_error_is(&conn->reply, "NOPERM");
    return sn_error_set(error, login ? SEEN_ERR_PERMISSION : SEEN_ERR_SERVER,
                        "%s: cannot %s: %.200s; check %s", a->shown, what, text,
                        login ? "the user and the password in the address"
                              : "the number of the database in the address");
}

/* AUTH and SELECT. */
static seen_status log_in(sn_connection *conn, const sn_redis_address *a, uint32_t ms,
                          seen_error *error)
{
    char text[2 * SN_REDIS_SECRET + 128];
    size_t n = 0;
    unsigned replies = 0;
    if (a->has_password) {
        n += (size_t)sprintf(text, "*%d\r\n", a->user_len ? 3 : 2);
        n += put_arg(text + n, "AUTH", 4);
        if (a->user_len)
            n += put_arg(text + n, a->user, a->user_len);
        n += put_arg(text + n, a->password, a->password_len);
        replies++;
    }
    if (a->db) {
        char number[16];
        int len = sprintf(number, "%u", a->db);
        n += (size_t)sprintf(text + n, "*2\r\n");
        n += put_arg(text + n, "SELECT", 6);
        n += put_arg(text + n, number, (size_t)len);
        replies++;
    }
    seen_status status = SEEN_OK;
    bool sent = send_all(conn, text, n, ms);
    for (unsigned i = 0; i < replies; i++) {
        if (!sent || !one_reply(conn, ms))
            goto out;
        bool auth = i == 0 && a->has_password;
        if (status == SEEN_OK && sn_reply_is_error(&conn->reply))
            status = refused(conn, a, auth ? "log in" : "select the database", error);
    }
    return status;
out:
    return sn_error_set(error, SEEN_ERR_NETWORK, "%s: %s", a->shown, conn->why);
}

/* A server that requires a client certificate reports that after the handshake, with its first
 * reply. */
static seen_status encipher(sn_connection *conn, const sn_redis_place *place,
                            const sn_redis_address *address, uint32_t ms, const sn_tls_trust *trust,
                            seen_error *error)
{
    seen_status status = sn_tls_open(trust, conn->fd, place->host, address, ms, &conn->tls, error);
    if (status != SEEN_OK || sn_connection_call(conn, "*1\r\n$4\r\nPING\r\n", 14, ms))
        return status;
    return sn_error_set(error, SEEN_ERR_NETWORK,
                        "%s: %s: %s; does the server want a certificate (--tls-cert, --tls-key)?",
                        address->shown, place->host, conn->why);
}

seen_status sn_connection_open(sn_connection *conn, const sn_redis_place *place,
                               const sn_redis_address *address, const sn_client_times *times,
                               const sn_tls_trust *trust, seen_error *error)
{
    *conn = (sn_connection){.fd = -1};
    conn->fd = connect_to(place, times->connect_ms, conn->why, sizeof conn->why);
    if (conn->fd < 0)
        return sn_error_set(error, SEEN_ERR_NETWORK,
                            "%s: cannot connect to %s%s%.0d: %s; is the server running, and the "
                            "address right?",
                            address->shown, place->host, place->port ? ":" : "", (int)place->port,
                            conn->why);
    seen_status status = SEEN_OK;
    conn->reader = sn_reply_reader(&conn->reply);
    if (!conn->reader)
        status = sn_error_set(error, SEEN_ERR_MEMORY, "%s: out of memory", address->shown);
    if (status == SEEN_OK && trust)
        status = encipher(conn, place, address, times->connect_ms, trust, error);
    if (status == SEEN_OK)
        status = log_in(conn, address, times->command_ms, error);
    if (status != SEEN_OK)
        sn_connection_close(conn);
    return status;
}
