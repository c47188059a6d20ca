/* The words of a line that a key uses: sn_word_masks[q - 1][first] is all ones in q adjacent words,
 * starting at `first`. For the vector kernels. */
#ifndef SN_FILTER_WORD_MASKS_H
#define SN_FILTER_WORD_MASKS_H

#include <stdint.h>

extern const uint64_t sn_word_masks[8][8][8];

#endif
