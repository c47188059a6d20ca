/* A block of whole lines, the unit of work of the pipeline. Each stage fills its columns.
 *
 *     bytes   h t t p : / / a \n h t t p : / / b \n        filled by the reader
 *     start   0                  9                  18     filled by the scan: lines + 1 offsets
 *     hash    h0                 h1                        keys
 *     answer  NEW                BEFORE                    the ordered step
 *     out     the bytes to write                           the last parallel step
 *
 * Line i is [start[i], start[i + 1]), including its terminator. Only the last line of a file may
 * lack a terminator; then `unfinished` is true, and that line is the last of its block. A block
 * never contains bytes of two files. */
#ifndef SN_STREAM_IO_BLOCK_H
#define SN_STREAM_IO_BLOCK_H

#include "seen.h"
#include "stream/io/header.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_block {
    /* Origin. */
    uint64_t number;         /* 0, 1, 2 … in input order */
    uint64_t first_line;     /* number of its first line in the whole input; set before `decide` */
    uint64_t line_in_file;   /* the same in its file */
    uint64_t offset;         /* of bytes[0] in its file, after decompression */
    size_t file;             /* index of the input */
    const char *name;        /* of that file, for messages */
    const sn_header *header; /* of the input, if its files have one */

    /* Bytes and lines. */
    char *bytes; /* followed by SN_BLOCK_SLACK readable bytes */
    size_t length;
    size_t capacity;
    uint32_t *start; /* lines + 1 offsets */
    size_t start_room;
    size_t lines;
    char terminator;
    bool unfinished;
    /* CSV: the end of each field, and for each record the index of its first field. */
    uint32_t *mark;
    size_t mark_room;
    uint32_t *first_mark;
    size_t first_mark_room;

    /* Columns, each with space for `lines` entries once the lines are split. */
    seen_hash *hash;
    seen_answer *answer;
    size_t columns;  /* capacity of the arrays */
    uint64_t *value; /* one number per line, if allocated by sn_block_values */
    size_t value_room;
    size_t decided; /* for the ordered step: lines before this one have their final answer */

    /* Output, set by the last step before writing. */
    const char *out;
    size_t out_length;
    char *second; /* a second buffer owned by the block, for lines that go elsewhere */
    size_t second_length;
    size_t second_capacity;

    uint64_t number_out; /* for the ordered step: number of lines in `out` */
    void *scratch;       /* for keys that are not substrings of the line */
    size_t scratch_capacity;
} sn_block;

/* Bytes behind the end of `bytes` that may be read (but not used), for vector loads. */
enum { SN_BLOCK_SLACK = 128 };

/* Offsets have 32 bits, which limits the size of a block and of a line. */
#define SN_BLOCK_MAX ((size_t)0xffff0000u)

void sn_block_init(sn_block *block, char terminator);
void sn_block_free(sn_block *block);

/* Grows `bytes` to at least this capacity, keeping the contents. */
seen_status sn_block_reserve(sn_block *block, size_t capacity, seen_error *error);

/* Allocates columns for this many lines; hash and answer lose their contents. */
seen_status sn_block_columns(sn_block *block, size_t lines, seen_error *error);

/* Allocates a value per line; contents are undefined. */
seen_status sn_block_values(sn_block *block, seen_error *error);

/* Allocate `second` or `scratch`; contents are undefined. */
seen_status sn_block_second(sn_block *block, size_t capacity, seen_error *error);
seen_status sn_block_scratch(sn_block *block, size_t capacity, seen_error *error);
/* The same, keeping the contents. */
seen_status sn_block_scratch_grow(sn_block *block, size_t capacity, seen_error *error);

/* The text of a line without its terminator. */
static inline const char *sn_block_line(const sn_block *block, size_t i, size_t *len)
{
    size_t end = block->start[i + 1];
    *len = end - block->start[i] - !(block->unfinished && i + 1 == block->lines);
    return block->bytes + block->start[i];
}

/* Moves the lines whose answer is `keep` to the front of `bytes` and points `out` at them. With
 * `apart` the other lines, except those with SEEN_UNKNOWN, are first copied to `second`. Sets
 * number_out. The lines are not accessible afterwards. */
seen_status sn_block_select(sn_block *block, seen_answer keep, bool apart, seen_error *error);

#endif
