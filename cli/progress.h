/* Inside the command: between messages and the progress line. */
#ifndef SN_CLI_PROGRESS_H
#define SN_CLI_PROGRESS_H

/* Takes the progress line off the terminal, if there is one, so that a message stands alone. */
void sn_progress_hide(void);

#endif
