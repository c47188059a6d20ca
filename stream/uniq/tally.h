/* Selects lines by their number of occurrences: `seen count`, and uniq -c, -d, -D, -u and --keep
 * last. */
#ifndef SN_STREAM_UNIQ_TALLY_H
#define SN_STREAM_UNIQ_TALLY_H

#include "stream/uniq/steps.h"

/* Processes the whole input and fills the result; the caller finishes the outputs. */
seen_status sn_uniq_run_tally(sn_uniq *u, seen_error *error);

#endif
