/* Splits a block into lanes by hash, so that several threads can look up keys concurrently and the
 * first of equal lines is still the new one: equal lines are in the same lane, and each lane is
 * processed in input order.
 *
 *     block     h0 h1 h2 h3 h4 …          hashes in input order
 *     split     h0 h3 … | h1 h2 h4 …      lane by lane, each in input order
 *     answers   a0 a3 … | a1 a2 a4 …      copied back to the lines */
#ifndef SN_STREAM_EXACT_SPLIT_H
#define SN_STREAM_EXACT_SPLIT_H

#include "stream/io/block.h"

/* The hashes and answers of one lane. */
typedef struct sn_share {
    const seen_hash *hash;
    const uint32_t *line; /* NULL: all lines of the block */
    seen_answer *answer;
    size_t count;
} sn_share;

/* Lanes for a server: it works on one half of a block while the other half is sent. */
enum { SN_SPLIT_SERVER = 2 };

/* Splits the block and stores the result in its scratch buffer; with one lane nothing is copied. */
seen_status sn_split_block(sn_block *block, unsigned lanes, seen_error *error);

sn_share sn_split_share(const sn_block *block, unsigned lanes, unsigned lane);

/* Copies the answers of a share back to its lines. */
void sn_split_return(const sn_share *share, sn_block *block);

#endif
