/* uniq with a filter of the caller, which remembers lines across runs. */
#ifndef SN_STREAM_UNIQ_FILTER_H
#define SN_STREAM_UNIQ_FILTER_H

#include "stream/uniq/steps.h"

/* Processes the whole input and fills the result; the caller finishes the outputs. */
seen_status sn_uniq_run_filter(sn_uniq *u, seen_error *error);

#endif
