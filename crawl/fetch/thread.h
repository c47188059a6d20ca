/* A second thread that fetches, with transfers of its own.
 *
 *     sn_fetch_thread_start(aside, url, limit, user)      |  fetches it; the body callback runs
 * here sn_fetch_thread_take(aside)  -->  the transfer      |  it is over
 *     sn_fetch_thread_release(aside, transfer)            '
 *
 * One thread calls these. From the start of a transfer until it was taken, the URL and all
 * that the body callback touches belong to the second thread. */
#ifndef CRAWL_FETCH_THREAD_H
#define CRAWL_FETCH_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crawl/fetch/fetch.h"

typedef struct sn_fetch_thread sn_fetch_thread;

/* Whether there is a processor for a second thread: on one it only costs. */
bool sn_fetch_thread_pays(void);

seen_status sn_fetch_thread_create(const sn_fetch_options *options, sn_fetch_thread **aside,
                                   seen_error *error);
/* What is under way is dropped. */
void sn_fetch_thread_destroy(sn_fetch_thread *aside);

/* Is there room for another transfer? How many were started and not released? */
bool sn_fetch_thread_room(const sn_fetch_thread *aside);
size_t sn_fetch_thread_active(const sn_fetch_thread *aside);

/* As sn_fetch_start; there must be room. The URL is not copied. */
void sn_fetch_thread_start(sn_fetch_thread *aside, const char *url, uint64_t limit, void *user);

/* A transfer that is over, or NULL. Give it back with sn_fetch_thread_release. Fails where the
 * second thread failed: it does nothing more then. */
seen_status sn_fetch_thread_take(sn_fetch_thread *aside, sn_transfer **transfer, seen_error *error);
void sn_fetch_thread_release(sn_fetch_thread *aside, sn_transfer *transfer);

/* To be asked before waiting for other things. True: there is something to take. Otherwise the
 * descriptor tells, once, when there is; watch it edge-triggered and do not read it. */
bool sn_fetch_thread_ready(sn_fetch_thread *aside);
int sn_fetch_thread_fd(const sn_fetch_thread *aside);

#endif
