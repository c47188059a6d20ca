/* Many concurrent transfers on one thread: libcurl's multi interface and epoll.
 *
 *     sn_fetch_start(fetch, request)  ...  sn_fetch_wait      -->  body callback, as it arrives
 *                                          sn_fetch_sent      -->  a paced request has arrived
 *                                          sn_fetch_finished  -->  the result
 *
 * Redirects are not followed; they are returned like other responses. Only http and https. Unless
 * private addresses are allowed, the address is checked when the socket is opened, after the name
 * was resolved; the address of a proxy is always allowed. */
#ifndef SN_CRAWL_FETCH_FETCH_H
#define SN_CRAWL_FETCH_FETCH_H

#include "seen.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SN_FETCH_HEADERS_MAX (256u << 10)
#define SN_FETCH_LOCATION_MAX 8192u
#define SN_FETCH_TYPE_MAX 128u
#define SN_FETCH_EVENTS 64

typedef enum sn_fetch_error {
    SN_FETCH_OK = 0,
    SN_FETCH_PRIVATE,  /* the address is not public */
    SN_FETCH_DNS,      /* the name could not be resolved */
    SN_FETCH_CONNECT,  /* no connection */
    SN_FETCH_TIMEOUT,  /* timeout, or too slow for too long */
    SN_FETCH_TLS,      /* the certificate is not trusted */
    SN_FETCH_CA,       /* there are no CA certificates */
    SN_FETCH_SHAKE,    /* the connection broke during the TLS handshake */
    SN_FETCH_BROKEN,   /* the connection broke */
    SN_FETCH_STALE,    /* a kept connection was closed without an answer */
    SN_FETCH_HEADERS,  /* headers over the limit */
    SN_FETCH_ENCODING, /* the body cannot be decompressed */
    SN_FETCH_LATE,     /* not sent: start_until was over */
    SN_FETCH_OTHER
} sn_fetch_error;

typedef struct sn_transfer {
    void *user;
    /* The response so far; complete when the transfer has finished. */
    sn_fetch_error error;
    int status;        /* of HTTP; 0: none came */
    uint64_t bytes;    /* of the body, after decompression */
    bool truncated;    /* the body was truncated at the limit, by its callback, or ... */
    bool cut;          /* ... by the server, within compressed data */
    bool encoded;      /* the body has an encoding that was not decoded */
    bool nofollow;     /* of an X-Robots-Tag that applies to us */
    uint64_t wait_ms;  /* Retry-After; 0: none */
    int64_t began, ms; /* monotonic start, and duration */
    int64_t sent;      /* paced: when the request had been sent, or had arrived; 0: not yet */
    char type[SN_FETCH_TYPE_MAX]; /* Content-Type */
    char address[64];             /* the peer's, or the one refused, in text */
    char *location;               /* Location, or NULL */
    size_t location_len;
    char *headers; /* status line and headers, with keep_headers */
    size_t headers_len, headers_room, headers_seen;
    uint64_t limit; /* of the body; sn_fetch_start sets it */
    bool refused;   /* an address was refused */
    void *easy;
    size_t slot;
} sn_transfer;

/* Receives a piece of the body; false: enough. */
typedef bool sn_fetch_body(sn_transfer *transfer, const char *bytes, size_t len);

/* Receives the value of a Link or Refresh header, before the body of a 2xx response. */
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
    size_t keep;                     /* connections kept open, including active ones */
    const atomic_llong *start_until; /* see frontier.h; NULL: requests may be sent at any time */
    uint64_t withdraw_ms;            /* see frontier.h */
    unsigned at_once;                /* events handled per call, at most; 0: SN_FETCH_EVENTS */
    sn_fetch_body *body;
    sn_fetch_link *link;                 /* may be NULL */
    void (*over)(sn_transfer *transfer); /* called when a transfer is over; may be NULL */
} sn_fetch_options;

typedef struct sn_fetch_request {
    const char *url; /* ends with a NUL */
    uint64_t limit;  /* bytes of the body after decompression; the rest is cut off */
    void *user;      /* for the transfer */
    /* Not 0: paced. It is reported when it has arrived, but not before this time has passed or an
     * answer came, and it is sent only once: libcurl otherwise repeats a request at once if a
     * connection that it reused turns out to be closed. */
    uint64_t pace_ms;
    bool fresh; /* on a new connection */
} sn_fetch_request;

typedef struct sn_fetch sn_fetch;

seen_status sn_fetch_create(const sn_fetch_options *options, sn_fetch **fetch, seen_error *error);
void sn_fetch_destroy(sn_fetch *fetch);

/* Whether there is room for another transfer. A finished one occupies room until it is released. */
bool sn_fetch_room(const sn_fetch *fetch);
size_t sn_fetch_active(const sn_fetch *fetch);

/* Begins a transfer; there must be room. The URL is copied. */
seen_status sn_fetch_start(sn_fetch *fetch, const sn_fetch_request *request, sn_transfer **transfer,
                           seen_error *error);

/* Adds another descriptor that ends a wait, edge-triggered, as long as it is open. */
seen_status sn_fetch_watch(sn_fetch *fetch, int fd, seen_error *error);

/* Handles pending events; *any: there were some. */
seen_status sn_fetch_poll(sn_fetch *fetch, bool *any, seen_error *error);
/* Waits for events, at most so long, and handles them. */
seen_status sn_fetch_wait(sn_fetch *fetch, int64_t milliseconds, seen_error *error);

/* A paced transfer whose request has arrived, or NULL. Call it until it returns NULL, then
 * sn_fetch_finished. */
sn_transfer *sn_fetch_sent(sn_fetch *fetch);
/* A finished transfer, or NULL. Release it with sn_fetch_release. */
sn_transfer *sn_fetch_finished(sn_fetch *fetch);
void sn_fetch_release(sn_fetch *fetch, sn_transfer *transfer);

/* A short description. */
const char *sn_fetch_error_text(sn_fetch_error error);
/* Whether the error is temporary: the same request may succeed later. */
bool sn_fetch_error_passes(sn_fetch_error error);

/* Milliseconds of the monotonic clock. */
int64_t sn_fetch_now(void);

#endif
