/* The one table that travels: a block of whole lines. Each room fills the next columns.
 *
 *     bytes   h t t p : / / a \n h t t p : / / b \n        filled by the reader
 *     start   0                  9                  18     filled by the scan: lines + 1 numbers
 *     hash    h0                 h1                        keys
 *     answer  NEW                BEFORE                    the ordered step
 *     out     the bytes to be written                      the last parallel step
 *
 * Line i spans [start[i], start[i + 1]) with its terminator. Only the last line of a file may lack
 * one; then `unfinished` is true, and that line is the last of its block. A block never holds bytes
 * of two files. */
#ifndef SN_STREAM_BLOCK_H
#define SN_STREAM_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seen.h"
#include "stream/io/header.h"

typedef struct sn_block {
    /* Where it is from. */
    uint64_t number;         /* 0, 1, 2 … in input order */
    uint64_t first_line;     /* ordinal of its first line in the whole input; set before `decide` */
    uint64_t line_in_file;   /* the same in its file */
    uint64_t offset;         /* of bytes[0], in its file after decompression */
    size_t file;             /* which input */
    const char *name;        /* of that file, for messages */
    const sn_header *header; /* of the input, if its files have one */

    /* Bytes and lines. */
    char *bytes; /* SN_BLOCK_SLACK readable bytes lie behind the last one */
    size_t length;
    size_t capacity;
    uint32_t *start; /* lines + 1 numbers */
    size_t start_room;
    size_t lines;
    char terminator;
    bool unfinished;
    /* CSV: the end of each field, and for each record the number of the first of these. */
    uint32_t *mark;
    size_t mark_room;
    uint32_t *first_mark;
    size_t first_mark_room;

    /* Columns, each with room for `lines` entries once the lines are found. */
    seen_hash *hash;
    seen_answer *answer;
    size_t columns;  /* room in the arrays */
    uint64_t *value; /* a number per line, if a client made room for it (sn_block_values) */
    size_t value_room;
    size_t decided; /* for a client: lines before this one have their final answer */

    /* What leaves: set by the step before the output. */
    const char *out;
    size_t out_length;
    char *aside; /* a second buffer that belongs to the block: lines that go elsewhere */
    size_t aside_length;
    size_t aside_capacity;

    uint64_t number_out; /* a count for the client: lines in `out` */
    void *scratch;       /* for keys that are not spans of the line */
    size_t scratch_capacity;
} sn_block;

/* Bytes that may be read (not used) behind the end of `bytes`, for vector loads. */
enum { SN_BLOCK_SLACK = 128 };

/* Offsets are 32 bits, so a block, and with it a line, ends here. */
#define SN_BLOCK_MAX ((size_t)0xffff0000u)

void sn_block_init(sn_block *block, char terminator);
void sn_block_free(sn_block *block);

/* Makes room for so many bytes; what is there stays. */
seen_status sn_block_reserve(sn_block *block, size_t capacity, seen_error *error);

/* Makes room for columns of so many lines; contents of hash and answer are lost. */
seen_status sn_block_columns(sn_block *block, size_t lines, seen_error *error);

/* Makes room for a value of each line; contents are lost. */
seen_status sn_block_values(sn_block *block, seen_error *error);

/* Makes room in `aside` or `scratch`; contents are lost. */
seen_status sn_block_aside(sn_block *block, size_t capacity, seen_error *error);
seen_status sn_block_scratch(sn_block *block, size_t capacity, seen_error *error);
/* The same, but what is there stays. */
seen_status sn_block_scratch_grow(sn_block *block, size_t capacity, seen_error *error);

/* The text of a line without its terminator. */
static inline const char *sn_block_line(const sn_block *block, size_t i, size_t *len)
{
    size_t end = block->start[i + 1];
    *len = end - block->start[i] - !(block->unfinished && i + 1 == block->lines);
    return block->bytes + block->start[i];
}

/* Moves the lines whose answer is `keep` together at the front of `bytes` and lets `out` point at
 * them; with `apart` the others are copied to `aside` first,
 * except those with SEEN_UNKNOWN. The lines cannot be asked for after
 * that. number_out is set. */
seen_status sn_block_select(sn_block *block, seen_answer keep, bool apart, seen_error *error);

#endif
