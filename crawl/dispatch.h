/* Hosts -> transfers. */
#ifndef CRAWL_DISPATCH_H
#define CRAWL_DISPATCH_H

#include "crawl/engine.h"

/* Starts what can be started now. */
seen_status sn_dispatch(sn_engine *e);

#endif
