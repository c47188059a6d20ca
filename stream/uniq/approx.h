/* Each line once by a Bloom filter in memory. */
#ifndef SN_STREAM_UNIQ_APPROX_H
#define SN_STREAM_UNIQ_APPROX_H

#include "stream/uniq/steps.h"

/* Fills the plan, which has the estimates and the error rate asked for. */
seen_status sn_uniq_plan_approx(const sn_uniq_options *options, sn_uniq_plan *plan,
                                seen_error *error);

/* Runs the whole input and fills the result; the caller ends the outputs. */
seen_status sn_uniq_run_approx(sn_uniq *u, seen_error *error);

#endif
