/* One batch through the layers of a set: which layer is asked, which takes the key.
 *
 *            oldest                     newest = current
 *   fixed    [one]                      add there
 *   growing  [0] [1] [2] ... [c]        in any: seen. Otherwise added to c.
 *            counting: added to, and removed from, the first layer that has it, otherwise c. Layers
 *            before c get no new cells, so the first layer that has a key stays the same until the
 *            key is removed, and a removal takes back just what an addition put there.
 *   window   ring of generations        in any that is alive: seen. Added to c in any case, so that
 *                                       a key lives for a whole window from its last addition.
 *
 * The caller holds what local.h asks for. */
#ifndef SN_STORE_SPAN_H
#define SN_STORE_SPAN_H

#include "local/local.h"

/* What was read before stays before what is read after; and so for what is written. */
static inline void sn_span_order(void)
{
#ifndef __SANITIZE_THREAD__ /* which knows no fences; the bits are atomic there anyway */
    atomic_thread_fence(memory_order_acq_rel);
#endif
}

enum { SN_SPAN = 4096 }; /* the most keys of one call that changes bits */

/* answers[i] |= SEEN_BEFORE; any count. The oldest layer is asked first. */
void sn_span_check(const sn_kernel *kernel, const sn_view *view, const seen_hash *hashes,
                   size_t count, seen_answer *answers);

/* Returns how many keys the current layer took as new. */
uint64_t sn_span_add(const sn_kernel *kernel, const sn_view *view, const seen_hash *hashes,
                     size_t count, seen_answer *answers);

/* Whether adding changes just one layer and asks no other: then keys may be picked from a batch,
 * whose answers are counted by sn_span_count_new when all of it is done. */
bool sn_span_direct(const sn_kernel *kernel, const sn_view *view);
void sn_span_add_picked(const sn_kernel *kernel, const sn_view *view, const seen_hash *hashes,
                        const uint16_t *picks, size_t count, seen_answer *answers);
uint64_t sn_span_count_new(const seen_answer *answers, size_t count);

void sn_span_remove(const sn_kernel *kernel, const sn_view *view, const seen_hash *hashes,
                    size_t count, seen_answer *answers, uint64_t *added);

/* A full set: answers the keys that are there; returns how many keys, from the first on, are. Keys
 * that are not there get SEEN_UNKNOWN. */
size_t sn_span_known(const sn_kernel *kernel, const sn_view *view, const seen_hash *hashes,
                     size_t count, seen_answer *answers);

#endif
