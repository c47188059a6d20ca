/* An output file, and JSON strings in it.
 *
 * Output is buffered. A checkpoint flushes, syncs and records the length; a resumed crawl truncates
 * the file to that length, so that no page is written twice. */
#ifndef SN_CRAWL_OUTPUT_SINK_H
#define SN_CRAWL_OUTPUT_SINK_H

#include "seen.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_sink sn_sink;

/* Lengths of an output that is opened. */
#define SN_SINK_NEW UINT64_MAX               /* 0: what is there is discarded */
#define SN_SINK_APPENDED (UINT64_MAX - 1)    /* all that is there */
#define SN_SINK_WHOLE_LINES (UINT64_MAX - 2) /* without an incomplete last line */

/* Opens an output; creates the file if it does not exist. A regular file is locked until it is
 * closed or the process ends: SEEN_ERR_EXISTS if another process has it open as an output.
 *   path      "-": standard output, which is neither locked nor truncated nor synced
 *   length    continues an existing file at this length */
seen_status sn_sink_open(const char *path, uint64_t length, sn_sink **sink, seen_error *error);
/* NULL is ignored. Unflushed bytes are discarded. */
void sn_sink_close(sn_sink *sink);

void sn_sink_put(sn_sink *sink, const void *bytes, size_t len);
void sn_sink_text(sn_sink *sink, const char *text);
void sn_sink_number(sn_sink *sink, uint64_t number);
/* Writes a JSON string with quotes. Bytes above 0x7f are interpreted as Latin-1, as in HTTP
 * headers; URLs have none. */
void sn_sink_json(sn_sink *sink, const char *bytes, size_t len);

/* The same for UTF-8, of which only control characters are escaped; bytes that are not UTF-8 are
 * interpreted as Latin-1. */
void sn_sink_json_utf8(sn_sink *sink, const char *bytes, size_t len);

/* A failed write is reported here. */
seen_status sn_sink_flush(sn_sink *sink, seen_error *error);
seen_status sn_sink_sync(sn_sink *sink, seen_error *error);
/* Bytes so far, flushed or not. */
uint64_t sn_sink_length(const sn_sink *sink);
/* Whether the reading end of the pipe was closed. */
bool sn_sink_closed(const sn_sink *sink);

#endif
