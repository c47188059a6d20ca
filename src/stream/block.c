/* Blocks: memory of the columns, and the selection of lines. */
#include "stream/block.h"

#include <stdlib.h>
#include <string.h>

#include "stream/fail.h"

void sn_block_init(sn_block *block, char terminator)
{
    *block = (sn_block){.terminator = terminator};
}

void sn_block_free(sn_block *block)
{
    free(block->bytes);
    free(block->start);
    free(block->hash);
    free(block->answer);
    free(block->aside);
    free(block->scratch);
    *block = (sn_block){.terminator = block->terminator};
}

static seen_status no_memory(seen_error *error, size_t bytes)
{
    return sn_stream_fail(error, SEEN_ERR_MEMORY, "no memory for %zu bytes of input", bytes);
}

seen_status sn_block_reserve(sn_block *block, size_t capacity, seen_error *error)
{
    if (capacity <= block->capacity)
        return SEEN_OK;
    if (capacity > SN_BLOCK_MAX)
        return no_memory(error, capacity);
    char *bytes = realloc(block->bytes, capacity + SN_BLOCK_SLACK);
    if (!bytes)
        return no_memory(error, capacity);
    /* Vector loads look at the slack, and what they see is masked away: defined is enough. */
    memset(bytes + capacity, 0, SN_BLOCK_SLACK);
    block->bytes = bytes;
    block->capacity = capacity;
    return SEEN_OK;
}

seen_status sn_block_columns(sn_block *block, size_t lines, seen_error *error)
{
    if (lines <= block->columns)
        return SEEN_OK;
    free(block->hash);
    free(block->answer);
    block->columns = 0;
    block->hash = malloc(lines * sizeof *block->hash);
    block->answer = malloc(lines * sizeof *block->answer);
    if (!block->hash || !block->answer)
        return no_memory(error, lines * (sizeof *block->hash + sizeof *block->answer));
    block->columns = lines;
    return SEEN_OK;
}

seen_status sn_block_aside(sn_block *block, size_t capacity, seen_error *error)
{
    block->aside_length = 0;
    if (capacity <= block->aside_capacity)
        return SEEN_OK;
    free(block->aside);
    block->aside_capacity = 0;
    block->aside = malloc(capacity);
    if (!block->aside)
        return no_memory(error, capacity);
    block->aside_capacity = capacity;
    return SEEN_OK;
}

seen_status sn_block_scratch(sn_block *block, size_t capacity, seen_error *error)
{
    if (capacity <= block->scratch_capacity)
        return SEEN_OK;
    free(block->scratch);
    block->scratch_capacity = 0;
    block->scratch = malloc(capacity);
    if (!block->scratch)
        return no_memory(error, capacity);
    block->scratch_capacity = capacity;
    return SEEN_OK;
}

/* Copies towards the front. Where source and target are a whole step apart, steps of 32 bytes that
 * run over the end of the line are safe: they scribble only on what was already moved. That is
 * several times faster than a call of memmove for each short line. */
static inline void move_down(char *to, const char *from, size_t length)
{
    if (from - to < 32) {
        memmove(to, from, length);
        return;
    }
    if (length > 512) {
        memmove(to, from, length);
        return;
    }
    for (size_t done = 0; done < length; done += 32) {
        char step[32];
        memcpy(step, from + done, 32);
        memcpy(to + done, step, 32);
    }
}

static void copy_others(sn_block *block, seen_answer keep)
{
    char *to = block->aside;
    for (size_t i = 0; i < block->lines; i++) {
        if (block->answer[i] == keep || block->answer[i] == SEEN_UNKNOWN)
            continue;
        size_t length = block->start[i + 1] - block->start[i];
        memcpy(to, block->bytes + block->start[i], length);
        to += length;
    }
    block->aside_length = (size_t)(to - block->aside);
}

seen_status sn_block_select(sn_block *block, seen_answer keep, bool apart, seen_error *error)
{
    block->out = block->bytes;
    block->out_length = 0;
    block->number_out = 0;
    if (apart) {
        seen_status status = sn_block_aside(block, block->length, error);
        if (status != SEEN_OK)
            return status;
        copy_others(block, keep);
    }
    char *to = block->bytes;
    uint64_t count = 0;
    const uint32_t *start = block->start;
    const seen_answer *answer = block->answer;
    for (size_t i = 0; i < block->lines;) {
        if (answer[i] != keep) {
            i++;
            continue;
        }
        size_t first = i++;
        while (i < block->lines && answer[i] == keep)
            i++;
        const char *from = block->bytes + start[first];
        size_t length = start[i] - start[first];
        if (to != from)
            move_down(to, from, length);
        to += length;
        count += i - first;
    }
    block->out_length = (size_t)(to - block->bytes);
    block->number_out = count;
    return SEEN_OK;
}
