/* A growing set in memory, optimized for speed: a series of fixed filters, of which the last
 * accepts keys.
 *
 *     size known         | first: all lines, nearly the whole rate | overflow, if any |
 *     size unknown       | 32 MiB | three times that | three times both | …
 *
 * The growing set of the library is optimized for size, because it is stored; its layers touch
 * three cache lines per key and grow in small steps. Here every filter touches two cache lines, and
 * with a good estimate of the number of lines there is only one filter. Not for storage. */
#ifndef SN_STREAM_CASCADE_H
#define SN_STREAM_CASCADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seen.h"

enum { SN_CASCADE_MAX = 24 };
/* The lowest error rate of a single filter. */
#define SN_CASCADE_STRICTEST 1e-18

typedef struct sn_cascade_options {
    uint64_t capacity; /* distinct keys expected; 0: unknown */
    double error_rate; /* of all filters together, unless limited by SN_CASCADE_STRICTEST */
    uint64_t memory;   /* 0: no fixed size. Otherwise one filter of this many bytes that does not
                        * grow; its error rate rises beyond the capacity */
    uint64_t most; /* without `memory`: filters are added up to this total size in bytes, then the
                    * error rate of the last one rises. 0: no limit */
    const seen_hasher *hasher; /* NULL: a random seed */
} sn_cascade_options;

typedef struct sn_cascade {
    seen_set *set[SN_CASCADE_MAX];
    uint64_t capacity[SN_CASCADE_MAX];
    uint64_t keys[SN_CASCADE_MAX]; /* keys reported as new */
    size_t count;
    double rate;       /* of all together */
    double first_rate; /* of the first */
    bool grows;
    uint64_t most;
    seen_hasher hasher;
} sn_cascade;

/* Plans the first filter without creating it. */
seen_status sn_cascade_plan(const sn_cascade_options *options, seen_plan *plan, seen_error *error);

seen_status sn_cascade_open(sn_cascade *cascade, const sn_cascade_options *options,
                            seen_error *error);
void sn_cascade_close(sn_cascade *cascade); /* a zeroed one is ignored */

/* As seen_add_hashes; one thread at a time. */
seen_status sn_cascade_add(sn_cascade *cascade, const seen_hash *hashes, size_t count,
                           seen_answer *answers, seen_error *error);

/* As seen_check_hashes; thread-safe while no thread adds. */
seen_status sn_cascade_check(sn_cascade *cascade, const seen_hash *hashes, size_t count,
                             seen_answer *answers, seen_error *error);

uint64_t sn_cascade_keys(const sn_cascade *cascade);
uint64_t sn_cascade_memory(const sn_cascade *cascade);

/* The expected number of new keys reported as duplicates; INFINITY if a filter is too full to
 * estimate it. */
double sn_cascade_expect_wrong(const sn_cascade *cascade);

/* The current false-positive rate. */
double sn_cascade_rate_now(const sn_cascade *cascade);

/* The same for one fixed filter that held `held` distinct keys before `keys` new ones were
 * added. */
double sn_cascade_expect_lost(const seen_set *set, double held, double keys);

#endif
