/* crawl/aside.h: bytes handed to a second thread, in order, and word back when they are read.
 *
 *     sn_aside_put(aside, page, bytes, len)  ...      |  read(page, bytes, len)
 *     sn_aside_end(aside, page)                       |
 *     sn_aside_take(aside)  -->  page                 '  all of its bytes were read
 *
 * Whoever puts is one thread; it may not touch what `read` touches of a page from its first put
 * until it has taken it back. What waits to be read lies in one buffer of SN_ASIDE_BYTES; where it
 * is full, putting waits. */
#ifndef CRAWL_ASIDE_H
#define CRAWL_ASIDE_H

#include <stdbool.h>
#include <stddef.h>

#define SN_ASIDE_BYTES (2u << 20)

typedef struct sn_aside sn_aside;

/* Runs on the second thread. */
typedef void sn_aside_read(void *user, const char *bytes, size_t len);

/* Whether there is a processor for a second thread: on one it only costs. */
bool sn_aside_pays(void);

/* NULL: no second thread is to be had.
 *   most   users that have ended and were not taken, at most */
sn_aside *sn_aside_create(sn_aside_read *read, size_t most);
/* What was not read is dropped. */
void sn_aside_destroy(sn_aside *aside);

void sn_aside_put(sn_aside *aside, void *user, const char *bytes, size_t len);
void sn_aside_end(sn_aside *aside, void *user);

/* A user that ended and whose bytes were all read, in the order of ending; NULL: none yet. */
void *sn_aside_take(sn_aside *aside);

/* To be asked before waiting for other things, because small amounts are not read until then. True:
 * there is something to take. Otherwise the descriptor tells, once, when there is; watch it
 * edge-triggered and do not read it. */
bool sn_aside_ready(sn_aside *aside);
int sn_aside_fd(const sn_aside *aside);

#endif
