/* Pending keys: open addressing, at most half full. */
#include "stream/uniq/pending.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { FIRST_SLOTS = 1024 };

void sn_pending_init(sn_pending *pending)
{
    *pending = (sn_pending){0};
}

void sn_pending_free(sn_pending *pending)
{
    free(pending->slots);
    *pending = (sn_pending){0};
}

void sn_pending_clear(sn_pending *pending)
{
    if (pending->count && pending->slots)
        memset(pending->slots, 0, (pending->mask + 1) * sizeof *pending->slots);
    pending->count = 0;
    pending->zero = false;
}

static bool is_zero(seen_hash hash)
{
    return !hash.lo && !hash.hi;
}

/* The slot of a hash, or the free slot for it. */
static seen_hash *find(const sn_pending *pending, seen_hash hash)
{
    for (size_t at = (size_t)hash.hi & pending->mask;; at = (at + 1) & pending->mask) {
        seen_hash *slot = &pending->slots[at];
        if (is_zero(*slot) || (slot->lo == hash.lo && slot->hi == hash.hi))
            return slot;
    }
}

bool sn_pending_has(const sn_pending *pending, seen_hash hash)
{
    if (is_zero(hash))
        return pending->zero;
    return pending->count && !is_zero(*find(pending, hash));
}

static seen_status grow(sn_pending *pending, seen_error *error)
{
    size_t slots = pending->slots ? 2 * (pending->mask + 1) : FIRST_SLOTS;
    sn_pending larger = {.slots = calloc(slots, sizeof *larger.slots), .mask = slots - 1};
    if (!larger.slots)
        return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for %zu pending keys", slots / 2);
    for (size_t i = 0; pending->slots && i <= pending->mask; i++)
        if (!is_zero(pending->slots[i]))
            *find(&larger, pending->slots[i]) = pending->slots[i];
    free(pending->slots);
    pending->slots = larger.slots;
    pending->mask = larger.mask;
    return SEEN_OK;
}

seen_status sn_pending_add(sn_pending *pending, seen_hash hash, bool *fresh, seen_error *error)
{
    if (is_zero(hash)) {
        *fresh = !pending->zero;
        pending->zero = true;
        return SEEN_OK;
    }
    if (!pending->slots || 2 * (pending->count + 1) > pending->mask) {
        seen_status status = grow(pending, error);
        if (status != SEEN_OK)
            return status;
        assert(pending->slots);
    }
    seen_hash *slot = find(pending, hash);
    *fresh = is_zero(*slot);
    if (*fresh) {
        *slot = hash;
        pending->count++;
    }
    return SEEN_OK;
}
