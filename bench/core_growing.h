/* Growing sets beside fixed ones: one table. */
#ifndef BENCH_CORE_GROWING_H
#define BENCH_CORE_GROWING_H

#include <stdbool.h>
#include <stddef.h>

/* layers: also the growing set of layers. */
void core_growing(size_t keys, double rate, bool layers);

#endif
