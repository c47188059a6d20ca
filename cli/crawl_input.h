/* What `seen crawl` reads besides its command line. */
#ifndef CLI_CRAWL_INPUT_H
#define CLI_CRAWL_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "seen.h"

/* Start URLs: those of the command line, then those of a file. */
typedef struct sn_crawl_urls {
    char **items;
    size_t count, room;
    size_t borrowed; /* the first ones are the command line's */
} sn_crawl_urls;

/* path: NULL: none, "-": standard input. Empty lines and those that begin with # are skipped. */
bool sn_crawl_urls_read(sn_crawl_urls *urls, const char *path, char *const *given, size_t count,
                        seen_error *error);
void sn_crawl_urls_free(sn_crawl_urls *urls);

#endif
