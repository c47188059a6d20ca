/* Setting a crawl up, and taking it down. */
#ifndef CRAWL_OPEN_H
#define CRAWL_OPEN_H

#include "crawl/engine.h"

/* Everything up to the first transfer. */
seen_status sn_crawl_open(sn_engine *e);
void sn_crawl_close(sn_engine *e);

#endif
