/* The distinct links of one page, unresolved.
 *
 * The fragment is removed, and repeated links are stored once: many pages repeat most of their
 * links, and resolving one costs more than comparing it. */
#ifndef SN_CRAWL_HTML_HREFS_H
#define SN_CRAWL_HTML_HREFS_H

#include "seen.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SN_HREF_BYTES (16u << 20) /* of one page */

typedef struct sn_href {
    uint32_t at, len;
    uint32_t slot; /* in `met` */
    bool nofollow;
    /* Set by follow.c: */
    bool leads; /* leads to another page */
    bool first; /* the first link that leads there */
    seen_hash hash;
} sn_href;

typedef struct sn_hrefs {
    char *bytes;
    size_t bytes_len, bytes_room;
    sn_href *list;
    size_t len, room;
    uint64_t *met; /* hashes of the links in the list; 0: free */
    size_t slots;
} sn_hrefs;

/* Initialized to zero. */
void sn_hrefs_free(sn_hrefs *hrefs);
void sn_hrefs_reset(sn_hrefs *hrefs);

typedef enum sn_hrefs_result { SN_HREFS_KEPT, SN_HREFS_KNOWN, SN_HREFS_FULL } sn_hrefs_result;

/* Adds a link unless it is already present. FULL: `max` links, too many bytes, or out of memory. */
sn_hrefs_result sn_hrefs_add(sn_hrefs *hrefs, const seen_hasher *hasher, const char *href,
                             size_t len, bool nofollow, size_t max);
/* Stores bytes that are not a link; false: no room. */
bool sn_hrefs_put(sn_hrefs *hrefs, const char *bytes, size_t len, uint32_t *at);

#endif
