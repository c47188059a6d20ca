/* How this room says what went wrong: a sentence for a person, with names made safe to print. */
#ifndef SN_STREAM_FAIL_H
#define SN_STREAM_FAIL_H

#include "seen.h"

/* Fills *error (which may be NULL) and returns the status, so that a failing line reads
 * `return sn_stream_fail(error, SEEN_ERR_IO, "cannot …")`. Control characters are escaped. */
__attribute__((format(printf, 3, 4))) seen_status
sn_stream_fail(seen_error *error, seen_status status, const char *format, ...);

/* The same for a system call on a named file that failed with errno `code`: "cannot DO NAME: why",
 * and what to do about it. The status is the one that tells most: SEEN_ERR_SPACE for ENOSPC,
 * SEEN_ERR_NOT_FOUND for ENOENT and so on, SEEN_ERR_IO for what has none of its own. */
seen_status sn_stream_fail_system(seen_error *error, int code, const char *action,
                                  const char *name);

#endif
