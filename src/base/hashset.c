/* An exact set of 128-bit hashes in memory. */
#include "base/hashset.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256, KEPT_SLOTS = 4096, KEPT_PER_HASH = 16 };

void sn_hashset_free(sn_hashset *set)
{
    free(set->slots);
    *set = (sn_hashset){0};
}

void sn_hashset_clear(sn_hashset *set)
{
    if (set->mask >= KEPT_SLOTS && set->mask / KEPT_PER_HASH > set->count) {
        sn_hashset_free(set);
        return;
    }
    if (set->slots && set->count)
        memset(set->slots, 0, (set->mask + 1) * sizeof *set->slots);
    set->count = 0;
    set->zero = false;
}

static bool is_zero(seen_hash hash)
{
    return !hash.lo && !hash.hi;
}

/* The slot of a hash, or the free slot for it. */
static seen_hash *find(const sn_hashset *set, seen_hash hash)
{
    for (size_t at = (size_t)hash.lo & set->mask;; at = (at + 1) & set->mask) {
        seen_hash *slot = &set->slots[at];
        if (is_zero(*slot) || (slot->lo == hash.lo && slot->hi == hash.hi))
            return slot;
    }
}

bool sn_hashset_has(const sn_hashset *set, seen_hash hash)
{
    if (is_zero(hash))
        return set->zero;
    return set->slots && !is_zero(*find(set, hash));
}

bool sn_hashset_add(sn_hashset *set, seen_hash hash)
{
    bool fresh = !set->zero;
    if (is_zero(hash)) {
        set->zero = true;
    } else {
        seen_hash *slot = find(set, hash);
        fresh = is_zero(*slot);
        *slot = hash;
    }
    set->count += fresh;
    return fresh;
}

void sn_hashset_move(sn_hashset *set, seen_hash *memory, size_t slots)
{
    sn_hashset to = {.slots = memory, .mask = slots - 1, .count = set->count, .zero = set->zero};
    for (size_t i = 0; set->slots && i <= set->mask; i++)
        if (!is_zero(set->slots[i]))
            *find(&to, set->slots[i]) = set->slots[i];
    *set = to;
}

bool sn_hashset_reserve(sn_hashset *set, size_t more)
{
    size_t slots = set->slots ? set->mask + 1 : FIRST_SLOTS;
    if (more > SIZE_MAX / 4 - set->count)
        return false;
    while (slots < 2 * (set->count + more))
        slots *= 2;
    if (set->slots && slots == set->mask + 1)
        return true;
    seen_hash *old = set->slots, *memory = calloc(slots, sizeof *memory);
    if (!memory)
        return false;
    sn_hashset_move(set, memory, slots);
    free(old);
    return true;
}
