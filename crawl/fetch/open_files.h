/* How many files a crawl may have open. */
#ifndef CRAWL_FILES_H
#define CRAWL_FILES_H

#include <stddef.h>

#include "seen.h"

/* Asks the system for room for so many transfers and temporary files. *keep
 * gets the number of connections that may be kept open, those under way included. Fails where the
 * room is too little: a connection that cannot be opened would be taken for a host that is down. */
seen_status sn_files_allow(size_t transfers, size_t temporary, size_t *keep, seen_error *error);

#endif
