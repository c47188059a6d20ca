/* Processes one batch in the layers of a set: which layers are checked, and which one the key is
 * added to.
 *
 *            oldest                     newest = current
 *   fixed    [one]                      added there
 *   growing  [0] [1] [2] ... [c]        in any: seen. Otherwise added to c.
 *            counting: added to, and removed from, the first layer that has it, otherwise c. Layers
 *            before c get no new cells, so the first layer that has a key stays the same until the
 *            key is removed, and a removal undoes exactly what an addition did.
 *   window   ring of generations        in any live one: seen. Always added to c, so that a key
 *                                       lives for a whole window after its last addition.
 *
 * The caller holds the locks described in local.h. */
#ifndef SN_LOCAL_LOOKUP_H
#define SN_LOCAL_LOOKUP_H

#include "local/local.h"

/* Fence: orders earlier loads before later loads, and stores likewise. */
static inline void sn_lookup_order(void)
{
#ifndef __SANITIZE_THREAD__ /* it does not support fences; the bits are atomic there anyway */
    atomic_thread_fence(memory_order_acq_rel);
#endif
}

enum { SN_LOOKUP_MAX = 4096 }; /* maximum keys per modifying call */

/* answers[i] |= SEEN_BEFORE; any count. The oldest layer is checked first. */
void sn_lookup_check(const sn_kernel *kernel, const sn_view *view, const seen_hash *hashes,
                     size_t count, seen_answer *answers);

/* Returns how many keys were new to the current layer. */
uint64_t sn_lookup_add(const sn_kernel *kernel, const sn_view *view, const seen_hash *hashes,
                       size_t count, seen_answer *answers);

/* Whether adding modifies only one layer and checks no other: then keys may be picked from a batch,
 * and sn_lookup_count_new counts the answers afterwards. */
bool sn_lookup_direct(const sn_kernel *kernel, const sn_view *view);
void sn_lookup_add_picked(const sn_kernel *kernel, const sn_view *view, const seen_hash *hashes,
                          const uint16_t *picks, size_t count, seen_answer *answers);
uint64_t sn_lookup_count_new(const seen_answer *answers, size_t count);

void sn_lookup_remove(const sn_kernel *kernel, const sn_view *view, const seen_hash *hashes,
                      size_t count, seen_answer *answers, uint64_t *added);

/* For a full set: looks up keys; returns how many, from the first one on, are present. Absent keys
 * get SEEN_UNKNOWN. */
size_t sn_lookup_present(const sn_kernel *kernel, const sn_view *view, const seen_hash *hashes,
                         size_t count, seen_answer *answers);

#endif
