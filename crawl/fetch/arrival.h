/* When a request arrived at its server, as far as TCP knows.
 *
 * A request that was written to a socket may be on its way for long: a packet that is lost is
 * repeated, and after a partition of the network several arrive at once. The delay of a host
 * therefore runs from the arrival, and a request that is given up must not arrive later. */
#ifndef SN_CRAWL_FETCH_ARRIVAL_H
#define SN_CRAWL_FETCH_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

/* The time in milliseconds, rounded up: what has happened had happened by then. */
int64_t sn_arrival_now(void);

/* A connected socket: what has not arrived when it is closed, also by the end of the process, never
 * will. withdraw_ms: nor will what has not arrived for so long; 0: no limit. */
void sn_arrival_prepare(int fd, uint64_t withdraw_ms);

/* An answer came: nothing of ours is on its way, and the connection ends like any other. */
void sn_arrival_relax(int fd);

/* Whether the connection has failed because what was written did not arrive in time. */
bool sn_arrival_failed(int fd);

/* When the request that was written to the socket by the time `sent` had arrived, at the latest; 0:
 * it has not. A request that was not repeated arrived about when it was sent. `answered`: it has
 * arrived, whatever else is on its way. */
int64_t sn_arrival_time(int fd, bool answered, int64_t sent, int64_t now);

#endif
