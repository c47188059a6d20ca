/* Finds the links of an HTML page while it is being received.
 *
 * A page is fed in pieces of any size; each link is passed to a sink when its tag ends. The bytes
 * are read once by the tokenization rules of the WHATWG HTML standard, with scripting disabled, and
 * no tree is built: time is linear in the size of the page, and memory is bounded by the limits
 * below. The result does not depend on how the page is split into pieces.
 *
 *     sn_links *links = sn_links_create(&(sn_links_options){.sink = keep, .user = &page});
 *     while (more) sn_links_feed(links, bytes, len);
 *     const sn_links_page *about = sn_links_end(links);
 *
 * Encoding: a page is assumed to be ASCII-compatible, and bytes above 0x7f are passed through;
 * character references become UTF-8. A page in UTF-16, by its byte order mark, Content-Type or XML
 * declaration, is transcoded to UTF-8.
 *
 * State that only a tree builder has is approximated in one case: whether the parser is inside
 * <svg> or <math> (see foreign.c). Tags that a tree builder would discard, such as an <a> inside
 * <select>, are reported.
 *
 * An object handles one page at a time and is used by one thread at a time. */
#ifndef SN_CRAWL_HTML_LINKS_H
#define SN_CRAWL_HTML_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A link with a longer href, src or content is dropped and counted; it is never truncated. A longer
 * rel, name, http-equiv or charset is treated as absent. */
#define SN_LINKS_URL_MAX 65536
#define SN_LINKS_WORD_MAX 1024
#define SN_LINKS_TITLE_MAX 512

typedef enum sn_html_link_kind {
    SN_LINK_A,       /* <a href>, also within <svg>, where xlink:href is accepted */
    SN_LINK_AREA,    /* <area href> */
    SN_LINK_NEXT,    /* <link rel=next href> */
    SN_LINK_REFRESH, /* <meta http-equiv=refresh content="0; url=..."> */
    SN_LINK_FRAME,   /* <frame src> and <iframe src>; only on request */
    SN_LINK_BASE     /* the first <base href>: not a link, but the base of the links */
} sn_html_link_kind;

enum { SN_REL_NOFOLLOW = 1, SN_REL_UGC = 2, SN_REL_SPONSORED = 4, SN_REL_NEXT = 8 };

typedef struct sn_html_link {
    sn_html_link_kind kind;
    unsigned rel;     /* SN_REL_ flags */
    const char *href; /* character references decoded; not resolved, not trimmed */
    size_t len;
} sn_html_link;

/* Receives one link; href is valid only during the call. A <base> may come after links that it
 * applies to, so resolve links at the end of the page. */
typedef void sn_links_sink(void *user, const sn_html_link *link);

typedef struct sn_links_options {
    sn_links_sink *sink;
    void *user;
    const char *robots_name; /* a <meta name> treated like "robots", or NULL; borrowed */
    bool frames;             /* report frames */
} sn_links_options;

/* Properties of the page. */
typedef struct sn_links_page {
    bool nofollow; /* from <meta name=robots>, or the name given in the options */
    bool noindex;
    bool base_lost; /* the first <base href> was too long: relative links cannot be resolved */
    char
        title[SN_LINKS_TITLE_MAX]; /* text of the first <title>, white space collapsed, truncated */
    size_t title_len;
    char charset[64]; /* the label of the first <meta> that declares one, or "" */
    uint64_t links;   /* reported to the sink, without <base> */
    uint64_t dropped; /* links whose URL was longer than SN_LINKS_URL_MAX */
} sn_links_page;

typedef struct sn_links sn_links;

/* NULL if out of memory. The options are copied. */
sn_links *sn_links_create(const sn_links_options *options);
void sn_links_destroy(sn_links *links);

/* Resets the object to its initial state, for another page with the same options. */
void sn_links_reset(sn_links *links);

/* Sets the Content-Type of the page; call before the first piece. */
void sn_links_declare(sn_links *links, const char *type);

/* Parses the next piece of the page. False: out of memory, and links may have been missed. */
bool sn_links_feed(sn_links *links, const void *bytes, size_t len);

/* The URL in the content of a refresh, from a <meta> or a header; false: there is none. */
bool sn_links_refresh(const char *content, size_t len, const char **url, size_t *url_len);

/* Ends the page; a tag that is incomplete at the end is ignored. The result is valid until the
 * object is reset, fed or destroyed. */
const sn_links_page *sn_links_end(sn_links *links);

#endif
