/* The frontier of a crawl that many processes share, in Redis (docs/fleet.md has the protocol).
 *
 *     engine's first thread          clerk thread                         Redis
 *     offer, done, settle  ------->  check, intent, add, push, ack  --->  buckets, journal
 *     peek, load           <-------  pick, read                     <---  lists of hosts
 *                                    heartbeat, recovery, end
 *
 * The functions of the interface never wait for Redis: they exchange lists with the clerk, which
 * owns the connection. */
#ifndef SN_CRAWL_FLEET_FLEET_H
#define SN_CRAWL_FLEET_FLEET_H

#include "crawl/frontier/frontier.h"

typedef struct sn_fleet_options {
    const char *where;    /* redis://HOST/NAME and the like */
    const char *crawl;    /* ID of the crawl that is joined; NULL: any, and it may be created */
    const char *ca_file;  /* rediss://: trusted CAs; NULL: the system's */
    const char *filter;   /* the seen-set; NULL: the one of the same name at the same address */
    const char *settings; /* of a crawl that is created: what all workers must agree on, as text */
    const char *worker;   /* a name for this process; NULL: host name and process ID */
    double error_rate;    /* of a seen-set that is created */
    uint64_t capacity;
    uint64_t connections, delay_ms, max_delay_ms, max_wait_ms;
    bool levels;        /* finish each depth before the next */
    uint64_t max_pages; /* over all workers; 0: unlimited */
    bool host_pages;    /* count pages per host */
    uint64_t memory;    /* bytes of queued URLs in Redis, at most; 0: a share of its maxmemory */
    uint64_t lease_ms;  /* a worker without a heartbeat for this long is dead */
} sn_fleet_options;

/* Joins a crawl, or creates it. `created` may be NULL. */
seen_status sn_fleet_open(const sn_fleet_options *options, sn_frontier **frontier, bool *created,
                          seen_error *error);

/* Puts the pages that were given up back into their queues. */
seen_status sn_fleet_retry(const sn_fleet_options *options, uint64_t *count, seen_error *error);

/* Its ID: another crawl of the same name has another one. */
const char *sn_fleet_id(const sn_frontier *f);

/* Whether the run ended because the session did: declared dead, or Redis lost what it had written.
 * Another run may begin at once. */
bool sn_fleet_lost(const sn_frontier *f);

/* An address for messages: without its password. */
enum { SN_FLEET_SHOWN = 600 };
const char *sn_fleet_show(const char *where, char text[SN_FLEET_SHOWN]);

/* ---- For commands that look at a crawl or change it ---- */

/* The settings of a crawl, or NULL if there is none of this name: free() them. */
seen_status sn_fleet_settings(const char *where, const char *ca_file, char **settings,
                              seen_error *error);

typedef struct sn_fleet_worker {
    char session[16], name[64], state[8];
    sn_crawl_counts counts;
    uint64_t hosts;
    uint64_t silent_ms; /* since its last heartbeat, by the clock of the server */
    bool full;
    uint64_t transfers;     /* at its last heartbeat */
    uint64_t per_minute;    /* pages, between its last two heartbeats */
    char slow_origin[200];  /* of its hosts, the one whose list takes longest */
    uint64_t slow_urls;     /* about */
    uint64_t slow_delay_ms; /* its own, if it asks for a longer one than that of the crawl */
} sn_fleet_worker;

/* All counters are over the whole crawl. Reading it takes a few commands per bucket and one per
 * worker, whatever the number of URLs. */
typedef struct sn_fleet_status {
    char state[16]; /* run, pause, stop, done, limit, drop */
    uint64_t pushed, done, bytes, level, started, limit, memory, lease_ms, delay_ms;
    uint64_t ready, due, owned, failed; /* hosts, and pages given up */
    uint64_t age_ms;                    /* since it was created, by the clock of the server */
    uint64_t live;                      /* workers with a heartbeat within a lease */
    bool levels, own_filter;            /* own_filter: the crawl has created it */
    sn_crawl_counts counts;
    sn_fleet_worker *workers;
    size_t worker_count;
} sn_fleet_status;

seen_status sn_fleet_read_status(const char *where, const char *ca_file, sn_fleet_status *status,
                                 seen_error *error);
void sn_fleet_free_status(sn_fleet_status *status);

/* run, pause or stop. */
seen_status sn_fleet_set_state(const char *where, const char *ca_file, const char *state,
                               seen_error *error);
/* Changes --frontier-memory; workers see it within a second. */
seen_status sn_fleet_set_memory(const char *where, const char *ca_file, uint64_t bytes,
                                seen_error *error);
/* Changes --delay of a crawl without live workers: they read their settings when they join. */
seen_status sn_fleet_set_delay(const char *where, const char *ca_file, uint64_t delay_ms,
                               seen_error *error);
/* Figures for a report: names and values as in figures.c, of one worker after another; t:AT has the
 * pages since the point before, and how many seconds before AT they came. */
typedef void sn_fleet_figure(void *user, const char *name, const char *value);
seen_status sn_fleet_figures(const char *where, const char *ca_file, sn_fleet_figure *each,
                             void *user, seen_error *error);

typedef bool sn_fleet_each(void *user, const char *text, size_t len);
/* Calls `each` for every failed page (a line), or every queued URL. */
seen_status sn_fleet_failed(const char *where, const char *ca_file, sn_fleet_each *each, void *user,
                            seen_error *error);
seen_status sn_fleet_export(const char *where, const char *ca_file, sn_fleet_each *each, void *user,
                            seen_error *error);
/* Deletes a crawl, and its seen-set if the crawl has created that under its own name; otherwise
 * *kept. Refused while a worker is live unless `force`. */
seen_status sn_fleet_drop(const char *where, const char *ca_file, bool force, bool *kept,
                          seen_error *error);

#endif
