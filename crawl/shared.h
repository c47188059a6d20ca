/* A crawl that several processes share: opening it, and what they must agree on. */
#ifndef CRAWL_SHARED_H
#define CRAWL_SHARED_H

#include "crawl/engine.h"

/* Joins the crawl at options->join, or creates it. */
seen_status sn_shared_open(sn_engine *e);
/* Whether the run failed only because its session ended. */
bool sn_shared_lost(const sn_engine *e);

#endif
