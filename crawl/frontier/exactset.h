/* An exact set of 128-bit hashes.
 *
 * Open addressing with linear probing in a mapped temporary file, so that a large set can be paged
 * out to disk; 16 bytes per slot, at most 3/4 full. The URLs themselves are in the frontier, from
 * which the table is rebuilt after a restart. */
#ifndef SN_CRAWL_FRONTIER_EXACTSET_H
#define SN_CRAWL_FRONTIER_EXACTSET_H

#include "seen.h"

typedef struct sn_exactset sn_exactset;

/* `folder`: of its file; -1: the temporary folder. */
seen_status sn_exactset_create(int folder, sn_exactset **exact, seen_error *error);
void sn_exactset_destroy(sn_exactset *exact);

/* In order: a hash that occurs twice is new the first time only. */
seen_status sn_exactset_add(sn_exactset *exact, const seen_hash *hashes, size_t count,
                            seen_answer *answers, seen_error *error);
void sn_exactset_check(const sn_exactset *exact, const seen_hash *hashes, size_t count,
                       seen_answer *answers);
uint64_t sn_exactset_bytes(const sn_exactset *exact);

#endif
