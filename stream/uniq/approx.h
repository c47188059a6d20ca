/* uniq with a Bloom filter in memory. */
#ifndef SN_STREAM_UNIQ_APPROX_H
#define SN_STREAM_UNIQ_APPROX_H

#include "stream/uniq/steps.h"

/* Completes the plan, which already has the estimates and the requested error rate. */
seen_status sn_uniq_plan_approx(const sn_uniq_options *options, sn_uniq_plan *plan,
                                seen_error *error);

/* Processes the whole input and fills the result; the caller finishes the outputs. */
seen_status sn_uniq_run_approx(sn_uniq *u, seen_error *error);

#endif
