/* The crawler's seen-set: a seen_set of any store, or exact hashes. */
#ifndef SN_CRAWL_FRONTIER_SEENSET_H
#define SN_CRAWL_FRONTIER_SEENSET_H

#include "seen.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct sn_seenset_options {
    const char *where;   /* a FILTER; NULL: memory */
    const char *ca_file; /* rediss://: trusted CAs; NULL: the system's */
    bool own;            /* a file used by this crawl only */
    bool fresh;          /* a new crawl: create the set; a shared one if it does not exist */
    bool exact;
    seen_hasher hasher; /* exact: of the crawl */
    int folder;         /* exact: for the temporary file */
    double error_rate;  /* of a newly created set */
    uint64_t capacity;
} sn_seenset_options;

typedef struct sn_seenset sn_seenset;

seen_status sn_seenset_open(const sn_seenset_options *options, sn_seenset **set, seen_error *error);
void sn_seenset_close(sn_seenset *set);

seen_hasher sn_seenset_hasher(const sn_seenset *set);
/* Whether opening it has created it. */
bool sn_seenset_created(const sn_seenset *set);
/* The false-positive rate it was created with; 0: exact. */
double sn_seenset_rate(const sn_seenset *set);

seen_status sn_seenset_check(sn_seenset *set, const seen_hash *hashes, size_t count,
                             seen_answer *answers, seen_error *error);
seen_status sn_seenset_add(sn_seenset *set, const seen_hash *hashes, size_t count,
                           seen_answer *answers, seen_error *error);
seen_status sn_seenset_sync(sn_seenset *set, seen_error *error);

typedef struct sn_seenset_info {
    double fill; /* negative: exact */
    double error_rate;
    uint64_t bytes;
} sn_seenset_info;

/* Reads the whole set. */
seen_status sn_seenset_get_info(sn_seenset *set, sn_seenset_info *info, seen_error *error);

#endif
