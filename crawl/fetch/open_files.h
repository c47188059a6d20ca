/* The number of files a crawl may have open. */
#ifndef SN_CRAWL_FETCH_OPEN_FILES_H
#define SN_CRAWL_FETCH_OPEN_FILES_H

#include "seen.h"

#include <stddef.h>

/* Raises the limit for this many transfers and temporary files. *keep is set to the number of
 * connections that may be kept open, including active ones. Fails if the limit is too low: a
 * connection that cannot be opened would be mistaken for a host that is down. */
seen_status sn_open_files_raise(size_t transfers, size_t temporary, size_t *keep,
                                seen_error *error);

#endif
