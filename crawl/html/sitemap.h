/* The URLs of a sitemap, found while it arrives.
 *
 * Understood are sitemaps and sitemap indexes in XML and plain lists of one whole URL per line,
 * where other lines mean nothing; which of them it is, the first byte that is not a space tells.
 * The XML is read by a small scanner that never refuses: what is not well-formed yields what it
 * can. Compressed sitemaps are to be decompressed first. A byte order mark is understood; UTF-16 is
 * not.
 *
 * Of XML, the text of <loc> directly within <url> or <sitemap> is reported, whatever their
 * namespace prefix, so that the <image:loc> within <image:image> is not. Spaces around a URL are
 * removed. */
#ifndef CRAWL_SITEMAP_H
#define CRAWL_SITEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A longer URL is dropped and counted, never cut. The protocol itself allows 2,048 bytes. */
#define SN_SITEMAP_URL_MAX 8192

typedef enum sn_sitemap_kind {
    SN_SITEMAP_PAGE, /* <url><loc>, or a line */
    SN_SITEMAP_INDEX /* <sitemap><loc>: another sitemap */
} sn_sitemap_kind;

/* Receives one URL, character references decoded; valid during the call only. */
typedef void sn_sitemap_sink(void *user, sn_sitemap_kind kind, const char *url, size_t len);

/* A reader is the caller's to keep and needs no end of its own: no memory is allocated. Its fields
 * are private but for the counters. */
typedef struct sn_sitemap {
    uint64_t urls;    /* reported */
    uint64_t dropped; /* longer than SN_SITEMAP_URL_MAX */

    sn_sitemap_sink *sink;
    void *user;
    uint8_t state;
    uint8_t kind;
    uint8_t mark; /* bytes of the byte order mark so far */
    uint8_t quote;
    bool in_loc, too_long, end_tag, empty_tag;
    uint8_t ref_len, matched, name_len;
    uint64_t depth, container; /* open elements; the depth within the last <url> or <sitemap> */
    size_t len;
    char name[8]; /* of the tag, after its prefix */
    char ref[12];
    char url[SN_SITEMAP_URL_MAX];
} sn_sitemap;

void sn_sitemap_begin(sn_sitemap *sitemap, sn_sitemap_sink *sink, void *user);
void sn_sitemap_feed(sn_sitemap *sitemap, const void *bytes, size_t len);

/* The sitemap is over: a last line without its end is still a URL. */
void sn_sitemap_end(sn_sitemap *sitemap);

#endif
