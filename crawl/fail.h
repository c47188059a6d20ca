/* crawl/fail.h: filling a seen_error, for the files of the crawler. */
#ifndef CRAWL_FAIL_H
#define CRAWL_FAIL_H

#include "seen.h"

/* Writes the sentence, control characters escaped, and answers `status`. `error` may be NULL. */
seen_status sn_crawl_fail(seen_error *error, seen_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "cannot WHAT NAME: reason", with the status that belongs to errno. */
seen_status sn_crawl_fail_errno(seen_error *error, const char *what, const char *name);

seen_status sn_crawl_fail_memory(seen_error *error);

#endif
