/* Whether this machine reaches the web at all.
 *
 * A worker of a shared crawl whose own network is down would try all hosts it can get, and give up
 * their pages. If several hosts in a row do not answer it, and hosts answer other workers, the
 * hosts are not to blame: their pages are left to the others. */
#include "crawl/engine.h"

#include "base/error.h"

/* Nothing came back. A page that was not sent, or sent on a connection that the server had closed
 * before, says nothing about it. */
static bool is_silent(const sn_transfer *t)
{
    return t->status == 0 && (t->error == SN_FETCH_DNS || t->error == SN_FETCH_CONNECT ||
                              t->error == SN_FETCH_TIMEOUT);
}

static void count_host(sn_reach *r, const sn_host *host, const sn_transfer *t)
{
    if (r->hosts == 0)
        r->since = t->began > r->answered ? t->began : r->answered;
    for (unsigned i = 0; i < r->hosts; i++)
        if (r->host[i] == host->hash)
            return;
    if (r->hosts < SN_REACH_HOSTS)
        r->host[r->hosts++] = host->hash;
}

static sn_frontier_blame blame(const sn_engine *e)
{
    sn_frontier *f = e->intake.frontier;
    if (!f->class->blame || e->reach.hosts < SN_REACH_HOSTS)
        return SN_BLAME_HOST;
    return f->class->blame(f, sn_fetch_now() - e->reach.since);
}

bool sn_reach_doubtful(const sn_engine *e, const sn_transfer *t)
{
    return is_silent(t) && blame(e) == SN_BLAME_UNKNOWN;
}

seen_status sn_reach_note(sn_engine *e, const sn_host *host, const sn_transfer *t)
{
    if (t->error == SN_FETCH_LATE || t->error == SN_FETCH_STALE || t->error == SN_FETCH_PRIVATE)
        return SEEN_OK;
    if (!is_silent(t)) {
        e->reach.hosts = 0;
        e->reach.answered = sn_fetch_now();
        return SEEN_OK;
    }
    count_host(&e->reach, host, t);
    if (blame(e) != SN_BLAME_SELF)
        return SEEN_OK;
    e->result->cut_off = true;
    return sn_error_set(e->error, SEEN_ERR_NETWORK,
                        "%s and other hosts do not answer, but hosts answer other workers: check "
                        "the network of this machine",
                        host->origin);
}
