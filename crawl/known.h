/* The crawler's seen-set: a seen_set of any store, or exact hashes.
 *
 * In front of it stands a small table of hashes met lately. Most links of a page are links that the
 * page before it had too; they never reach the set, which matters when that is across a network. */
#ifndef CRAWL_KNOWN_H
#define CRAWL_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "seen.h"

typedef struct sn_known_options {
    const char *where;   /* a FILTER; NULL: memory */
    const char *ca_file; /* rediss://: authorities to trust; NULL: the system's */
    bool own;            /* the set is the crawl's own file: made anew, or opened, alone */
    bool fresh; /* the crawl begins: make it; one that is not our own only where it is not */
    bool exact;
    seen_hasher hasher; /* exact: of the crawl */
    int folder;         /* exact: for the temporary file */
    double error_rate;  /* of a set that is made */
    uint64_t capacity;
} sn_known_options;

typedef struct sn_known sn_known;

seen_status sn_known_open(const sn_known_options *options, sn_known **known, seen_error *error);
void sn_known_close(sn_known *known);

seen_hash sn_known_hash(const sn_known *known, const char *url, size_t len);

/* True where this hash was met lately; remembers it. */
bool sn_known_lately(sn_known *known, seen_hash hash);
/* Gets the memory that sn_known_lately will look at. */
void sn_known_expect(const sn_known *known, seen_hash hash);
/* Nothing was met lately: links that were left aside may be in scope from here on. */
void sn_known_forget_lately(sn_known *known);

seen_status sn_known_check(sn_known *known, const seen_hash *hashes, size_t count,
                           seen_answer *answers, seen_error *error);
seen_status sn_known_add(sn_known *known, const seen_hash *hashes, size_t count,
                         seen_answer *answers, seen_error *error);
seen_status sn_known_sync(sn_known *known, seen_error *error);

typedef struct sn_known_info {
    double fill; /* negative: exact */
    double error_rate;
    uint64_t bytes;
} sn_known_info;

/* Reads the whole set: for now and then. */
seen_status sn_known_get_info(sn_known *known, sn_known_info *info, seen_error *error);

#endif
