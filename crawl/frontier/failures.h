/* The list of failed pages: `failed` in the state folder.
 *
 * One line per URL, fields separated by tabs:
 *     depth  kind  status  reason  URL  parent */
#ifndef SN_CRAWL_FRONTIER_FAILURES_H
#define SN_CRAWL_FRONTIER_FAILURES_H

#include "crawl/frontier/frontier.h"

typedef struct sn_failures {
    int folder, fd; /* fd -1: no list is kept */
    uint64_t len;   /* valid length of the file */
} sn_failures;

/* `len`: length of the list according to the checkpoint. */
seen_status sn_failures_open(sn_failures *list, int folder, uint64_t len, seen_error *error);
void sn_failures_close(sn_failures *list);

seen_status sn_failures_add(sn_failures *list, const sn_frontier_done *done, seen_error *error);
seen_status sn_failures_sync(sn_failures *list, seen_error *error);
/* Truncates the list to the length in the checkpoint. */
seen_status sn_failures_trim(sn_failures *list, seen_error *error);

/* Calls `each` for every line. `asked`: the page was requested. */
typedef seen_status sn_failures_each(void *user, const sn_frontier_record *record, bool asked,
                                     seen_error *error);
seen_status sn_failures_read(const sn_failures *list, sn_failures_each *each, void *user,
                             seen_error *error);

#endif
