/* What is asked of a server, given to libcurl in the cheapest way. */
#ifndef CRAWL_REQUEST_H
#define CRAWL_REQUEST_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

#define SN_REQUEST_ORIGIN_MAX 256

/* The headers that all requests share; NULL: no memory. */
struct curl_slist *sn_request_headers(const char *agent, const char *const *more, size_t count);

/* The URL of one easy handle. Born zeroed. */
typedef struct sn_request_url {
    CURLU *parts;
    size_t origin_len; /* 0: not known */
    bool target;       /* the last one was given to libcurl as it goes over the wire */
    char origin[SN_REQUEST_ORIGIN_MAX];
} sn_request_url;

bool sn_request_url_create(sn_request_url *url);
/* After the easy handle. */
void sn_request_url_free(sn_request_url *url);

/* Sets the next URL; always the same handle. A URL that libcurl cannot read is refused by the
 * transfer. False: no memory. */
bool sn_request_url_set(sn_request_url *url, CURL *easy, const char *text);

#endif
