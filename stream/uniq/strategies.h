/* The strategies of uniq, chosen by uniq.c. Each run_ function processes the whole input and fills
 * the result; the caller finishes the outputs. */
#ifndef SN_STREAM_UNIQ_STRATEGIES_H
#define SN_STREAM_UNIQ_STRATEGIES_H

#include "stream/uniq/steps.h"

/* Exact, in bounded memory. */
seen_status sn_uniq_run_exact(sn_uniq *u, seen_error *error);

/* With a Bloom filter in memory; the first function completes the plan, which already has the
 * estimates and the requested error rate. */
seen_status sn_uniq_plan_approx(const sn_uniq_options *options, sn_uniq_plan *plan,
                                seen_error *error);
seen_status sn_uniq_run_approx(sn_uniq *u, seen_error *error);

/* With a filter of the caller, which remembers lines across runs. */
seen_status sn_uniq_run_filter(sn_uniq *u, seen_error *error);

/* Selects lines by their number of occurrences: `seen count`, and uniq -c, -d, -D, -u and --keep
 * last. */
seen_status sn_uniq_run_count(sn_uniq *u, seen_error *error);

#endif
