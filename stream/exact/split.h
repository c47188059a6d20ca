/* A block cut into lanes by its hashes, so that several threads may ask at once and of equal lines
 * the first still wins: equal lines are in one lane, and each lane is asked in input order.
 *
 *     block     h0 h1 h2 h3 h4 …          hashes as lines come
 *     split     h0 h3 … | h1 h2 h4 …      one lane after the other, each in order
 *     answers   a0 a3 … | a1 a2 a4 …      and back to the lines */
#ifndef SN_STREAM_SPLIT_H
#define SN_STREAM_SPLIT_H

#include "stream/io/block.h"

/* What a lane is asked of a block. */
typedef struct sn_share {
    const seen_hash *hash;
    const uint32_t *line; /* NULL: they are the lines of the block */
    seen_answer *answer;
    size_t count;
} sn_share;

/* A server that is asked for one half of a block while it works on the other never waits. */
enum { SN_SPLIT_SERVER = 2 };

/* Cuts the block, whose scratch holds the split from now on; one lane is the block itself. */
seen_status sn_split_block(sn_block *block, unsigned lanes, seen_error *error);

sn_share sn_split_share(const sn_block *block, unsigned lanes, unsigned lane);

/* Gives the answers of a share to its lines. */
void sn_split_hand_back(const sn_share *share, sn_block *block);

#endif
