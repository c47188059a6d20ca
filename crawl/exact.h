/* A set of 128-bit hashes that makes no mistakes worth speaking of.
 *
 * Open addressing with linear probing in a mapped temporary file, so that a large one lives on disk
 * and not in memory that the system cannot take back; 16 bytes a slot, at most 3/4 full. The keys
 * themselves stay in the frontier, from which the table is made again after a restart. */
#ifndef CRAWL_EXACT_H
#define CRAWL_EXACT_H

#include "seen.h"

typedef struct sn_exact sn_exact;

/* `folder`: where its file is; -1: the temporary folder. */
seen_status sn_exact_create(int folder, sn_exact **exact, seen_error *error);
void sn_exact_destroy(sn_exact *exact);

/* In order: a hash that stands twice is new the first time only. */
seen_status sn_exact_add(sn_exact *exact, const seen_hash *hashes, size_t count,
                         seen_answer *answers, seen_error *error);
void sn_exact_check(const sn_exact *exact, const seen_hash *hashes, size_t count,
                    seen_answer *answers);
uint64_t sn_exact_count(const sn_exact *exact);
uint64_t sn_exact_bytes(const sn_exact *exact);

#endif
