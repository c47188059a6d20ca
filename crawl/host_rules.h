/* The robots.txt of a host. */
#ifndef CRAWL_HOST_RULES_H
#define CRAWL_HOST_RULES_H

#include "crawl/engine.h"

#define SN_DOWN_AFTER 5 /* failed connections in a row: the host is down */
#define SN_DOWN_MS 60000

/* Requests it. */
seen_status sn_host_rules_fetch(sn_engine *e, sn_host *host);
/* The answer. */
seen_status sn_host_rules_arrived(sn_engine *e, sn_job *job, sn_transfer *transfer);
/* Uses rules that the frontier has stored. */
seen_status sn_host_rules_use(sn_engine *e, sn_host *host, const char *text, size_t len,
                              int64_t for_ms);

#endif
