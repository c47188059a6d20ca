/* UTF-8, and text that is safe to print. */
#ifndef SN_BASE_TEXT_H
#define SN_BASE_TEXT_H

#include <stddef.h>

/* The length of the well-formed UTF-8 character at `s`, or 0. */
size_t sn_text_utf8(const void *s, size_t len);

/* Copies text and escapes what is not printable as \n, \t, \r or \xNN. Stops before a character
 * that does not fit, always terminates if room > 0. Returns the length of the result. */
size_t sn_text_escape(char *out, size_t room, const char *text, size_t len);

/* The length that sn_text_escape would return with enough room. */
size_t sn_text_escaped_length(const char *text, size_t len);

#endif
