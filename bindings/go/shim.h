/* What the Go package calls: an error is allocated only if there is one, and results come back by
 * value, so that nothing of a call has to be on Go's heap. */
#ifndef SEEN_GO_SHIM_H
#define SEEN_GO_SHIM_H

#include <seen.h>

#include <stdlib.h>

enum { SHIM_ADD, SHIM_CHECK, SHIM_REMOVE };

typedef struct shim_answer {
    bool yes;
    seen_error *error; /* NULL, or to be freed */
} shim_answer;

seen_error *shim_start(const char *where, const seen_options *options, unsigned flags, bool create,
                       seen_set **set);
shim_answer shim_one(seen_set *set, int what, const void *key, size_t len);

/* The keys stand one after the other in `arena`; ends[i] is where key i ends. */
seen_error *shim_many(seen_set *set, int what, const char *arena, const uint64_t *ends,
                      size_t count, seen_answer *answers);

seen_error *shim_merge(seen_set *into, seen_set *from);
seen_error *shim_like(seen_set *like, seen_set **set);
seen_error *shim_sync(seen_set *set);
seen_error *shim_rotate(seen_set *set);
seen_error *shim_info(seen_set *set, seen_info *info);
seen_error *shim_save(seen_set *set, void **data, size_t *len);
seen_error *shim_load(const void *data, size_t len, seen_set **set);
seen_error *shim_drop(const char *where);

#endif
