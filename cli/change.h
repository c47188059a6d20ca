/* Shared by `seen add` and `seen remove`. */
#ifndef SN_CLI_CHANGE_H
#define SN_CLI_CHANGE_H

#include "cli/cli.h"
#include "stream/apply.h"

/* Adds the lines of operands[1…] to the filter operands[0], or removes them; an exit status. */
int sn_change_run(sn_args *args, sn_apply_what what);

#endif
