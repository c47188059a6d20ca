/* Inside the command: between messages and the progress line. */
#ifndef SN_CLI_PROGRESS_H
#define SN_CLI_PROGRESS_H

#include <stddef.h>

/* Takes the progress line off the terminal, if there is one, so that a message stands alone. */
void sn_progress_hide(void);

/* `text` with what a terminal might obey escaped, cut to `room`; returns the length. */
size_t sn_escape(char *out, size_t room, const char *text, size_t len);

#endif
