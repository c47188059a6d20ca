/* The plainest links, resolved without parsing. */
#ifndef CRAWL_RELATIVE_H
#define CRAWL_RELATIVE_H

#include <stddef.h>

/* Resolves a link that is made of unreserved characters and single slashes against a base that is
 * canonical already. The answer is the one that seen_url_canonical gives without options.
 *   out   has room for len + base_len bytes
 * Returns the length, or 0: not such a link, it has to be parsed. */
size_t sn_relative_resolve(const char *href, size_t len, const char *base, size_t base_len,
                           char *out);

#endif
