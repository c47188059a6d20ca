/* What a user opens: a kind, a growth and a store behind one handle. calls.c has the public calls,
 * copy.c what concerns two sets. */
#ifndef SN_SET_SET_H
#define SN_SET_SET_H

#include "set/store.h"

/* Fills the parts of *info that the image tells. */
void sn_set_shape(const sn_image *image, const char *store, seen_info *info);

/* Whether two images describe sets whose bits can be united; otherwise says why not. */
seen_status sn_set_compatible(const sn_image *into, const sn_image *from, const char *into_name,
                              const char *from_name, seen_error *error);

/* Whether an existing image is what the options ask for. */
seen_status sn_set_agrees(const sn_image *have, const sn_image *want, bool seed_given,
                          const char *where, seen_error *error);

/* What a call that looks at a server's options only works with: the defaults where there are none.
 * Options of another version are refused before more of them is read than their size. */
seen_status sn_set_take_options(const seen_options **options, seen_error *error);

#endif
