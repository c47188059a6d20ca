/* Splits an input into parts by the hash of the key. */
#include "stream/parts.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* Bytes a part buffers before they are written. */
enum { BUFFER = 64 << 10 };

typedef struct buffer {
    char *bytes;
    size_t length;
} buffer;

typedef struct split {
    const sn_parts_options *options;
    seen_hasher hasher;
    sn_output *const *output;
    uint64_t *lines;
    buffer *buffers;
} split;

static seen_hasher hasher_of_parts(void)
{
    return (seen_hasher){.kind = SEEN_XXH3, .seed = {0, 0}};
}

/* The part (0 to parts - 1) of a key. */
static size_t part_of(seen_hash hash, size_t parts)
{
    return (size_t)((hash.hi >> 32) * parts >> 32);
}

static seen_status prepare(void *context, sn_block *block, seen_error *error)
{
    const split *s = context;
    return sn_keys_hash(&s->options->keys, &s->hasher, block, error);
}

/* Scratch data of a block: for each part the number of its records and the offset of its bytes in
 * `second`, plus one end entry. */
typedef struct slice {
    size_t records, at;
} slice;

/* A last record without a terminator gets one, because others may follow it in its part. */
static size_t record_length(const sn_block *block, size_t i, bool *open)
{
    *open = block->unfinished && i + 1 == block->lines;
    return block->start[i + 1] - block->start[i] + *open;
}

/* Sorts the records by part, keeping their order. */
static seen_status render(void *context, sn_block *block, seen_error *error)
{
    const split *s = context;
    size_t parts = s->options->parts;
    seen_status status = sn_block_scratch(block, (parts + 1) * sizeof(slice), error);
    if (status == SEEN_OK)
        status = sn_block_second(block, block->length + 1, error);
    if (status != SEEN_OK)
        return status;
    slice *slices = block->scratch;
    bool open;
    memset(slices, 0, (parts + 1) * sizeof *slices);
    for (size_t i = 0; i < block->lines; i++) {
        slice *to = &slices[part_of(block->hash[i], parts)];
        to->records++;
        to->at += record_length(block, i, &open);
    }
    size_t at = 0;
    for (size_t p = 0; p <= parts; p++) {
        size_t length = slices[p].at;
        slices[p].at = at;
        at += length;
    }
    for (size_t i = 0; i < block->lines; i++) {
        slice *to = &slices[part_of(block->hash[i], parts)];
        size_t length = record_length(block, i, &open);
        memcpy(block->second + to->at, block->bytes + block->start[i], length - open);
        if (open)
            block->second[to->at + length - 1] = block->terminator;
        to->at += length;
    }
    return SEEN_OK;
}

static seen_status flush(const split *s, size_t part, seen_error *error)
{
    buffer *b = &s->buffers[part];
    size_t length = b->length;
    b->length = 0;
    return sn_output_write(s->output[part], b->bytes, length, error);
}

static seen_status put(const split *s, size_t part, const char *bytes, size_t length,
                       seen_error *error)
{
    buffer *b = &s->buffers[part];
    if (!b->bytes && !(b->bytes = malloc(BUFFER)))
        return sn_error_memory(error);
    seen_status status = SEEN_OK;
    if (b->length + length > BUFFER)
        status = flush(s, part, error);
    if (status != SEEN_OK)
        return status;
    if (length > BUFFER)
        return sn_output_write(s->output[part], bytes, length, error);
    memcpy(b->bytes + b->length, bytes, length);
    b->length += length;
    return SEEN_OK;
}

static seen_status emit(void *context, sn_block *block, seen_error *error)
{
    const split *s = context;
    const slice *slices = block->scratch;
    seen_status status = SEEN_OK;
    size_t from = 0;
    for (size_t p = 0; p < s->options->parts && status == SEEN_OK; p++) {
        if (!slices[p].records)
            continue;
        s->lines[p] += slices[p].records;
        status = put(s, p, block->second + from, slices[p].at - from, error);
        from = slices[p].at;
    }
    return status;
}

seen_status sn_parts_run(const sn_parts_options *options, sn_input *input, sn_output *const *output,
                         uint64_t *lines, bool *stopped, seen_error *error)
{
    split s = {options, hasher_of_parts(), output, lines, NULL};
    s.buffers = calloc(options->parts, sizeof *s.buffers);
    if (!s.buffers)
        return sn_error_memory(error);
    const sn_pipeline_steps steps = {
        .context = &s, .prepare = prepare, .render = render, .emit = emit};
    seen_status status = sn_pipeline_run(input, &options->pipeline, &steps, stopped, error);
    for (size_t p = 0; p < options->parts; p++) {
        if (status == SEEN_OK)
            status = flush(&s, p, error);
        free(s.buffers[p].bytes);
    }
    free(s.buffers);
    return status;
}
