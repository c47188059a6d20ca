/* What arrives, and what an answer means. */
#ifndef CRAWL_PAGE_H
#define CRAWL_PAGE_H

#include "crawl/engine.h"

/* Callbacks of the transfers, on their threads: a piece of the body, a link in the headers, the
 * end. Only for a sitemap, which the first thread fetches, does more than the job change. */
bool sn_page_body(sn_transfer *transfer, const char *bytes, size_t len);
void sn_page_link(sn_transfer *transfer, bool refresh, const char *value, size_t len);
void sn_page_over(sn_transfer *transfer);

/* On the first thread: a transfer is over. */
seen_status sn_page_arrived(sn_engine *e, sn_transfer *transfer);

#endif
