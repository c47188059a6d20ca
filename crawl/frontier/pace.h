/* The hosts of a crawl, and which one may get the next request.
 *
 * A host is an origin: scheme, name and port. It has a queue of URLs, some retries, the rules of
 * its robots.txt, and the earliest time of its next request. Hosts that have work and room for
 * another transfer are in a heap ordered by that time; ties are served round-robin.
 *
 * Hosts without work are kept for their rules until the table is full, and then evicted, least
 * recently used first, but not before their delay has passed. One thread. Times are milliseconds of
 * a monotonic clock read by the caller. */
#ifndef CRAWL_PACE_H
#define CRAWL_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crawl/frontier/queue.h"

typedef enum sn_rules_state {
    SN_RULES_UNKNOWN = 0, /* robots.txt must be fetched first */
    SN_RULES_FETCHING,    /* the host waits for it */
    SN_RULES_KNOWN,       /* `rules` are valid; NULL: everything is allowed */
    SN_RULES_DENY         /* robots.txt is unavailable: nothing is allowed */
} sn_rules_state;

typedef struct sn_retry {
    struct sn_retry *next;
    sn_place place;
    int64_t due;
    uint32_t tries;
} sn_retry;

typedef struct sn_host {
    char *origin; /* "https://example.org:8443", NUL-terminated */
    size_t len;
    uint64_t hash;

    sn_queue queue;
    sn_retry *retries; /* ordered by time */
    uint32_t active;   /* transfers in progress */
    uint64_t pages;    /* fetched so far, from the frontier */
    uint32_t begun;    /* pages in progress or waiting for a retry */
    uint32_t failures; /* consecutive connection failures */
    int64_t next;      /* earliest time of the next request */
    uint64_t delay;    /* between two requests */

    sn_rules_state rules_state;
    void *rules;
    size_t rules_bytes;
    int64_t rules_until;
    uint32_t rules_tries;
    uint8_t rules_hops;
    char *rules_url;      /* redirect target of robots.txt, to be fetched next; or NULL */
    const char *deny_why; /* SN_RULES_DENY: short reason */

    /* Of the table. */
    size_t heap_at; /* SIZE_MAX: not in the heap */
    int64_t heap_key;
    uint64_t turn;
    bool live; /* has work or transfers */
    struct sn_host *older, *newer;
} sn_host;

typedef struct sn_pace_options {
    sn_queues *queues;
    seen_hasher hasher;
    uint32_t per_host;
    uint64_t delay;
    size_t max_live;        /* maximum hosts with work */
    size_t max_hosts;       /* maximum hosts in total */
    size_t max_rules_bytes; /* maximum size of all rules */
    size_t max_retries;     /* maximum URLs waiting for a retry */
    void (*free_rules)(void *rules);
} sn_pace_options;

typedef struct sn_pace sn_pace;

sn_pace *sn_pace_create(const sn_pace_options *options);
void sn_pace_destroy(sn_pace *pace);

/* The host of an origin, created if unknown. SEEN_ERR_FULL (without a message) if it has no work
 * yet and the maximum number of hosts have, or if no other host can be evicted: try again later. */
seen_status sn_pace_host(sn_pace *pace, const char *origin, size_t len, int64_t now, sn_host **host,
                         seen_error *error);
/* The same for a host that gets no work: SEEN_ERR_FULL only if no other host can be evicted. */
seen_status sn_pace_find(sn_pace *pace, const char *origin, size_t len, int64_t now, sn_host **host,
                         seen_error *error);

/* Adds work for a host. */
seen_status sn_pace_push(sn_pace *pace, sn_host *host, sn_place place, seen_error *error);
/* Schedules a retry. False if there are too many. */
bool sn_pace_retry(sn_pace *pace, sn_host *host, sn_place place, uint32_t tries, int64_t due);

/* From now on only retries are returned. */
void sn_pace_drain(sn_pace *pace);

/* A host with work whose time has come, or NULL. Its delay starts. */
sn_host *sn_pace_take(sn_pace *pace, int64_t now);
/* The next URL of the host; *got is false if nothing is due. */
seen_status sn_pace_pop(sn_pace *pace, sn_host *host, int64_t now, sn_place *place, uint32_t *tries,
                        bool *got, seen_error *error);
/* Milliseconds until the next host may get a request; -1: no host is waiting. */
int64_t sn_pace_wait(const sn_pace *pace, int64_t now);

/* A transfer begins or ends. */
void sn_pace_begin(sn_pace *pace, sn_host *host);
void sn_pace_end(sn_pace *pace, sn_host *host);
/* Sends no request to the host until then. */
void sn_pace_hold(sn_pace *pace, sn_host *host, int64_t until);
/* Updates the position of the host in the heap after a change. */
void sn_pace_update(sn_pace *pace, sn_host *host);
/* Sets the rules, which the host then owns. */
void sn_pace_set_rules(sn_pace *pace, sn_host *host, sn_rules_state state, void *rules,
                       size_t bytes);

/* Drops the URLs of up to `count` hosts that have no transfers and no retries, and calls `give` for
 * each. */
typedef void sn_pace_give(void *user, const sn_host *host);
void sn_pace_give_back(sn_pace *pace, size_t count, sn_pace_give *give, void *user);

size_t sn_pace_hosts(const sn_pace *pace);   /* in memory */
size_t sn_pace_live(const sn_pace *pace);    /* with work */
size_t sn_pace_retries(const sn_pace *pace); /* URLs waiting for a retry */

#endif
