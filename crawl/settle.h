/* Outputs written, then the frontier is told. */
#ifndef CRAWL_SETTLE_H
#define CRAWL_SETTLE_H

#include "crawl/engine.h"

/* Offers the links that wait, flushes or syncs the outputs and settles the frontier. */
seen_status sn_settle(sn_engine *e, bool sync);
/* Reports a URL to the frontier that needs no further request. Counts a failure. */
seen_status sn_settle_done(sn_engine *e, const sn_frontier_done *done);
/* Looks how full the seen-set is, and adds to what is expected to be lost. */
void sn_settle_look(sn_engine *e);

#endif
