/* Passes requests to libcurl in the cheapest way. */
#ifndef SN_CRAWL_FETCH_REQUEST_H
#define SN_CRAWL_FETCH_REQUEST_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

#define SN_REQUEST_ORIGIN_MAX 256

/* The headers common to all requests; NULL: out of memory. */
struct curl_slist *sn_request_headers(const char *agent, const char *const *more, size_t count);

/* The URL of one easy handle. Initialized to zero. */
typedef struct sn_request_url {
    CURLU *parts;
    size_t origin_len; /* 0: unknown */
    bool target;       /* the last one was given to libcurl in wire format */
    char origin[SN_REQUEST_ORIGIN_MAX];
} sn_request_url;

bool sn_request_url_create(sn_request_url *url);
/* Call after freeing the easy handle. */
void sn_request_url_free(sn_request_url *url);

/* Sets the next URL; always with the same handle. A URL that libcurl cannot parse is refused by the
 * transfer. False: out of memory. */
bool sn_request_url_set(sn_request_url *url, CURL *easy, const char *text);

#endif
