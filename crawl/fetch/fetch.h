/* Many transfers at once on one thread, by libcurl's multi interface and epoll.
 *
 *     sn_fetch_start(fetch, url, user)  ...  sn_fetch_wait  -->  body callback, as it arrives
 *                                            sn_fetch_finished  -->  what came of it
 *
 * Redirections are answers like others; nothing is followed. Only http and https. Unless private
 * addresses are allowed the address is checked when the socket is opened, after the name was
 * resolved; that of a proxy is always allowed. */
#ifndef CRAWL_FETCH_H
#define CRAWL_FETCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seen.h"

#define SN_FETCH_HEADERS_MAX (256u << 10)
#define SN_FETCH_LOCATION_MAX 8192u
#define SN_FETCH_TYPE_MAX 128u
#define SN_FETCH_EVENTS 64

typedef enum sn_fetch_error {
    SN_FETCH_OK = 0,
    SN_FETCH_PRIVATE,  /* the address is not of the public Internet */
    SN_FETCH_DNS,      /* the name could not be resolved */
    SN_FETCH_CONNECT,  /* no connection */
    SN_FETCH_TIMEOUT,  /* too long, or too slow for too long */
    SN_FETCH_TLS,      /* no trust */
    SN_FETCH_CA,       /* nothing to judge trust by */
    SN_FETCH_SHAKE,    /* the connection broke off before there was a question of trust */
    SN_FETCH_BROKEN,   /* the connection broke off */
    SN_FETCH_HEADERS,  /* more headers than we read */
    SN_FETCH_ENCODING, /* the body cannot be decompressed */
    SN_FETCH_LATE,     /* not sent: this process may not ask the host any more */
    SN_FETCH_OTHER
} sn_fetch_error;

typedef struct sn_transfer {
    void *user;
    /* The answer so far; whole when the transfer has finished. */
    sn_fetch_error error;
    int status;                   /* of HTTP; 0: none came */
    uint64_t bytes;               /* of the body, after decompression */
    bool truncated;               /* the body was cut at the limit, by its callback, or */
    bool cut;                     /* by the server, within what it compressed */
    bool encoded;                 /* the body has an encoding that was not undone */
    bool nofollow;                /* X-Robots-Tag says so to us */
    uint64_t wait_ms;             /* Retry-After; 0: none */
    int64_t began, ms;            /* monotonic start, and how long it took */
    char type[SN_FETCH_TYPE_MAX]; /* Content-Type */
    char address[64];             /* the peer's, or the one refused, in text */
    char *location;               /* Location, or NULL */
    size_t location_len;
    char *headers; /* status line and headers, with keep_headers */
    size_t headers_len, headers_room, headers_seen;
    uint64_t limit; /* of the body; sn_fetch_start sets it */
    bool refused;   /* an address was */
    void *easy;
    size_t slot;
} sn_transfer;

/* Receives a piece of the body; false: enough. */
typedef bool sn_fetch_body(sn_transfer *transfer, const char *bytes, size_t len);

/* Receives the value of a Link header, or of Refresh, before the body of an answer 2xx. */
typedef void sn_fetch_link(sn_transfer *transfer, bool refresh, const char *value, size_t len);

typedef struct sn_fetch_options {
    unsigned connections; /* transfers at a time */
    uint64_t timeout_ms, connect_ms, low_speed, low_speed_ms;
    const char *agent;
    const char *ca_file;        /* NULL: the system's */
    const char *const *headers; /* "Name: value" */
    size_t header_count;
    const char *cookies; /* file; NULL: no cookies */
    const char *proxy;   /* URL; "": none; NULL: by the environment */
    const char *netrc;   /* file; NULL: no passwords */
    bool allow_private;
    bool keep_headers;
    size_t keep;                     /* connections kept open, those under way included */
    const atomic_llong *start_until; /* see frontier.h; NULL: requests may be sent at any time */
    unsigned at_once; /* events that are let happen at once, at most; 0: SN_FETCH_EVENTS */
    sn_fetch_body *body;
    sn_fetch_link *link;                 /* NULL: nobody asks */
    void (*over)(sn_transfer *transfer); /* the transfer is over; NULL: nothing is done then */
} sn_fetch_options;

typedef struct sn_fetch sn_fetch;

seen_status sn_fetch_create(const sn_fetch_options *options, sn_fetch **fetch, seen_error *error);
void sn_fetch_destroy(sn_fetch *fetch);

/* Is there room for another transfer? One that is over takes room until it is released. */
bool sn_fetch_room(const sn_fetch *fetch);
size_t sn_fetch_active(const sn_fetch *fetch);

/* Begins a transfer; there must be room.
 *   url     ends with a NUL and is copied
 *   limit   bytes of the body after decompression; what is longer is cut */
seen_status sn_fetch_start(sn_fetch *fetch, const char *url, uint64_t limit, void *user,
                           sn_transfer **transfer, seen_error *error);

/* Lets another descriptor end a wait, edge-triggered, as long as it is open. */
seen_status sn_fetch_watch(sn_fetch *fetch, int fd, seen_error *error);

/* Lets happen what there is to happen; *any: there was something. */
seen_status sn_fetch_poll(sn_fetch *fetch, bool *any, seen_error *error);
/* Waits for something to happen, at most so long, and lets it happen. */
seen_status sn_fetch_wait(sn_fetch *fetch, int64_t milliseconds, seen_error *error);

/* A transfer that is over, or NULL. Give it back with sn_fetch_release. */
sn_transfer *sn_fetch_finished(sn_fetch *fetch);
void sn_fetch_release(sn_fetch *fetch, sn_transfer *transfer);

/* A few words. */
const char *sn_fetch_error_text(sn_fetch_error error);
/* May the same request succeed a little later? */
bool sn_fetch_error_passes(sn_fetch_error error);

/* Milliseconds of the monotonic clock. */
int64_t sn_fetch_now(void);

#endif
