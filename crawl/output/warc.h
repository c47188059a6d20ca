/* Responses as WARC 1.1 (ISO 28500), one gzip member per record.
 *
 * Bodies are stored decoded: Content-Encoding and Transfer-Encoding get the prefix X-Archive-Orig-,
 * and Content-Length is that of the stored body. An encoding that was not decoded keeps its header.
 * Each record has the SHA-1 of its body as WARC-Payload-Digest; a body that is already in this
 * file, from one of the most recent bodies, becomes a revisit record without the body. */
#ifndef SN_CRAWL_OUTPUT_WARC_H
#define SN_CRAWL_OUTPUT_WARC_H

#include "crawl/output/sink.h"
#include "crawl/output/spool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef struct sn_warc sn_warc;

/* Writes to a sink, which the caller keeps. NULL: out of memory. */
sn_warc *sn_warc_create(sn_sink *sink);
void sn_warc_destroy(sn_warc *warc);

/* Writes the first record, which describes the software. */
void sn_warc_info(sn_warc *warc, const char *agent);

typedef struct sn_warc_page {
    const char *url;
    size_t url_len;
    const char *address; /* the server's; may be empty */
    const char *headers; /* as received, status line first */
    size_t headers_len;
    const sn_spool *body;
    bool encoded;          /* Content-Encoding was not decoded */
    const char *truncated; /* reason, in the syntax of WARC-Truncated; NULL: the body is complete */
    time_t date;
} sn_warc_page;

seen_status sn_warc_response(sn_warc *warc, const sn_warc_page *page, seen_error *error);

#endif
