/* Whether this machine reaches the web at all.
 *
 * A worker of a shared crawl whose own network is down would try all hosts it can get, and give up
 * their pages. If several hosts in a row do not answer it, and hosts answer other workers, the
 * hosts are not to blame: their pages are left to the others. */
#include "crawl/engine.h"

#include "base/error.h"

/* Nothing came back. */
static bool is_silent(const sn_transfer *t)
{
    return t->status == 0 && (t->error == SN_FETCH_DNS || t->error == SN_FETCH_CONNECT ||
                              t->error == SN_FETCH_TIMEOUT);
}

/* A request that was not sent, or sent on a connection that the server had closed before, or whose
 * answer did not end, does not tell whether hosts can be reached now. */
static bool tells_nothing(const sn_transfer *t)
{
    return t->error == SN_FETCH_LATE || t->error == SN_FETCH_STALE ||
           t->error == SN_FETCH_PRIVATE || (t->error == SN_FETCH_TIMEOUT && t->status != 0);
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
    if (!f->class->blame)
        return SN_BLAME_HOST;
    return f->class->blame(f, e->reach.hosts >= SN_REACH_HOSTS, sn_fetch_now() - e->reach.since);
}

/* A host answered since this one was silent before: this machine reaches the web. */
static bool others_answered(const sn_reach *r, const sn_host *host, const sn_transfer *t)
{
    return r->answered > (host->silent > 0 ? host->silent : t->began);
}

seen_status sn_reach_note(sn_engine *e, sn_host *host, const sn_transfer *t)
{
    sn_reach *r = &e->reach;
    r->doubtful = false;
    if (tells_nothing(t))
        return SEEN_OK;
    if (!is_silent(t)) {
        r->hosts = 0;
        r->answered = sn_fetch_now();
        host->silent = 0;
        return SEEN_OK;
    }
    count_host(r, host, t);
    sn_frontier_blame verdict = blame(e);
    r->doubtful = verdict == SN_BLAME_UNKNOWN && !others_answered(r, host, t);
    host->silent = sn_fetch_now();
    if (verdict != SN_BLAME_SELF)
        return SEEN_OK;
    e->result->cut_off = true;
    return sn_error_set(e->error, SEEN_ERR_NETWORK,
                        "%s and other hosts do not answer, but hosts answer other workers: check "
                        "the network of this machine",
                        host->origin);
}
