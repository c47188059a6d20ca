/* Computes a geometry from the requested parameters, and the error rate of a geometry. */
#ifndef SN_FILTER_PLAN_H
#define SN_FILTER_PLAN_H

#include "filter/geometry.h"

#define SN_PLAN_KEYS_MAX UINT64_C(1000000000000)

/* The lowest supported error rate. */
#define SN_PLAN_RATE_MIN 1e-18

/* The predicted false-positive rate with `keys` distinct keys. */
double sn_plan_rate(const sn_geometry *geometry, double keys);

/* The expected number of keys reported as new when this many distinct keys are added one after the
 * other; the others are false positives. *variance: an upper bound for its variance. */
double sn_plan_new_keys(const sn_geometry *geometry, double keys, double *variance);

/* The geometry for a capacity and a rate; false if there is none (a rate below 1e-18). */
bool sn_plan_geometry(seen_kind kind, double keys, double rate, sn_geometry *geometry);

/* The same with the fewest lines per key, and the fewest cells in them, that `most` times the
 * memory of the classic formula allows: slightly larger, and faster. */
bool sn_plan_geometry_fast(seen_kind kind, double keys, double rate, double most,
                           sn_geometry *geometry);

/* The number of distinct keys, estimated from the share of set cells. */
double sn_plan_keys(const sn_geometry *geometry, double fill);

sn_geometry sn_plan_to_geometry(const seen_plan *plan);

/* Whether parameters from an untrusted source are a valid geometry. */
bool sn_geometry_valid(const sn_geometry *geometry);

#endif
