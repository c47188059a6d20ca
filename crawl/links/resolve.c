/* Resolves links to canonical URLs that the crawler fetches. */
#include "crawl/links/resolve.h"

#include <stdlib.h>
#include <string.h>

void sn_resolver_free(sn_resolver *r)
{
    free(r->text);
    *r = (sn_resolver){0};
}

/* Removes name and password from a canonical URL. Pages are fetched without: a link found on the
 * web is no reason to log in, and each name would make the host a different one with its own
 * delay. */
static size_t drop_credentials(char *url, size_t len)
{
    char *host = memchr(url, ':', len);
    char *end = host ? memchr(host + 3, '/', len - (size_t)(host + 3 - url)) : NULL;
    char *at = end ? memrchr(host + 3, '@', (size_t)(end - host - 3)) : NULL;
    if (!at)
        return len;
    size_t gone = (size_t)(at + 1 - (host + 3));
    memmove(host + 3, at + 1, len - (size_t)(at + 1 - url));
    return len - gone;
}

size_t sn_resolve_link(sn_resolver *r, const seen_url_options *options, const char *href,
                       size_t len, const char *base, size_t base_len)
{
    size_t out = 0, need = SEEN_URL_BOUND(len, base_len);
    seen_url_options how = {.size = sizeof how};
    if (need > r->room) {
        char *more = realloc(r->text, need);
        if (!more)
            return 0;
        r->text = more;
        r->room = need;
    }
    if (options)
        how = *options;
    how.flags |= SEEN_URL_CANONICAL_BASE;
    return seen_url_canonical(href, len, base, base_len, &how, r->text, r->room, &out) ==
                   SEEN_URL_OK
               ? drop_credentials(r->text, out)
               : 0;
}
