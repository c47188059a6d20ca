/* Splits input bytes into blocks of whole lines. */
#include "stream/io/reader.h"

#include "base/error.h"
#include "stream/io/lines.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void sn_reader_init(sn_reader *reader, sn_input *input, size_t block_size, size_t line_max,
                    char terminator)
{
    if (!line_max || line_max > SN_BLOCK_MAX - 1)
        line_max = SN_BLOCK_MAX - 1;
    if (block_size > SN_BLOCK_MAX - 1)
        block_size = SN_BLOCK_MAX - 1;
    if (line_max < block_size)
        line_max = block_size; /* a line that fits into a block needs no extra memory */
    *reader = (sn_reader){.input = input,
                          .block_size = block_size ? block_size : 1,
                          .line_max = line_max,
                          .terminator = terminator};
}

void sn_reader_frame(sn_reader *reader, const sn_framing *framing)
{
    reader->framing = framing;
    reader->header_next = framing && framing->header && sn_input_has_own_header(reader->input);
}

void sn_reader_free(sn_reader *reader)
{
    free(reader->carry);
    reader->carry = NULL;
}

/* Whether the block was enlarged for a long line. */
static bool is_long(const sn_reader *reader, size_t capacity)
{
    return capacity > 4 * reader->block_size && capacity > 1 << 20;
}

void sn_reader_release(const sn_reader *reader, sn_block *block)
{
    if (is_long(reader, block->capacity)) {
        char terminator = block->terminator;
        uint64_t number = block->number;
        sn_block_free(block);
        sn_block_init(block, terminator);
        block->number = number;
    }
}

static seen_status reserve(const sn_reader *reader, sn_block *block, size_t capacity,
                           seen_error *error)
{
    if (reader->alone && is_long(reader, capacity) && !is_long(reader, block->capacity))
        reader->alone(reader->context, block);
    return sn_block_reserve(block, capacity, error);
}

static seen_status take_carry(sn_reader *reader, sn_block *block, seen_error *error)
{
    size_t room = reader->block_size;
    if (room < reader->carry_length)
        room = reader->carry_length;
    seen_status status = reserve(reader, block, room, error);
    if (status != SEEN_OK)
        return status;
    if (reader->carry_length)
        memcpy(block->bytes, reader->carry, reader->carry_length);
    block->length = reader->carry_length;
    block->offset = reader->offset;
    block->file = sn_input_current(reader->input);
    block->name = sn_input_name(reader->input, block->file);
    block->header = sn_input_header(reader->input);
    reader->carry_length = 0;
    if (reader->carry_room > 8 * reader->block_size) {
        free(reader->carry);
        reader->carry = NULL;
        reader->carry_room = 0;
    }
    return SEEN_OK;
}

static seen_status leave_carry(sn_reader *reader, sn_block *block, size_t whole, seen_error *error)
{
    size_t rest = block->length - whole;
    if (rest > reader->carry_room) {
        char *carry = realloc(reader->carry, rest);
        if (!carry)
            return sn_error_set(error, SEEN_ERR_MEMORY, "no memory for a line of %zu bytes", rest);
        reader->carry = carry;
        reader->carry_room = rest;
    }
    if (rest)
        memcpy(reader->carry, block->bytes + whole, rest);
    reader->carry_length = rest;
    reader->offset = block->offset + whole;
    block->length = whole;
    return SEEN_OK;
}

/* The block is full and contains no line end. */
static seen_status grow(const sn_reader *reader, sn_block *block, seen_error *error)
{
    if (block->length > reader->line_max)
        return sn_error_set(error, SEEN_ERR_ARGUMENT,
                            "%s: the line at offset %llu is longer than %zu bytes, %s",
                            sn_input_name(reader->input, block->file),
                            (unsigned long long)block->offset, reader->line_max,
                            reader->line_max < SN_BLOCK_MAX - 1
                                ? "the limit for one line, 1/16 of -m or less; give a larger -m"
                                : "the maximum length of a line");
    size_t room = block->capacity < SN_BLOCK_MAX / 2 ? 2 * block->capacity : SN_BLOCK_MAX;
    if (room > reader->line_max + 1)
        room = reader->line_max + 1;
    return reserve(reader, block, room, error);
}

/* The end of the last whole record in the block, if it is in the `got` bytes just read; otherwise
 * 0. */
