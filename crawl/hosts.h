/* Hosts and the frontier: URLs go to the queues of their hosts, hosts are taken and given back. */
#ifndef CRAWL_HOSTS_H
#define CRAWL_HOSTS_H

#include "crawl/engine.h"

/* Takes URLs of the frontier until one cannot be placed, or the time is over. */
seen_status sn_hosts_refill(sn_engine *e, int64_t until);
/* Reports a host to the frontier that has nothing left to do. */
void sn_hosts_check_quiet(sn_engine *e, sn_host *host);
/* What the frontier has to say: stop, new hosts in scope, hosts to give back. */
seen_status sn_hosts_poll(sn_engine *e);

#endif
