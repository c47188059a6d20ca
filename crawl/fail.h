/* Filling a seen_error, for the files of the crawler. */
#ifndef CRAWL_FAIL_H
#define CRAWL_FAIL_H

#include "seen.h"

/* Writes the sentence, control characters escaped, and answers `status`. `error` may be NULL. */
seen_status sn_crawl_fail(seen_error *error, seen_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "cannot WHAT NAME: reason; what to do", with the status that belongs to errno. */
seen_status sn_crawl_fail_errno(seen_error *error, const char *what, const char *name);

/* The same with "NAME in FOLDER". */
seen_status sn_crawl_fail_in(seen_error *error, int folder, const char *what, const char *name);

/* The path of an open folder, cut to fit; -1: that of temporary files. Answers `out`. */
#define SN_FOLDER_TEXT 300
const char *sn_crawl_folder(int folder, char out[SN_FOLDER_TEXT]);

seen_status sn_crawl_fail_memory(seen_error *error);

#endif
