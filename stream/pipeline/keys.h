/* From a record to its key, and from the key to its hash.
 *
 * The key of a line is the line without its terminator. A CR is part of the line, so that "a\r\n"
 * and "a\n" differ, unless the record spec says otherwise. The last line of a file without a
 * newline equals the same line with one.
 *
 * A key of one value (-k 2, -k url) is that value, independent of its representation: a CSV column,
 * a member of a JSON object and a plain line with the same text have the same key. A key of several
 * values is each of them preceded by its length, so different lists of values have different
 * keys. */
#ifndef SN_STREAM_PIPELINE_KEYS_H
#define SN_STREAM_PIPELINE_KEYS_H

#include "seen.h"
#include "stream/io/block.h"
#include "stream/record/spec.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { SN_KEYS_LF = 1, SN_KEYS_CRLF = 2 };

typedef struct sn_keys_options {
    const sn_record_spec *record; /* which values; NULL: the whole line */
    bool fold;                    /* fold ASCII letters to lower case; other bytes are unchanged */
    bool url; /* use the canonical URL of each value; values that are not URLs are unchanged */
    seen_url_options url_options; /* size 0: none */
    atomic_bool *quoted;          /* set when a plain field begins with a quote; may be NULL */
    atomic_uint *line_ends; /* SN_KEYS_LF and SN_KEYS_CRLF: what lines end with; may be NULL */
} sn_keys_options;

/* Fills the hash column of a block whose records are split. Any thread, one per block. */
seen_status sn_keys_hash(const sn_keys_options *options, const seen_hasher *hasher, sn_block *block,
                         seen_error *error);

/* Converts one value: canonical URL, lower case. Returns the value itself or a pointer into
 * `scratch`, which must have room for sn_keys_bound(options, length) bytes. */
const char *sn_keys_of_value(const sn_keys_options *options, const char *value, size_t length,
                             char *scratch, size_t *key_length);
size_t sn_keys_bound(const sn_keys_options *options, size_t length);

/* Replaces each line of a block by its canonical URL, if it is a URL. */
seen_status sn_keys_rewrite(const seen_url_options *url, sn_block *block, seen_error *error);

/* Memory for a line, its key and `others`, as a multiple of the line's length. */
size_t sn_keys_parts(const sn_keys_options *options, size_t others);

#endif
