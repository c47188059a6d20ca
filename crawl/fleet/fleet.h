/* The frontier of a crawl that many processes share, in Redis (docs/fleet.md has the protocol).
 *
 *     engine's first thread          clerk thread                         Redis
 *     offer, done, settle  ------->  check, intent, add, push, ack  --->  buckets, journal
 *     peek, load           <-------  pick, read                     <---  lists of hosts
 *                                    heartbeat, recovery, end
 *
 * The functions of the interface never wait for Redis: they exchange lists with the clerk, which
 * owns the connection. */
#ifndef CRAWL_FLEET_FLEET_H
#define CRAWL_FLEET_FLEET_H

#include "crawl/frontier/frontier.h"

typedef struct sn_fleet_options {
    const char *where;    /* redis://HOST/NAME and the like */
    const char *ca_file;  /* rediss://: authorities to trust; NULL: the system's */
    const char *filter;   /* the seen-set; NULL: the one of the same name at the same address */
    const char *settings; /* of a crawl that is created: what all workers must agree on, as text */
    const char *worker;   /* a name for this process; NULL: host name and process number */
    double error_rate;    /* of a seen-set that is created */
    uint64_t capacity;
    uint64_t connections, delay_ms, max_delay_ms, max_wait_ms;
    bool levels;        /* finish each depth before the next */
    uint64_t max_pages; /* over all workers; 0: any number */
    bool host_pages;    /* count pages per host */
    uint64_t memory;    /* bytes of queued URLs in Redis, at most; 0: a share of its maxmemory */
    uint64_t lease_ms;  /* a worker without a heartbeat for so long is dead */
} sn_fleet_options;

/* Joins a crawl, or creates it. `created` may be NULL. */
seen_status sn_fleet_open(const sn_fleet_options *options, sn_frontier **frontier, bool *created,
                          seen_error *error);

/* Whether the run ended because the session did: declared dead, or Redis lost what it had written.
 * Another run may begin at once. */
bool sn_fleet_lost(const sn_frontier *f);
/* Whether anything was ever offered to this crawl by any process. */
bool sn_fleet_empty(const sn_frontier *f);

/* ---- For commands that look at a crawl or change it ---- */

/* The settings of a crawl, or NULL if there is none of this name: free() them. */
seen_status sn_fleet_settings(const char *where, const char *ca_file, char **settings,
                              seen_error *error);

typedef struct sn_fleet_worker {
    char session[16], name[64], state[8];
    uint64_t pages, hosts, transfers, beat;
} sn_fleet_worker;

typedef struct sn_fleet_status {
    char state[16];
    uint64_t pushed, done, bytes, level, started, limit, ready, owned, tired, failed, memory;
    uint64_t created_ms, now_ms, lease_ms;
    sn_crawl_counts counts; /* of all sessions */
    bool levels;
    sn_fleet_worker *workers;
    size_t worker_count;
    unsigned buckets, masters;
    uint64_t slow_urls; /* of the host with the most URLs among those looked at */
    char slow_origin[256];
} sn_fleet_status;

seen_status sn_fleet_read_status(const char *where, const char *ca_file, sn_fleet_status *status,
                                 seen_error *error);
void sn_fleet_free_status(sn_fleet_status *status);

/* run, pause or stop. */
seen_status sn_fleet_set_state(const char *where, const char *ca_file, const char *state,
                               seen_error *error);
typedef bool sn_fleet_each(void *user, const char *text, size_t len);
/* Calls `each` for every page that was given up (a line), or every URL that is queued. */
seen_status sn_fleet_failed(const char *where, const char *ca_file, sn_fleet_each *each, void *user,
                            seen_error *error);
seen_status sn_fleet_export(const char *where, const char *ca_file, sn_fleet_each *each, void *user,
                            seen_error *error);
/* Deletes a crawl; refused while a worker is live unless `force`. */
seen_status sn_fleet_drop(const char *where, const char *ca_file, bool force, seen_error *error);

#endif
