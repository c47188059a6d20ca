/* Blocks: memory for the columns, and selecting lines. */
#include "stream/io/block.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Buffers for long lines are mapped, so that freeing them returns the memory to the system: malloc
 * would keep them in each thread's arena. */
enum { MAPPED_FROM = 1 << 20 };

static void give_back(void *bytes, size_t size)
{
    if (size < MAPPED_FROM)
        free(bytes);
    else
        munmap(bytes, size);
}

static void *take(size_t size)
{
    if (size < MAPPED_FROM)
        return malloc(size);
    void *made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return made == MAP_FAILED ? NULL : made;
}

/* On failure returns NULL and leaves the old buffer unchanged. */
static void *take_more(void *old, size_t before, size_t size)
{
    if (size < MAPPED_FROM)
        return realloc(old, size);
    if (before >= MAPPED_FROM) {
        void *moved = mremap(old, before, size, MREMAP_MAYMOVE);
        return moved == MAP_FAILED ? NULL : moved;
    }
    void *made = take(size);
    if (made && before) {
        memcpy(made, old, before);
        free(old);
    }
    return made;
}

static size_t size_of_bytes(size_t capacity)
{
    return capacity ? capacity + SN_BLOCK_SLACK : 0;
}

void sn_block_init(sn_block *block, char terminator)
{
    *block = (sn_block){.terminator = terminator};
}

void sn_block_free(sn_block *block)
{
    give_back(block->bytes, size_of_bytes(block->capacity));
    give_back(block->second, block->second_capacity);
    give_back(block->scratch, block->scratch_capacity);
    free(block->start);
    free(block->mark);
    free(block->first_mark);
    free(block->hash);
    free(block->answer);
    free(block->value);
    *block = (sn_block){.terminator = block->terminator};
}

static seen_status no_memory(seen_error *error, size_t bytes)
{
    return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for %zu bytes of input", bytes);
}

seen_status sn_block_reserve(sn_block *block, size_t capacity, seen_error *error)
{
    if (capacity <= block->capacity)
        return SEEN_OK;
    if (capacity > SN_BLOCK_MAX)
        return no_memory(error, capacity);
    char *bytes = take_more(block->bytes, size_of_bytes(block->capacity), size_of_bytes(capacity));
    if (!bytes)
        return no_memory(error, capacity);
    /* Vector loads read the slack and mask it out; it only has to be initialized. */
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

seen_status sn_block_values(sn_block *block, seen_error *error)
{
    if (block->lines <= block->value_room)
        return SEEN_OK;
    free(block->value);
    block->value_room = 0;
    block->value = malloc(block->lines * sizeof *block->value);
    if (!block->value)
        return no_memory(error, block->lines * sizeof *block->value);
    block->value_room = block->lines;
    return SEEN_OK;
}

seen_status sn_block_second(sn_block *block, size_t capacity, seen_error *error)
{
    block->second_length = 0;
    if (capacity <= block->second_capacity)
        return SEEN_OK;
    give_back(block->second, block->second_capacity);
    block->second_capacity = 0;
    block->second = take(capacity);
    if (!block->second)
        return no_memory(error, capacity);
    block->second_capacity = capacity;
    return SEEN_OK;
}

seen_status sn_block_scratch(sn_block *block, size_t capacity, seen_error *error)
{
    if (capacity <= block->scratch_capacity)
        return SEEN_OK;
    give_back(block->scratch, block->scratch_capacity);
    block->scratch_capacity = 0;
    block->scratch = take(capacity);
    if (!block->scratch)
        return no_memory(error, capacity);
    block->scratch_capacity = capacity;
    return SEEN_OK;
}

seen_status sn_block_scratch_grow(sn_block *block, size_t capacity, seen_error *error)
{
    if (capacity <= block->scratch_capacity)
        return SEEN_OK;
    capacity += capacity / 2;
    void *scratch = take_more(block->scratch, block->scratch_capacity, capacity);
    if (!scratch)
        return no_memory(error, capacity);
    block->scratch = scratch;
    block->scratch_capacity = capacity;
    return SEEN_OK;
}

enum { STRIDE = 128 };

/* If source and target are at least one stride apart, a whole stride can be copied regardless of
 * the line's length: it only overwrites bytes that were already moved. All bytes are loaded before
 * any is stored. */
static inline void move_stride(char *to, const char *from)
{
    char stride[STRIDE];
    memcpy(stride, from, STRIDE);
    memcpy(to, stride, STRIDE);
}

static void copy_others(sn_block *block, seen_answer keep)
{
    char *to = block->second;
    for (size_t i = 0; i < block->lines; i++) {
        if (block->answer[i] == keep || block->answer[i] == SEEN_UNKNOWN)
            continue;
        size_t length = block->start[i + 1] - block->start[i];
        memcpy(to, block->bytes + block->start[i], length);
        to += length;
    }
    block->second_length = (size_t)(to - block->second);
}

seen_status sn_block_select(sn_block *block, seen_answer keep, bool apart, seen_error *error)
{
    block->out = block->bytes;
    block->out_length = 0;
    block->number_out = 0;
    if (apart) {
        seen_status status = sn_block_second(block, block->length, error);
        if (status != SEEN_OK)
            return status;
        copy_others(block, keep);
    }
    const uint32_t *start = block->start;
    const seen_answer *answer = block->answer;
    size_t i = 0, count = 0;
    while (i < block->lines && answer[i] == keep)
        i++;
    count = i;
    char *to = block->bytes + start[i];
    for (; i < block->lines; i++) {
        const char *from = block->bytes + start[i];
        size_t length = start[i + 1] - start[i], kept = answer[i] == keep;
        /* The selection is unpredictable, so a short line is always copied and the target advances
         * conditionally: a branch misprediction costs more than the copy. */
        if (length <= STRIDE && from - to >= STRIDE)
            move_stride(to, from);
        else if (kept)
            memmove(to, from, length);
        to += length & (0 - kept);
        count += kept;
    }
    block->out_length = (size_t)(to - block->bytes);
    block->number_out = count;
    return SEEN_OK;
}
