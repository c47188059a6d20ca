/* A second thread that fetches, with its own transfers.
 *
 *     first thread                            second thread
 *     sn_fetch_thread_start(request)     -->  fetches it; callbacks run here
 *     sn_fetch_thread_take()             <--  a paced request has arrived
 *     sn_fetch_thread_take()             <--  the transfer is over
 *     sn_fetch_thread_release(transfer)  -->
 *
 * Only one thread may call these functions. From the start of a transfer until it is over and was
 * taken, the URL and everything that its callbacks use belong to the second thread. */
#ifndef SN_CRAWL_FETCH_THREAD_H
#define SN_CRAWL_FETCH_THREAD_H

#include "crawl/fetch/fetch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_fetch_thread sn_fetch_thread;

/* Whether there is a second processor. With only one, a second thread has no benefit. */
bool sn_fetch_thread_pays(void);

seen_status sn_fetch_thread_create(const sn_fetch_options *options, sn_fetch_thread **thread,
                                   seen_error *error);
/* Transfers in progress are dropped. */
void sn_fetch_thread_destroy(sn_fetch_thread *thread);

/* Whether there is room for another transfer; and how many were started and not released. */
bool sn_fetch_thread_room(const sn_fetch_thread *thread);
size_t sn_fetch_thread_active(const sn_fetch_thread *thread);

/* As sn_fetch_start; there must be room. The URL is not copied. */
void sn_fetch_thread_start(sn_fetch_thread *thread, const sn_fetch_request *request);

/* A transfer that is over, or NULL. Release it with sn_fetch_thread_release. *sent: it is not over;
 * its paced request has arrived, and only `user` and `sent` may be read. Fails if the second thread
 * failed, which then does nothing more. */
seen_status sn_fetch_thread_take(sn_fetch_thread *thread, sn_transfer **transfer, bool *sent,
                                 seen_error *error);
void sn_fetch_thread_release(sn_fetch_thread *thread, sn_transfer *transfer);

/* To be called before waiting for other events. True: there is something to take. Otherwise the
 * descriptor becomes readable, once, when there is; watch it edge-triggered and do not read it. */
bool sn_fetch_thread_ready(sn_fetch_thread *thread);
int sn_fetch_thread_fd(const sn_fetch_thread *thread);

#endif
