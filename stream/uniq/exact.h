/* Exact uniq in bounded memory. */
#ifndef SN_STREAM_UNIQ_EXACT_H
#define SN_STREAM_UNIQ_EXACT_H

#include "stream/uniq/steps.h"

/* Processes the whole input and fills the result; the caller finishes the outputs. */
seen_status sn_uniq_run_exact(sn_uniq *u, seen_error *error);

#endif
