/* The set behind a handle: a kind, a growth and a store. calls.c has the public functions, copy.c
 * the operations on two sets. */
#ifndef SN_SET_SET_H
#define SN_SET_SET_H

#include "set/store.h"

/* Validates options of which only the connection settings are used; NULL becomes the defaults.
 * Options with another size are refused before other fields are read. */
seen_status sn_set_take_options(const seen_options **options, seen_error *error);

#endif
