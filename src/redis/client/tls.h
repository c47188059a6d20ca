/* TLS under a connection: the bytes of a link, enciphered. A build without it refuses rediss://. */
#ifndef SN_STORE_REDIS_TLS_H
#define SN_STORE_REDIS_TLS_H

#include "redis/client/client.h"

#include <sys/types.h>

typedef struct sn_tls_trust sn_tls_trust; /* whom to believe, and who we are: of a set */
typedef struct sn_tls sn_tls;             /* of a connection */

/* Reads the certificates that the options name, or where they name none takes the system's. */
seen_status sn_tls_trust_open(const sn_redis_address *address, const sn_client_options *options,
                              sn_tls_trust **trust, seen_error *error);
void sn_tls_trust_close(sn_tls_trust *trust);

/* Shakes hands over a connected socket, which stays the caller's, and sees that the certificate was
 * made for `host`, by somebody who is trusted. SEEN_ERR_NETWORK: worth another try. */
seen_status sn_tls_open(const sn_tls_trust *trust, int fd, const char *host,
                        const sn_redis_address *address, uint32_t ms, sn_tls **tls,
                        seen_error *error);
/* Says goodbye where the socket takes it at once. NULL is ignored. */
void sn_tls_close(sn_tls *tls);

/* As send and recv on a socket that does not block: -1 with errno, EAGAIN where it must wait. What
 * could not be sent is to be sent again, from the same byte on. */
ssize_t sn_tls_send(sn_tls *tls, const void *bytes, size_t len);
ssize_t sn_tls_receive(sn_tls *tls, void *buffer, size_t room);
/* Why the last of these failed, in words. */
const char *sn_tls_why(const sn_tls *tls);

#endif
