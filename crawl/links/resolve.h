/* Resolves links to canonical URLs that the crawler fetches. */
#ifndef SN_CRAWL_LINKS_RESOLVE_H
#define SN_CRAWL_LINKS_RESOLVE_H

#include "seen.h"

#include <stddef.h>

/* A buffer for one URL; used by one thread. Initialized to zero. */
typedef struct sn_resolver {
    char *text;
    size_t room;
} sn_resolver;

void sn_resolver_free(sn_resolver *resolver);

/* Resolves and canonicalizes, without credentials, into resolver->text.
 *   options   NULL: the complete URL, including what --drop-slash etc. remove
 *   base      canonical, or NULL
 * Returns the length; 0: not a URL that is fetched, or out of memory. */
size_t sn_resolve_link(sn_resolver *resolver, const seen_url_options *options, const char *href,
                       size_t len, const char *base, size_t base_len);

#endif
