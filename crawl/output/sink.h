/* An output file, and lines of JSON in it.
 *
 * What is written waits in a buffer of fixed size. A checkpoint flushes, syncs and remembers the
 * length; a crawl that goes on cuts the file back to it, so that no page stands in it twice. */
#ifndef CRAWL_SINK_H
#define CRAWL_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seen.h"

typedef struct sn_sink sn_sink;

/* Opens an output.
 *   path      "-": standard output, which is neither cut nor synced
 *   length    UINT64_MAX: made anew; otherwise what of an existing file is ours and stays */
seen_status sn_sink_open(const char *path, uint64_t length, sn_sink **sink, seen_error *error);
/* NULL is ignored. What was not flushed is dropped. */
void sn_sink_close(sn_sink *sink);

void sn_sink_put(sn_sink *sink, const void *bytes, size_t len);
void sn_sink_text(sn_sink *sink, const char *text);
void sn_sink_number(sn_sink *sink, uint64_t number);
/* A JSON string with its quotes. Bytes above 0x7f are taken as Latin-1, as HTTP headers are; URLs
 * have none. */
void sn_sink_json(sn_sink *sink, const char *bytes, size_t len);

/* The same for UTF-8, of which only control characters are escaped; what is not UTF-8 is Latin-1.
 */
void sn_sink_json_utf8(sn_sink *sink, const char *bytes, size_t len);

/* A failed write is reported here. */
seen_status sn_sink_flush(sn_sink *sink, seen_error *error);
seen_status sn_sink_sync(sn_sink *sink, seen_error *error);
/* Bytes so far, flushed or not. */
uint64_t sn_sink_length(const sn_sink *sink);
/* Nobody reads any more: the pipe is closed. */
bool sn_sink_closed(const sn_sink *sink);

#endif
