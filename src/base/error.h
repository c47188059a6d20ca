/* Statuses and the sentences that go with them. */
#ifndef SN_BASE_ERROR_H
#define SN_BASE_ERROR_H

#include "seen.h"

/* Fills *error (which may be NULL) and returns `status`, so that a failing function can end with
 * `return sn_error_set(error, SEEN_ERR_..., "%s: ...", path)`. Control characters and broken UTF-8
 * are escaped: names from outside can be printed. */
seen_status sn_error_set(seen_error *error, seen_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a failed system call: picks the status from errno's value and adds its text:
 * "FILE: cannot WHAT: No space left on device; free some space and try again". */
seen_status sn_error_system(seen_error *error, int number, const char *name, const char *what);

/* Appends text to out, control characters and broken UTF-8 escaped as \xNN; always terminated. */
void sn_error_escape(char *out, size_t room, const char *text, size_t len);

#endif
