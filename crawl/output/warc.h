/* Answers as WARC 1.1 (ISO 28500), one gzip member per record.
 *
 * Bodies are kept decoded: the headers Content-Encoding and Transfer-Encoding get the prefix
 * X-Archive-Orig-, and Content-Length is that of the body kept. An encoding that was not undone
 * keeps its header. Each record has the SHA-1 of its body as WARC-Payload-Digest; a body that is in
 * this file already, by one of the last pages with it, becomes a revisit record without the body.
 */
#ifndef CRAWL_WARC_H
#define CRAWL_WARC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "crawl/output/sink.h"
#include "crawl/output/spool.h"

typedef struct sn_warc sn_warc;

/* Writes to a sink, which stays the caller's. NULL when there is no memory. */
sn_warc *sn_warc_create(sn_sink *sink);
void sn_warc_destroy(sn_warc *warc);

/* The first record: what made this file. */
void sn_warc_info(sn_warc *warc, const char *agent);

typedef struct sn_warc_page {
    const char *url;
    size_t url_len;
    const char *address; /* the server's; may be empty */
    const char *headers; /* as they came, status line first */
    size_t headers_len;
    const sn_spool *body;
    bool encoded;          /* Content-Encoding was not undone */
    const char *truncated; /* why, as WARC-Truncated has it; NULL: the body is whole */
    time_t date;
} sn_warc_page;

seen_status sn_warc_response(sn_warc *warc, const sn_warc_page *page, seen_error *error);

#endif
