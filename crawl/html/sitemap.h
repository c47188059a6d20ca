/* Finds the URLs of a sitemap while it is being received.
 *
 * Supports sitemaps and sitemap indexes in XML, and plain lists of one absolute URL per line, in
 * which other lines are ignored; the first byte that is not a space determines which one it is. The
 * XML is read by a small scanner that never fails: from malformed XML it extracts what it can.
 * Compressed sitemaps must be decompressed first. A byte order mark is accepted; UTF-16 is not.
 *
 * In XML, the text of <loc> directly within <url> or <sitemap> is reported, with any namespace
 * prefix, so that <image:loc> within <image:image> is not. White space around a URL is removed. */
#ifndef SN_CRAWL_HTML_SITEMAP_H
#define SN_CRAWL_HTML_SITEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A longer URL is dropped and counted, never truncated. The protocol itself allows 2,048 bytes. */
#define SN_SITEMAP_URL_MAX 8192

typedef enum sn_sitemap_kind {
    SN_SITEMAP_PAGE, /* <url><loc>, or a line */
    SN_SITEMAP_INDEX /* <sitemap><loc>: another sitemap */
} sn_sitemap_kind;

/* Receives one URL, character references decoded; valid only during the call. */
typedef void sn_sitemap_sink(void *user, sn_sitemap_kind kind, const char *url, size_t len);

/* Owned by the caller; nothing is allocated, so there is no destructor. The fields are private
 * except for the counters. */
typedef struct sn_sitemap {
    uint64_t urls;    /* reported */
    uint64_t dropped; /* longer than SN_SITEMAP_URL_MAX */

    sn_sitemap_sink *sink;
    void *user;
    uint8_t state;
    uint8_t kind;
    uint8_t mark; /* bytes of the byte order mark read so far */
    uint8_t quote;
    bool in_loc, too_long, end_tag, empty_tag;
    uint8_t ref_len, matched, name_len;
    uint64_t depth, container; /* open elements; the depth within the last <url> or <sitemap> */
    size_t len;
    char name[8]; /* of the tag, without its prefix */
    char ref[12];
    char url[SN_SITEMAP_URL_MAX];
} sn_sitemap;

void sn_sitemap_begin(sn_sitemap *sitemap, sn_sitemap_sink *sink, void *user);
void sn_sitemap_feed(sn_sitemap *sitemap, const void *bytes, size_t len);

/* Ends the sitemap: a last line without a newline is still a URL. */
void sn_sitemap_end(sn_sitemap *sitemap);

#endif
