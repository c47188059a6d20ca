/* One connection: connect, authenticate, send, receive, with timeouts. Never raises SIGPIPE. */
#ifndef SN_REDIS_CLIENT_CONNECTION_H
#define SN_REDIS_CLIENT_CONNECTION_H

#include "redis/client/address.h"
#include "redis/client/reply.h"
#include "redis/client/tls.h"

#include <poll.h>
#include <sys/uio.h>

typedef struct sn_client_times {
    uint32_t connect_ms, command_ms, retry_ms;
} sn_client_times;

typedef struct sn_connection {
    int fd;      /* -1: not connected */
    sn_tls *tls; /* NULL: no TLS */
    redisReader *reader;
    sn_reply reply; /* the last one read */
    char why[200];  /* the last error */
} sn_connection;

/* Connects and authenticates, with TLS if `trust` is given. SEEN_ERR_NETWORK: not reachable,
 * or still loading: may be retried. */
seen_status sn_connection_open(sn_connection *conn, const sn_redis_place *place,
                               const sn_redis_address *address, const sn_client_times *times,
                               const sn_tls_trust *trust, seen_error *error);
void sn_connection_close(sn_connection *conn);

/* Sends as much as the socket accepts: bytes sent, 0 if it would block, -1 lost (see why). */
ssize_t sn_connection_send(sn_connection *conn, const struct iovec *part, size_t parts);
/* Receives the available bytes; results as above. */
ssize_t sn_connection_receive(sn_connection *conn);
/* The next complete reply: 1 it is in conn->reply, 0 more bytes are needed, -1 protocol error. */
int sn_connection_next(sn_connection *conn);

/* Sends one command and waits for its reply; false if the connection is lost. */
bool sn_connection_call(sn_connection *conn, const char *bytes, size_t len, uint32_t ms);

/* As poll, but for at most a quarter of a second. *waited: how long it took, 0 if this process was
 * stopped in between: a server on the same machine may have been stopped too, and that time does
 * not count towards timeouts. */
int sn_connection_poll(struct pollfd *watch, nfds_t count, uint64_t ms, uint64_t *waited);

/* Waits until the socket is readable (or writable); false after `ms`. */
bool sn_connection_wait(sn_connection *conn, bool write, uint32_t ms);

#endif
