/* Which of a line's eight words a key uses: lanes[q - 1][first] is all ones in q neighbouring words
 * from `first` on. For the vector kernels. */
#ifndef SN_FILTER_LANES_H
#define SN_FILTER_LANES_H

#include <stdint.h>

extern const uint64_t sn_lanes[8][8][8];

#endif
