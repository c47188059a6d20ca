/* Records and fields of CSV (RFC 4180), 64 bytes at a time.
 *
 * A field that begins with a quote extends to the closing quote and may contain delimiters,
 * newlines and doubled quotes. A quote anywhere else is an ordinary byte, and so is anything after
 * a closing quote, as in Python's csv module. A record ends with LF or CRLF. */
#ifndef SN_STREAM_RECORD_CSV_H
#define SN_STREAM_RECORD_CSV_H

#include "seen.h"
#include "stream/io/block.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The state of a scan: 0 at the start of a record. */
typedef uint64_t sn_csv_state;

bool sn_csv_is_quoted(sn_csv_state state); /* inside quotes */

/* Scans bytes[from, to); returns the end of the last whole record in it, or 0. SN_BLOCK_SLACK bytes
 * behind `to` must be readable. */
size_t sn_csv_last_end(const char *bytes, size_t from, size_t to, char delimiter,
                       sn_csv_state *state);

/* The end of the first record, or `length` if it has no terminator. The same slack must be
 * readable. */
size_t sn_csv_first_end(const char *bytes, size_t length, char delimiter);

/* Fills start, lines, unfinished, mark and first_mark of a block of whole records, and allocates
 * its columns. Field k of record i ends at mark[first_mark[i] + k]. */
seen_status sn_csv_split(sn_block *block, char delimiter, seen_error *error);

static inline size_t sn_csv_fields(const sn_block *block, size_t i)
{
    return block->first_mark[i + 1] - block->first_mark[i];
}

/* Field k of record i in raw form, without the CR at the end of the record. */
static inline const char *sn_csv_raw(const sn_block *block, size_t i, size_t k, size_t *length)
{
    const uint32_t *mark = block->mark + block->first_mark[i];
    size_t from = k ? mark[k - 1] + 1 : block->start[i], to = mark[k];
    if (k + 1 == sn_csv_fields(block, i) && to > from && block->bytes[to - 1] == '\r')
        to--;
    *length = to - from;
    return block->bytes + from;
}

/* The value of a field that begins with a quote; see below. */
const char *sn_csv_unquote(const char *raw, size_t length, char *to, size_t *value_length);

/* The value of a field, unquoted. Points into `raw`, or into `to` (`length` bytes) if quotes have
 * to be removed from the middle. */
static inline const char *sn_csv_value(const char *raw, size_t length, char *to,
                                       size_t *value_length)
{
    *value_length = length;
    return length && raw[0] == '"' ? sn_csv_unquote(raw, length, to, value_length) : raw;
}

/* Reference implementation, byte by byte. Writes the end of each record to `ends` (at most `room`)
 * and returns their number; *quoted tells whether the input ends inside quotes. */
size_t sn_csv_ends_plain(const char *bytes, size_t length, char delimiter, uint32_t *ends,
                         size_t room, bool *quoted);

#endif