static size_t find_end(sn_reader *reader, const sn_block *block, size_t got)
{
    const sn_framing *framing = reader->framing;
    if (framing)
        return framing->find_end(framing->context, block->bytes, block->length, block->length + got,
                                 &reader->state);
    size_t end = sn_lines_last_end(block->bytes + block->length, got, reader->terminator);
    return end ? block->length + end : 0;
}

/* Removes the header of a file from the beginning of its first block. */
static seen_status take_header(sn_reader *reader, sn_block *block, size_t *whole, seen_error *error)
{
    const sn_framing *framing = reader->framing;
    size_t taken = 0;
    reader->header_next = false;
    seen_status status =
        framing->take_header(framing->context, block->name, block->bytes, block->length,
                             sn_input_header(reader->input), &taken, error);
    if (status != SEEN_OK)
        return status;
    memmove(block->bytes, block->bytes + taken, block->length - taken);
    block->length -= taken;
    block->offset += taken;
    *whole = *whole > taken ? *whole - taken : 0;
    return SEEN_OK;
}

/* Checks at the end of a file that no record is unterminated. */
static seen_status check_end(const sn_reader *reader, const sn_block *block, size_t whole,
                             seen_error *error)
{
    if (!reader->framing || reader->framing->may_end(reader->state))
        return SEEN_OK;
    unsigned long long at = block->offset + whole;
    return sn_error_set(error, SEEN_ERR_ARGUMENT,
                        "%s: the record at byte %llu has a quote that is never closed", block->name,
                        at);
}

/* Reads from one file until the block is full, the file ends or the input would block. *whole is
 * the end of the last whole line. */
static seen_status read_on(sn_reader *reader, sn_block *block, size_t *whole, bool *file_end,
                           seen_error *error)
{
    *whole = 0;
    *file_end = false;
    reader->state = 0;
    if (reader->framing && block->length) /* the rest of the previous block */
        reader->framing->find_end(reader->framing->context, block->bytes, 0, block->length,
                                  &reader->state);
    for (;;) {
        if (block->length == block->capacity) {
            if (*whole)
                return SEEN_OK;
            seen_status status = grow(reader, block, error);
            if (status != SEEN_OK)
                return status;
        }
        /* After a long line only little is read, as it would have to be copied to the next
         * block. */
        bool big = is_long(reader, block->capacity);
        size_t got, room = block->capacity - block->length;
        if (big && room > reader->block_size)
            room = reader->block_size;
        seen_status status =
            sn_input_read(reader->input, block->bytes + block->length, room, &got, error);
        if (status != SEEN_OK)
            return status;
        if (got == 0) {
            *file_end = true;
            return SEEN_OK;
        }
        size_t end = find_end(reader, block, got);
        if (end)
            *whole = end;
        block->length += got;
        if (*whole &&
            (big || block->length >= block->capacity || sn_input_would_wait(reader->input)))
            return SEEN_OK;
    }
}

seen_status sn_reader_fill(sn_reader *reader, sn_block *block, bool *got, seen_error *error)
{
    *got = false;
    sn_reader_release(reader, block);
    while (!reader->ended) {
        seen_status status = take_carry(reader, block, error);
        if (status != SEEN_OK)
            return status;
        size_t whole;
        bool file_end;
        status = read_on(reader, block, &whole, &file_end, error);
        if (status != SEEN_OK)
            return status;
        bool stopped = file_end && sn_input_stopped(reader->input);
        if (file_end && !stopped)
            status = check_end(reader, block, whole, error);
        if (status == SEEN_OK && reader->header_next && (whole || (file_end && !stopped)))
            status = take_header(reader, block, &whole, error);
        if (status != SEEN_OK)
            return status;
        if (!file_end) {
            *got = whole > 0;
            status = leave_carry(reader, block, whole, error);
            if (*got || status != SEEN_OK)
                return status;
            continue;
        }
        if (stopped) {
            reader->ended = true;
            block->length = whole;
            *got = whole > 0;
            return SEEN_OK;
        }
        /* A longer line would have filled the block and been refused by read_on. */
        assert(whole || block->length <= reader->line_max);
        bool more;
        reader->offset = 0;
        status = sn_input_next(reader->input, &more, error);
        if (status != SEEN_OK)
            return status;
        reader->ended = !more;
        sn_reader_frame(reader, reader->framing);
        if (block->length) {
            *got = true;
            return SEEN_OK;
        }
    }
    return SEEN_OK;
}
