/* Cuts an input into blocks of whole lines; the serial step of the pipeline. */
#ifndef SN_STREAM_READER_H
#define SN_STREAM_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/io/block.h"
#include "stream/io/input.h"

typedef struct sn_reader {
    sn_input *input;
    size_t block_size;
    size_t line_max;
    char terminator;
    char *carry; /* the beginning of a line whose end is in the next block */
    size_t carry_length;
    size_t carry_room;
    uint64_t offset; /* in the current file, of the next block's first byte */
    bool ended;
    /* Called before a block becomes long; may be NULL. It comes back when no other block is long,
     * so that the memory for long lines does not depend on the number of threads. */
    void (*alone)(void *context, const sn_block *block);
    void *context;
} sn_reader;

/* line_max 0: as long as a block can be. A line that fits a block is never too long. */
void sn_reader_init(sn_reader *reader, sn_input *input, size_t block_size, size_t line_max,
                    char terminator);
void sn_reader_free(sn_reader *reader);

/* Fills bytes, length, offset and file of a block with whole lines: as many as fit the block size,
 * fewer where the input would have to be waited for, more where one line is longer. *got is false
 * behind the last one and after a stop; a line that a stop cut in two is not given out. */
seen_status sn_reader_fill(sn_reader *reader, sn_block *block, bool *got, seen_error *error);

/* Gives back the memory of a long block that is done with. */
void sn_reader_release(const sn_reader *reader, sn_block *block);

#endif
