/* Start URLs, and the hosts that are in scope because of them. */
#ifndef CRAWL_SEEDS_H
#define CRAWL_SEEDS_H

#include "crawl/engine.h"

/* Takes in the start URLs of this run. */
seen_status sn_seeds_admit(sn_engine *e);
/* The host of this URL belongs to the crawl from now on, also after a stop. */
seen_status sn_seeds_add(sn_engine *e, const char *url, size_t len);
/* The same for one that the frontier knows already. */
seen_status sn_seeds_join(sn_engine *e, const char *url, size_t len);
/* Hosts of earlier runs: one URL per line; NULL: none. */
seen_status sn_seeds_load(sn_engine *e, const char *lines);

#endif
