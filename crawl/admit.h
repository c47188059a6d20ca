/* Links on their way to the frontier.
 *
 *     canonical URL -> link cache -> scope, limits -> batch --commit--> frontier */
#ifndef SN_CRAWL_ADMIT_H
#define SN_CRAWL_ADMIT_H

#include "crawl/crawl.h"
#include "crawl/frontier/frontier.h"
#include "crawl/links/link_cache.h"
#include "crawl/links/resolve.h"
#include "crawl/links/scope.h"

typedef struct sn_intake {
    const sn_crawl_options *options;
    sn_crawl_counts *counts;
    seen_error *error;
    sn_frontier *frontier;
    sn_scope *scope;
    sn_link_cache *link_cache;
    seen_url_options url_options;
    sn_resolver resolver;  /* of the first thread */
    uint64_t found_before; /* new URLs of earlier runs */
    bool offered;          /* since this was last set to false */

    /* Links waiting to be offered; their text is in the arena. */
    sn_frontier_link links[SN_BATCH_URLS];
    size_t count;
    char *arena; /* never moves */
    size_t arena_len;
    const char *parent; /* in the arena, of the page being admitted; NULL: not there yet */
    uint32_t parent_len;
    int64_t oldest; /* when the first of them was added */
} sn_intake;

void sn_admit_free(sn_intake *in);

/* Resolves into in->resolver.text with the options of the crawl; 0: not a URL that is fetched. */
size_t sn_admit_resolve(sn_intake *in, const char *href, size_t len, const char *base,
                        size_t base_len);
/* The same without removing what --drop-slash etc. remove. */
size_t sn_admit_resolve_whole(sn_intake *in, const char *href, size_t len, const char *base,
                              size_t base_len);

/* Sets the page of the following links; NULL: start URLs. The bytes must stay valid until the last
 * of them. */
typedef struct sn_admit_page {
    const char *url;
    size_t len;
} sn_admit_page;

void sn_admit_begin(sn_intake *in);
/* Admits a canonical URL if scope and limits allow it. */
seen_status sn_admit_url(sn_intake *in, const sn_admit_page *page, const char *url, size_t len,
                         uint16_t depth, uint8_t hops, uint8_t kind);
/* The same for a link that is not in the link cache and within the depth limit. */
seen_status sn_admit_link(sn_intake *in, const sn_admit_page *page, const char *url, size_t len,
                          seen_hash hash, uint16_t depth);
/* Admits any URL; `flags` are those of sn_frontier_link. */
seen_status sn_admit_any(sn_intake *in, const sn_admit_page *page, const char *url, size_t len,
                         uint16_t depth, uint8_t hops, uint8_t kind, uint8_t flags);
/* Whether the redirect target of a sitemap may be fetched. */
bool sn_admit_in_scope(sn_intake *in, const char *url, size_t len);
/* Whether the options of this run would admit this URL, as those of an earlier run did. */
bool sn_admit_still(sn_intake *in, const sn_frontier_record *record);
/* Offers the batch to the frontier. */
seen_status sn_admit_commit(sn_intake *in);

#endif
