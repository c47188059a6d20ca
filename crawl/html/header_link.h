/* Links in the HTTP headers of a page, equivalent to those in its head:
 *
 *     Link: <page2>; rel="next"            as <link rel=next href=page2>
 *     Refresh: 0; url=/elsewhere           as <meta http-equiv=refresh content="0; url=/elsewhere">
 *
 * They are relative to the URL of the page, regardless of its <base>. */
#ifndef SN_CRAWL_HTML_HEADER_LINK_H
#define SN_CRAWL_HTML_HEADER_LINK_H

#include <stdbool.h>
#include <stddef.h>

typedef void sn_header_link_sink(void *user, const char *href, size_t len, bool nofollow);

/* Reports each target of rel=next in the value of a Link header (RFC 8288). Links with an `anchor`,
 * which belong to another page, are ignored. A syntax error ends the list. */
void sn_header_link(const char *value, size_t len, sn_header_link_sink *sink, void *user);

#endif
