/* A second thread that fetches, with transfers of its own.
 *
 *     sn_aside_start(aside, url, limit, user)      |  fetches it; the body callback runs here
 *     sn_aside_take(aside)  -->  the transfer      |  it is over
 *     sn_aside_release(aside, transfer)            '
 *
 * Whoever calls is one thread. From the start of a transfer until it was taken, the URL and all
 * that the body callback touches belong to the second thread. */
#ifndef CRAWL_ASIDE_H
#define CRAWL_ASIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crawl/fetch/fetch.h"

typedef struct sn_aside sn_aside;

/* Whether there is a processor for a second thread: on one it only costs. */
bool sn_aside_pays(void);

seen_status sn_aside_create(const sn_fetch_options *options, sn_aside **aside, seen_error *error);
/* What is under way is dropped. */
void sn_aside_destroy(sn_aside *aside);

/* Is there room for another transfer? How many were started and not released? */
bool sn_aside_room(const sn_aside *aside);
size_t sn_aside_active(const sn_aside *aside);

/* As sn_fetch_start; there must be room. The URL is not copied. */
void sn_aside_start(sn_aside *aside, const char *url, uint64_t limit, void *user);

/* A transfer that is over, or NULL. Give it back with sn_aside_release. Fails where the second
 * thread failed: it does nothing more then. */
seen_status sn_aside_take(sn_aside *aside, sn_transfer **transfer, seen_error *error);
void sn_aside_release(sn_aside *aside, sn_transfer *transfer);

/* To be asked before waiting for other things. True: there is something to take. Otherwise the
 * descriptor tells, once, when there is; watch it edge-triggered and do not read it. */
bool sn_aside_ready(sn_aside *aside);
int sn_aside_fd(const sn_aside *aside);

#endif
