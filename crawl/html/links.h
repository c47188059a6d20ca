/* The links of an HTML page, found while the page arrives.
 *
 * A page is fed in pieces of any size; each link is handed to a sink when its tag closes. The bytes
 * are read once by the tokenization rules of the WHATWG HTML standard, with scripting off, and no
 * tree is built: time is linear in the page, and memory is bounded by the maxima below, whatever
 * the page says. How the pieces are cut never changes what is found.
 *
 *     sn_links *links = sn_links_create(&(sn_links_options){.sink = keep, .user = &page});
 *     while (more) sn_links_feed(links, bytes, len);
 *     const sn_links_page *about = sn_links_end(links);
 *
 * Encoding: a page is taken to be ASCII-compatible, and bytes above 0x7f are passed on as they
 * came; character references become UTF-8. A page that is UTF-16 by its byte order mark, by its
 * Content-Type or by an XML declaration is transcoded to UTF-8 on the way.
 *
 * What a tree builder knows and a tokenizer does not is approximated in one place only: whether the
 * parser is inside <svg> or <math> (crawl/links_tag.c says how). Tags that a tree builder would
 * throw away, such as an <a> inside <select>, are reported.
 *
 * One object serves one page at a time and belongs to one thread at a time. */
#ifndef CRAWL_LINKS_H
#define CRAWL_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A longer href, src or content drops its link, which is counted; it is never cut into another
 * URL. Of the short attributes (rel, name, http-equiv, charset) a longer one counts as absent. */
#define SN_LINKS_URL_MAX 65536
#define SN_LINKS_WORD_MAX 1024
#define SN_LINKS_TITLE_MAX 512

typedef enum sn_link_kind {
    SN_LINK_A,       /* <a href>, also within <svg>, where xlink:href will do */
    SN_LINK_AREA,    /* <area href> */
    SN_LINK_NEXT,    /* <link rel=next href> */
    SN_LINK_REFRESH, /* <meta http-equiv=refresh content="0; url=..."> */
    SN_LINK_FRAME,   /* <frame src> and <iframe src>; only when asked for */
    SN_LINK_BASE     /* the first <base href>: not a link, but what the links are relative to */
} sn_link_kind;

enum { SN_REL_NOFOLLOW = 1, SN_REL_UGC = 2, SN_REL_SPONSORED = 4, SN_REL_NEXT = 8 };

typedef struct sn_html_link {
    sn_link_kind kind;
    unsigned rel;     /* SN_REL_ flags */
    const char *href; /* as written, character references decoded; not resolved, not trimmed */
    size_t len;
} sn_html_link;

/* Receives one link; href is valid during the call only. A <base> may come after links that it
 * governs, so links are best resolved once the page has ended. */
typedef void sn_links_sink(void *user, const sn_html_link *link);

typedef struct sn_links_options {
    sn_links_sink *sink;
    void *user;
    const char *robots_name; /* a <meta name> obeyed as "robots" is, or NULL; borrowed */
    bool frames;             /* report frames */
} sn_links_options;

/* What the page says about itself. */
typedef struct sn_links_page {
    bool nofollow; /* by <meta name=robots>, or the name given in the options */
    bool noindex;
    bool base_lost; /* the first <base href> was too long: relative links mean nothing */
    char title[SN_LINKS_TITLE_MAX]; /* text of the first <title>, white space collapsed, cut */
    size_t title_len;
    char charset[64]; /* the label of the first <meta> that names one, or "" */
    uint64_t links;   /* reported to the sink, <base> not counted */
    uint64_t dropped; /* links whose URL was longer than SN_LINKS_URL_MAX */
} sn_links_page;

typedef struct sn_links sn_links;

/* NULL when there is no memory. The options are copied. */
sn_links *sn_links_create(const sn_links_options *options);
void sn_links_destroy(sn_links *links);

/* Makes the object as good as newly created, for another page with the same options. */
void sn_links_reset(sn_links *links);

/* What the Content-Type of the page is, before its first piece. */
void sn_links_declare(sn_links *links, const char *type);

/* Reads the next piece of the page. False: out of memory, and links may have been missed. */
bool sn_links_feed(sn_links *links, const void *bytes, size_t len);

/* The URL in the content of a refresh, whether of a <meta> or of a header; false: there is none. */
bool sn_links_refresh(const char *content, size_t len, const char **url, size_t *url_len);

/* The page is over; a tag left open at the end is no tag. The answer stays valid until the object
 * is reset, fed or destroyed. */
const sn_links_page *sn_links_end(sn_links *links);

#endif
