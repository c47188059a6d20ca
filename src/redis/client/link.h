/* One connection: connect, log in, send, receive, with time-outs. Never raises SIGPIPE. */
#ifndef SN_STORE_REDIS_LINK_H
#define SN_STORE_REDIS_LINK_H

#include "redis/client/address.h"
#include "redis/client/reply.h"
#include "redis/client/tls.h"

#include <poll.h>
#include <sys/uio.h>

typedef struct sn_client_times {
    uint32_t connect_ms, command_ms, retry_ms;
} sn_client_times;

typedef struct sn_link {
    int fd;      /* -1: not connected */
    sn_tls *tls; /* NULL: in the clear */
    redisReader *reader;
    sn_reply reply;             /* the last one read */
    char why[200];              /* what went wrong last */
    char run_id[SN_RUN_ID + 1]; /* of the server, if it was asked for */
} sn_link;

/* Connects and logs in, with TLS if there is a trust; `run_id`: asks for it. SEEN_ERR_NETWORK: not
 * reached, or it is still loading: worth another try. */
seen_status sn_link_open(sn_link *link, const sn_redis_place *place,
                         const sn_redis_address *address, const sn_client_times *times,
                         const sn_tls_trust *trust, bool run_id, seen_error *error);
void sn_link_close(sn_link *link);

/* Sends what the socket takes: bytes sent, 0 for none at the moment, -1 lost (why says why). */
ssize_t sn_link_send(sn_link *link, const struct iovec *part, size_t parts);
/* Receives what is there; as above. */
ssize_t sn_link_receive(sn_link *link);
/* The next whole reply: 1 it is in link->reply, 0 more bytes are needed, -1 nonsense was sent. */
int sn_link_next(sn_link *link);

/* Sends one command and waits for its reply; false where the connection is lost. */
bool sn_link_talk(sn_link *link, const char *bytes, size_t len, uint32_t ms);

/* As poll, but for a quarter of a second at most. *waited: how long that was, 0 where this process
 * was stopped meanwhile: a server on the same machine may have been so too, and time in which we
 * could not look is none in which it did not answer. */
int sn_link_poll(struct pollfd *watch, nfds_t count, uint64_t ms, uint64_t *waited);

/* Waits until the socket can be read (or written); false after `ms`. */
bool sn_link_wait(sn_link *link, bool write, uint32_t ms);

#endif
