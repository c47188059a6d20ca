/* Statuses and error messages: the one place where a seen_error is filled and errno is interpreted.
 *
 * A failing function ends with `return sn_error_set(error, SEEN_ERR_..., "%s: ...", path)`. `error`
 * may be NULL everywhere. Control characters and invalid UTF-8 are escaped, so that names from
 * outside can be printed; a message that is too long loses its middle, because names come first and
 * the reason comes last. */
#ifndef SN_BASE_ERROR_H
#define SN_BASE_ERROR_H

#include "seen.h"

/* Writes the message and returns `status`. */
seen_status sn_error_set(seen_error *error, seen_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "NAME: cannot WHAT: reason; advice", with the status that belongs to the errno value. */
seen_status sn_error_system(seen_error *error, int number, const char *name, const char *what);

/* The same as "cannot WHAT NAME: reason; advice". */
seen_status sn_error_cannot(seen_error *error, int number, const char *what, const char *name);

/* The same as "cannot WHAT NAME in FOLDER: reason; advice"; `folder` as for sn_error_folder. */
seen_status sn_error_cannot_in(seen_error *error, int number, int folder, const char *what,
                               const char *name);

/* The path of an open folder, cut to fit; for -1 the folder of temporary files. Returns `out`. */
enum { SN_ERROR_FOLDER = 300 };
const char *sn_error_folder(int folder, char out[SN_ERROR_FOLDER]);

/* "out of memory" */
seen_status sn_error_memory(seen_error *error);

#endif
