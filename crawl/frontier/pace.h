/* Hosts, and when each of them may get its next request.
 *
 * A host is an origin: scheme, name and port. It has a queue of URLs, a few URLs to retry, the
 * rules of its robots.txt, and a time before which it gets no request. Hosts that have work and
 * room for another transfer are in a heap ordered by that time; ties are served in turn.
 *
 * The delay of a host runs from the moment a request was sent, not from the moment its transfer was
 * started: resolving the name, connecting and TLS can take longer than the delay. A host with a
 * delay therefore gets no turn while one of its transfers has not sent its request yet.
 *
 *     take, begin       sent at t       next take: not before t + delay
 *     ----|----- connecting -|------------------|---->
 *           no turn            delay
 *
 * Hosts without work are kept for their rules until the table is full; then the least recently used
 * one is dropped, but none whose delay still runs. One thread. Times are milliseconds of a
 * monotonic clock that the caller reads. */
#ifndef SN_CRAWL_FRONTIER_PACE_H
#define SN_CRAWL_FRONTIER_PACE_H

#include "crawl/frontier/queue.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum sn_rules_state {
    SN_RULES_UNKNOWN = 0, /* robots.txt must be fetched first */
    SN_RULES_FETCHING,    /* robots.txt is being fetched */
    SN_RULES_KNOWN,       /* `rules` apply; NULL: everything is allowed */
    SN_RULES_DENY         /* robots.txt is unavailable: nothing is allowed */
} sn_rules_state;

/* One URL to request. */
typedef struct sn_try {
    sn_frontier_place place;
    uint32_t tries; /* that failed so far */
    bool again;     /* it was started before, in this run */
    bool fresh;     /* use a new connection */
} sn_try;

typedef struct sn_retry {
    struct sn_retry *next;
    sn_try what;
    int64_t due;
} sn_retry;

typedef struct sn_host {
    char *origin; /* "https://example.org:8443", with a NUL */
    size_t len;
    uint64_t hash;

    sn_queue queue;
    sn_retry *retries; /* by time */
    uint32_t active;   /* transfers in progress */
    uint32_t unsent;   /* of them whose request has not been sent and starts the delay */
    uint64_t pages;    /* fetched so far, according to the frontier */
    uint32_t begun;    /* pages in progress or waiting for a retry */
    uint32_t failures; /* failed connections in a row */
    int64_t silent;    /* when it last did not answer; 0: it has answered since */
    int64_t next;      /* no turn before */
    int64_t held;      /* no request before, also for robots.txt of another host */
    int64_t asked;     /* when the last request was started, or sent if that is known */
    uint64_t delay;    /* between two requests */

    sn_rules_state rules_state;
    void *rules;
    size_t rules_bytes;
    int64_t rules_until;
    uint32_t rules_tries;
    uint8_t rules_hops;
    char *rules_url;         /* redirection target of robots.txt, to be requested next; or NULL */
    const char *deny_reason; /* SN_RULES_DENY: a few words */

    /* Used by the table. */
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
    size_t max_live;        /* hosts with work */
    size_t max_hosts;       /* all hosts */
    size_t max_rules_bytes; /* of all rules */
    size_t max_retries;     /* URLs waiting for a retry */
    void (*free_rules)(void *rules);
} sn_pace_options;

typedef struct sn_pace sn_pace;

sn_pace *sn_pace_create(const sn_pace_options *options);
void sn_pace_destroy(sn_pace *pace);

/* Finds or creates the host of an origin. SEEN_ERR_FULL (without a message): it has no work yet and
 * max_live others have, or no host can be dropped for it; try again later. */
seen_status sn_pace_host(sn_pace *pace, const char *origin, size_t len, int64_t now, sn_host **host,
                         seen_error *error);
/* The same for a host that gets no work: SEEN_ERR_FULL only if no host can be dropped for it. */
seen_status sn_pace_find(sn_pace *pace, const char *origin, size_t len, int64_t now, sn_host **host,
                         seen_error *error);

/* Appends a URL to the queue of a host. */
seen_status sn_pace_push(sn_pace *pace, sn_host *host, sn_frontier_place place, seen_error *error);
/* Retries a URL later. False: too many are waiting already. */
bool sn_pace_retry(sn_pace *pace, sn_host *host, sn_try what, int64_t due);

/* From here on only retries are returned. */
void sn_pace_drain(sn_pace *pace);

/* A host that has work and may get a request now, or NULL. Its delay begins. */
sn_host *sn_pace_take(sn_pace *pace, int64_t now);
/* The next URL of a host; *got is false if none is due. */
seen_status sn_pace_pop(sn_pace *pace, sn_host *host, int64_t now, sn_try *what, bool *got,
                        seen_error *error);
/* Milliseconds until a host may get a request; -1: no host waits for a time. */
int64_t sn_pace_wait(const sn_pace *pace, int64_t now);

/* A transfer begins; it ends. */
void sn_pace_begin(sn_pace *pace, sn_host *host);
void sn_pace_end(sn_pace *pace, sn_host *host);
/* A request to this host was started. True: the host has a delay, and gets no turn until
 * sn_pace_sent or sn_pace_unsent is called. */
bool sn_pace_start(sn_pace *pace, sn_host *host, int64_t now);
/* The request had been sent at that time; it will not be sent. */
void sn_pace_sent(sn_pace *pace, sn_host *host, int64_t at);
void sn_pace_unsent(sn_pace *pace, sn_host *host);
/* May the host be sent a request now, outside its turns? */
bool sn_pace_ready(const sn_host *host, int64_t now);
/* No request before that time. */
void sn_pace_hold(sn_pace *pace, sn_host *host, int64_t until);
/* No turn before that time: another request to the host is planned. */
void sn_pace_reserve(sn_pace *pace, sn_host *host, int64_t until);
/* Call it after changing a host: updates its place in the heap. */
void sn_pace_update(sn_pace *pace, sn_host *host);
/* Sets the rules; the host owns them from then on. */
void sn_pace_set_rules(sn_pace *pace, sn_host *host, sn_rules_state state, void *rules,
                       size_t bytes);

/* Drops the URLs of up to `count` hosts that have neither transfers nor retries, and calls `give`
 * for each. */
typedef void sn_pace_dropped(void *user, const sn_host *host);
void sn_pace_drop_hosts(sn_pace *pace, size_t count, sn_pace_dropped *give, void *user);

size_t sn_pace_hosts(const sn_pace *pace);   /* in memory */
size_t sn_pace_live(const sn_pace *pace);    /* with work */
size_t sn_pace_retries(const sn_pace *pace); /* URLs waiting for a retry */

#endif
