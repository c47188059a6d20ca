/* Windows that may turn while their lines are read. See pour.h. */
#include "store/pour.h"

seen_status sn_pour_by_age(seen_set *into, seen_set *from, const sn_image *image, uint32_t shift,
                           seen_error *error)
{
    if (image->growth != SEEN_WINDOW)
        return sn_store_pour(into, from, image, shift, error);
    seen_status status = SEEN_OK;
    for (uint32_t n = 1; n <= image->layers && status == SEEN_OK; n++) {
        sn_image only = *image;
        for (uint32_t i = 0; i < image->layers; i++)
            if (i != (image->current + n) % image->layers)
                only.layer[i].generation = 0;
        status = sn_store_pour(into, from, &only, shift, error);
    }
    return status;
}

seen_status sn_pour_turned(seen_set *from, const sn_image *image, sn_image *now, bool *turned,
                           seen_error *error)
{
    seen_status status = from->ops->image(from, now, error);
    *turned = status == SEEN_OK && now->growth == SEEN_WINDOW &&
              (now->sequence != image->sequence || now->current != image->current);
    return status;
}
