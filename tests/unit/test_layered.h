/* Growing sets of layers in memory and in files, as earlier versions made them. */
#ifndef TEST_LAYERED_H
#define TEST_LAYERED_H

#include "test_trust.h"

#include "set/layers.h"
#include "set/store.h"

/* NULL: in memory. */
static UNUSED seen_set *layered_create(const char *where, const seen_options *options)
{
    sn_image image;
    seen_set *set = NULL;
    OK(sn_layers_begin(options, &image, error));
    memcpy(image.seed, options->seed, sizeof image.seed);
    if (where)
        OK(sn_file_create(where, &image, 0, &set, error));
    else
        OK(sn_heap_create(&image, &set, error));
    return set;
}

#endif
