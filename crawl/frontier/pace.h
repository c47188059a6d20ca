/* Hosts, and whose turn it is.
 *
 * A host here is an origin: scheme, name and port. It has a queue of URLs, a few that are to be
 * tried again, the rules of its robots.txt, and a time before which it is left alone. Hosts that
 * have work and room for another transfer stand in a heap by that time; ties go round.
 *
 * Hosts without work are kept for their rules until the table is full, and then forgotten, the one
 * that was quiet the longest first, but none that is to be left alone. One thread. Times are
 * milliseconds of a monotonic clock that the caller reads. */
#ifndef CRAWL_PACE_H
#define CRAWL_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crawl/frontier/queue.h"

typedef enum sn_rules_state {
    SN_RULES_UNKNOWN = 0, /* robots.txt must be fetched first */
    SN_RULES_FETCHING,    /* the host waits for it */
    SN_RULES_KNOWN,       /* `rules` hold; NULL: everything is allowed */
    SN_RULES_DENY         /* the host cannot tell: nothing is allowed */
} sn_rules_state;

typedef struct sn_retry {
    struct sn_retry *next;
    sn_place place;
    int64_t due;
    uint32_t tries;
} sn_retry;

typedef struct sn_host {
    char *origin; /* "https://example.org:8443", with a NUL */
    size_t len;
    uint64_t hash;

    sn_queue queue;
    sn_retry *retries; /* by time */
    uint32_t active;   /* transfers under way */
    uint64_t pages;    /* fetched so far; the frontier knows */
    uint32_t begun;    /* pages that are under way or wait to be tried again */
    uint32_t failures; /* connections in a row that could not be made */
    int64_t next;      /* not before */
    uint64_t delay;    /* between two requests */

    sn_rules_state rules_state;
    void *rules;
    size_t rules_bytes;
    int64_t rules_until;
    uint32_t rules_tries;
    uint8_t rules_hops;
    char *rules_url;      /* where robots.txt was redirected to, to be asked for next; or NULL */
    const char *deny_why; /* SN_RULES_DENY: a few words */

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
    size_t max_live;        /* hosts with work */
    size_t max_hosts;       /* hosts in all */
    size_t max_rules_bytes; /* of all rules */
    size_t max_retries;     /* URLs waiting to be tried again */
    void (*free_rules)(void *rules);
} sn_pace_options;

typedef struct sn_pace sn_pace;

sn_pace *sn_pace_create(const sn_pace_options *options);
void sn_pace_destroy(sn_pace *pace);

/* The host of an origin, made where it is not known. SEEN_ERR_FULL (without a message) where it has
 * no work yet and as many as allowed have, or where none can be forgotten for it: ask again later.
 */
seen_status sn_pace_host(sn_pace *pace, const char *origin, size_t len, int64_t now, sn_host **host,
                         seen_error *error);
/* The same for one that gets no work: SEEN_ERR_FULL only where no other can be forgotten. */
seen_status sn_pace_find(sn_pace *pace, const char *origin, size_t len, int64_t now, sn_host **host,
                         seen_error *error);

/* More work for a host. */
seen_status sn_pace_push(sn_pace *pace, sn_host *host, sn_place place, seen_error *error);
/* Later, once more. False where too many wait already. */
bool sn_pace_retry(sn_pace *pace, sn_host *host, sn_place place, uint32_t tries, int64_t due);

/* From here on only what is to be tried again is given out. */
void sn_pace_drain(sn_pace *pace);

/* A host with work whose time has come, or NULL. It loses its turn: its delay starts to run. */
sn_host *sn_pace_take(sn_pace *pace, int64_t now);
/* What is next there; *got is false where nothing is due. */
seen_status sn_pace_pop(sn_pace *pace, sn_host *host, int64_t now, sn_place *place, uint32_t *tries,
                        bool *got, seen_error *error);
/* Milliseconds until some host's time comes; -1: no host waits for time. */
int64_t sn_pace_wait(const sn_pace *pace, int64_t now);

/* A transfer begins; it ends. */
void sn_pace_begin(sn_pace *pace, sn_host *host);
void sn_pace_end(sn_pace *pace, sn_host *host);
/* Leaves the host alone until then. */
void sn_pace_hold(sn_pace *pace, sn_host *host, int64_t until);
/* Something about the host changed: puts it where it belongs. */
void sn_pace_update(sn_pace *pace, sn_host *host);
/* New rules, which the host owns from then on. */
void sn_pace_set_rules(sn_pace *pace, sn_host *host, sn_rules_state state, void *rules,
                       size_t bytes);

/* Drops the URLs of up to `count` hosts that have no transfers and nothing to try again, and calls
 * `give` for each. */
typedef void sn_pace_give(void *user, const sn_host *host);
void sn_pace_give_back(sn_pace *pace, size_t count, sn_pace_give *give, void *user);

size_t sn_pace_hosts(const sn_pace *pace);   /* in memory */
size_t sn_pace_live(const sn_pace *pace);    /* with work */
size_t sn_pace_retries(const sn_pace *pace); /* URLs to be tried again */

#endif
