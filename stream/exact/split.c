/* Splits a block into lanes by hash. See split.h. */
#include "stream/exact/split.h"

#include "stream/exact/table.h"
#include "stream/pipeline/pipeline.h"

/* Stored at the beginning of the block's scratch buffer. */
typedef struct split {
    size_t first[SN_PIPELINE_LANES + 1]; /* start of each lane, and the end */
    seen_hash *hash;
    uint32_t *line;
    seen_answer *answer;
} split;

static inline unsigned lane_of(seen_hash hash, unsigned lanes)
{
    return (unsigned)((uint64_t)sn_table_unused(hash) * lanes >> 32);
}

seen_status sn_split_block(sn_block *block, unsigned lanes, seen_error *error)
{
    if (lanes <= 1)
        return SEEN_OK;
    size_t lines = block->lines, each = sizeof(seen_hash) + sizeof(uint32_t) + sizeof(seen_answer);
    seen_status status = sn_block_scratch(block, sizeof(split) + lines * each, error);
    if (status != SEEN_OK)
        return status;
    split *s = block->scratch;
    s->hash = (seen_hash *)(s + 1);
    s->line = (uint32_t *)(s->hash + lines);
    s->answer = (seen_answer *)(s->line + lines);
    size_t next[SN_PIPELINE_LANES + 1] = {0};
    /* Accumulates in a register: a counter in memory would stall on each line. */
    for (unsigned lane = 1; lane < lanes; lane++)
        for (size_t i = 0; i < lines; i++)
            next[lane] += lane_of(block->hash[i], lanes) < lane;
    next[lanes] = lines;
    for (unsigned lane = 0; lane <= lanes; lane++)
        s->first[lane] = next[lane];
    for (size_t i = 0; i < lines; i++) {
        size_t to = next[lane_of(block->hash[i], lanes)]++;
        s->hash[to] = block->hash[i];
        s->line[to] = (uint32_t)i;
    }
    return SEEN_OK;
}

sn_share sn_split_share(const sn_block *block, unsigned lanes, unsigned lane)
{
    if (lanes <= 1)
        return (sn_share){block->hash, NULL, block->answer, block->lines};
    const split *s = block->scratch;
    size_t first = s->first[lane];
    return (sn_share){s->hash + first, s->line + first, s->answer + first,
                      s->first[lane + 1] - first};
}

void sn_split_return(const sn_share *share, sn_block *block)
{
    for (size_t i = 0; share->line && i < share->count; i++)
        block->answer[share->line[i]] = share->answer[i];
}
