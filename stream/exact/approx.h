/* A set of hashes in memory with a small error rate: at most two filters of the library.
 *
 *     first   fixed, for the expected keys: fast, with nearly the whole error rate
 *     more    created when the first is full: a growing set, or the rest of the memory limit
 *
 * A fixed filter needs two thirds of the time of a growing set, and estimates are usually right, so
 * that the second one is rarely created. With a limit below twice the first filter there is one
 * filter of that size: beyond its capacity its error rate rises. Not for storage. */
#ifndef SN_STREAM_EXACT_APPROX_H
#define SN_STREAM_EXACT_APPROX_H

#include "seen.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The lowest error rate of a single filter. */
#define SN_APPROX_STRICTEST 1e-18

typedef struct sn_approx_options {
    uint64_t capacity;         /* distinct keys expected; 0: unknown */
    double error_rate;         /* of both filters together */
    uint64_t most;             /* bytes; 0: no limit */
    const seen_hasher *hasher; /* NULL: a random seed */
} sn_approx_options;

typedef struct sn_approx {
    seen_set *first, *more;         /* more: NULL until the first is full */
    uint64_t capacity;              /* of the first */
    uint64_t first_keys, more_keys; /* keys reported as new */
    bool alone;                     /* there is no room for a second filter */
    sn_approx_options options;
    seen_hasher hasher;
} sn_approx;

/* Plans the first filter without creating it. *alone: it is the only one. */
seen_status sn_approx_plan(const sn_approx_options *options, seen_plan *plan, bool *alone,
                           seen_error *error);

seen_status sn_approx_open(sn_approx *approx, const sn_approx_options *options, seen_error *error);
void sn_approx_close(sn_approx *approx); /* a zeroed one is ignored */

/* As seen_add_hashes; one thread at a time. */
seen_status sn_approx_add(sn_approx *approx, const seen_hash *hashes, size_t count,
                          seen_answer *answers, seen_error *error);

uint64_t sn_approx_keys(const sn_approx *approx);
uint64_t sn_approx_memory(const sn_approx *approx);

/* *wrong: the expected number of new keys reported as seen; INFINITY if a filter is too full to
 * compute it. Returns the current error rate. */
double sn_approx_error(const sn_approx *approx, double *wrong);

/* The same number for one fixed filter that held `held` keys before `keys` new ones were added. */
double sn_approx_expect_lost(const seen_set *set, double held, double keys);

#endif
