/* TLS for a connection. A build without it refuses rediss://. */
#ifndef SN_REDIS_CLIENT_TLS_H
#define SN_REDIS_CLIENT_TLS_H

#include "redis/client/client.h"

#include <sys/types.h>

typedef struct sn_tls_trust sn_tls_trust; /* trusted CAs and the client certificate: of a set */
typedef struct sn_tls sn_tls;             /* of a connection */

/* Reads the certificates given in the options, or those of the system. */
seen_status sn_tls_trust_open(const sn_redis_address *address, const sn_client_options *options,
                              sn_tls_trust **trust, seen_error *error);
void sn_tls_trust_close(sn_tls_trust *trust);

/* Performs the handshake over a connected socket, which the caller keeps, and verifies that the
 * certificate is valid for `host` and issued by a trusted CA. SEEN_ERR_NETWORK: may be retried. */
seen_status sn_tls_open(const sn_tls_trust *trust, int fd, const char *host,
                        const sn_redis_address *address, uint32_t ms, sn_tls **tls,
                        seen_error *error);
/* Sends a close notification if the socket accepts it at once. NULL is ignored. */
void sn_tls_close(sn_tls *tls);

/* Like send and recv on a non-blocking socket: -1 with errno, EAGAIN if it would block. Unsent data
 * must be sent again, from the same byte on. */
ssize_t sn_tls_send(sn_tls *tls, const void *bytes, size_t len);
ssize_t sn_tls_receive(sn_tls *tls, void *buffer, size_t room);
/* The reason of the last failure, as text. */
const char *sn_tls_error(const sn_tls *tls);

#endif
