/* Windows that may turn while their lines are read. */
#ifndef SN_STORE_POUR_H
#define SN_STORE_POUR_H

#include "store/store.h"

/* sn_store_pour in one pass, the oldest generation first. Like a check, this finds a key that was
 * added again before its generation was emptied, unless the window has turned by the end: then it
 * may have been added to one that was read already, and the caller pours once more. */
seen_status sn_pour_by_age(seen_set *into, seen_set *from, const sn_image *image, uint32_t shift,
                           seen_error *error);

/* Whether a window, whose image was this, has turned since. *now gets the image that it has. */
seen_status sn_pour_turned(seen_set *from, const sn_image *image, sn_image *now, bool *turned,
                           seen_error *error);

#endif
