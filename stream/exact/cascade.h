/* A set in memory that grows, built for speed: a row of fixed filters, of which the last takes
 * keys.
 *
 *     estimate known     | first: all lines, nearly the whole rate | the rest, if there is one |
 *     nothing known      | 32 MiB | three times that | three times both | …
 *
 * The growing set of the library is built for little memory, as what is stored should be; its
 * layers touch three cache lines per key and come in small steps. Here every filter touches two,
 * and where the number of lines was estimated well there is one filter. Not for storing. */
#ifndef SN_STREAM_CASCADE_H
#define SN_STREAM_CASCADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seen.h"

enum { SN_CASCADE_MAX = 24 };
/* No filter is planned stricter than this. */
#define SN_CASCADE_STRICTEST 1e-18

typedef struct sn_cascade_options {
    uint64_t capacity; /* distinct keys expected; 0: not known */
    double error_rate; /* of all filters together, where none must be stricter than it can be */
    uint64_t memory; /* 0: as much as it takes. Otherwise one filter of so many bytes that does not
                        grow; its rate rises past the capacity */
    uint64_t most;   /* without `memory`: filters are added while all together take at most so
                        many bytes, and then the rate of the last one rises. 0: no bound */
    const seen_hasher *hasher; /* NULL: a random seed */
} sn_cascade_options;

typedef struct sn_cascade {
    seen_set *set[SN_CASCADE_MAX];
    uint64_t capacity[SN_CASCADE_MAX];
    uint64_t keys[SN_CASCADE_MAX]; /* that were new */
    size_t count;
    double rate;       /* of all together */
    double first_rate; /* of the first */
    bool grows;
    uint64_t most;
    seen_hasher hasher;
} sn_cascade;

/* What the first filter will be, without making it. */
seen_status sn_cascade_plan(const sn_cascade_options *options, seen_plan *plan, seen_error *error);

seen_status sn_cascade_open(sn_cascade *cascade, const sn_cascade_options *options,
                            seen_error *error);
void sn_cascade_close(sn_cascade *cascade); /* a zeroed one is ignored */

/* As seen_add_hashes; one thread at a time. */
seen_status sn_cascade_add(sn_cascade *cascade, const seen_hash *hashes, size_t count,
                           seen_answer *answers, seen_error *error);

/* As seen_check_hashes; several threads while nobody adds. */
seen_status sn_cascade_check(sn_cascade *cascade, const seen_hash *hashes, size_t count,
                             seen_answer *answers, seen_error *error);

uint64_t sn_cascade_keys(const sn_cascade *cascade);
uint64_t sn_cascade_memory(const sn_cascade *cascade);

/* How many new keys are expected to have been taken for old ones; INFINITY where a filter is so
 * full that this cannot be said. */
double sn_cascade_expect_wrong(const sn_cascade *cascade);

/* The chance that a key never added is taken for an old one, as full as it is. */
double sn_cascade_rate_now(const sn_cascade *cascade);

/* The same for one fixed filter, which held `held` different keys before `keys` new ones. */
double sn_cascade_expect_lost(const seen_set *set, double held, double keys);

#endif
