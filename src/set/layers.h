/* How a set grows: the size and the rate of each layer, and the initial image of a set. */
#ifndef SN_SET_LAYERS_H
#define SN_SET_LAYERS_H

#include "set/image.h"

/* The image of an empty set with these options; the seed is not set. */
seen_status sn_layers_begin(const seen_options *options, sn_image *image, seen_error *error);

/* The same for a store that supports tag lines, which are used for a growing set of kind bloom. */
seen_status sn_layers_begin_tags(const seen_options *options, sn_image *image, seen_error *error);

/* Describes the layer after the last one of a growing set: capacity, rate, geometry. */
seen_status sn_layers_next(const sn_image *image, sn_layer *layer, seen_error *error);

/* How many of this many keys a layer reports as new while they are added, if its false positives
 * are frequent enough to matter; and how many it reports until it certainly holds its capacity. */
double sn_layers_new_keys(const sn_layer *layer, double keys);
uint64_t sn_layers_limit(const sn_layer *layer);

/* The time during which a generation of a window by time accepts keys, in seconds. */
uint64_t sn_layers_span(const sn_image *image);

/* Whether layer i may hold keys that have not expired. */
bool sn_layers_live(const sn_image *image, uint32_t i);

/* The number of distinct keys presented to a layer that holds `keys` of them, if the layers before
 * it have a false-positive rate of `wrong`: their false positives never reached it. */
double sn_layers_keys(const sn_image *image, double keys, double wrong);

/* Whether the current layer takes only a limited number of keys. */
bool sn_layers_bounded(const sn_image *image);

#endif
