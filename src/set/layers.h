/* How a set grows: the size and the strictness of each layer, and the first image of a set. */
#ifndef SN_STORE_LAYERS_H
#define SN_STORE_LAYERS_H

#include "set/image.h"

/* The image of an empty set that fulfils the options; the seed is not filled in. */
seen_status sn_layers_begin(const seen_options *options, sn_image *image, seen_error *error);

/* The same for a store that has tag lines: a growing set of kind bloom becomes one of those. */
seen_status sn_layers_begin_tags(const seen_options *options, sn_image *image, seen_error *error);

/* Describes the layer after the last one of a growing set: capacity, rate, geometry. */
seen_status sn_layers_next(const sn_image *image, sn_layer *layer, seen_error *error);

/* How many keys of so many are told to be new by a layer that has them all, where its mistakes are
 * frequent enough to matter; and how many are told so until it is sure to have its capacity. */
double sn_layers_news(const sn_layer *layer, double keys);
uint64_t sn_layers_limit(const sn_layer *layer);

/* Seconds that one generation of a window by time takes keys. */
uint64_t sn_layers_span(const sn_image *image);

/* Whether layer i may hold keys that are not to be forgotten yet. */
bool sn_layers_alive(const sn_image *image, uint32_t i);

/* The distinct keys that were offered to a layer that holds `keys` of them, if the layers before it
 * have a false-positive rate of `wrong`: false positives of those never reached it. */
double sn_layers_keys(const sn_image *image, double keys, double wrong);

#endif
