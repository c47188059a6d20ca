/* The set behind a handle: a kind, a growth and a store. calls.c has the public functions, copy.c
 * the operations on two sets. */
#ifndef SN_SET_SET_H
#define SN_SET_SET_H

#include "set/store.h"

/* Fills the fields of *info that are in the image. */
void sn_set_shape(const sn_image *image, const char *store, seen_info *info);

/* Whether sets with these images can be merged; otherwise the error says why not. */
seen_status sn_set_compatible(const sn_image *into, const sn_image *from, const char *into_name,
                              const char *from_name, seen_error *error);

/* Whether an existing image matches the options. */
seen_status sn_set_agrees(const sn_image *have, const sn_image *want, bool seed_given,
                          const char *where, seen_error *error);

/* Validates options of which only the connection settings are used; NULL becomes the defaults.
 * Options with another size are refused before other fields are read. */
seen_status sn_set_take_options(const seen_options **options, seen_error *error);

#endif
