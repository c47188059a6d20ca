/* Finding the ends of lines, many at a time. */
#ifndef SN_STREAM_LINES_H
#define SN_STREAM_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "stream/io/block.h"

/* Fills start, lines and unfinished of a block from its bytes, and makes room in its columns. */
seen_status sn_lines_split(sn_block *block, seen_error *error);

/* Counts terminators. */
size_t sn_lines_count(const char *bytes, size_t length, char terminator);

/* Where the last terminator is, plus one; 0 if there is none. */
size_t sn_lines_last_end(const char *bytes, size_t length, char terminator);

/* The definition that the fast scan must agree with: writes the offset behind each terminator to
 * `ends` (at most `room` of them) and returns how many. */
size_t sn_lines_scan_plain(const char *bytes, size_t length, char terminator, uint32_t *ends,
                           size_t room);

/* The same by the best way that this CPU has. `ends` needs room for 64 entries more than are
 * found; at most `room` are found, and *scanned says how far it came (== length when done). */
size_t sn_lines_scan(const char *bytes, size_t length, char terminator, uint32_t *ends, size_t room,
                     size_t *scanned);

#endif
