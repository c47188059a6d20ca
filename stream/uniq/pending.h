/* Pending keys: written, or about to be, and not yet added to the filter. An exact table of 128-bit
 * hashes; it grows until it is cleared. One thread at a time. */
#ifndef SN_STREAM_PENDING_H
#define SN_STREAM_PENDING_H

#include <stdbool.h>
#include <stddef.h>

#include "seen.h"

typedef struct sn_pending {
    seen_hash *slots; /* {0, 0} is free; the key with that hash is `zero` */
    size_t mask;
    size_t count;
    bool zero;
} sn_pending;

void sn_pending_init(sn_pending *pending);
void sn_pending_free(sn_pending *pending);
void sn_pending_clear(sn_pending *pending);

bool sn_pending_has(const sn_pending *pending, seen_hash hash);

/* *fresh: it was absent. */
seen_status sn_pending_add(sn_pending *pending, seen_hash hash, bool *fresh, seen_error *error);

#endif
