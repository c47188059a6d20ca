/* Which of a line's eight words a key uses; see kernel.h. */
#include "filter/kernel.h"

#define ON UINT64_MAX
#define LANE(q, first, w) ((((w) - (first)) & 7) < (q) ? ON : 0)
#define LANES(q, first)                                                                            \
    {                                                                                              \
        LANE(q, first, 0), LANE(q, first, 1), LANE(q, first, 2), LANE(q, first, 3),                \
            LANE(q, first, 4), LANE(q, first, 5), LANE(q, first, 6), LANE(q, first, 7)             \
    }
#define FIRSTS(q)                                                                                  \
    {                                                                                              \
        LANES(q, 0), LANES(q, 1), LANES(q, 2), LANES(q, 3), LANES(q, 4), LANES(q, 5), LANES(q, 6), \
            LANES(q, 7)                                                                            \
    }

const uint64_t sn_word_masks[8][8][8] __attribute__((aligned(64))) = {
    FIRSTS(1), FIRSTS(2), FIRSTS(3), FIRSTS(4), FIRSTS(5), FIRSTS(6), FIRSTS(7), FIRSTS(8)};
