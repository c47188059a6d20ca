/* Each line once by a filter of the caller, which remembers lines from one run to the next. */
#ifndef SN_STREAM_UNIQ_FILTER_H
#define SN_STREAM_UNIQ_FILTER_H

#include "stream/uniq/steps.h"

/* Runs the whole input and fills the result; the caller ends the outputs. */
seen_status sn_uniq_run_filter(sn_uniq *u, seen_error *error);

#endif
