/* Splits an input into blocks of whole lines; the serial first step of the pipeline. */
#ifndef SN_STREAM_IO_READER_H
#define SN_STREAM_IO_READER_H

#include "stream/io/block.h"
#include "stream/io/input.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How records are separated if they are not lines. `state` belongs to `find_end` and is 0 at the
 * beginning of a block. */
typedef struct sn_framing {
    const void *context;
    bool header; /* the first record of each file is a header */
    /* Continues over bytes[from, to) of a block; returns the end of its last whole record, or 0. */
    size_t (*find_end)(const void *context, const char *bytes, size_t from, size_t to,
                       uint64_t *state);
    /* Whether the file may end in this state. */
    bool (*may_end)(uint64_t state);
    /* Parses the first record of bytes and stores it, or compares it with the stored one. *taken is
     * its length. */
    seen_status (*take_header)(const void *context, const char *file, const char *bytes,
                               size_t length, sn_header *header, size_t *taken, seen_error *error);
} sn_framing;

typedef struct sn_reader {
    sn_input *input;
    const sn_framing *framing; /* NULL: lines */
    uint64_t state;            /* of find_end */
    bool header_next;          /* the next block begins with the header of a file */
    size_t block_size;
    size_t line_max;
    char terminator;
    char *carry; /* the beginning of a line that ends in the next block */
    size_t carry_length;
    size_t carry_room;
    uint64_t offset; /* of the next block's first byte in the current file */
    bool ended;
    /* Called before a block is enlarged; may be NULL. It blocks until no other block is enlarged,
     * so that the memory for long lines does not depend on the number of threads. */
    void (*alone)(void *context, const sn_block *block);
    void *context;
} sn_reader;

/* line_max 0: no limit beyond SN_BLOCK_MAX. A line that fits into a block is never too long. */
void sn_reader_init(sn_reader *reader, sn_input *input, size_t block_size, size_t line_max,
                    char terminator);
/* Must be called before the first fill; framing may be NULL. */
void sn_reader_frame(sn_reader *reader, const sn_framing *framing);
void sn_reader_free(sn_reader *reader);

/* Fills bytes, length, offset and file of a block with whole lines: as many as fit into the block
 * size, fewer if the input would block, more if one line is longer. *got is false after the last
 * line and after a stop; a line interrupted by a stop is not returned. */
seen_status sn_reader_fill(sn_reader *reader, sn_block *block, bool *got, seen_error *error);

/* Frees the memory of an enlarged block after use. */
void sn_reader_release(const sn_reader *reader, sn_block *block);

#endif
