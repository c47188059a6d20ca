/* The line reader: any block size, which is any split of the input, gives the same lines; the fast
 * scan agrees with the reference; a selection loses nothing.
 *
 * The first byte of the data selects the block size, the second the terminator and the maximum line
 * length; the rest is the input. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stream/io/input.h"
#include "stream/io/lines.h"
#include "stream/io/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool truth)
{
    if (!truth)
        abort();
}

static void check_scan(const sn_block *block)
{
    uint32_t *ends = malloc((block->length + 1) * sizeof *ends);
    need(ends != NULL);
    size_t found =
        sn_lines_scan_plain(block->bytes, block->length, block->terminator, ends, block->length);
    need(block->lines == found + block->unfinished);
    need(block->start[0] == 0 && block->start[block->lines] == block->length);
    for (size_t i = 0; i < found; i++)
        need(block->start[i + 1] == ends[i]);
    free(ends);
}

/* Every third line is dropped, the others are kept; together they are all lines. */
static void check_select(sn_block *block)
{
    size_t length = block->length, expected = 0;
    for (size_t i = 0; i < block->lines; i++) {
        block->answer[i] = i % 3 ? SEEN_NEW : SEEN_BEFORE;
        if (i % 3)
            expected += block->start[i + 1] - block->start[i];
    }
    need(sn_block_select(block, SEEN_NEW, true, NULL) == SEEN_OK);
    need(block->out_length == expected && block->second_length == length - expected);
}

static bool any_line_longer(const uint8_t *data, size_t size, char terminator, size_t most)
{
    size_t run = 0;
    for (size_t i = 0; i < size; i++) {
        run = data[i] == (uint8_t)terminator ? 0 : run + 1;
        if (run > most)
            return true;
    }
    return false;
}

static void read_blocks(int fd, const uint8_t *data, size_t size, size_t block_size,
                        size_t line_max, char terminator)
{
    sn_input *input;
    sn_reader reader;
    sn_block block;
    need(sn_input_open_fd(fd, "data", NULL, &input, NULL) == SEEN_OK);
    sn_reader_init(&reader, input, block_size, line_max, terminator);
    sn_block_init(&block, terminator);
    size_t at = 0;
    for (;;) {
        bool got;
        seen_error error = {0};
        seen_status status = sn_reader_fill(&reader, &block, &got, &error);
        if (status != SEEN_OK) {
            need(status == SEEN_ERR_ARGUMENT && error.message[0]);
            need(any_line_longer(data, size, terminator, line_max));
            break;
        }
        if (!got) {
            need(at == size);
            size_t most = line_max > block_size ? line_max : block_size;
            need(!line_max || !any_line_longer(data, size, terminator, most));
            break;
        }
        need(block.length > 0 && block.offset == at && at + block.length <= size);
        need(memcmp(block.bytes, data + at, block.length) == 0);
        at += block.length;
        need(sn_lines_split(&block, NULL) == SEEN_OK);
        need(!block.unfinished || at == size);
        check_scan(&block);
        check_select(&block);
    }
    sn_block_free(&block);
    sn_reader_free(&reader);
    sn_input_close(input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 1 << 16)
        return 0;
    size_t block_size = (size_t)data[0] * data[0] / 16 + 1;
    char terminator = data[1] & 1 ? '\n' : '\0';
    size_t line_max = data[1] & 2 ? data[1] / 4 + 1 : 0;
    data += 2;
    size -= 2;
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("data", MFD_CLOEXEC);
    need(ftruncate(fd, (off_t)size) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    read_blocks(fd, data, size, block_size, line_max, terminator);
    return 0;
}
