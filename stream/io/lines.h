/* Finding line ends, many at a time. */
#ifndef SN_STREAM_IO_LINES_H
#define SN_STREAM_IO_LINES_H

#include "stream/io/block.h"

#include <stddef.h>
#include <stdint.h>

/* Fills start, lines and unfinished of a block from its bytes, and allocates its columns. */
seen_status sn_lines_split(sn_block *block, seen_error *error);

/* Counts terminators. */
size_t sn_lines_count(const char *bytes, size_t length, char terminator);

/* The offset behind the last terminator; 0 if there is none. */
size_t sn_lines_last_end(const char *bytes, size_t length, char terminator);

/* Reference implementation of the scan: writes the offset behind each terminator to `ends` (at most
 * `room` of them) and returns their number. */
size_t sn_lines_scan_plain(const char *bytes, size_t length, char terminator, uint32_t *ends,
                           size_t room);

/* The same with the fastest implementation for this CPU. `ends` needs capacity for 64 entries more
 * than are found; at most `room` are found, and *scanned is the number of bytes processed (==
 * length when done). */
size_t sn_lines_scan(const char *bytes, size_t length, char terminator, uint32_t *ends, size_t room,
                     size_t *scanned);

#endif
