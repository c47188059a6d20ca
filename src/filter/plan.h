/* Numbers: from wishes to a geometry, and from a geometry to its rate. */
#ifndef SN_FILTER_PLAN_H
#define SN_FILTER_PLAN_H

#include "filter/geometry.h"

#define SN_PLAN_KEYS_MAX UINT64_C(1000000000000)

/* The strictest rate that there is a filter for. */
#define SN_PLAN_RATE_MIN 1e-18

/* The predicted false-positive rate with `keys` distinct keys. */
double sn_plan_rate(const sn_geometry *geometry, double keys);

/* How many of so many distinct keys are told to be new when they are added one after the other; the
 * others are mistaken for keys that came before. *variance: of that number, at most. */
double sn_plan_news(const sn_geometry *geometry, double keys, double *variance);

/* The geometry for a capacity and a rate; false where there is none (a rate below 1e-18). */
bool sn_plan_geometry(seen_kind kind, double keys, double rate, sn_geometry *geometry);

/* The same with as few lines a key, and as few cells in them, as `most` times the memory of the
 * classic formula allows: a little larger, and faster. */
bool sn_plan_geometry_swift(seen_kind kind, double keys, double rate, double most,
                            sn_geometry *geometry);

/* Distinct keys from the share of cells that are set. */
double sn_plan_keys(const sn_geometry *geometry, double fill);

sn_geometry sn_plan_to_geometry(const seen_plan *plan);

/* Whether numbers read from outside make a geometry that the code can work with. */
bool sn_geometry_valid(const sn_geometry *geometry);

#endif
